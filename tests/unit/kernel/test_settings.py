import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from memvault.runtime import settings
from memvault.runtime.settings import FrozenSettings, SettingsError, active_profile, defaults, home, load


class Fusion(FrozenSettings):
    k: float
    name: str = "rrf"
    weights: tuple[float, ...] = (1.0,)


class Search(FrozenSettings):
    on: bool
    fusion: Fusion


PACKAGED = """
profile = "tuned"
[search]
on = false
[search.fusion]
k = 60
weights = [1.0, 2.0]
[tuned.search.fusion]
k = 10
"""


@pytest.fixture(autouse=True)
def packaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_packaged", lambda: tomllib.loads(PACKAGED))


def configure(folder: Path, text: str) -> Path:
    (folder / "config.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_tuned_profile_lies_over_the_reference(tmp_path: Path) -> None:
    assert load("search", Search, profile="reference", home=tmp_path, environ={}).fusion.k == 60
    assert load("search", Search, profile="tuned", home=tmp_path, environ={}).fusion.k == 10
    assert defaults("reference")["search"]["fusion"]["k"] == 60


def test_a_dotted_section_is_a_table(tmp_path: Path) -> None:
    assert load("search.fusion", Fusion, home=tmp_path, environ={}).k == 10


def test_the_users_file_wins_over_the_package_and_the_environment_over_both(tmp_path: Path) -> None:
    configure(tmp_path, "[search]\non = true\n[search.fusion]\nk = 7\n[tuned.search.fusion]\nk = 8\n")
    assert load("search", Search, profile="tuned", home=tmp_path, environ={}).fusion.k == 8
    assert load("search", Search, profile="reference", home=tmp_path, environ={}).fusion.k == 7
    environ = {"MEMVAULT__SEARCH__FUSION__K": "9", "MEMVAULT__SEARCH__FUSION__WEIGHTS": "[3, 4]"}
    chosen = load("search", Search, home=tmp_path, environ=environ)
    assert (chosen.on, chosen.fusion.k, chosen.fusion.weights) == (True, 9, (3, 4))


def test_a_text_of_digits_stays_a_text(tmp_path: Path) -> None:
    assert load("search", Search, home=tmp_path, environ={"MEMVAULT__SEARCH__FUSION__NAME": "42"}).fusion.name == "42"


def test_the_profile_in_force_comes_from_environment_then_file_then_package(tmp_path: Path) -> None:
    assert active_profile(home_folder=tmp_path, environ={}) == "tuned"
    configure(tmp_path, 'profile = "reference"')
    assert active_profile(home_folder=tmp_path, environ={}) == "reference"
    assert active_profile(home_folder=tmp_path, environ={"MEMVAULT__PROFILE": "tuned"}) == "tuned"
    with pytest.raises(SettingsError, match='"reference" or "tuned"'):
        active_profile(home_folder=tmp_path, environ={"MEMVAULT__PROFILE": "best"})


@pytest.mark.parametrize(
    ("text", "environ", "wanted"),
    [
        ("[search.fusion]\nkk = 1", {}, ["config.toml", "fusion.kk", "remove it"]),
        ("[search.fusion]\nk = 'many'", {}, ["config.toml", "fusion.k", "many", "MEMVAULT__SEARCH__FUSION__K"]),
        ("", {"MEMVAULT__SEARCH__FUSION__K": "many"}, ["MEMVAULT__SEARCH__FUSION__K", "many"]),
        ("", {"MEMVAULT__SEARCH__FUSION__WEIGHTS": "1, 2"}, ["MEMVAULT__SEARCH__FUSION__WEIGHTS", "JSON"]),
        ("[serach]\nk = 1", {}, ["config.toml", "[serach]", "search"]),
        ("[search\n", {}, ["config.toml", "TOML"]),
    ],
)
def test_a_mistake_names_its_place_its_key_and_what_to_do(
    tmp_path: Path, text: str, environ: dict[str, str], wanted: list[str]
) -> None:
    configure(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load("search", Search, home=tmp_path, environ=environ)
    for part in wanted:
        assert part in str(caught.value)


def test_a_model_that_would_swallow_mistakes_is_refused(tmp_path: Path) -> None:
    class Loose(BaseModel):
        k: float

    class Changeable(BaseModel):
        model_config = ConfigDict(extra="forbid")
        k: float

    for model in (Loose, Changeable):
        with pytest.raises(TypeError, match="frozen"):
            load("search.fusion", model, home=tmp_path, environ={})


def test_home_is_the_variable_or_a_folder_of_the_user() -> None:
    assert home({"MEMVAULT_HOME": "/somewhere/else"}) == Path("/somewhere/else")
    assert home({}) == Path.home() / ".memvault"
