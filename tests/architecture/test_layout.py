"""Each thing has exactly one place, and nothing lies about that nobody registered."""

import re

import pytest

from tests.architecture.repository import (
    ROOT,
    SERVICES,
    imported_modules,
    is_generated,
    package,
    shown,
    sources,
    tracked,
)

TOP = {
    ".ci", ".gitignore", ".yamllint", ".dockerignore", ".gitattributes", "ARCHITECTURE.md", "CHANGELOG.md",
    "CONTRIBUTING.md", "LICENSE", "Makefile", "NOTICE", "README.md", "README.zh-TW.md", "SECURITY.md", "demo", "deploy",
    "docs", "evals", "memvault", "proto", "pyproject.toml", "requirements", "scripts", "services", "tests",
}  # fmt: skip
KERNEL = {
    "__init__.py", "py.typed", "batches.py", "defaults.toml", "faults.py", "ops.py", "prefetch_key.py",
    "bus", "cli", "llm", "models", "rpc", "runtime", "screening", "text", "vectors",
}  # fmt: skip
CONTRACTS = {"cascade", "embed", "errors", "events", "recall", "rerank", "router", "search", "slow_thinker"}
SERVICE_ROOMS = {
    "__init__.py", "__main__.py", "py.typed", "app.py", "settings.py", "handlers.py", "handlers",
    "usecases.py", "usecases", "ports.py", "domain", "adapters", "data",
}  # fmt: skip
MANDATORY = {"__main__", "app", "settings", "handlers", "usecases", "ports", "domain", "adapters"}
LARGEST_FILE_BYTES = 2_000_000
LONGEST_FILE_LINES = 360  # 300 is the soft limit; a fifth more is where a file has to be split

# Folders whose every file is one replaceable part, and the one module that must name them all.
REGISTERED = (
    ("search", "domain/scoring/stages", "domain/scoring/pipeline.py"),
    ("gateway", "domain/formats", "domain/formats/__init__.py"),
    ("router", "domain/operators", "domain/pipeline.py"),
    ("slow_thinker", "domain/operators", "domain/pipeline.py"),
)


def test_the_top_of_the_repository_is_a_closed_list() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} - TOP == set()


def test_the_kernel_is_a_closed_list() -> None:
    rooms = {path.relative_to(ROOT).parts[1] for path in tracked() if path.relative_to(ROOT).parts[0] == "memvault"}
    assert rooms - KERNEL - CONTRACTS == set()


@pytest.mark.parametrize("service", SERVICES)
def test_all_six_services_have_the_same_rooms(service: str) -> None:
    own = package(service)
    rooms = {path.relative_to(own).parts[0] for path in tracked() if path.is_relative_to(own)}
    assert rooms - SERVICE_ROOMS == set()
    assert {room.removesuffix(".py") for room in rooms} >= MANDATORY


@pytest.mark.parametrize(("service", "folder", "registry"), REGISTERED)
def test_every_part_is_registered(service: str, folder: str, registry: str) -> None:
    own = package(service)
    parts = {
        ".".join(["memvault_" + service, *path.relative_to(own).with_suffix("").parts]): path
        for path in (own / folder).glob("*.py")
        if path.name != "__init__.py"
    }
    assert parts, f"{folder} has no parts: the list above is out of date"
    known: set[str] = set()
    found = imported_modules(own / registry) & set(parts)
    while found - known:  # what a registered part needs counts as registered with it
        known |= found
        found |= {name for part in known for name in imported_modules(parts[part]) if name in parts}
    assert {shown(parts[name]) for name in set(parts) - known} == set(), f"add them to {shown(own / registry)}"


def test_every_module_is_reached_from_somewhere() -> None:
    named: set[str] = set()
    for path in tracked():
        if path.suffix == ".py" and not is_generated(path):
            named |= imported_modules(path)
    entry_points = {"__main__", "__init__"}
    unreached = []
    for path in sources():
        parts = path.relative_to(ROOT).parts
        if path.stem in entry_points or parts[0] in {"scripts", "evals"}:
            continue
        start = 0 if parts[0] == "memvault" else 1 if parts[0] == "demo" else 2
        dotted = ".".join((*parts[start:-1], path.stem))
        if dotted not in named and dotted != "memvault.cli.main":
            unreached.append(shown(path))
    assert unreached == []


def test_no_file_is_too_large() -> None:
    assert [shown(path) for path in tracked() if path.stat().st_size > LARGEST_FILE_BYTES] == []


def test_no_module_is_too_long() -> None:
    lines = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {name: count for name, count in lines.items() if count > LONGEST_FILE_LINES} == {}


def test_make_test_runs_every_folder_of_tests() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("**/test_*.py")}
    assert recipe is not None
    assert set(re.findall(r"tests/(\w+)", recipe[1])) == folders
