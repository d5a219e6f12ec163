"""Calibrated vectors from the EmbedService (R-10a).

The encoder's mean is subtracted here, once, for whatever this service stores or asks.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from memvault.embed.v1 import embed_pb2
from memvault.faults import Fault, Reason
from memvault.rpc.client import call

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGEST_BYTES = 16


class EmbedServiceVectors:
    """Asks a stub of the EmbedService. The encoder's means are fetched once, at the first need."""

    def __init__(
        self,
        stub: Any,  # noqa: ANN401 - generated stub
        *,
        timeout_s: float,
        batch_timeout_s: float,
        batch: int = 128,
        remembered: int = 8192,
    ) -> None:
        """`timeout_s` bounds a question, `batch_timeout_s` a call with at most `batch` passages of a write.

        The `remembered` latest passages are not asked for again: the names of one graph come up in others.
        """
        self._stub = stub
        self._timeout_s = timeout_s
        self._batch_timeout_s = batch_timeout_s
        self._batch = batch
        self._remembered = remembered
        # By a digest of the text: what was forgotten cannot be read here.
        self._known: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._means: dict[str, NDArray[np.float32]] = {}
        self._describing = asyncio.Lock()

    async def dimension(self) -> int:
        """Dimension of the encoder's vectors."""
        return len(await self._mean("passage"))

    async def passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """See `TextVectors.passages`."""
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest() for text in texts]
        found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        names = list(missing)
        for start in range(0, len(names), self._batch):
            some = names[start : start + self._batch]
            vectors = await self._embed([missing[key] for key in some], "passage", self._batch_timeout_s)
            found |= zip(some, vectors, strict=True)
            # At once: when a later call fails, the next try need not begin anew.
            self._remember(zip(some, vectors, strict=True))
        self._remember((key, found[key]) for key in keys)
        return [found[key] for key in keys]

    def _remember(self, entries: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        for key, vector in entries:
            self._known[key] = vector
            self._known.move_to_end(key)
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)

    async def query(self, text: str) -> NDArray[np.float32]:
        """See `TextVectors.query`."""
        return (await self._embed([text], "query", self._timeout_s))[0]

    async def calibrated(self, raw_query: NDArray[np.float32]) -> NDArray[np.float32]:
        """See `TextVectors.calibrated`."""
        mean = await self._mean("query")
        if raw_query.shape != mean.shape:
            message = (
                f"query_vector has {raw_query.size} values, the encoder {mean.size}: "
                "send the vector of the same encoder, or none"
            )
            raise Fault(Reason.FIELD_INVALID, message, field="query_vector")
        return _centred(raw_query, mean)

    async def _embed(self, texts: Sequence[str], kind: str, timeout_s: float) -> list[NDArray[np.float32]]:
        mean = await self._mean(kind)
        request = embed_pb2.EmbedRequest(texts=list(texts), kind=kind)
        answer = await call(self._stub.Embed, request, timeout_s=timeout_s)
        return [_centred(np.frombuffer(e.vector, dtype="<f4"), mean) for e in answer.embeddings]

    async def _mean(self, kind: str) -> NDArray[np.float32]:
        async with self._describing:
            if not self._means:
                answer = await call(self._stub.Describe, embed_pb2.DescribeRequest(), timeout_s=self._timeout_s)
                for name, raw in (("query", answer.query_mean), ("passage", answer.passage_mean)):
                    mean = np.frombuffer(raw, dtype="<f4")
                    self._means[name] = mean if mean.size else np.zeros(answer.dimension, np.float32)
        return self._means[kind]


def _centred(vector: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    moved = np.asarray(vector, np.float32) - mean
    length = float(np.linalg.norm(moved))
    return moved / np.float32(length) if length > 0 else moved
