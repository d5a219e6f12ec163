"""Writes fitted numbers into `memvault/defaults.toml`, in place: comments and order stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Table

_CROWDED = re.compile(r"^([^#\n].*)\n\[", re.MULTILINE)
"""A header without an empty line before it."""
Values = Mapping[str, Mapping[str, Any]]


def written(text: str, values: Values, remarks: Mapping[str, str]) -> str:
    """Return a TOML text with other values.

    Args:
        text: What the file holds.
        values: Dotted table -> key -> value; tables and keys that are missing are made.
        remarks: Dotted table -> comment behind its header: date and figures.
    """
    document = tomlkit.parse(text)
    for path, changes in values.items():
        table = _table(document, path)
        for key, value in changes.items():
            if table.get(key) != value or key not in table:
                table[key] = value
        if path in remarks:
            table.comment(remarks[path])
    return _CROWDED.sub(r"\1\n\n[", tomlkit.dumps(document))


def write(path: Path, values: Values, remarks: Mapping[str, str]) -> None:
    """Change a file of numbers."""
    path.write_text(written(path.read_text(encoding="utf-8"), values, remarks), encoding="utf-8")


def _table(document: tomlkit.TOMLDocument, path: str) -> Table:
    here: Any = document
    for name in path.split("."):
        if name not in here:
            here[name] = tomlkit.table()
        here = here[name]
    table: Table = here
    return table
