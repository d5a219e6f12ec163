"""A service without a bus: it answers questions, and nobody can be told anything."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

from memvault_cascade.ports import Annotation

_LOG = logging.getLogger(__name__)


class NoBusAnnouncer:
    """An `Announcer` that says in the log what it could not tell."""

    async def annotate(self, user_id: str, annotations: Sequence[Annotation]) -> None:  # noqa: ARG002 - the port's
        """See `Announcer.annotate`."""
        _LOG.warning("no bus is configured: %d notes on blocks reach nobody", len(annotations))

    async def request_dream(self, run_id: str, now: datetime) -> None:  # noqa: ARG002 - the port's
        """See `Announcer.request_dream`."""
        _LOG.warning("no bus is configured: the nightly run %s reaches nobody", run_id)

    async def finish_dream(self, run_id: str, changes: Mapping[str, int], took_ms: float) -> None:
        """See `Announcer.finish_dream`."""
        _LOG.info("nightly run %s done in %.0f ms: %s", run_id, took_ms, dict(changes))

    async def claim(self, key: str, ttl_s: float) -> bool:  # noqa: ARG002 - the port's
        """See `Announcer.claim`; a service alone always holds the lock."""
        return True

    async def release(self, key: str) -> None:
        """See `Announcer.release`."""
