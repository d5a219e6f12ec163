"""Answers of a run as JSON lines: whoever is interrupted goes on where it stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

Answer = Mapping[str, Any]


class AnswerLog:
    """Remembers what was answered under a key. One log serves one run: the same data, code and settings."""

    def __init__(self, path: Path) -> None:
        """Read what an interrupted run left in `path`; a torn last line is forgotten."""
        self._path = path
        self._known: dict[str, Answer] = {}
        self.reused = 0
        self._torn = False
        if path.exists():
            *lines, last = path.read_bytes().split(b"\n")  # a text may hold other line separators, and a torn letter
            self._torn = bool(last)
            for line in lines:
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                self._known[row["key"]] = row["answer"]
        self._file: TextIO | None = None
        self._writing = threading.Lock()

    def once(self, key: str, ask: Callable[[], Answer]) -> Answer:
        """Return the answer under `key`, asking only when there is none yet. `key` names set, variant and item.

        Threads may share a log, if each asks under keys of its own.
        """
        if key in self._known:
            self.reused += 1
            return self._known[key]
        answer = ask()
        self.keep(key, answer)
        return answer

    def get(self, key: str) -> Answer | None:
        """Return the answer under `key`, if there is one."""
        return self._known.get(key)

    def keep(self, key: str, answer: Answer) -> None:
        """Write an answer down at once."""
        line = json.dumps({"key": key, "answer": answer}, ensure_ascii=False) + "\n"
        with self._writing:
            if self._file is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("a", encoding="utf-8")
                if self._torn:
                    self._file.write("\n")
            self._file.write(line)
            self._file.flush()
            self._known[key] = answer

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
