"""`python -m memvault_rerank` as the supervisor runs it."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import numpy as np

from memvault.faults import Fault
from memvault.rerank.v1 import rerank_pb2 as pb
from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceStub
from memvault.rpc.client import call, open_channel
from memvault.slow_thinker.v1.prefetch_pb2 import TokenVectors


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def tokens(seed: int) -> TokenVectors:
    values = np.random.default_rng(seed).integers(-127, 127, (12, 384)).astype(np.int8)
    return TokenVectors(values=values.tobytes(), rows=12, columns=384)


async def answered(address: str, request: pb.RerankRequest, within_s: float) -> pb.RerankResponse:
    async with open_channel(address) as channel, asyncio.timeout(within_s):
        while True:
            try:
                return await call(RerankServiceStub(channel).Rerank, request, timeout_s=5.0)
            except Fault:
                await asyncio.sleep(0.1)


async def test_the_process_serves_and_ends_cleanly_on_sigterm(tmp_path: Path) -> None:
    address = free_address()
    environ = os.environ | {"MEMVAULT_HOME": str(tmp_path), "MEMVAULT__ADDRESSES__RERANK": address}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "memvault_rerank", env=environ)
    try:
        documents = [pb.RerankDocument(id=str(seed), text="", tokens=[tokens(seed)]) for seed in range(20)]
        request = pb.RerankRequest(query="seven", query_tokens=tokens(7), documents=documents)
        response = await answered(address, request, within_s=60.0)
        assert response.status == "OK"
        assert max(response.scores, key=lambda score: score.score).id == "7"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
