"""What `memvault import` reads: a module a format, each with `read`, and `detection`, which tells them apart."""

from __future__ import annotations

from typing import Literal

Format = Literal["memvault", "jsonl", "markdown", "chatgpt", "claude", "transcript", "mem0"]
FORMATS: tuple[Format, ...] = ("memvault", "jsonl", "markdown", "chatgpt", "claude", "transcript", "mem0")
