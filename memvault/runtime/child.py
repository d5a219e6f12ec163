"""What a started process does so that it never outlives its supervisor."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> Callable[[], None] | None:
    """What to run in the child before its program: on Linux the kernel then ends it when `parent` ends.

    None where the kernel has no such service: there a process watches its parent itself, and the next start ends what
    was left behind.
    """
    if not sys.platform.startswith("linux"):
        return None
    # Looked up before the fork: a child of a fork may not load libraries.
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    terminate = int(signal.SIGTERM)

    def arrange() -> None:
        prctl(_PR_SET_PDEATHSIG, terminate, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # the parent was gone before the kernel was told

    return arrange
