"""Every number in defaults.toml belongs to a model that refuses strangers, and is read somewhere."""

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from memvault.runtime.settings import DEFAULTS, Profile, defaults, load
from tests.architecture.repository import ROOT, shown, sources, tree


def loads() -> Iterator[tuple[str, type[BaseModel], str]]:
    """Every `load("section", Model)` of the product, resolved in its own module."""
    for path in sources():
        if path.parent.name == "scripts":
            continue
        for node in ast.walk(tree(path)):
            if not (isinstance(node, ast.Call) and len(node.args) >= 2):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            reads = name in {"load", "load_profiles", "load_settings"}
            if not reads or not isinstance(node.args[1], ast.Name | ast.Attribute):
                continue
            scope = vars(importlib.import_module(dotted(path)))
            section, model = (resolved(argument, scope) for argument in node.args[:2])
            if isinstance(section, str) and isinstance(model, type) and issubclass(model, BaseModel):
                yield section, model, shown(path)


def resolved(argument: ast.expr, scope: dict[str, object]) -> object:
    """A constant, or what a name or a dotted name means in its module; None when it is a local."""
    if isinstance(argument, ast.Constant):
        return argument.value
    first, *rest = ast.unparse(argument).split(".")
    found = scope.get(first)
    for name in rest:
        found = getattr(found, name, None)
    return found


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    start = next(index for index, part in enumerate(parts) if part.startswith("memvault"))
    return ".".join(part for part in parts[start:] if part != "__init__")


def leaves(table: dict[str, object], prefix: str = "") -> Iterator[str]:
    for key, value in table.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict) and value:
            yield from leaves(value, name)
        else:
            yield name


@pytest.mark.parametrize("profile", ["reference", "tuned"])
def test_every_section_fits_the_model_that_reads_it(profile: Profile, tmp_path: Path) -> None:
    read = {section: load(section, model, profile=profile, home=tmp_path, environ={}) for section, model, _ in loads()}
    unread = {
        name
        for name in leaves(defaults(profile))
        if not any(name == section or name.startswith(f"{section}.") for section in read)
    }
    assert unread == set(), f"no code loads these keys of {DEFAULTS.name}"


def test_every_key_is_used_by_name_somewhere() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources())
    mentions = Counter(re.findall(r"\w+", code))
    # the keys of a table that is one value of its own, such as weights by ranker, are data
    tables = set(re.findall(r"(\w+): (?:dict|Mapping)\[", code))
    unused = set()
    for name in {name for profile in ("reference", "tuned") for name in leaves(defaults(profile))}:
        table, _, key = name.rpartition(".")
        # one mention is its declaration in the model; a number that is used has another
        if table.rpartition(".")[2] not in tables and mentions[key] < 2:
            unused.add(name)
    assert unused == set()
