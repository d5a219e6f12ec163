"""An export on its way back: checked whole before anything is stored, then read again line by line."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from memvault.cli import output, vault_file
from memvault.cli.failure import CommandError
from memvault.cli.sources.entry import Bad, Row, Same
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memvault.cli.known import Known
    from memvault.cli.sources.entry import Item


class Export:
    """A file of `memvault export`."""

    def __init__(self, path: Path) -> None:
        """Read the first line. Raises CommandError when this version cannot read the file."""
        self._path = path
        with path.open("rb") as stream:
            try:
                self.user_id = vault_file.read_header(stream.readline()).user_id
            except vault_file.NotAnExport as error:
                raise CommandError(Exit.REFUSED, f"{path}: {error}") from error

    def require_whole(self) -> None:
        """Look at every line. Raises CommandError, which tells the first bad ones, when one cannot be read."""
        bad = (item for item in self.items() if isinstance(item, Bad))
        shown = [
            f"line {one.line}{f' ({one.block_id})' if one.block_id else ''} {one.reason}"
            for one in islice(bad, output.MOST_PROBLEMS)
        ]
        if not shown:
            return
        more = sum(1 for _ in bad)
        told = "\n  ".join([*shown, *([f"and {more} more"] if more else [])])
        message = (
            f"nothing was imported, because {self._path} is not as it was exported:\n  {told}\n"
            "Take a whole copy, or correct these lines; --skip-bad imports the others."
        )
        raise CommandError(Exit.REFUSED, message)

    def profile(self) -> dict[str, Any] | None:
        """What was learned of the user's questions; None when it was not taken along."""
        with self._path.open("rb") as stream:
            return vault_file.read_profile(stream)

    def items(self, known: Known | None = None) -> Iterator[Item]:
        """The blocks, without those that are known just so."""
        with self._path.open("rb") as stream:
            stream.readline()
            for line in vault_file.read(stream):
                if isinstance(line, vault_file.Fault):
                    yield Bad(f"line {line.number}", line.reason, line.number, line.block_id)
                elif known is not None and known.has(line.block):
                    yield Same(line.size)
                else:
                    # the line's own user, if somebody wrote one in, is not whom the export is given back to
                    line.block.pop("user_id", None)
                    yield Row(line.block, f"line {line.number}", line.size, line.number)
