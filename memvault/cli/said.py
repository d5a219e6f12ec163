"""What was said before a question, as `--said` takes it."""

from __future__ import annotations

import re

from memvault.cli.failure import CommandError
from memvault.runtime.exits import Exit

UTTERANCES_READ = 8
TEXT_BYTES = 64 * 1024
SPEAKER_CHARS = 20
_USER = "user"
# A time such as 10:30 begins with no letter, and what follows the colon of an address begins with two slashes.
_SPOKEN = re.compile(rf"\s*([^\W\d_][\w.'’-]{{0,{SPEAKER_CHARS - 1}}})[:：](?!//)(.*)", re.DOTALL)


def utterances(given: list[str] | None) -> list[dict[str, str]] | None:
    """Utterances of the contract, oldest first: the last that a gateway reads; None where nothing is given.

    Args:
        given: texts, or `SPEAKER: text` with one word of at most 20 characters as the speaker, else `user` speaks. The
            colon may be a full-width one.

    Raises:
        CommandError: One of them says nothing, or is longer than 64 KiB.
    """
    return [_utterance(text) for text in given[-UTTERANCES_READ:]] if given else None


def _utterance(given: str) -> dict[str, str]:
    spoken = _SPOKEN.fullmatch(given)
    speaker, text = spoken.groups() if spoken else (_USER, given)
    text = text.strip()
    if not text:
        raise CommandError(Exit.USAGE, f"--said is {given!r}: write what was said, or SPEAKER: and what they said")
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > TEXT_BYTES:
        raise CommandError(Exit.USAGE, f"--said has {size} bytes, at most {TEXT_BYTES} fit into one: leave some out")
    return {"speaker": speaker, "text": text}
