"""What makes two spellings one name, and the ids that follow from it."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from memvault.screening import PLACEHOLDER
from memvault.text import fold

NAMES_KEPT, LONGEST_KEPT = 4096, 100
"""Names whose folded form is remembered, and their characters: a block that enters asks for each of its names often."""

SELF_NAME = "我"
"""Display name of the user as an entity: "I", "me" and 「我」 all mean this node."""

_SELF_FORMS = frozenset({"我", "i", "me", "my", "myself", "本人", "自己", "俺", "user"})
_BLANK_BESIDE_HAN = re.compile("(?<=[\u3400-\u9fff]) +| +(?=[\u3400-\u9fff])")
_PRONOUNS = frozenset(
    fold(
        "you he she it they we us him her them your his their our ours yours this that these those who what "
        "你 妳 您 他 她 它 牠 祂 我們 咱們 你們 妳們 他們 她們 它們 這 那 這個 那個 這些 那些 誰 什麼 大家 人家 別人"
    ).split()
)
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ("《", "》"), ("(", ")"), ("（", "）"), ("[", "]"))
_TRIMMED = " \t\r\n.,;:!?'\"`()[]{}<>。，、；：！？「」『』（）《》〈〉【】…—~·"


def entity_key(name: str) -> str:
    """The form under which two spellings of one name meet: width, case, script and outer punctuation are folded away.

    >>> entity_key("「ＯＣＲ」") == entity_key("ocr")
    True
    """
    return _remembered_key(name) if len(name) <= LONGEST_KEPT else _key(name)


def _key(name: str) -> str:
    return squeezed(" ".join(fold(name).strip(_TRIMMED).split()))


_remembered_key = lru_cache(maxsize=NAMES_KEPT)(_key)


def squeezed(text: str) -> str:
    """A text without the blanks that some writers put between Chinese and Latin letters and others do not."""
    return _BLANK_BESIDE_HAN.sub("", text)


def is_self(name: str) -> bool:
    """Whether a name is the user speaking of themselves."""
    return entity_key(name) in _SELF_FORMS


def is_nameable(name: str) -> bool:
    """Whether a name can stand for one thing everywhere: no bare pronoun, no torn quotation."""
    if is_self(name):
        return True
    key = entity_key(name)
    balanced = all(name.count(opening) == name.count(closing) for opening, closing in _PAIRS)
    return bool(key) and key not in _PRONOUNS and balanced and name.count('"') % 2 == 0


def is_cut(name: str) -> bool:
    """Whether screening took something out of a name: what it left names nothing."""
    return PLACEHOLDER in name


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


def entity_id(name: str) -> str:
    """Stable id of an entity inside one user's graph: 24 hex digits of its folded name."""
    return _digest("entity", SELF_NAME if is_self(name) else entity_key(name))


def triple_id(subject_id: str, predicate_key: str, object_id: str) -> str:
    """Stable id of a fact inside one user's graph; the same fact from two blocks is one triple with two supports."""
    return _digest("triple", subject_id, predicate_key, object_id)
