"""Writes the encoder of multilingual-e5-small as an ONNX graph with int8 matrices.

The word table stays outside: the graph's input is the word vectors, so that 54 MB of 4-bit rows need not become
384 MB of float32. Matrices hold 7-bit weights in int8: with 8 bits, processors without VNNI overflow when they add
two products in 16 bits (least cosine to the package's own vectors 0.988 instead of 0.993, at equal speed).
Activations are quantised while it runs, with one scale for all tokens of a text; before the two matrices of the feed
forward each token is brought to the same size, or a few tokens that are ten times as large as the others would leave
those a tenth of the steps (docs/decisions/0040). Operators of `com.microsoft` are onnxruntime's fused ones.

Attention is written out, because the fused one, and `Softmax`, add up in an order that depends on the processor: 1e-7,
which quantisation carries through twelve layers to a cosine of 0.998. Written out the vectors are the same, bit by bit,
on every x86-64 processor with AVX2 and FMA, at the same speed (docs/decisions/0038).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

from memvault_search.adapters.e5_encoder import INPUT_POSITIONS, INPUT_WORDS, OUTPUT
from memvault_search.adapters.e5_weights import PackedEncoder
from memvault_search.domain.embedding import FloatArray

LARGEST_WEIGHT = 63
LEAST_SIZE = 1e-6  # of a token, so that nothing is divided by 0
DEEPEST_OF_GELU = 0.17  # nothing lower comes out of it, so that the largest value or this is a token's size
FUSED = "com.microsoft"
OPSET, FUSED_OPSET, IR_VERSION = 17, 1, 9


def encoder_graph(weights: PackedEncoder) -> bytes:
    """Return the serialised graph of one text: words f32 [1, s, h], positions i64 [s] -> hidden f32 [1, s, h]."""
    return _written(_Int8Graph(weights))


def exact_graph(weights: PackedEncoder) -> bytes:
    """Return the same network with float32 matrices: what the other one is held to."""
    return _written(_Graph(weights))


def _written(graph: "_Graph") -> bytes:
    weights, shape = graph.weights, graph.weights.shape
    types = weights.floats("emb.type").reshape(-1, shape.hidden)
    positions = graph.constant("positions.table", weights.floats("emb.pos").reshape(-1, shape.hidden) + types[0])
    state = graph.node("Add", [INPUT_WORDS, graph.node("Gather", [positions, INPUT_POSITIONS])])
    scale, bias = graph.norm("emb.ln")
    state = graph.node("LayerNormalization", [state, scale, bias], axis=-1, epsilon=shape.epsilon)
    head = shape.hidden // shape.heads
    graph.constant("attention.split", np.array([0, -1, 3, shape.heads, head], np.int64))
    graph.constant("attention.join", np.array([0, -1, shape.hidden], np.int64))
    graph.constant("attention.scale", np.array([head**-0.5], np.float32))
    graph.constant("attention.last", np.array([-1], np.int64))
    graph.constant("size.least", np.array([LEAST_SIZE], np.float32))
    graph.constant("size.gelu", np.array([DEEPEST_OF_GELU], np.float32))
    for layer in range(shape.layers):
        state = _layer(graph, f"l{layer}.", state)
    graph.node("Identity", [state], outputs=[OUTPUT])
    return graph.serialised()


def _layer(graph: "_Graph", prefix: str, state: str) -> str:
    shape = graph.weights.shape
    together = graph.linear([f"{prefix}{part}" for part in "qkv"], state, shape.hidden, shape.hidden)
    attended = graph.linear([f"{prefix}ao"], _attended(graph, prefix, together), shape.hidden, shape.hidden)
    state = graph.added_norm(f"{prefix}aln", state, attended)
    largest = graph.node("ReduceMax", [graph.node("Abs", [state])], axes=[-1], keepdims=1)
    size = graph.node("Max", [largest, "size.least"])
    inner = graph.evened(f"{prefix}fi", state, size, shape.feed_forward, shape.hidden)
    inner = graph.node("BiasGelu", [inner, graph.bias(f"{prefix}fi")], domain=FUSED)
    size = graph.node("Max", [graph.node("ReduceMax", [inner], axes=[-1], keepdims=1), "size.gelu"])
    outer = graph.evened(f"{prefix}fo", inner, size, shape.hidden, shape.feed_forward)
    return graph.added_norm(f"{prefix}oln", state, outer, graph.bias(f"{prefix}fo"))


def _attended(graph: "_Graph", prefix: str, together: str) -> str:
    """Scaled dot-product attention (Vaswani et al. 2017) over all of a text: [1, s, 3 h] -> [1, s, h].

    Heads come first while it works, [1, 1, heads, s, h / heads]. A sum is divided by at the end, once for each row.
    """
    heads = graph.node("Transpose", [graph.node("Reshape", [together, "attention.split"])], perm=[2, 0, 3, 1, 4])
    query, key, value = (f"{prefix}{part}.out" for part in "qkv")
    graph.node("Split", [heads], outputs=[query, key, value], axis=0)
    scaled = graph.node("Mul", [query, "attention.scale"])
    scores = graph.node("MatMul", [scaled, graph.node("Transpose", [key], perm=[0, 1, 2, 4, 3])])
    largest = graph.node("ReduceMax", [scores], axes=[-1], keepdims=1)
    powers = graph.node("Exp", [graph.node("Sub", [scores, largest])])
    sums = graph.node("ReduceSum", [powers, "attention.last"], keepdims=1)
    attended = graph.node("Div", [graph.node("MatMul", [powers, value]), sums])
    return graph.node("Reshape", [graph.node("Transpose", [attended], perm=[0, 1, 3, 2, 4]), "attention.join"])


class _Graph:
    """Nodes and constants of a graph; its matrices are float32."""

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

    def bias(self, name: str) -> str:
        return self.constant(f"{name}.bias", self.weights.floats(f"{name}.b"))

    def added_norm(self, name: str, state: str, update: str, *bias: str) -> str:
        inputs = [state, update, *self.norm(name), *bias]
        return self.node("SkipLayerNormalization", inputs, domain=FUSED, epsilon=self.weights.shape.epsilon)

    def linear(self, names: Sequence[str], state: str, rows: int, columns: int) -> str:
        """Multiply by one or several matrices at once and add their biases; outputs lie side by side."""
        matrix = np.concatenate([self.weights.matrix(f"{name}.w", rows, columns) for name in names])
        bias = np.concatenate([self.weights.floats(f"{name}.b") for name in names])
        return self.product(names[0], state, matrix, self.constant(f"{names[0]}.bias", bias))

    def evened(self, name: str, state: str, size: str, rows: int, columns: int) -> str:
        """Multiply by one matrix, each token of `state` divided by its `size` [1, s, 1] meanwhile."""
        even = self.node("Mul", [state, self.node("Reciprocal", [size])])
        product = self.product(name, even, self.weights.matrix(f"{name}.w", rows, columns))
        return self.node("Mul", [product, size])

    def product(self, name: str, state: str, matrix: FloatArray, *bias: str) -> str:
        """Multiply [1, s, k] by a matrix [n, k]; `bias` names a constant [n] to be added."""
        product = self.node("MatMul", [state, self.constant(f"{name}.w", matrix.T)])
        return self.node("Add", [product, *bias]) if bias else product

    def serialised(self) -> bytes:
        hidden = self.weights.shape.hidden
        inputs = [
            helper.make_tensor_value_info(INPUT_WORDS, TensorProto.FLOAT, [1, "s", hidden]),
            helper.make_tensor_value_info(INPUT_POSITIONS, TensorProto.INT64, ["s"]),
        ]
        outputs = [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, "s", hidden])]
        graph = helper.make_graph(self._nodes, "e5", inputs, outputs, self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, FUSED_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = IR_VERSION
        return bytes(model.SerializeToString())


class _Int8Graph(_Graph):
    def product(self, name: str, state: str, matrix: FloatArray, *bias: str) -> str:
        quantised, scales = _seven_bit(matrix)
        inputs = [
            state,
            self.constant(f"{name}.q", quantised.T),
            self.constant(f"{name}.scale", scales),
            self.constant(f"{name}.zero", np.zeros(len(matrix), np.int8)),
            *bias,
        ]
        return self.node("DynamicQuantizeMatMul", inputs, domain=FUSED)


def _seven_bit(matrix: FloatArray) -> tuple[npt.NDArray[np.int8], FloatArray]:
    """Quantise each row of float32 [n, k] to [-63, 63]; returns int8 [n, k] and scales [n]."""
    scales = np.abs(matrix).max(axis=1) / LARGEST_WEIGHT
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
