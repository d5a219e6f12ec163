"""Budget-aware packing: the most of the best memories for the tokens that the caller can spare (R-42).

Cards and cascade cards share the budget 60:40, and what one side does not need flows to the other. Within a side every
card has a share that shrinks with its rank; a card that is too long for its share gives its summary and a handle to the
whole text. Counted is the formatted answer, so the budget holds for what the agent really reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memvault.ops import changed
from memvault.text import QWEN, TokenCounter, extractive_summary
from memvault_gateway.domain.model import Card
from memvault_gateway.domain.near_copies import fold_copies

Render = Callable[[Sequence[Card], Sequence[Card]], str]


@dataclass(frozen=True)
class PackingNumbers:
    """How to pack.

    Attributes:
        cards_share: Part of the budget for `cards`, the rest is for `cascade_cards`; 0 to 1.
        near_identical: Cosine above which two passages are shown once.
        rank_decay: How fast the share of a card shrinks with its rank: 1 / (1 + rank_decay x rank).
        least_text_tokens: A card is left out rather than shown with less text than this.
        highlight_chars: Length of a highlight at most.
        supports: Ids of supporting blocks shown at most.
        tries: Corrections until the formatted whole fits; each costs one formatting.
    """

    cards_share: float
    near_identical: float
    rank_decay: float
    least_text_tokens: int
    highlight_chars: int
    supports: int
    tries: int

    def __post_init__(self) -> None:
        if not 0.0 <= self.cards_share <= 1.0 or not 0.0 < self.near_identical <= 1.0 or self.rank_decay < 0.0:
            raise ValueError("packing needs cards_share and near_identical within 0 to 1 and rank_decay >= 0")
        if min(self.least_text_tokens, self.highlight_chars, self.tries) < 1 or self.supports < 0:
            raise ValueError("packing needs positive token, character and try counts")


@dataclass(frozen=True)
class Packed:
    """What fits.

    Attributes:
        cards: From fast search, as they are shown.
        cascade_cards: From the graph, as they are shown.
        text: The formatted answer.
        tokens_used: Tokens of the formatted answer, as counted; at most the budget.
        left_out: Cards that did not fit at all.
        summarised: Cards shown as a summary.
        folded: Near-copies folded into a better card.
    """

    cards: tuple[Card, ...]
    cascade_cards: tuple[Card, ...]
    text: str
    tokens_used: int
    left_out: int
    summarised: int
    folded: int


def pack(
    cards: Sequence[Card],
    cascade_cards: Sequence[Card],
    *,
    budget: int,
    numbers: PackingNumbers,
    query: str,
    render: Render,
    tokens: TokenCounter = QWEN,
) -> Packed:
    """Return what fits into `budget` tokens.

    Args:
        cards: Screened, best first.
        cascade_cards: Screened, best first.
        budget: Tokens that the formatted answer may cost, at least 1.
        numbers: How to pack.
        query: The question; summaries keep what it asks for.
        render: The format: its result is what is counted.
        tokens: Counts what the reading model will count.
    """
    first, second = fold_copies(cards, cascade_cards, numbers.near_identical)
    packer = _Packer(numbers, query, render, tokens)
    sides = ([packer.trimmed(card) for card in first], [packer.trimmed(card) for card in second])
    shown, text, used = _fitting(sides, budget, packer)
    if used > budget:
        # not even the frame of an empty answer fits: its beginning has to do
        text = tokens.clip(text, budget)
        used = tokens.count(text)
    every = [*shown[0], *shown[1]]
    return Packed(
        cards=tuple(shown[0]),
        cascade_cards=tuple(shown[1]),
        text=text,
        tokens_used=used,
        left_out=len(first) + len(second) - len(every),
        summarised=sum(card.summarised for card in every),
        folded=len(cards) + len(cascade_cards) - len(first) - len(second),
    )


Side = list[Card]


class _Whole(NamedTuple):
    """An answer as it is formatted, and what it costs."""

    shown: tuple[Side, Side]
    text: str
    tokens: int


def _fitting(sides: tuple[Side, Side], budget: int, packer: _Packer) -> _Whole:
    """Pack for a room that is corrected until the formatted whole fits: token counts do not quite add up.

    What was packed before, as in a prepared answer, stays as it is where it fits.
    """
    if all(card.tokens for side in sides for card in side):
        whole = packer.whole(sides)
        if whole.tokens <= budget:
            return whole
    room = budget - packer.frame(bool(sides[1]))
    whole = packer.whole(([], []))
    for _ in range(packer.numbers.tries):
        if room <= 0:
            return packer.whole(([], []))
        whole = packer.whole(_shared(sides, room, packer))
        excess = whole.tokens - budget
        if excess <= 0:
            return whole
        room -= excess
    while whole.tokens > budget and (whole.shown[0] or whole.shown[1]):
        cards, related = whole.shown
        whole = packer.whole((cards, related[:-1]) if related else (cards[:-1], []))
    return whole


def _shared(sides: tuple[Side, Side], room: int, packer: _Packer) -> tuple[Side, Side]:
    """Share the room 60:40; what a side cannot use flows to the other, first by need, then by what is left over."""
    needs = [sum(packer.cost(card) for card in side) for side in sides]
    if sum(needs) <= room:
        return [packer.counted(card) for card in sides[0]], [packer.counted(card) for card in sides[1]]
    share = round(room * packer.numbers.cards_share)
    rooms = [max(share, room - needs[1]), max(room - share, room - needs[0])]
    shown = [packer.side(side, min(rooms[at], room)) for at, side in enumerate(sides)]
    for at in (0, 1, 0, 1):
        left = room - sum(packer.cost(card) for side in shown for card in side)
        shown[at] = packer.grown(sides[at], shown[at], left)
    return shown[0], shown[1]


class _Packer:
    """Costs and short forms of the cards of one answer; remembers what it has counted."""

    def __init__(self, numbers: PackingNumbers, query: str, render: Render, tokens: TokenCounter) -> None:
        self.numbers = numbers
        self._query = query
        self._render = render
        self._count, self._clip = tokens.count, tokens.clip
        self._one = self._count(render([_BLANK], []))
        self._costs: dict[tuple[str, str, str, str, bool], int] = {}
        self._frames: dict[tuple[str, str], int] = {}

    def frame(self, both: bool) -> int:
        """Tokens of an answer around its cards."""
        two = self._count(self._render([_BLANK, _BLANK], []))
        related = self._count(self._render([_BLANK], [_BLANK])) - two if both else 0
        return self._one - (two - self._one) + max(0, related)

    def whole(self, shown: tuple[Side, Side]) -> _Whole:
        """Return the formatted answer."""
        text = self._render(*shown)
        return _Whole(shown, text, self._count(text))

    def counted(self, card: Card) -> Card:
        """Return the card with what it costs."""
        return changed(card, tokens=self.cost(card))

    def cost(self, card: Card) -> int:
        """Tokens that a card adds to the answer."""
        key = (card.kind, card.block_id, card.text, card.highlight, card.summarised)
        known = self._costs.get(key)
        if known is None:
            costed = changed(card, tokens=_ANY_COST, score=None if card.score is None else _ANY_SCORE)
            known = max(1, self._count(self._render([_BLANK, costed], [])) - self._one)
            self._costs[key] = known
        return known

    def trimmed(self, card: Card) -> Card:
        """Return the card without what only repeats: a long highlight, endless supports."""
        if len(card.highlight) > self.numbers.highlight_chars:
            short = extractive_summary(card.highlight, self.numbers.highlight_chars, self._query)
            card = changed(card, highlight=short, tokens=0)
        if len(card.supports) > self.numbers.supports:
            card = changed(card, supports=card.supports[: self.numbers.supports], tokens=0)
        return card

    def side(self, cards: Side, room: int) -> Side:
        """Return the first cards of a side, each within its share, as many as are worth showing."""
        for many in range(len(cards), 0, -1):
            shares = self._shares(cards[:many], room)
            if all(self._worth(card, share) for card, share in zip(cards[:many], shares, strict=True)):
                shown = [self._within(card, share) for card, share in zip(cards[:many], shares, strict=True)]
                return [card for card in shown if card is not None]
        return []

    def grown(self, cards: Side, shown: Side, left: int) -> Side:
        """Use what is left over: cards left out or shortened come in or grow, the best first."""
        now = {(card.kind, card.block_id): card for card in shown}
        for card in cards:
            key = (card.kind, card.block_id)
            before = now.get(key)
            spent = self.cost(before) if before else 0
            if (before is not None and not before.summarised) or left < self.numbers.least_text_tokens:
                continue
            larger = self._within(card, spent + left, stored=before is None)
            if larger is not None and self.cost(larger) > spent:
                now[key] = larger
                left -= self.cost(larger) - spent
        return [now[key] for card in cards if (key := (card.kind, card.block_id)) in now]

    def _shares(self, cards: Side, room: int) -> list[int]:
        """Share the room by rank: a card that needs less than its share leaves the rest to the others."""
        weights = [1.0 / (1.0 + self.numbers.rank_decay * rank) for rank in range(len(cards))]
        shares = [0] * len(cards)
        open_ones, left = set(range(len(cards))), float(room)
        while open_ones:
            level = left / sum(weights[at] for at in open_ones)
            content = [at for at in open_ones if self.cost(cards[at]) <= level * weights[at]]
            if not content:
                for at in open_ones:
                    shares[at] = math.floor(level * weights[at])
                return shares
            for at in content:
                shares[at] = self.cost(cards[at])
                left -= shares[at]
                open_ones.discard(at)
        return shares

    def _worth(self, card: Card, share: int) -> bool:
        """Say whether a share holds the card whole, or enough of its text."""
        return self.cost(card) <= share or self._text_room(card, share) >= self.numbers.least_text_tokens

    def _text_room(self, card: Card, share: int) -> int:
        """Tokens that a share leaves for the text of the shortened card."""
        key = (card.kind, card.block_id)
        frame = self._frames.get(key)
        if frame is None:
            frame = self._frames[key] = self.cost(changed(_shortened(card), text=_MARK)) - self._count(_MARK)
        return share - frame

    def _within(self, card: Card, share: int, *, stored: bool = True) -> Card | None:
        """Return the card whole or as a summary that costs at most `share`; None when too little would be left."""
        if self.cost(card) <= share:
            return self.counted(card)
        room = self._text_room(card, share)
        for _ in range(self.numbers.tries):
            if room < self.numbers.least_text_tokens:
                return None
            candidate = changed(_shortened(card), text=self._summary(card, room, stored=stored))
            excess = self.cost(candidate) - share
            if excess <= 0:
                return self.counted(candidate)
            room -= excess
        return None

    def _summary(self, card: Card, room: int, *, stored: bool) -> str:
        """Return the stored summary if it fits, otherwise the sentences that answer best, within `room` tokens."""
        written = card.summary.strip() if stored else ""
        if written and len(written) < len(card.text) and self._count(written) <= room:
            return written
        full = self._count(card.text)
        chars = max(1, math.floor(len(card.text) * room / max(1, full)))
        for _ in range(self.numbers.tries):
            summary = extractive_summary(card.text, chars, self._query)
            tokens = self._count(summary)
            if tokens <= room:
                return summary
            chars = max(1, min(chars - 1, math.floor(chars * room / tokens)))
        return self._clip(summary, room)


def _shortened(card: Card) -> Card:
    """Return the card as it stands when its text is a summary; only blocks that are whole somewhere can be expanded."""
    handle = card.block_id if card.kind == "block" and not card.frozen else ""
    return changed(card, summarised=True, expand=handle, highlight="")


_MARK = "…"
_ANY_COST = 1000  # stands for the number that a card will say it costs, where the format shows it
_ANY_SCORE = 0.1234  # so that a memory costs the same in every answer, and is counted once for all of them
_BLANK = Card(block_id="", kind="block", text=_MARK)
