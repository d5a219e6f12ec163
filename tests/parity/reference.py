"""Qwen3 and its three heads in plain numpy, written from the definition of the architecture: what adapters are held to.

Nothing here shares code with the product. Everything is computed in float64, one sequence at a time, without padding.

Sources: Qwen3 Technical Report (arXiv 2505.09388): pre-norm blocks, RMSNorm, grouped-query attention with RMSNorm on
every head's queries and keys, rotary positions, SwiGLU; B. Zhang, R. Sennrich, Root Mean Square Layer Normalization,
2019; J. Su et al., RoFormer, 2021, in the form that rotates halves; N. Shazeer, GLU Variants Improve Transformer,
2020. Heads: the model cards of Qwen3-Embedding and Qwen3-Reranker, the published code of jina-reranker-v3.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

TASK = "Given a web search query, retrieve relevant passages that answer the query"
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|embed_token|>", "<|rerank_token|>")


@dataclass
class Tiny:
    """Configuration, weights in float64, tokenizer and projector of a folder."""

    config: dict
    weights: dict[str, np.ndarray]
    tokenizer: Tokenizer
    projector: dict[str, np.ndarray]

    @classmethod
    def read(cls, folder: Path) -> "Tiny":
        def wide(name: str) -> dict[str, np.ndarray]:
            return {key: value.astype(np.float64) for key, value in load_file(folder / name).items()}

        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        return cls(config, wide("model.safetensors"), tokenizer, wide("projector.safetensors"))

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def rotated(x: np.ndarray, base: float) -> np.ndarray:
    """Rotary positions over [tokens, dimension]: component i turns with component i + dimension / 2."""
    tokens, dimension = x.shape
    half = dimension // 2
    angle = np.arange(tokens)[:, None] * base ** (-np.arange(half) * 2.0 / dimension)
    first, second = x[:, :half], x[:, half:]
    return np.concatenate(
        [first * np.cos(angle) - second * np.sin(angle), second * np.cos(angle) + first * np.sin(angle)], axis=1
    )


def attention(x: np.ndarray, tiny: Tiny, layer: str) -> np.ndarray:
    config, weights = tiny.config, tiny.weights
    heads, groups, size = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    eps, base = config["rms_norm_eps"], config["rope_theta"]
    queries, keys, values = (x @ weights[f"{layer}.{name}_proj.weight"].T for name in "qkv")
    later = np.triu(np.full((len(x), len(x)), -np.inf), k=1)
    out = []
    for head in range(heads):
        group = head // (heads // groups)
        own, shared = slice(head * size, (head + 1) * size), slice(group * size, (group + 1) * size)
        query = rotated(rms_norm(queries[:, own], weights[f"{layer}.q_norm.weight"], eps), base)
        key = rotated(rms_norm(keys[:, shared], weights[f"{layer}.k_norm.weight"], eps), base)
        scores = query @ key.T / np.sqrt(size) + later
        share = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out.append(share / share.sum(axis=-1, keepdims=True) @ values[:, shared])
    return np.concatenate(out, axis=1) @ weights[f"{layer}.o_proj.weight"].T


def feed_forward(x: np.ndarray, tiny: Tiny, layer: str) -> np.ndarray:
    gate, up, down = (tiny.weights[f"{layer}.{name}_proj.weight"] for name in ("gate", "up", "down"))
    gated = x @ gate.T
    return (gated / (1.0 + np.exp(-gated)) * (x @ up.T)) @ down.T


def last_layer(ids: Sequence[int], tiny: Tiny) -> np.ndarray:
    """Rows of the last layer after its norm, [tokens, hidden]."""
    eps = tiny.config["rms_norm_eps"]
    x = tiny.weights["model.embed_tokens.weight"][list(ids)]
    for number in range(tiny.config["num_hidden_layers"]):
        layer = f"model.layers.{number}"
        x = x + attention(rms_norm(x, tiny.weights[f"{layer}.input_layernorm.weight"], eps), tiny, f"{layer}.self_attn")
        normed = rms_norm(x, tiny.weights[f"{layer}.post_attention_layernorm.weight"], eps)
        x = x + feed_forward(normed, tiny, f"{layer}.mlp")
    return rms_norm(x, tiny.weights["model.norm.weight"], eps)


def embedding(text: str, kind: str, tiny: Tiny, *, dimension: int, longest: int) -> np.ndarray:
    """Last-token pooling over text and end token; cut to the first `dimension` components, length 1."""
    whole = f"Instruct: {TASK}\nQuery:{text}" if kind == "query" else text
    end = tiny.tokenizer.token_to_id("<|endoftext|>")
    row = last_layer([*tiny.ids(whole)[: longest - 1], end], tiny)[-1][:dimension]
    return row / np.linalg.norm(row)


def yes_share(query: str, document: str, tiny: Tiny, *, longest: int) -> float:
    """Qwen3-Reranker: probability of `yes` against `no` as the next token."""
    before = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
        'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
    )
    after = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    first, last = tiny.ids(before), tiny.ids(after)
    body = tiny.ids(f"<Instruct>: {TASK}\n<Query>: {query}\n<Document>: {document}")
    ids = [*first, *body[: longest - len(first) - len(last)], *last]
    head = tiny.weights["model.embed_tokens.weight"]
    row = last_layer(ids, tiny)[-1]
    no, yes = (head[tiny.tokenizer.token_to_id(word)] @ row for word in ("no", "yes"))
    return float(1.0 / (1.0 + np.exp(no - yes)))


def listwise_prompt(query: str, documents: Sequence[str]) -> str:
    passages = "\n".join(
        f'<passage id="{number}">\n{document}<|embed_token|>\n</passage>' for number, document in enumerate(documents)
    )
    return (
        "<|im_start|>system\nYou are a search relevance expert who can determine a ranking of the passages based on "
        "how relevant they are to the query. If the query is a question, how relevant a passage is depends on how well "
        "it answers the question. If not, try to analyze the intent of the query and assess how well each passage "
        "satisfies the intent. If an instruction is provided, you should follow the instruction when determining the "
        f"ranking.<|im_end|>\n<|im_start|>user\nI will provide you with {len(documents)} passages, each indicated by a "
        f"numerical identifier. Rank the passages based on their relevance to query: {query}\n{passages}\n<query>\n"
        f"{query}<|rerank_token|>\n</query><|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


def cosines(rows: np.ndarray, one: np.ndarray) -> np.ndarray:
    return rows @ one / (np.linalg.norm(rows, axis=1) * np.linalg.norm(one))


def listwise(query: str, blocks: Sequence[Sequence[str]], tiny: Tiny) -> np.ndarray:
    """jina-reranker-v3 over given blocks: query vectors are averaged, weighted by each block's best score."""
    documents, queries, weights = [], [], []
    for block in blocks:
        ids = np.array(tiny.ids(listwise_prompt(query, block)))
        rows = last_layer(ids, tiny)
        projected = np.maximum(rows @ tiny.projector["linear1.weight"].T, 0.0) @ tiny.projector["linear2.weight"].T
        own = projected[ids == tiny.tokenizer.token_to_id("<|embed_token|>")]
        (asked,) = projected[ids == tiny.tokenizer.token_to_id("<|rerank_token|>")]
        documents.append(own)
        queries.append(asked)
        weights.append((1.0 + cosines(own, asked).max()) / 2.0)
    return cosines(np.concatenate(documents), np.average(queries, axis=0, weights=weights))


def clipped(text: str, limit: int, tiny: Tiny) -> str:
    """The text before its token number `limit`."""
    offsets = tiny.tokenizer.encode(text, add_special_tokens=False).offsets
    return text if len(offsets) <= limit else text[: offsets[limit][0]]
