"""Vectors asked of EmbedService; what was encoded lately is kept, as the window of a conversation moves slowly."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from memvault.embed.v1 import embed_pb2 as pb
from memvault.rpc.client import call
from memvault_slow_thinker.domain.conversation import Vectors
from memvault_slow_thinker.ports import Encoded

if TYPE_CHECKING:
    from memvault.embed.v1.embed_pb2_grpc import EmbedServiceAsyncStub

_KEPT = 2048  # vectors, about 3 MB


class EmbedEncoder:
    """See `ports.Encoder`."""

    def __init__(self, stub: EmbedServiceAsyncStub) -> None:
        self._stub = stub
        self._described: pb.DescribeResponse | None = None
        self._known: OrderedDict[tuple[str, str, str], npt.NDArray[np.float32]] = OrderedDict()

    async def encode(self, texts: Sequence[str], *, kind: str, timeout_s: float) -> Encoded:
        """See `ports.Encoder`. A replaced encoder is noticed by its id, and its means are asked for again."""
        described = await self._describe(timeout_s)
        rows = {text: self._known.get((described.encoder_id, kind, text)) for text in texts}
        missing = [text for text, vector in rows.items() if vector is None]
        if missing:
            request = pb.EmbedRequest(texts=missing, kind=kind, soon=True)
            answer = await call(self._stub.Embed, request, timeout_s=timeout_s)
            if answer.encoder_id != described.encoder_id:
                self._described = None
                described = await self._describe(timeout_s)
                if len(missing) < len(rows):
                    return await self.encode(texts, kind=kind, timeout_s=timeout_s)
            for text, made in zip(missing, answer.embeddings, strict=True):
                rows[text] = np.frombuffer(made.vector, dtype="<f4")
                self._keep((answer.encoder_id, kind, text), rows[text])
        found = [vector for text in texts if (vector := rows[text]) is not None]
        raw = np.stack(found).astype(np.float32)
        mean = described.query_mean if kind == "query" else described.passage_mean
        return Encoded(raw, _centred(raw, np.frombuffer(mean, dtype="<f4")), described.encoder_id)

    async def _describe(self, timeout_s: float) -> pb.DescribeResponse:
        if self._described is None:
            self._described = await call(self._stub.Describe, pb.DescribeRequest(), timeout_s=timeout_s)
        return self._described

    def _keep(self, key: tuple[str, str, str], vector: npt.NDArray[np.float32] | None) -> None:
        if vector is not None:
            self._known[key] = vector
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)


def _centred(vectors: Vectors, mean: npt.NDArray[np.float32]) -> Vectors:
    """Subtract the encoder's mean and renormalise (R-10a)."""
    moved = vectors - mean
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.where(lengths > 0.0, lengths, 1.0), dtype=np.float32)
