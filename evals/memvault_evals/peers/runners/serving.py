"""The loop of a runner: one JSON object per line comes in, one goes out.

    {"op": "start", "settings": {...}}                               -> {"ok": true}
    {"op": "fill", "folder": F, "blocks": [{"id", "text"}, ...]}     -> {"seconds": s}
    {"op": "ask", "question": Q, "depth": n}                         -> {"ids": [...], "ms": m}

`fill` begins a new store in the empty folder F; questions go to the last store filled. Whatever goes wrong is answered
with {"error": text}. A peer's own prints go to stderr, so that they cannot be taken for an answer.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO


class Store(Protocol):
    """One peer with one store at a time."""

    def fill(self, folder: Path, blocks: Sequence[Mapping[str, str]]) -> None:
        """Begin a new store in `folder` and put blocks (`id`, `text`) into it, so that they can be found."""
        ...

    def ask(self, question: str, depth: int) -> list[str]:
        """Return the ids of up to `depth` blocks, best first."""
        ...


def serve(open_store: Callable[[Mapping[str, Any]], Store]) -> None:
    """Answer stdin until it ends. `open_store` makes the peer from the settings of `start`."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    answer_lines(sys.stdin, answers, open_store)


def answer_lines(lines: TextIO, answers: TextIO, open_store: Callable[[Mapping[str, Any]], Store]) -> None:
    """Answer each line of `lines` with one in `answers`."""
    store: Store | None = None
    for line in lines:
        try:
            request = json.loads(line)
            if request["op"] == "start":
                store = open_store(request["settings"])
                answer: dict[str, Any] = {"ok": True}
            elif store is None:
                raise RuntimeError("start comes first")  # noqa: TRY301 - answered like every other error
            else:
                answer = _answer(store, request)
        except Exception as error:  # noqa: BLE001 - a peer may raise anything; the harness reports it by name
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer, ensure_ascii=False) + "\n")
        answers.flush()


def _answer(store: Store, request: Mapping[str, Any]) -> dict[str, Any]:
    if request["op"] == "fill":
        begin = time.perf_counter()
        store.fill(Path(request["folder"]), request["blocks"])
        return {"seconds": time.perf_counter() - begin}
    begin = time.perf_counter()
    ids = store.ask(request["question"], request["depth"])
    return {"ids": list(dict.fromkeys(ids))[: request["depth"]], "ms": (time.perf_counter() - begin) * 1000}
