"""`memvault.embed.v1.EmbedService` over the embedder."""

import numpy as np

from memvault.embed.v1 import embed_pb2 as pb
from memvault.faults import Fault, Reason
from memvault.slow_thinker.v1 import prefetch_pb2
from memvault_search.domain.embedding import KINDS, FloatArray, TextKind, TokenVectors
from memvault_search.ports import Embedder

MOST_TEXTS = 512  # the contract's
LONGEST_TEXT = 64 * 1024  # bytes, as long as a block


class EmbedHandlers:
    """Vectors for the other services."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def Embed(self, request: pb.EmbedRequest, context: object) -> pb.EmbedResponse:
        kind = _checked(request)
        made = await self._embedder.embed(
            list(request.texts), kind, token_vectors=request.token_vectors, soon=request.soon
        )
        return pb.EmbedResponse(
            embeddings=[
                pb.Embedding(vector=packed(vector), tokens=None if tokens is None else packed_tokens(tokens))
                for vector, tokens in zip(made.vectors, made.tokens, strict=True)
            ],
            encoder_id=self._embedder.id,
        )

    async def Describe(self, request: pb.DescribeRequest, context: object) -> pb.DescribeResponse:
        return pb.DescribeResponse(
            encoder_id=self._embedder.id,
            dimension=self._embedder.dimension,
            prefix_version=self._embedder.prefix_version,
            query_mean=packed(self._embedder.means.query),
            passage_mean=packed(self._embedder.means.passage),
        )


def packed(vector: FloatArray) -> bytes:
    """Return float32 [d] as little-endian bytes."""
    return vector.astype("<f4").tobytes()


def packed_tokens(tokens: TokenVectors) -> prefetch_pb2.TokenVectors:
    """Return token vectors as the contract's message."""
    rows, columns = tokens.values.shape
    return prefetch_pb2.TokenVectors(values=tokens.values.tobytes(), rows=rows, columns=columns)


def unpacked_tokens(message: prefetch_pb2.TokenVectors) -> TokenVectors:
    """Read the contract's message.

    Raises:
        Fault: FIELD_INVALID when shape and bytes do not agree.

    """
    if message.rows < 0 or message.columns < 0 or message.rows * message.columns != len(message.values):
        raise Fault(Reason.FIELD_INVALID, "token vectors: send rows x columns bytes", field="tokens")
    return TokenVectors(np.frombuffer(message.values, np.int8).reshape(message.rows, message.columns))


def _checked(request: pb.EmbedRequest) -> TextKind:
    if request.kind not in KINDS:
        raise Fault(Reason.FIELD_INVALID, f"kind must be one of {', '.join(KINDS)}", field="kind")
    if not request.texts:
        raise Fault(Reason.TEXT_REQUIRED, "send at least one text", field="texts")
    if len(request.texts) > MOST_TEXTS:
        raise Fault(Reason.PAYLOAD_TOO_LARGE, f"send at most {MOST_TEXTS} texts at once", field="texts")
    if any(len(text.encode()) > LONGEST_TEXT for text in request.texts):
        raise Fault(Reason.TEXT_TOO_LONG, f"a text may have {LONGEST_TEXT} bytes: send its passages", field="texts")
    return request.kind
