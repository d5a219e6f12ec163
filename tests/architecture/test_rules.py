"""Rules that a linter does not know."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT, SERVICES, is_generated, package, shown, sources, tracked, tree

# Written in pieces, so that this file does not break its own rules.
FORBIDDEN = {
    "a path of somebody's machine": re.compile("/" + r"(?:work|root|home/\w+|Users/\w+)/(?!\.\.\.)"),
    "the host of a package registry": re.compile(r"(?:py" + r"pi\.org|python" + r"hosted|registry\.npm" + r"js)"),
    "a thing left for later": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|Not" + r"ImplementedError)\b"),
    "a number of a tracker": re.compile(r"\bissue[ s]*#?\d", re.IGNORECASE),
}
TEXTS = {".py", ".md", ".toml", ".txt", ".proto", ".yaml", ".yml", ".sh", ".json", ".jsonl", ".cfg", ""}
# `hop` turns what generated base classes raise into a reason; `protoc` writes it into their bodies.
ALLOWED = {("memvault/rpc/hop.py", "a thing left for later")}
CLOCKS_AND_DICE = {
    "now",
    "utcnow",
    "today",
    "time",
    "time_ns",
    "monotonic",
    "perf_counter",
    "random",
    "uuid4",
    "token_hex",
    "urandom",
}
VAGUE = {"utils", "util", "helper", "helpers", "manager", "common", "misc"}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_repository_never_mentions(what: str) -> None:
    found = []
    for path in tracked():
        if path.suffix not in TEXTS or is_generated(path) or "data" in path.parent.parts:
            continue
        if (shown(path), what) in ALLOWED:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if FORBIDDEN[what].search(line):
                found.append(f"{shown(path)}:{number}: {line.strip()[:100]}")
    assert found == []


def test_no_exception_is_swallowed_without_a_word() -> None:
    found = [
        f"{shown(path)}:{node.lineno}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and all(isinstance(line, ast.Pass) for line in node.body)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}))
    ]
    assert found == []


@pytest.mark.parametrize("service", SERVICES)
def test_the_domain_has_neither_clock_nor_dice(service: str) -> None:
    found = [
        f"{shown(path)}:{node.lineno}: {ast.unparse(node.func)}"
        for path in sources()
        if path.is_relative_to(package(service) / "domain")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CLOCKS_AND_DICE
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in {"datetime", "date", "time", "random", "uuid", "secrets", "os", "np"}
    ]
    assert found == []


def test_names_of_modules_are_words_of_the_domain() -> None:
    assert [shown(path) for path in sources() if path.stem in VAGUE or path.parent.name in VAGUE] == []


def test_the_generated_code_is_fresh() -> None:
    script = ROOT / "scripts" / "generate_proto.py"
    checked = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_import_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([str(linter)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
