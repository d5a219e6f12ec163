"""What a talk is about, as text to search with: the next turn mostly needs what lies near the last ones.

Nobody asks in these words, so that such a draft hardly ever serves exactly; it brings the candidates from which the
real question is answered.
"""

from __future__ import annotations

from collections.abc import Sequence

from memvault_slow_thinker.domain.conversation import Utterance
from memvault_slow_thinker.domain.names import names_in, tells_little, titles_in

_SUBJECTS = 2
_ASKED, _ANSWERED = 2, 4  # things the person said


def subjects(said: Sequence[Utterance]) -> tuple[str, ...]:
    """Return up to two names that the talk is about: the title named last, then other names, the latest first."""
    texts = [utterance.text for utterance in reversed(said)]
    titles = [name for text in texts for name in reversed(titles_in(text))]
    names = [name for text in texts for name in reversed(names_in(text)) if not tells_little(name)]
    return tuple(dict.fromkeys([*titles[:1], *names]))[:_SUBJECTS]


def follow_up(said: Sequence[Utterance], chars: int) -> str:
    """Return the last exchange, led by what it is about; the last utterance keeps at least half of `chars`."""
    last = said[-1].text
    before = said[-2].text[: chars // 2] if len(said) > 1 else ""
    lead = [name for name in subjects(said) if name not in last and name not in before]
    return " ".join([*lead, *([before] if before else []), last])


def thread(own: Sequence[Utterance], said: Sequence[Utterance], chars: int, *, answered: bool) -> str:
    """Return what the person has said of late, the newest first, led by the title named last, whoever named it.

    Four things after an answer, two of at least three before it: so that the second draft does not repeat the first,
    which lies ready already. Empty when there are too few.
    """
    if not answered and len(own) <= _ASKED:
        return ""
    texts = [utterance.text[: chars // _ANSWERED] for utterance in own[-(_ANSWERED if answered else _ASKED) :]]
    titles = [name for utterance in said for name in titles_in(utterance.text)]
    lead = [name for name in titles[-1:] if all(name not in text for text in texts)]
    return " ".join([*lead, *reversed(texts)])
