"""A gateway whose every port lives in memory, behind both of its faces."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from memvault.ops import NULL_OBSERVER
from memvault.recall.v1.admin_pb2_grpc import add_AdminServiceServicer_to_server
from memvault.recall.v1.memory_pb2_grpc import add_MemoryServiceServicer_to_server
from memvault.recall.v1.recall_pb2_grpc import add_RecallServiceServicer_to_server
from memvault.rpc.methods import Registration
from memvault.runtime.settings import load
from memvault_gateway.adapters import memory as fakes
from memvault_gateway.adapters import memory_told as told
from memvault_gateway.handlers.admin import AdminHandlers
from memvault_gateway.handlers.http import build_http
from memvault_gateway.handlers.memory import MemoryHandlers
from memvault_gateway.handlers.recall import RecallHandlers
from memvault_gateway.settings import Settings
from memvault_gateway.usecases.memory import Memory
from memvault_gateway.usecases.recall import Parts, Recall
from memvault_gateway.usecases.write import Write


@dataclass
class World:
    """The ports, and the handlers over them."""

    settings: Settings
    clock: fakes.FixedClock = field(default_factory=fakes.FixedClock)
    router: fakes.MemoryRouter = field(default_factory=fakes.MemoryRouter)
    blocks: fakes.MemoryBlocks = field(default_factory=fakes.MemoryBlocks)
    graph: fakes.MemoryGraph = field(default_factory=fakes.MemoryGraph)
    facts: told.MemoryFacts = field(default_factory=told.MemoryFacts)
    confirmations: told.MemoryConfirmations = field(default_factory=told.MemoryConfirmations)
    use: told.MemoryUse = field(default_factory=told.MemoryUse)
    forgetters: told.MemoryForgetters = field(default_factory=told.MemoryForgetters)
    health: told.MemoryHealth = field(default_factory=told.MemoryHealth)
    operations: told.MemoryOperations = field(default_factory=told.MemoryOperations)

    def __post_init__(self) -> None:
        ids = (f"id-{number}" for number in itertools.count(1))

        def new_id() -> str:
            return next(ids)

        parts = Parts(self.router, self.blocks, self.graph, self.facts, self.use, self.clock, NULL_OBSERVER)
        self.recalling = Recall(parts, self.settings)
        writing = Write(self.facts, self.confirmations, new_id, concurrency=self.settings.write_concurrency)
        limits = self.settings.deadline
        memory = Memory(self.blocks, self.facts, self.forgetters, self.clock, new_id, limits)
        self.recall = RecallHandlers(self.recalling, self.settings, new_id)
        self.memory = MemoryHandlers(writing, memory, self.settings)
        self.admin = AdminHandlers(self.operations, self.health, self.facts, self.clock, new_id, limits)

    @property
    def registrations(self) -> tuple[Registration, ...]:
        """What it serves over gRPC."""
        return (
            (add_RecallServiceServicer_to_server, self.recall),
            (add_MemoryServiceServicer_to_server, self.memory),
            (add_AdminServiceServicer_to_server, self.admin),
        )

    def face(self, address: str = "127.0.0.1:8765") -> Any:
        """The HTTP application."""
        return build_http(self.recall, self.memory, self.admin, self.settings, address)


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load("gateway", Settings, home=tmp_path_factory.mktemp("home"), environ={})


@pytest.fixture
def world(settings: Settings) -> World:
    return World(settings)


@pytest.fixture
async def http(world: World) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(world.face(), raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client
