"""Words for a part in a conversation ("assistant", 「使用者」): a node of it would tie unrelated talks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memvault_cascade.domain.graph.names import SELF_NAME, entity_key, is_self

_NUMBERED = re.compile(r"[\s_#:-]*\d+$")


@dataclass(frozen=True, slots=True)
class Roles:
    """Folded words: for the `user` and any `other` part, and for what is such a part only where it speaks."""

    user: frozenset[str]
    other: frozenset[str]
    user_speaks: frozenset[str]
    other_speaks: frozenset[str]

    def means_user(self, name: str) -> bool:
        """Whether a name in a text means whoever keeps the memories."""
        return _word(name) in self.user

    def names_nothing(self, name: str) -> bool:
        """Whether a name in a text is a part in a conversation, the user's too, and no particular thing."""
        return _word(name) in self.user | self.other

    def speaks_as_user(self, speaker: str) -> bool:
        """Whether "I" of this speaker is whoever keeps the memories."""
        return _word(speaker) in self.user | self.user_speaks

    def speaks_as_nobody(self, speaker: str) -> bool:
        """Whether "I" of this speaker is nobody in particular."""
        return _word(speaker) in self.other | self.other_speaks

    def is_somebody(self, speaker: str) -> bool:
        """Whether a speaker is one person, and not the user."""
        own = is_self(speaker) or self.speaks_as_user(speaker)
        return bool(speaker.strip()) and not own and not self.speaks_as_nobody(speaker)

    def ends(self, subject: str, target: str) -> tuple[str, str] | None:
        """The ends of a fact with the user under one name; None for no fact: an end names nothing, or both the user."""
        names = [SELF_NAME if self.means_user(name) else name for name in (subject, target)]
        both_user = names == [SELF_NAME, SELF_NAME]
        return None if both_user or any(map(self.names_nothing, names)) else (names[0], names[1])


def compile_roles(data: Mapping[str, Iterable[str]]) -> Roles:
    """Compile `roles.toml`; KeyError when a list is missing."""
    return Roles(*(frozenset(map(entity_key, data[name])) for name in ("user", "other", "user_speaks", "other_speaks")))


def _word(name: str) -> str:
    key = entity_key(name)
    return _NUMBERED.sub("", key) or key
