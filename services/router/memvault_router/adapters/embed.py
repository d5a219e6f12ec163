"""The encoder behind the embed contract, in another process or in this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memvault.embed.v1 import embed_pb2
from memvault.rpc.client import call
from memvault_router.ports import Encoded, EncoderFacts, TokenBlock


class EmbedClient:
    """`Encoder` over a stub of `EmbedService`."""

    def __init__(self, stub: Any, timeout_s: float, batch_timeout_s: float) -> None:  # noqa: ANN401 - grpc or local
        self._stub = stub
        self._timeout_s = timeout_s
        self._batch_timeout_s = batch_timeout_s

    async def describe(self) -> EncoderFacts:
        """Return which encoder it is."""
        answer = await call(self._stub.Describe, embed_pb2.DescribeRequest(), timeout_s=self._timeout_s)
        return EncoderFacts(answer.encoder_id, np.frombuffer(answer.query_mean, "<f4"))

    async def encode(self, texts: Sequence[str], kind: str, *, token_vectors: bool = False) -> Encoded:
        """Encode texts; more than a few may take longer, as at the warm-up."""
        request = embed_pb2.EmbedRequest(texts=texts, kind=kind, token_vectors=token_vectors, soon=True)
        timeout_s = self._timeout_s if len(texts) <= _FEW else self._batch_timeout_s
        answer = await call(self._stub.Embed, request, timeout_s=timeout_s)
        return Encoded(
            np.stack([np.frombuffer(each.vector, "<f4") for each in answer.embeddings]),
            tuple(
                TokenBlock(each.tokens.values, each.tokens.rows, each.tokens.columns)
                if each.HasField("tokens")
                else None
                for each in answer.embeddings
            ),
            answer.encoder_id,
        )


_FEW = 4
