"""The six in one process: who is wired to whom, and the order in which they come and go."""

import asyncio
from dataclasses import dataclass, field

import pytest

from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault.faults import Fault, Reason
from memvault.rpc.client import call
from memvault_laptop.app import House, Switchboard


class Embedder(embed_pb2_grpc.EmbedServiceServicer):
    async def Embed(self, request, context):
        return embed_pb2.EmbedResponse(encoder_id="here")


async def test_a_channel_may_be_given_out_before_its_service_is_built() -> None:
    switchboard = Switchboard()
    stub = embed_pb2_grpc.EmbedServiceStub(switchboard.connect("embed"))
    switchboard.served["search"] = [(embed_pb2_grpc.add_EmbedServiceServicer_to_server, Embedder())]
    answer = await call(stub.Embed, embed_pb2.EmbedRequest(), timeout_s=1)
    assert answer.encoder_id == "here"


async def test_what_a_service_does_not_serve_is_refused_by_name() -> None:
    switchboard = Switchboard({"search": []})
    stub = embed_pb2_grpc.EmbedServiceStub(switchboard.connect("embed"))
    with pytest.raises(Fault, match="EmbedService/Embed") as caught:
        await call(stub.Embed, embed_pb2.EmbedRequest(), timeout_s=1)
    assert caught.value.reason is Reason.UNIMPLEMENTED


@dataclass
class Diary:
    lines: list[str] = field(default_factory=list)


@dataclass
class App:
    name: str
    diary: Diary
    registrations: tuple[()] = ()

    async def start(self) -> None:
        await asyncio.sleep(0)
        self.diary.lines.append(f"{self.name} app")


class Process:
    def __init__(self, name: str, diary: Diary, *, fails: bool = False) -> None:
        self.name = name
        self.diary = diary
        self.fails = fails
        self.app = App(name, diary)
        self.address = f"{name}:1"

    async def start(self) -> None:
        self.diary.lines.append(f"{self.name} serves")

    async def hear(self) -> None:
        self.diary.lines.append(f"{self.name} bus")

    async def stop(self) -> None:
        self.diary.lines.append(f"{self.name} stops")
        if self.fails:
            raise OSError(f"{self.name} hung")


def house(diary: Diary, *failing: str) -> House:
    names = ("rerank", "search", "router", "cascade", "gateway", "slow_thinker")
    return House(**{name: Process(name, diary, fails=name in failing) for name in names})


async def test_whoever_is_asked_starts_first_and_only_the_gateway_serves() -> None:
    diary = Diary()
    built = house(diary)
    await built.start()
    position = {line: index for index, line in enumerate(diary.lines)}
    assert max(position["search app"], position["rerank app"]) < position["router app"]
    assert [line for line in diary.lines if line.endswith("serves")] == ["gateway serves"]
    assert position["cascade app"] < position["gateway serves"] < position["search bus"]
    assert built.address == "gateway:1"


async def test_the_doors_close_first_and_one_that_hangs_keeps_nobody() -> None:
    diary = Diary()
    with pytest.raises(ExceptionGroup) as caught:
        await house(diary, "slow_thinker", "router").stop()
    assert diary.lines[0] == "gateway stops"
    assert diary.lines[-2:] == ["search stops", "rerank stops"]
    assert [str(error) for error in caught.value.exceptions] == ["slow_thinker hung", "router hung"]
