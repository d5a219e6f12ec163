"""Where processes keep compiled modules: compiling them anew takes more than half of the time that a service starts."""

from __future__ import annotations

import os
import sys
from importlib.util import cache_from_source, find_spec
from pathlib import Path

PREFIX_VARIABLE = "PYTHONPYCACHEPREFIX"
REFUSED_VARIABLE = "PYTHONDONTWRITEBYTECODE"
_BIG = "pydantic"
"""A package that every service imports: where it is compiled, so is what was installed with it."""


def environment(cache: Path, *, module: str = _BIG) -> dict[str, str]:
    """Return what to add to the environment of a service, so that its modules need compiling only once.

    Nothing where they lie compiled beside their sources or will be at the first start. Else `cache` takes them:
    where the installed packages cannot be written to, or somebody asked Python to leave them alone.
    """
    if PREFIX_VARIABLE in os.environ:
        return {}
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return {}
    compiled = Path(cache_from_source(spec.origin))
    writable = not sys.dont_write_bytecode and os.access(compiled.parent.parent, os.W_OK)
    if compiled.exists() or writable:
        return {}
    return {PREFIX_VARIABLE: str(cache), REFUSED_VARIABLE: ""}
