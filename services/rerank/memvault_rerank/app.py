"""Wires rerank together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memvault.rerank.v1 import rerank_pb2_grpc
from memvault.rpc.methods import Registration
from memvault.runtime import settings as configuration
from memvault_rerank.adapters.breaker_log import BreakerLog
from memvault_rerank.adapters.jina_v3 import open_jina_v3
from memvault_rerank.adapters.late_interaction import LateInteractionModel
from memvault_rerank.adapters.qwen3_reranker import open_qwen3
from memvault_rerank.adapters.system_clock import SystemClock
from memvault_rerank.domain.breaker import Limits
from memvault_rerank.handlers import RerankHandlers
from memvault_rerank.ports import Clock, RerankModel
from memvault_rerank.settings import RerankSettings
from memvault_rerank.usecases import Rerank


class RunningModel(RerankModel, Protocol):
    """A model with a life: loaded by start(), released by stop()."""

    async def start(self) -> None:
        """Load and warm up."""
        ...

    async def stop(self) -> None:
        """Release what start() took."""
        ...


@dataclass(frozen=True, slots=True)
class App:
    """The service, ready to be served over gRPC or inside a process."""

    registrations: Sequence[Registration]
    model: RunningModel | None

    async def start(self) -> None:
        """Load the model."""
        if self.model is not None:
            await self.model.start()

    async def stop(self) -> None:
        """Release the model."""
        if self.model is not None:
            await self.model.stop()


async def build(
    settings: RerankSettings,
    *,
    model: RunningModel | None = None,
    clock: Clock | None = None,
    home: Path | None = None,
) -> App:
    """Build the service.

    Args:
        settings: section `rerank`.
        model: in place of the configured one; for tests.
        clock: in place of the machine's.
        home: MEMVAULT_HOME, where models lie; None: the one of this process.

    """
    chosen = model or configured_model(settings, home or configuration.home())
    limits = Limits(settings.open_after, settings.cool_down_s)
    rerank = Rerank(chosen, clock or SystemClock(), limits, timeout_s=settings.timeout_s, observer=BreakerLog())
    registration: Registration = (
        rerank_pb2_grpc.add_RerankServiceServicer_to_server,
        RerankHandlers(rerank, settings),
    )
    return App((registration,), chosen)


def configured_model(settings: RerankSettings, home: Path) -> RunningModel | None:
    """Return the model that the settings name, not yet loaded; None: none is wanted. `home` is MEMVAULT_HOME."""
    match settings.model:
        case "late_interaction":
            return LateInteractionModel(batch_tokens=settings.batch_tokens)
        case "jina_v3":
            return open_jina_v3(settings.jina_v3, home)
        case "qwen3":
            return open_qwen3(settings.qwen3, home)
    return None
