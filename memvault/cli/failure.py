"""How a command ends when it cannot do what was asked."""

from __future__ import annotations

from typing import Any

from memvault.runtime.exits import Exit

# Reasons of the contract that need their own exit code; every other answer below 500 is a refusal.
_NOT_FOUND = frozenset({"NOT_FOUND"})
_AWAY = frozenset(
    {
        "DEADLINE_EXCEEDED",
        "OVERLOADED",
        "SERVICE_UNAVAILABLE",
        "BUS_UNAVAILABLE",
        "STORE_UNAVAILABLE",
        "SEARCH_UNAVAILABLE",
        "RATE_LIMITED",
    }
)
_SERVER_ERRORS = 500


class CommandError(Exception):
    """Ends a command: `message` says what to do, `problem` is the gateway's own document if there is one."""

    def __init__(self, code: Exit, message: str, problem: dict[str, Any] | None = None) -> None:
        """`code` is the exit code."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.problem = problem or {"title": message, "reason": code.name}


def from_problem(problem: dict[str, Any]) -> CommandError:
    """The error for a problem document (RFC 9457) of the gateway."""
    reason = str(problem.get("reason", ""))
    status = int(problem.get("status", _SERVER_ERRORS))
    if reason in _NOT_FOUND:
        code = Exit.NOT_FOUND
    elif reason in _AWAY:
        code = Exit.UNAVAILABLE
    else:
        code = Exit.REFUSED if status < _SERVER_ERRORS else Exit.FAILED
    detail = problem.get("detail") or problem.get("title") or "the gateway refused without a reason"
    return CommandError(code, f"{detail} [{reason}]" if reason else str(detail), problem)
