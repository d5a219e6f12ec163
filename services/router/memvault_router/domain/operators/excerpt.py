"""The part of a very long question that is read for words and times."""

from __future__ import annotations


def both_ends(text: str, chars: int) -> str:
    """Return the text, or its first and last `chars` characters when it is longer than both together.

    A question stands at the beginning or the end of what somebody pastes; reading all of it would cost seconds.
    """
    return text if len(text) <= 2 * chars else f"{text[:chars]}\n{text[-chars:]}"
