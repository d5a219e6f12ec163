"""Small files, written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memvault.cli.sources.entry import Bad, Item, Left, Remark, Row

TAIPEI = ZoneInfo("Asia/Taipei")


def blocks(items: Iterable[Item]) -> list[dict[str, Any]]:
    return [item.block for item in items if isinstance(item, Row)]


def left(items: Iterable[Item]) -> list[str]:
    return [item.kind for item in items if isinstance(item, Left)]


def bad(items: Iterable[Item]) -> list[tuple[str, str]]:
    return [(item.place, item.reason) for item in items if isinstance(item, Bad)]


def remarks(items: Iterable[Item]) -> list[tuple[str, str]]:
    return [(item.place, item.text) for item in items if isinstance(item, Remark)]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes a JSON document."""

    def write(
        document: Any, name: str = "conversations.json", *, before: bytes = b"", ascii_only: bool = False
    ) -> Path:
        path = tmp_path / name
        path.write_bytes(before + json.dumps(document, ensure_ascii=ascii_only).encode())
        return path

    return write
