"""The harness's side of a runner: one question at a time, each with a limit; who fails is named, not scored."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memvault_evals.peers.environments import PeerError

STOP_LIMIT_S = 20.0
LOG_TAIL = 300  # characters of its log that an error repeats


class Runner:
    """A runner as a process of its own."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], log: Path) -> None:
        """Nothing starts before it is entered; `log` takes what the runner prints."""
        self._command, self._environ, self._log = command, environ, log
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, name="runner", daemon=True)

    def __enter__(self) -> Self:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                self._command,
                env=dict(self._environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        try:
            process.stdin.close()
            process.wait(STOP_LIMIT_S if kind is None else 0)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._reader.join(STOP_LIMIT_S)
        if process.stdout is not None and not self._reader.is_alive():
            process.stdout.close()

    def call(self, op: str, limit_s: float, **told: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Ask and wait for the answer.

        Raises:
            PeerError: When there is none in time, the process has ended, or the answer is an error or no answer.
        """
        process = self._process
        if process is None or process.stdin is None:
            raise RuntimeError("enter the runner before calling it")
        try:
            process.stdin.write(json.dumps({"op": op, **told}, ensure_ascii=False) + "\n")
            process.stdin.flush()
            line = self._lines.get(timeout=limit_s)
        except queue.Empty as error:
            raise PeerError(f"no answer to {op!r} within {limit_s:g} s") from error
        except BrokenPipeError as error:
            raise PeerError(self._ended(op)) from error
        if not line:
            raise PeerError(self._ended(op))
        try:
            answer: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError as error:
            raise PeerError(f"{op!r} was answered with {line[:LOG_TAIL]!r}, which is no JSON") from error
        if "error" in answer:
            raise PeerError(f"{op!r} failed: {answer['error']}")
        return answer

    def _read(self) -> None:
        if self._process is not None and self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.put(line)
            self._lines.put("")

    def _ended(self, op: str) -> str:
        code = self._process.wait() if self._process is not None else None
        tail = " ".join(self._log.read_text(encoding="utf-8", errors="replace").split())[-LOG_TAIL:]
        return f"its process ended with code {code} before it answered {op!r}: {tail or 'it said nothing'}"


def checked(answer: Mapping[str, Any], known: Collection[str]) -> tuple[list[str], float]:
    """Return the ranked ids and the milliseconds of an answer to `ask`.

    Raises:
        PeerError: When the answer has another shape or holds an id that nobody gave.
    """
    ids, ms = answer.get("ids"), answer.get("ms")
    if not isinstance(ids, list) or not isinstance(ms, int | float):
        raise PeerError(f"'ask' was answered with {sorted(answer)} instead of ids and ms")
    strange = [one for one in ids if one not in known]
    if strange:
        raise PeerError(f"it answered {len(strange)} ids that it was not given, such as {strange[0]!r}")
    if len(set(ids)) < len(ids):
        raise PeerError("it answered the same id twice")
    return ids, float(ms)
