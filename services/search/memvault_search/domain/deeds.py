"""What a question without a subject is about all the same: what was done (R-10).

"What did we decide?" names no subject, and what is recent answers it; but of that, memories that speak of deciding come
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memvault.text import search_tokens


class DeedWords:
    """The words of deeds, each deed in all its words."""

    def __init__(self, deeds: Iterable[Sequence[str]]) -> None:
        """`deeds`: rows of words that mean the same.

        Raises:
            ValueError: For a word that is not one token of the index, or stands in two rows.
        """
        self._row_of: dict[str, str] = {}
        for words in deeds:
            row = " ".join(words)
            for word in words:
                tokens = search_tokens(word)
                if len(tokens) != 1 or self._row_of.setdefault(tokens[0], row) != row:
                    raise ValueError(f"a deed's word must be one token of the index and of one deed, not {word!r}")

    def asked(self, text: str) -> str:
        """Return all words of the deeds that a question names, joined by blanks; empty when it names none."""
        named = (self._row_of[token] for token in search_tokens(text) if token in self._row_of)
        return " ".join(dict.fromkeys(named))
