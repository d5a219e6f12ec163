"""Runs the unpacked encoder: pieces in, one vector per text out, token vectors on request. Synchronous."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from memvault_search.adapters.e5_tokenizer import Pieces
from memvault_search.adapters.e5_weights import PackedEncoder, unpacked
from memvault_search.domain.embedding import FloatArray, unit_rows

GRAPH_VERSION = "w7a8-4"  # changes with whatever changes the graph
VECTORS_VERSION = "w7a8-2"  # changes where vectors can no longer be compared with those of before
INPUT_WORDS, INPUT_POSITIONS, OUTPUT = "words", "positions", "hidden"
LOG_ERRORS_ONLY = 3  # onnxruntime's severity


class E5Encoder:
    """Mean pooling over the encoder's last layer."""

    def __init__(self, graph: Path | bytes, weights: PackedEncoder, *, threads: int) -> None:
        """Load a graph, from its file or serialised."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = LOG_ERRORS_ONLY
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        source = graph if isinstance(graph, bytes) else str(graph)
        self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        shape = weights.shape
        self._words = weights.blocks("emb.word", shape.words, shape.hidden)
        self.dimension = shape.hidden

    def encode(self, batch: Sequence[Pieces]) -> tuple[FloatArray, list[FloatArray]]:
        """Encode texts, each in a run of its own.

        Dynamic quantisation takes one scale per run: encoded together, a text's vector would depend on its neighbours
        in the queue, and the same memory would get another vector each time it is written.

        Args:
            batch: at least one text.

        Returns:
            Vectors [texts, dimension] with rows of length 1, and the last layer's rows of
            each text's own pieces [pieces, dimension] as they come.

        """
        hidden = [self._run(pieces) for pieces in batch]
        mean = np.stack([rows.mean(axis=0) for rows in hidden])
        own = [rows[pieces.own] for rows, pieces in zip(hidden, batch, strict=True)]
        return unit_rows(mean.astype(np.float32)), own

    def _run(self, pieces: Pieces) -> FloatArray:
        """Return the last layer's rows [pieces, dimension] of one text."""
        ids = np.array([pieces.ids], np.int64)
        feed = {
            INPUT_WORDS: unpacked(self._words[ids]),
            INPUT_POSITIONS: np.arange(ids.shape[1]),
        }
        hidden: FloatArray = self._session.run([OUTPUT], feed)[0][0]
        return hidden
