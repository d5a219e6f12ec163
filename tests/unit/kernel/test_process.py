"""The order in which a service, its server, its bus and what it opened come and go."""

from dataclasses import dataclass, field

import pytest

from memvault.rpc.client import probe
from memvault.rpc.process import Process
from memvault.runtime.places import INSTANCE_VARIABLE


@dataclass
class Part:
    name: str
    diary: list[str]
    registrations: tuple[()] = ()
    connect_timeout_s: float = 0.5
    waited_s: float | None = field(default=None)

    async def start(self, timeout_s: float | None = None) -> bool:
        self.waited_s = timeout_s
        self.diary.append(f"{self.name} starts")
        return True

    async def stop(self) -> None:
        self.diary.append(f"{self.name} stops")


@dataclass
class Channel:
    diary: list[str]

    async def close(self, grace: float | None = None) -> None:
        self.diary.append("channel closes")


def process(diary: list[str], *, tells_to_the_end: bool = False) -> Process[Part]:
    async def close() -> None:
        diary.append("store closes")

    return Process(
        "search",
        Part("app", diary),
        "127.0.0.1:0",
        Part("bus", diary),
        tells_to_the_end=tells_to_the_end,
        channels=[Channel(diary)],
        opened=[close],
    )


async def test_a_process_is_ready_under_its_instance_id_only_after_its_app_started(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(INSTANCE_VARIABLE, "this-start")
    diary: list[str] = []
    made = process(diary)
    assert made.address == "127.0.0.1:0"
    await made.start()
    try:
        assert diary == ["app starts", "bus starts"]
        assert made.bus.waited_s == 0.5
        found = await probe(made.address, timeout_s=5)
        assert (found.ready, found.instance_id) == (True, "this-start")
    finally:
        await made.stop()


async def test_facts_stop_coming_before_the_app_stops_and_everything_opened_closes_last():
    diary: list[str] = []
    await process(diary).stop()
    assert diary == ["bus stops", "app stops", "channel closes", "store closes"]


async def test_an_app_that_tells_to_the_end_has_its_bus_until_then():
    diary: list[str] = []
    await process(diary, tells_to_the_end=True).stop()
    assert diary == ["app stops", "bus stops", "channel closes", "store closes"]


async def test_a_process_that_stops_answers_no_more():
    made = process([])
    await made.start()
    address = made.address
    await made.stop()
    assert not (await probe(address, timeout_s=2)).ready
