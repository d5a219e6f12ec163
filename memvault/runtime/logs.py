"""One log file per process; in the foreground every line also goes to the terminal, with its process's name."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO, TextIO

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from memvault.runtime.folder import Folder

_COLOURS = (36, 32, 33, 35, 34, 31, 96, 92)
_READ_BYTES = 1 << 16
_LAST_CHARS = 300


class Log:
    """Writes the lines of processes.

    A file that would grow beyond `max_bytes` is put aside as `.log.1` in place of the one before it: the logs of a
    process take twice `max_bytes` and no more, however long it runs.
    """

    def __init__(self, folder: Folder, max_bytes: int, terminal: TextIO | None = None, width: int = 12) -> None:
        """Lines go to `folder.logs`, and to `terminal` when there is one; `width` columns are for the name."""
        self._folder = folder
        self._max_bytes = max_bytes
        self._terminal = terminal
        self._width = width
        self._files: dict[str, BinaryIO] = {}
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
        data = f"{now} {line}\n".encode(errors="replace")
        file = self._files.get(name) or self._open(name)
        if file.tell() and file.tell() + len(data) > self._max_bytes:
            file = self._rotated(name, file)
        file.write(data)
        if self._terminal is not None:
            self._terminal.write(f"{self._painted(name)} | {line}\n")
            self._terminal.flush()

    def _open(self, name: str) -> BinaryIO:
        # Unbuffered: a line is in the file at once, and the place in it is its size.
        self._files[name] = self.path(name).open("ab", buffering=0)
        return self._files[name]

    def _rotated(self, name: str, full: BinaryIO) -> BinaryIO:
        full.close()
        path = self.path(name)
        with contextlib.suppress(FileNotFoundError):  # somebody tidied up
            path.replace(path.with_suffix(".log.1"))
        return self._open(name)

    def _painted(self, name: str) -> str:
        padded = f"{name:<{self._width}}"
        if self._terminal is not None and self._terminal.isatty():
            return f"\x1b[{_COLOURS[sum(name.encode()) % len(_COLOURS)]}m{padded}\x1b[0m"
        return padded
