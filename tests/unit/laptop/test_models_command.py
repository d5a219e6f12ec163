"""`memvault models`: list, check, fetch, bench, on the tiny model and on the packaged encoder."""

import importlib.util
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memvault.cli.main import add_plugins, build, run
from memvault.runtime.exits import Exit
from memvault_laptop.models import roles as looked
from memvault_laptop.models.command import app as models_app
from tests.unit.models.hub import Hub, running

TINY = Path(__file__).parents[2] / "parity" / "tiny_qwen3"
needs_mlx = pytest.mark.skipif(importlib.util.find_spec("mlx_lm") is None, reason="mlx-lm is not installed")
Command = Callable[..., tuple[int, Any]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMVAULT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MLX_DISABLE_COMPILE", "1")
    monkeypatch.setenv("MEMVAULT__SEARCH__EMBEDDER__QWEN3__DIMENSION", "32")
    return tmp_path / "home"


@pytest.fixture
def models_folder() -> Path:
    """The packaged encoder, unpacked once for all tests."""
    configured = os.environ.get("MEMVAULT__SEARCH__EMBEDDER__MODELS", "")
    return Path(configured) if configured else Path(__file__).parents[3] / ".memvault" / "models"


@pytest.fixture
def command(home: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    program = build()
    program.add_typer(models_app, name="models")

    def run_it(*words: str) -> tuple[int, Any]:
        code = run(program, ["models", *words])
        told = capsys.readouterr()
        return code, json.loads(told.out) if "--json" in words and told.out else told.out + told.err

    return run_it


def place(home: Path, *names: str) -> None:
    for name in names:
        shutil.copytree(TINY, home / "models" / name)


def test_it_plugs_into_the_program_like_other_commands() -> None:
    program = build()
    add_plugins(program)
    assert "models" in {group.name for group in program.registered_groups}


def test_by_default_everything_is_ready_and_nothing_was_fetched(command: Command) -> None:
    code, told = command("list", "--json")
    assert code == Exit.OK
    assert {role["role"]: (role["uses"], role["ready"]) for role in told["roles"]} == {
        "embedder": ("multilingual-e5-small", True),
        "reranker": ("late-interaction", True),
        "text model": ("", True),
        "token counter": ("Qwen byte pairs", True),
    }
    assert not any(model["on_disk"] for model in told["catalogue"])
    code, shown = command("list")
    assert code == Exit.OK
    assert "CC-BY-NC-4.0" in shown
    assert "jina-reranker-v3" in shown


def test_models_that_lie_there_are_shown_with_their_size(
    command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(home, "qwen3-embedding-0.6b", "jina-reranker-v3", "qwen3-4b-instruct")
    monkeypatch.setenv("MEMVAULT__SEARCH__EMBEDDER__KIND", "qwen3")
    monkeypatch.setenv("MEMVAULT__RERANK__MODEL", "jina_v3")
    monkeypatch.setenv("MEMVAULT__TEXT_MODEL__MODEL", "qwen3-4b-instruct")
    monkeypatch.setattr(looked, "mlx_missing", lambda: "")
    monkeypatch.setattr("memvault.runtime.text_model.importlib.util.find_spec", lambda _: object())
    _, told = command("list", "--json")
    size = sum(path.stat().st_size for path in TINY.iterdir())
    by_role = {role["role"]: role for role in told["roles"]}
    for role in ("embedder", "reranker", "text model"):
        assert (by_role[role]["ready"], by_role[role]["bytes"]) == (True, size)
    monkeypatch.setattr(looked, "mlx_missing", lambda: "MLX is not installed")
    _, told = command("list", "--json")
    assert told["roles"][0]["advice"] == "MLX is not installed"


@pytest.mark.parametrize(
    ("settings", "role", "advice"),
    [
        ({"SEARCH__EMBEDDER__KIND": "qwen3"}, "embedder", "memvault models fetch qwen3-embedding-0.6b"),
        ({"SEARCH__EMBEDDER__KIND": "qwen3"}, "reranker", "gives no token vectors"),
        ({"RERANK__MODEL": "qwen3"}, "reranker", "memvault models fetch qwen3-reranker-0.6b"),
        ({"TEXT_MODEL__MODEL": "qwen3-4b-instruct"}, "text model", "memvault models fetch qwen3-4b-instruct"),
        ({"TEXT_MODEL__MODEL": "/nowhere"}, "text model", "/nowhere"),
    ],
)
def test_what_is_missing_is_told_with_what_to_do(
    command: Command, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], role: str, advice: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"MEMVAULT__{name}", value)
    _, told = command("list", "--json")
    (found,) = [one for one in told["roles"] if one["role"] == role]
    assert not found["ready"]
    assert advice in found["advice"]
    code, told = command("check", "--json")
    assert code == Exit.FAILED
    assert any(finding["role"] == role and advice in finding["seen"] for finding in told["findings"])
    assert command("bench")[0] == Exit.UNAVAILABLE


def test_the_packaged_models_do_what_their_roles_need(
    command: Command, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT__SEARCH__EMBEDDER__MODELS", str(models_folder))
    code, told = command("check", "--json")
    assert code == Exit.OK, told
    assert {finding["role"] for finding in told["findings"]} == {"embedder", "reranker"}
    assert len(told["findings"]) == 11


@needs_mlx
@pytest.mark.parametrize("name", ["qwen3-embedding-0.6b", "jina-reranker-v3", "qwen3-reranker-0.6b"])
def test_random_weights_load_but_do_not_pass_for_a_model(command: Command, home: Path, name: str) -> None:
    """All that is technical holds; that an answer is nearer to its question than lemons is luck for random weights."""
    place(home, name)
    _, told = command("check", name, "--json")
    bad = [finding["what"] for finding in told["findings"] if not finding["good"]]
    assert all("both languages" in what for what in bad)
    assert len(told["findings"]) == (7 if "embedding" in name else 4)


def test_a_model_that_is_not_there_cannot_be_checked(command: Command) -> None:
    assert command("check", "unheard-of")[0] == Exit.NOT_FOUND
    assert command("check", "qwen3-4b-instruct")[0] == Exit.REFUSED
    assert command("check", "qwen3-embedding-0.6b")[0] == Exit.UNAVAILABLE


def test_a_wrong_setting_is_told_as_such(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMVAULT__RERANK__MODEL", "best")
    code, told = command("list")
    assert code == Exit.MISCONFIGURED
    assert "MEMVAULT__RERANK__MODEL" in told


def test_speed_is_measured_beside_the_packaged_encoder(
    command: Command, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT__SEARCH__EMBEDDER__MODELS", str(models_folder))
    few = ("--documents", "4", "--queries", "3", "--candidates", "3", "--lists", "2")
    code, told = command("bench", *few, "--json")
    assert code == Exit.OK
    assert told.keys() == {"embedder", "reranker"}
    assert told["embedder"]["documents_per_s"] > 0
    assert 0 < told["reranker"]["list_p50_ms"] <= told["reranker"]["list_p95_ms"]


@needs_mlx
def test_another_encoder_is_measured_against_it(
    command: Command, home: Path, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(home, "qwen3-embedding-0.6b")
    monkeypatch.setenv("MEMVAULT__SEARCH__EMBEDDER__MODELS", str(models_folder))
    monkeypatch.setenv("MEMVAULT__SEARCH__EMBEDDER__KIND", "qwen3")
    monkeypatch.setenv("MEMVAULT__RERANK__MODEL", "none")
    code, told = command("bench", "--documents", "4", "--queries", "3", "--json")
    assert code == Exit.OK
    own, packaged = told["embedder"], told["packaged_encoder"]
    ratio = told["embedder_against_the_packaged_one"]["queries_per_s"]
    assert ratio == pytest.approx(own["queries_per_s"] / packaged["queries_per_s"])


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("huggingface_hub", reason="huggingface_hub comes with mlx-lm")
    with running(Hub(shutil.copytree(TINY, tmp_path / "hub"), "jinaai/jina-reranker-v3-mlx")) as served:
        monkeypatch.setenv("MEMVAULT__MODELS__ENDPOINT", served.url)
        yield served


def test_a_model_is_fetched_only_after_its_licence_was_accepted(command: Command, home: Path, hub: Hub) -> None:
    code, told = command("fetch", "jina-reranker-v3")
    assert code == Exit.REFUSED
    assert "CC-BY-NC-4.0" in told
    assert "NON-COMMERCIAL" in told
    assert "the hub's card names another licence: apache-2.0" in told
    assert "--accept-licence" in told
    assert not (home / "models").exists()
    code, told = command("fetch", "jina-reranker-v3", "--accept-licence")
    assert code == Exit.OK
    assert 'rerank.model = "jina_v3"' in told
    assert (home / "models" / "jina-reranker-v3" / "model.safetensors").is_file()
    assert home.stat().st_mode & 0o077 == 0, "nobody else may look in"
    hub.asked.clear()
    assert command("fetch", "jina-reranker-v3", "--json")[1]["setting"] == 'rerank.model = "jina_v3"'
    assert hub.asked == [], "what is there in full needs no hub"


def test_a_hub_that_cannot_be_reached_is_told(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub", reason="huggingface_hub comes with mlx-lm")
    monkeypatch.setenv("MEMVAULT__MODELS__ENDPOINT", "http://127.0.0.1:9")
    code, told = command("fetch", "jina-reranker-v3", "--accept-licence")
    assert code == Exit.UNAVAILABLE
    assert "check the connection" in told
