"""Fetching a model from a hub: a server on this machine stands for it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memvault.faults import Fault, Reason
from memvault.models import fetching
from memvault.models.catalogue import Model, model_named
from memvault.models.fetching import fetch, offered
from memvault.models.shelf import digest_of, folder_of, missing_files, require
from tests.unit.models.hub import REVISION, Hub, running

TINY = Path(__file__).parents[2] / "parity" / "tiny_qwen3"
pytest.importorskip("huggingface_hub", reason="huggingface_hub comes with mlx-lm")


@pytest.fixture
def model() -> Model:
    found = model_named("jina-reranker-v3")
    assert found is not None
    return found


@pytest.fixture
def hub(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(fetching, "PAUSE_S", 0.0)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    files = shutil.copytree(TINY, tmp_path / "hub")
    (files / "modeling.py").write_text("raise SystemExit", encoding="utf-8")
    (files / "pytorch_model.bin").write_bytes(b"weights of another framework")
    (files / "1_Pooling").mkdir()
    (files / "1_Pooling" / "config.json").write_text("{}", encoding="utf-8")
    with running(Hub(files, model.repository, licence="cc-by-nc-4.0")) as served:
        yield served


def test_an_offer_tells_revision_size_and_licence_and_fetches_nothing(hub: Hub, model: Model) -> None:
    offer = offered(model, hub.url)
    assert (offer.revision, offer.licence) == (REVISION, "cc-by-nc-4.0")
    assert offer.bytes == sum(path.stat().st_size for path in TINY.iterdir())
    assert [asked[1] for asked in hub.asked] == [f"/api/models/{model.repository}"]


def test_what_is_fetched_is_whole_and_holds_no_code(hub: Hub, model: Model, tmp_path: Path) -> None:
    folder = folder_of(model, tmp_path)
    assert missing_files(model, folder)
    told: list[int] = []
    offer = offered(model, hub.url)
    fetch(offer, folder, told.append)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in TINY.iterdir())
    assert digest_of(folder) == digest_of(TINY)
    assert sum(told) == offer.bytes
    require(model, folder, "rerank.jina_v3.folder")


def test_a_download_that_broke_off_goes_on_at_its_last_byte(hub: Hub, model: Model, tmp_path: Path) -> None:
    folder, offer = tmp_path / "model", offered(model, hub.url)
    hub.breaks = "model.safetensors"
    with pytest.raises(Fault) as broken:
        fetch(offer, folder)
    assert broken.value.reason is Reason.NO_MODEL
    assert "run the command again" in broken.value.message
    assert "model.safetensors" in missing_files(model, folder)
    hub.breaks = ""
    hub.asked.clear()
    told: list[int] = []
    fetch(offer, folder, told.append)
    size = (TINY / "model.safetensors").stat().st_size
    assert [asked[2] for asked in hub.asked if asked[1].endswith("/model.safetensors")] == [f"bytes={size // 2}-"]
    assert hub.times("GET", "config.json") == 0, "a finished file is not fetched again"
    assert sum(told) == offer.bytes
    assert digest_of(folder) == digest_of(TINY)


def test_a_damaged_file_never_takes_its_place(hub: Hub, model: Model, tmp_path: Path) -> None:
    offer = offered(model, hub.url)
    path = hub.files / "projector.safetensors"
    path.write_bytes(path.read_bytes()[::-1])
    with pytest.raises(Fault, match="came damaged"):
        fetch(offer, tmp_path / "model")
    assert not (tmp_path / "model" / "projector.safetensors").exists()
    assert not list((tmp_path / "model").glob(".projector*"))


def test_a_repository_that_lacks_a_part_is_refused(hub: Hub, model: Model, tmp_path: Path) -> None:
    (hub.files / "projector.safetensors").unlink()
    with pytest.raises(Fault, match=r"came without projector\.safetensors"):
        fetch(offered(model, hub.url), tmp_path / "model")


def test_a_hub_that_is_away_is_one_line(hub: Hub, model: Model, tmp_path: Path) -> None:
    offer = offered(model, hub.url)
    with pytest.raises(Fault) as unknown:
        offered(Model("other", "text", "somebody/else", "", "", 0, ""), hub.url)
    assert "\n" not in unknown.value.message
    (hub.files / "tokenizer.json").unlink()
    with pytest.raises(Fault, match="404"):
        fetch(offer, tmp_path / "model")


def test_a_full_disk_is_told_before_anything_is_fetched(
    hub: Hub, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = offered(model, hub.url)
    hub.asked.clear()
    monkeypatch.setattr(fetching, "_SPARE_BYTES", 1 << 60)
    with pytest.raises(Fault, match="make room"):
        fetch(offer, tmp_path / "model")
    assert hub.asked == []
