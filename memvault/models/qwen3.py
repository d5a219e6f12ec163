"""Qwen3 on MLX: token ids in, rows of the last layer or logits of single tokens out. Synchronous, one thread.

The architecture is that of mlx-lm, the weights are read from a folder. Sequences of a batch are padded on the right:
attention is causal, so that what stands behind a token never changes it, and no mask is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.faults import Fault, Reason
from memvault.models.shelf import config_of

FloatArray = npt.NDArray[np.float32]

ARCHITECTURE = "qwen3"
_BODY, _HEAD = "model.", "lm_head."
_PADDING = 0  # any id will do, see above


class Qwen3:
    """Weights in memory. Belongs to the thread that made it: MLX binds arrays and streams to their thread."""

    def __init__(self, folder: Path, *, head: bool) -> None:
        """Load the weights.

        Args:
            folder: config.json and safetensors, plain or quantised by mlx-lm.
            head: whether logits will be asked for.

        Raises:
            Fault: NO_MODEL when MLX is not installed, or the folder holds no Qwen3.

        """
        architecture = config_of(folder).get("model_type")
        if architecture != ARCHITECTURE:
            message = f"{folder} holds a model of type {architecture}, not {ARCHITECTURE}: fetch the one that is named"
            raise Fault(Reason.NO_MODEL, message)
        self._mx = mx = mlx_core()
        self._thread = threading.get_ident()
        self._stream = mx.new_stream(mx.default_device())
        try:
            with mx.stream(self._stream):
                self._model = _loaded(folder, head=head)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            message = f"the model in {folder} cannot be loaded ({error}): fetch it again"
            raise Fault(Reason.NO_MODEL, message) from error

    def rows(self, sequences: Sequence[Sequence[int]], places: Sequence[Sequence[int]]) -> list[FloatArray]:
        """Run a batch and return rows of the last layer, after its norm.

        Args:
            sequences: token ids, none empty.
            places: for each sequence the positions whose rows are wanted.

        Returns:
            For each sequence float32 [places, hidden].

        """
        with self._own_stream():
            hidden = self._hidden(sequences)
            chosen = [hidden[number][self._mx.array(list(wanted))] for number, wanted in enumerate(places)]
            chosen = [row.astype(self._mx.float32) for row in chosen]
            self._mx.eval(chosen)
            return [np.array(row) for row in chosen]

    def last_logits(self, sequences: Sequence[Sequence[int]], tokens: Sequence[int]) -> FloatArray:
        """Run a batch and return the logits of some tokens as the next one, float32 [sequences, tokens]."""
        with self._own_stream():
            hidden = self._hidden(sequences)
            ends = self._mx.array([len(sequence) - 1 for sequence in sequences])
            last = hidden[self._mx.arange(len(sequences)), ends]
            # the head over the last row only: over all of them it would be the dearest part of the run
            body = self._model.model.embed_tokens
            logits = self._model.lm_head(last) if "lm_head" in self._model else body.as_linear(last)
            chosen = logits[:, self._mx.array(list(tokens))].astype(self._mx.float32)
            self._mx.eval(chosen)
            return np.array(chosen)

    def _hidden(self, sequences: Sequence[Sequence[int]]) -> Any:  # noqa: ANN401 - an array of MLX, which has no types
        longest = max(len(sequence) for sequence in sequences)
        padded = [[*sequence, *[_PADDING] * (longest - len(sequence))] for sequence in sequences]
        return self._model.model(self._mx.array(padded))

    def _own_stream(self) -> Any:  # noqa: ANN401 - as above
        if threading.get_ident() != self._thread:
            raise RuntimeError("a model of MLX runs in the thread that loaded it")
        return self._mx.stream(self._stream)


def mlx_core() -> Any:  # noqa: ANN401 - a module of a package without types
    """Import MLX with what runs models on it.

    Raises:
        Fault: NO_MODEL where it is not installed or does not run.

    """
    try:
        import mlx.core as mx  # noqa: PLC0415 - seconds, and only there on Apple Silicon
        import mlx_lm  # noqa: F401, PLC0415 - whether it can be imported
    except (ImportError, OSError, ValueError) as error:
        message = f"MLX does not run here ({error}): it needs Apple Silicon and `pip install mlx-lm`"
        raise Fault(Reason.NO_MODEL, message) from error
    return mx


def _loaded(folder: Path, *, head: bool) -> Any:  # noqa: ANN401 - as above
    """Load with mlx-lm, which also knows quantised weights; names of published files are brought into its form."""
    from mlx_lm.models import qwen3  # noqa: PLC0415 - as above
    from mlx_lm.utils import load_model  # noqa: PLC0415

    class Named(qwen3.Model):
        """Without a head where none is asked for: embedding models come without one."""

        def __init__(self, args: Any) -> None:  # noqa: ANN401 - mlx-lm's own
            args.tie_word_embeddings = args.tie_word_embeddings or not head
            super().__init__(args)

        def sanitize(self, weights: dict[str, Any]) -> dict[str, Any]:
            # Qwen3-Embedding is published without the prefix of the body; other parts, such as Jina's projector, are
            # read by whoever needs them
            named = {
                name if name.startswith((_BODY, _HEAD)) else _BODY + name: value
                for name, value in weights.items()
                if not name.startswith("projector.")
            }
            tied: bool = self.args.tie_word_embeddings
            return {name: value for name, value in named.items() if not (tied and name.startswith(_HEAD))}

    model, _ = load_model(folder, get_model_classes=lambda **_: (Named, qwen3.ModelArgs))
    model.eval()
    return model
