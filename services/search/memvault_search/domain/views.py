"""The two texts in which every passage is indexed: by itself, and among its neighbours (R-11b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memvault.text import fold
from memvault_search.domain.block import NEAR_COPY_TAG, Block, StoredBlock

_NAMES_AT_MOST = 8

View = Literal["self", "context"]
VIEWS: tuple[View, ...] = ("self", "context")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A passage's text under its block's header."""

    header: str
    text: str

    @property
    def whole(self) -> str:
        """Header and text as they are indexed."""
        return f"{self.header}: {self.text}" if self.header else self.text

    def clipped(self, size: int, *, keep_end: bool = False) -> str:
        """Header and text in at most `size` characters, the text's end kept when asked for."""
        header = self.header[: max(0, size // 3)]
        room = size - len(header) - (2 if header else 0)
        if room <= 0:
            return self.text[:size]
        text = self.text if len(self.text) <= room else self.text[-room:] if keep_end else self.text[:room]
        return Stretch(header, text).whole


def header(block: Block, *, dated: bool) -> str:
    """Speaker, day, title, headings and tags of a block: what makes its text understandable alone.

    The day is for words only: an encoder of meanings finds all texts that begin with a date alike
    (docs/decisions/0020).
    """
    day = f"{block.event_time:%Y-%m-%d}" if dated and block.event_time else ""
    labels = (f"#{tag}" for tag in block.tags if tag != NEAR_COPY_TAG)  # a label of ours says nothing of the content
    parts = [block.speaker, day, block.title, *block.heading_path, *labels]
    return " · ".join(part for part in parts if part)


def stretch(stored: StoredBlock, number: int, *, dated: bool) -> Stretch:
    """One passage of a stored block under its header; the first also carries the names that only its facts state."""
    text = stored.passage_text(number).strip()
    names = unspoken_names(stored.block) if number == 0 else ()
    return Stretch(header(stored.block, dated=dated), f"{text} ({', '.join(names)})" if names else text)


def unspoken_names(block: Block) -> tuple[str, ...]:
    """Ends of the block's facts that its text never says, in order: what it is about under another name.

    A note on "Apple's array library" whose fact names MLX is found by MLX.
    """
    said = fold(f"{header(block, dated=True)} {block.text}")
    ends = dict.fromkeys(end for fact in block.triples for end in (fact.subject, fact.object))
    return tuple(end for end in ends if fold(end) not in said)[:_NAMES_AT_MOST]


def context_text(before: Stretch | None, own: Stretch, after: Stretch | None, max_chars: int) -> str:
    """The passage among its neighbours in at most `max_chars` characters; empty without a neighbour.

    The passage itself comes first in the sharing out: at least half is its own, and what it does not
    need goes to its neighbours in equal parts.
    """
    if before is None and after is None:
        return ""
    separators = (before is not None) + (after is not None)
    room = max_chars - separators
    neighbours = [stretch for stretch in (before, after) if stretch is not None]
    wanted = sum(len(stretch.whole) for stretch in neighbours)
    own_size = max(room // 2, room - wanted)
    middle = own.whole if len(own.whole) <= own_size else own.clipped(own_size)
    left = room - len(middle)
    parts: list[str] = []
    if before is not None:
        share = left if after is None else max(left // 2, left - len(after.whole))
        parts.append(before.clipped(share, keep_end=True))
        left -= len(parts[0])
    parts.append(middle)
    if after is not None:
        parts.append(after.clipped(left))
    return "\n".join(part for part in parts if part)
