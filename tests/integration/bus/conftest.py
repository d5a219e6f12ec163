from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from memvault.bus.broker import BusSettings, NatsBus, build_bus
from memvault.runtime.settings import load
from tests.integration.bus.nats_server import NatsServer


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    nats_server = NatsServer(tmp_path / "nats")
    await nats_server.start()
    yield nats_server
    nats_server.kill()


@pytest.fixture
def settings(server: NatsServer, tmp_path: Path) -> BusSettings:
    quick = {
        "url": server.url,
        "ack_wait_s": 1.0,
        "fetch_timeout_s": 0.5,
        "max_deliver": 3,
        "backoff_s": (0.05, 0.1),
        "publish_timeout_s": 10.0,
        "publish_try_s": 0.5,
        "reconnect_wait_s": 0.1,
        "handler_timeout_s": 20.0,
        "dream_timeout_s": 60.0,
    }
    return load("bus", BusSettings, home=tmp_path).model_copy(update=quick)


@pytest.fixture
async def started(settings: BusSettings) -> AsyncIterator[Callable[..., Awaitable[NatsBus]]]:
    """Builds a bus of one service, lets the caller subscribe, and starts it; all are stopped at the end."""
    buses: list[NatsBus] = []

    async def start(service: str, prepare: Callable[[NatsBus], None] = lambda _: None, **changes: object) -> NatsBus:
        bus = build_bus(settings.model_copy(update=changes), service)
        prepare(bus)
        assert await bus.start(timeout_s=20)
        buses.append(bus)
        return bus

    yield start
    for bus in buses:
        await bus.stop()
