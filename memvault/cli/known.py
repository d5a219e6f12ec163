"""What a user's vault holds already, by id: so that an import goes on where it stopped, and a dry run can count."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from memvault.cli import vault_file
from memvault.cli.export import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memvault.cli.client import Gateway


class Known:
    """Ids of a user's blocks with a hash of their line in an export: about 150 bytes a block."""

    def __init__(self, gateway: Gateway, user_id: str) -> None:
        """Read the vault, page by page. Raises CommandError when nobody answers."""
        self._lines = {block["id"]: digest(block) for page in pages(gateway, user_id) for block in page}

    def __contains__(self, block_id: object) -> bool:
        return block_id in self._lines

    def below(self, prefix: str) -> list[str]:
        """Ids that begin with a prefix."""
        return [block_id for block_id in self._lines if block_id.startswith(prefix)]

    def has(self, block: dict[str, Any]) -> bool:
        """Whether the vault holds a block of an export just so."""
        return self._lines.get(str(block.get("id"))) == digest(block)


def digest(block: dict[str, Any]) -> bytes:
    """16 bytes that tell one line of an export from another."""
    return hashlib.blake2b(vault_file.row(block), digest_size=16).digest()


def ids_below(gateway: Gateway, user_id: str, prefix: str) -> Iterator[str]:
    """Ids of a user's blocks that begin with a prefix."""
    for page in pages(gateway, user_id, after=prefix):
        for block in page:
            if not block["id"].startswith(prefix):
                return
            yield block["id"]
