"""Writes the encoder of multilingual-e5-small as an ONNX graph with int8 matrices.

The word table stays outside: the graph's input is the word vectors, so that 54 MB of 4-bit rows need not become
384 MB of float32. Matrices hold 7-bit weights in int8: with 8 bits, processors without VNNI overflow when they add
two products in 16 bits (least cosine to the package's own vectors 0.988 instead of 0.993, at equal speed).
Activations are quantised while it runs. Operators of `com.microsoft` are onnxruntime's fused ones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

from memvault_search.adapters.e5_encoder import INPUT_MASK, INPUT_POSITIONS, INPUT_WORDS, OUTPUT
from memvault_search.adapters.e5_weights import PackedEncoder
from memvault_search.domain.embedding import FloatArray

LARGEST_WEIGHT = 63
FUSED = "com.microsoft"
OPSET, FUSED_OPSET, IR_VERSION = 17, 1, 9


def encoder_graph(weights: PackedEncoder) -> bytes:
    """Return the serialised graph: words f32 [b, s, h], positions i64 [s], mask i32 [b, s] -> hidden f32 [b, s, h]."""
    shape = weights.shape
    graph = _Graph(weights)
    types = weights.floats("emb.type").reshape(-1, shape.hidden)
    positions = graph.constant("positions.table", weights.floats("emb.pos").reshape(-1, shape.hidden) + types[0])
    state = graph.node("Add", [INPUT_WORDS, graph.node("Gather", [positions, INPUT_POSITIONS])])
    scale, bias = graph.norm("emb.ln")
    state = graph.node("LayerNormalization", [state, scale, bias], axis=-1, epsilon=shape.epsilon)
    graph.constant("thirds", np.full(3, shape.hidden, np.int64))
    for layer in range(shape.layers):
        state = _layer(graph, f"l{layer}.", state)
    graph.node("Identity", [state], outputs=[OUTPUT])
    return graph.serialised()


def _layer(graph: "_Graph", prefix: str, state: str) -> str:
    shape = graph.weights.shape
    together = graph.linear([f"{prefix}{part}" for part in "qkv"], state, shape.hidden, shape.hidden)
    parts = [f"{prefix}{part}.out" for part in "qkv"]
    graph.node("Split", [together, "thirds"], outputs=parts, axis=-1)
    attended = graph.node("MultiHeadAttention", [*parts, "", INPUT_MASK], domain=FUSED, num_heads=shape.heads)
    attended = graph.linear([f"{prefix}ao"], attended, shape.hidden, shape.hidden)
    state = graph.added_norm(f"{prefix}aln", state, attended)
    inner = graph.linear([f"{prefix}fi"], state, shape.feed_forward, shape.hidden)
    inner = graph.node("Gelu", [inner], domain=FUSED)
    return graph.added_norm(
        f"{prefix}oln", state, graph.linear([f"{prefix}fo"], inner, shape.hidden, shape.feed_forward)
    )


class _Graph:
    def __init__(self, weights: PackedEncoder) -> None:
        self.weights = weights
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        *,
        outputs: Sequence[str] = (),
        domain: str = "",
        **attributes: Any,  # noqa: ANN401 - what onnx takes
    ) -> str:
        names = list(outputs) or [f"n{len(self._nodes)}"]
        self._nodes.append(helper.make_node(operator, list(inputs), names, domain=domain, **attributes))
        return names[0]

    def norm(self, name: str) -> tuple[str, str]:
        return (
            self.constant(f"{name}.scale", self.weights.floats(f"{name}.w")),
            self.constant(f"{name}.bias", self.weights.floats(f"{name}.b")),
        )

    def added_norm(self, name: str, state: str, update: str) -> str:
        inputs = [state, update, *self.norm(name)]
        return self.node("SkipLayerNormalization", inputs, domain=FUSED, epsilon=self.weights.shape.epsilon)

    def linear(self, names: Sequence[str], state: str, rows: int, columns: int) -> str:
        """Multiply by one or several matrices at once; their outputs lie side by side."""
        matrix = np.concatenate([self.weights.matrix(f"{name}.w", rows, columns) for name in names])
        bias = np.concatenate([self.weights.floats(f"{name}.b") for name in names])
        quantised, scales = _seven_bit(matrix)
        first = names[0]
        inputs = [
            state,
            self.constant(f"{first}.q", quantised.T),
            self.constant(f"{first}.scale", scales),
            self.constant(f"{first}.zero", np.zeros(len(matrix), np.int8)),
            self.constant(f"{first}.bias", bias),
        ]
        return self.node("DynamicQuantizeMatMul", inputs, domain=FUSED)

    def serialised(self) -> bytes:
        hidden = self.weights.shape.hidden
        inputs = [
            helper.make_tensor_value_info(INPUT_WORDS, TensorProto.FLOAT, ["b", "s", hidden]),
            helper.make_tensor_value_info(INPUT_POSITIONS, TensorProto.INT64, ["s"]),
            helper.make_tensor_value_info(INPUT_MASK, TensorProto.INT32, ["b", "s"]),
        ]
        outputs = [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["b", "s", hidden])]
        graph = helper.make_graph(self._nodes, "e5", inputs, outputs, self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, FUSED_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = IR_VERSION
        return bytes(model.SerializeToString())


def _seven_bit(matrix: FloatArray) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """Quantise each row of float32 [n, k] to [-63, 63]; returns int8 [n, k] and scales [n]."""
    scales = np.abs(matrix).max(axis=1) / LARGEST_WEIGHT
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
