"""One log file per process; in the foreground every line also goes to the terminal, with its process's name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from memvault.runtime.folder import Folder

_COLOURS = (36, 32, 33, 35, 34, 31, 96, 92)
_READ_BYTES = 1 << 16
_LAST_CHARS = 300


class Log:
    """Writes the lines of processes."""

    def __init__(self, folder: Folder, max_bytes: int, terminal: TextIO | None = None, width: int = 12) -> None:
        """Lines go to `folder.logs`, and to `terminal` when there is one; `width` columns are for the name."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._terminal = terminal
        self._width = width
        self._files: dict[str, TextIO] = {}
        self._last: dict[str, str] = {}

    def path(self, name: str) -> Path:
        """The log file of a process."""
        return self._folder.logs / f"{name}.log"

    def last(self, name: str) -> str:
        """The last line that a process wrote, or why there is none."""
        return self._last.get(name, "it wrote nothing")

    async def pump(self, name: str, stream: asyncio.StreamReader) -> None:
        """Write everything that comes from the stream until it ends; a line may be of any length."""
        rest = b""
        while data := await stream.read(_READ_BYTES):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(name, line.decode(errors="replace"))
            if len(rest) > _READ_BYTES:
                self._take(name, rest.decode(errors="replace"))
                rest = b""
        if rest:
            self._take(name, rest.decode(errors="replace"))

    def note(self, name: str, line: str) -> None:
        """Write a line of the supervisor's own about a process."""
        self._write(name, f"[supervisor] {line}")

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _take(self, name: str, line: str) -> None:
        if line.strip():
            self._last[name] = line.strip()[:_LAST_CHARS]
        self._write(name, line)

    def _write(self, name: str, line: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        file = self._files.get(name) or self._open(name)
        file.write(f"{now} {line}\n")
        file.flush()
        if self._terminal is not None:
            self._terminal.write(f"{self._painted(name)} | {line}\n")
            self._terminal.flush()

    def _open(self, name: str) -> TextIO:
        path = self.path(name)
        if path.exists() and path.stat().st_size > self._max_bytes:
            path.replace(path.with_suffix(".log.1"))
        self._files[name] = path.open("a", encoding="utf-8")
        return self._files[name]

    def _painted(self, name: str) -> str:
        padded = f"{name:<{self._width}}"
        if self._terminal is not None and self._terminal.isatty():
            return f"\x1b[{_COLOURS[sum(name.encode()) % len(_COLOURS)]}m{padded}\x1b[0m"
        return padded
