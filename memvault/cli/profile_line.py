"""The profile in an export: what goes out, and how it comes back (R-63).

Its line holds what the router counts, which does not change with time: every question of the last 90 days by id,
intent, facet and time, never its words, and the interests with lasting weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memvault.cli.client import Gateway
from memvault.cli.failure import CommandError
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATH = "/v1/profile"
_PARTS = ("questions", "lasting_interests")
_AT_ONCE = 1000
"""Questions or interests that the gateway takes in one call."""


def learned(gateway: Gateway, user_id: str) -> dict[str, Any]:
    """What was learned of a user, to take along."""
    whole = gateway.get(PATH, user_id=user_id, whole="true")
    return {name: whole.get(name, []) for name in _PARTS}


def can_come_back(line: Mapping[str, Any]) -> bool:
    """Whether the line holds what the router counts; older exports hold only what follows from it."""
    return any(name in line for name in _PARTS)


def restore(gateway: Gateway, user_id: str, line: Mapping[str, Any]) -> dict[str, int]:
    """Give a profile back in parts; how many questions and interests were not known yet.

    Raises:
        CommandError: The line holds something else than questions and interests, or nobody answers.
    """
    new = {"questions": 0, "interests": 0}
    for body in _bodies(line):
        told = gateway.post(PATH, {"user_id": user_id, **body})
        for name in new:
            new[name] += int(told.get(name, 0))
    return new


def _bodies(line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in _PARTS:
        items = line.get(name, [])
        if not isinstance(items, list):
            raise CommandError(Exit.REFUSED, f"the profile in the file is damaged: {name} must be a list")
        for start in range(0, len(items), _AT_ONCE):
            yield {name: items[start : start + _AT_ONCE]}
