"""Measure how fast the graph takes in blocks: the wired service on the embedded store, without a bus.

Reads a JSONL file of blocks (`id`, `text`, optionally `who` for the speaker), gives as many to cascade at once as its
durable would, and prints blocks a second of wall clock and of processor time. Invented vectors by default, so that the
encoder does not count; `--encoder` asks the packaged one. The fingerprint is that of the graph without centrality: it
must not depend on the size of the batches.
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault.rpc.local import LocalChannel
from memvault.runtime.settings import load
from memvault.vectors.edge import EdgeStore
from memvault_cascade.app import Peers, build
from memvault_cascade.settings import Settings
from memvault_cascade.usecases.ingest import IncomingBlock
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.handlers.embed import EmbedHandlers
from memvault_search.settings import SearchSettings

DIMENSION = 384
USER = "measured"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Invented(embed_pb2_grpc.EmbedServiceServicer):
    """Vectors that the text alone decides."""

    async def Embed(self, request: embed_pb2.EmbedRequest, context: object) -> embed_pb2.EmbedResponse:  # noqa: ARG002, N802
        """Invent one for each text."""
        return embed_pb2.EmbedResponse(embeddings=[embed_pb2.Embedding(vector=_invented(t)) for t in request.texts])

    async def Describe(self, request: embed_pb2.DescribeRequest, context: object) -> embed_pb2.DescribeResponse:  # noqa: ARG002, N802
        """Without a mean."""
        none = np.zeros(DIMENSION, np.float32).tobytes()
        return embed_pb2.DescribeResponse(
            encoder_id="invented", dimension=DIMENSION, query_mean=none, passage_mean=none
        )


def _invented(text: str) -> bytes:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    vector = np.random.Generator(np.random.SFC64(seed)).standard_normal(DIMENSION, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype("<f4").tobytes()


def blocks_of(path: Path, count: int) -> list[IncomingBlock]:
    """Read the first blocks of a file, a minute apart."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    pattern = IncomingBlock(USER, "", "", "", "", BEGIN, 1, 0.7, quarantined=False, superseded_by="", facts=())
    return [
        replace(
            pattern,
            id=row["id"],
            text=row["text"],
            speaker=row.get("who", ""),
            stated_at=BEGIN + timedelta(minutes=place),
            sequence=place + 1,
        )
        for place, row in enumerate(rows)
    ]


async def measure(blocks: list[IncomingBlock], home: Path, at_once: int, *, encoder: bool) -> None:
    """Take the blocks in and print how long it took."""
    settings = load("cascade", Settings, profile="reference", home=home, environ={})
    at_once = at_once or settings.ingest.batch
    settings = settings.model_copy(update={"ingest": settings.ingest.model_copy(update={"batch": at_once})})
    servicer: embed_pb2_grpc.EmbedServiceServicer = Invented()
    embedder = None
    if encoder:
        search = load("search", SearchSettings, profile="reference", home=home, environ={})
        embedder = await asyncio.to_thread(open_embedder, search.embedder, home)
        await embedder.start()
        servicer = EmbedHandlers(embedder)
    channel = LocalChannel(((embed_pb2_grpc.add_EmbedServiceServicer_to_server, servicer),), "embed")
    app = await build(
        settings,
        peers=Peers(embed_pb2_grpc.EmbedServiceStub(channel)),
        bus=None,
        vectors=EdgeStore(home / "data", flush_every_s=settings.flush_every_s),
        alarm=False,
    )
    await app.start()
    wall, processor = time.perf_counter(), time.process_time()
    for begin in range(0, len(blocks), at_once):
        await asyncio.gather(*(app.ingest.block(block) for block in blocks[begin : begin + at_once]))
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    graph = (await app.graphs.state(USER)).graph
    told = hashlib.sha256()
    for parts in (graph.entities, graph.triples):
        told.update(repr(sorted(parts.items())).encode())
    told.update(repr(sorted((b.id, b.mentions, b.superseded_by) for b in graph.blocks.values())).encode())
    print(f"{len(blocks)} blocks, {at_once} at once: {len(blocks) / wall:.1f}/s, {len(blocks) / processor:.1f}/cpu-s")
    print(f"{len(graph.entities)} entities, {len(graph.triples)} facts, fingerprint {told.hexdigest()[:12]}")
    await app.stop()
    if embedder is not None:
        await embedder.stop()


def main() -> None:
    """Measure in a folder that is thrown away."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("corpus", type=Path)
    arguments.add_argument("--blocks", type=int, default=1000)
    arguments.add_argument("--at-once", type=int, default=0, help="0: as set in defaults.toml")
    arguments.add_argument("--encoder", action="store_true", help="the packaged encoder instead of invented vectors")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(measure(blocks_of(given.corpus, given.blocks), Path(home), given.at_once, encoder=given.encoder))


if __name__ == "__main__":
    main()
