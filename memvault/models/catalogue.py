"""The models that memvault knows by name: what each is for, where it comes from, and under which licence."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["embedder", "reranker", "text"]

BACKBONE = ("config.json", "tokenizer.json")
"""Files that every model needs beside its weights."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model that can be fetched.

    Attributes:
        name: what commands and settings call it; also the name of its folder.
        role: what it does.
        repository: where a hub keeps it, as `owner/name`.
        licence: as its card names it.
        terms: what the licence asks of whoever uses it, in a sentence.
        bytes: of the download, roughly; the hub tells the exact number before anything is fetched.
        setting: what to set so that it is used.
        extra: files that it needs beside config, tokenizer and weights.

    """

    name: str
    role: Role
    repository: str
    licence: str
    terms: str
    bytes: int
    setting: str
    extra: tuple[str, ...] = ()


CATALOGUE = (
    Model(
        name="qwen3-embedding-0.6b",
        role="embedder",
        repository="Qwen/Qwen3-Embedding-0.6B",
        licence="Apache-2.0",
        terms="free to use, change and pass on; keep the notices",
        bytes=1_203_000_000,
        setting='search.embedder.kind = "qwen3"',
    ),
    Model(
        name="jina-reranker-v3",
        role="reranker",
        repository="jinaai/jina-reranker-v3-mlx",
        licence="CC-BY-NC-4.0",
        terms="NON-COMMERCIAL use only; name the author; ask Jina AI for a commercial licence",
        bytes=1_210_000_000,
        setting='rerank.model = "jina_v3"',
        extra=("projector.safetensors",),
    ),
    Model(
        name="qwen3-reranker-0.6b",
        role="reranker",
        repository="Qwen/Qwen3-Reranker-0.6B",
        licence="Apache-2.0",
        terms="free to use, change and pass on; keep the notices",
        bytes=1_203_000_000,
        setting='rerank.model = "qwen3"',
    ),
    Model(
        name="qwen3-4b-instruct",
        role="text",
        repository="mlx-community/Qwen3-4B-Instruct-2507-4bit",
        licence="Apache-2.0",
        terms="free to use, change and pass on; keep the notices",
        bytes=2_280_000_000,
        setting='text_model.model = "qwen3-4b-instruct"',
    ),
)


def model_named(name: str) -> Model | None:
    """Return the model of that name, or None."""
    return next((model for model in CATALOGUE if model.name == name), None)
