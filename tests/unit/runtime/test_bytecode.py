import sys
from pathlib import Path

import pytest

from memvault.runtime import bytecode


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that is not compiled, in a place that Python may write to."""
    monkeypatch.delenv(bytecode.PREFIX_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    monkeypatch.syspath_prepend(str(tmp_path))
    made = tmp_path / "installed_once"
    made.mkdir()
    (made / "__init__.py").write_text("")
    return made


def told(tmp_path: Path) -> dict[str, str]:
    return bytecode.environment(tmp_path / "cache", module="installed_once")


def test_where_python_compiles_beside_the_sources_nothing_is_changed(package: Path, tmp_path: Path):
    assert told(tmp_path) == {}


def test_who_asks_python_to_leave_the_sources_alone_gets_a_folder_of_its_own(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert told(tmp_path) == {"PYTHONPYCACHEPREFIX": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": ""}


def test_what_is_compiled_already_is_used(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compiled = package / "__pycache__" / f"__init__.{sys.implementation.cache_tag}.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"")
    assert told(tmp_path) == {}


def test_a_folder_that_somebody_chose_stays(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv(bytecode.PREFIX_VARIABLE, "/elsewhere")
    assert told(tmp_path) == {}
