"""A language model that `memvault up` runs itself: when it does, with which command, and what the services are told."""

import json
import shutil
from pathlib import Path

import pytest

from memvault.llm.client import LlmSettings
from memvault.runtime.folder import Folder
from memvault.runtime.settings import SettingsError, load
from memvault.runtime.topology import SERVICES, Plan, plan

TINY = Path(__file__).parents[2] / "parity" / "tiny_qwen3"
NAME = "qwen3-4b-instruct"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("MEMVAULT__HTTP__ADDRESS", "127.0.0.1:0")
    monkeypatch.setenv("MEMVAULT__ADDRESSES__GATEWAY", "127.0.0.1:0")
    made = Folder(tmp_path)
    made.prepare()
    return made


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memvault.runtime.text_model.importlib.util.find_spec", lambda _: object())


def planned(folder: Folder, model: str, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setenv("MEMVAULT__TEXT_MODEL__MODEL", model)
    return plan(folder, "six")


def test_none_is_started_unless_somebody_asked_for_one(folder: Folder) -> None:
    made = plan(folder, "six")
    assert "text_model" not in [spec.name for spec in made.specs]
    assert not any("LLM__BASE_URL" in name for spec in made.specs for name in spec.environment)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("by_name", [True, False])
def test_a_configured_one_runs_beside_the_services_which_find_it_and_do_not_wait_for_it(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, by_name: bool
) -> None:
    weights = folder.root / "models" / NAME
    shutil.copytree(TINY, weights)
    made = planned(folder, NAME if by_name else str(weights), monkeypatch)
    server = next(spec for spec in made.specs if spec.name == "text_model")
    assert server.command[1:5] == ("-m", "mlx_lm.server", "--model", str(weights))
    assert server.command[server.command.index("--port") + 1] == server.address.rpartition(":")[2]
    assert server.environment["HF_HUB_OFFLINE"] == "1", "a request for another model must not make it download one"
    for spec in made.specs:
        if spec.name in SERVICES:
            settings = load("llm", LlmSettings, home=folder.root, environ=spec.environment)
            assert (settings.base_url, settings.model) == (f"http://{server.address}/v1", "default_model")
            assert "text_model" not in (*spec.after, *spec.asks)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("model", "advice"), [(NAME, f"memvault models fetch {NAME}"), ("/nowhere", "/nowhere")])
def test_one_that_is_not_there_keeps_memvault_from_starting_with_one_line(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, model: str, advice: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        planned(folder, model, monkeypatch)
    assert advice in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_mlx_lm_it_says_what_else_can_be_done(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TINY, folder.root / "models" / NAME)
    monkeypatch.setattr("memvault.runtime.text_model.importlib.util.find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"llm\.base_url"):
        planned(folder, NAME, monkeypatch)


def test_weights_in_several_files_must_all_be_there(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = shutil.copytree(TINY, folder.root / "models" / NAME)
    shards = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (weights / "model.safetensors.index.json").write_text(json.dumps(shards), encoding="utf-8")
    with pytest.raises(SettingsError, match="model-00002-of-00002"):
        planned(folder, NAME, monkeypatch)
