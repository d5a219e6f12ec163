"""A memvault of its own for a measurement: started in a temporary folder on free ports, asked, stopped."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import grpc
from google.protobuf.json_format import ParseDict

from memvault.recall.v1 import recall_pb2, recall_pb2_grpc

PROGRAM = Path(sys.executable).with_name("memvault")
MODELS_VARIABLE = "MEMVAULT__SEARCH__EMBEDDER__MODELS"
START_LIMIT_S = 300
STOP_LIMIT_S = 300  # a large vault is written to the disk first
WRITE_WAIT_MS = 600_000
CALL_LIMIT_S = WRITE_WAIT_MS / 1000 + 60
BATCH = 100
OK = 200
_ANY_SIZE = [("grpc.max_receive_message_length", -1)]
IDLE_S = 30.0  # well below the 75 s after which the gateway does
# A part that times out degrades the answer. Measured is what the parts do, so that a busy machine must not decide
# which of them take part.
PATIENT = {
    "MEMVAULT__ROUTER__WAITS__EMBED_S": "120",
    "MEMVAULT__ROUTER__WAITS__STORE_S": "120",
    "MEMVAULT__SEARCH__CALLS__RERANK_TIMEOUT_S": "120",
    "MEMVAULT__RERANK__TIMEOUT_S": "120",
    "MEMVAULT__GATEWAY__DEADLINE__ROUTER_MS": "120000",
    "MEMVAULT__GATEWAY__DEADLINE__CASCADE_MS": "120000",
    "MEMVAULT__GATEWAY__PREFETCH__FRESHNESS_MS": "120000",
    "MEMVAULT__BUS__PUBLISH_TIMEOUT_S": "120",
    "MEMVAULT__CASCADE__EMBED_TIMEOUT_S": "120",
    "MEMVAULT__SLOW_THINKER__ASK_TIMEOUT_S": "120",
    "MEMVAULT__SLOW_THINKER__FETCH__TIMEOUT_S": "120",
}
Mode = Literal["six", "one"]


class EvalError(Exception):
    """A measurement cannot go on; the message is one line that says why and what to do."""


class Client:
    """Keep-alive connections to a gateway: HTTP, one for each thread that calls, and one of gRPC."""

    def __init__(self, address: str, grpc_address: str = "", *, limit_s: float = CALL_LIMIT_S) -> None:
        """Addresses are `host:port` of the gateway's faces, gRPC's only for `ask`; `limit_s` bounds each call."""
        self._address = address
        self._channel = grpc.insecure_channel(grpc_address, options=_ANY_SIZE) if grpc_address else None
        self._limit_s = limit_s
        self._mine = threading.local()
        self._every: list[http.client.HTTPConnection] = []

    @property
    def address(self) -> str:
        """`host:port` of the gateway's HTTP face."""
        return self._address

    def close(self) -> None:
        """Hang up."""
        for connection in self._every:
            connection.close()
        if self._channel is not None:
            self._channel.close()

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Make one call and return the JSON of the answer.

        Raises:
            EvalError: When the gateway does not answer, or answers with an error.
        """
        sent = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        connection = self._connection()
        try:
            connection.request(method, path, sent, {"content-type": "application/json"})
            answer = connection.getresponse()
            data = answer.read()
            self._mine.last = time.monotonic()
        except (OSError, http.client.HTTPException) as error:
            connection.close()  # the next call opens it anew
            raise EvalError(f"{method} {path} at {self._address}: {error}") from error
        if answer.status != OK:
            raise EvalError(
                f"{method} {path} at {self._address}: {answer.status} {data.decode(errors='replace')[:500]}"
            )
        parsed: dict[str, Any] = json.loads(data)
        return parsed

    def _connection(self) -> http.client.HTTPConnection:
        known: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        if known is None:
            known = self._mine.connection = http.client.HTTPConnection(self._address, timeout=self._limit_s)
            self._every.append(known)
        elif time.monotonic() - self._mine.last > IDLE_S:
            known.close()  # the server hangs up on whoever is silent; the call opens it anew
        self._mine.last = time.monotonic()
        return known

    def recall(self, query: str, context: Mapping[str, Any]) -> dict[str, Any]:
        """Ask a question over HTTP."""
        return self.call("POST", "/v1/recall", {"query": query, "context": context})

    def ask(self, query: str, context: Mapping[str, Any]) -> recall_pb2.RecallResponse:
        """Ask a question over gRPC: fifty explained cards are two thousand messages, and slow to write as JSON.

        Raises:
            EvalError: When the gateway does not answer, or answers with an error.
        """
        if self._channel is None:
            raise EvalError("this client was made without the address of gRPC")
        request = ParseDict({"query": query, "context": context}, recall_pb2.RecallRequest())
        try:
            return recall_pb2_grpc.RecallServiceStub(self._channel).Recall(request, timeout=self._limit_s)
        except grpc.RpcError as error:
            raise EvalError(f"Recall at the gateway: {error.code().name} {error.details()}") from error

    def write(self, user_id: str, blocks: Sequence[Mapping[str, Any]]) -> Iterator[int]:
        """Write blocks in bulk and wait until they can be recalled; yields how many are in.

        Raises:
            EvalError: When a block was refused or did not become searchable in time.
        """
        options = {"wait": "indexed", "on_unsafe": "mark", "wait_ms": WRITE_WAIT_MS}
        for begin in range(0, len(blocks), BATCH):
            part = blocks[begin : begin + BATCH]
            answer = self.call("POST", "/v1/blocks:batch", {"user_id": user_id, "blocks": part, "options": options})
            bad = [one for one in answer["outcomes"] if one["status"] not in {"indexed", "unchanged"}]
            if bad:
                raise EvalError(f"{len(bad)} of {len(part)} blocks of {user_id} were not indexed, such as {bad[0]}")
            yield begin + len(part)


@dataclass
class House:
    """A memvault in a folder of its own. `mode` six: a process per service; one: all in one process.

    `settings` are environment variables, such as `MEMVAULT__SEARCH__EMBEDDER__WORKERS`.
    """

    folder: Path
    mode: Mode = "six"
    settings: Mapping[str, str] = field(default_factory=dict)
    http: str = ""

    @property
    def environ(self) -> dict[str, str]:
        """What the program of this house is told; a caller's own memvault settings do not reach into it."""
        outside = {name: value for name, value in os.environ.items() if not name.startswith("MEMVAULT_")}
        models = os.environ.get(MODELS_VARIABLE) or str(Path.cwd() / ".cache" / "models")
        return outside | {
            "MEMVAULT_HOME": str(self.folder),
            "MEMVAULT__HTTP__ADDRESS": self.http,
            "MEMVAULT__ADDRESSES__GATEWAY": "127.0.0.1:0",
            MODELS_VARIABLE: models,
            **PATIENT,
            **self.settings,
        }

    def __enter__(self) -> Self:
        self.http = f"127.0.0.1:{free_port()}"
        words = ["up", "--in-process"] if self.mode == "one" else ["up"]
        try:
            done = self._run(*words, limit_s=START_LIMIT_S)
        except BaseException:  # what it began to start is on its own by now
            self._stop()
            raise
        if done.returncode:
            raise EvalError(
                f"memvault up failed: {(done.stdout + done.stderr).strip()}; logs in {self.folder / 'logs'}"
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        with undisturbed():
            self._run("down", limit_s=STOP_LIMIT_S)

    def _run(self, *words: str, limit_s: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PROGRAM), *words], env=self.environ, capture_output=True, text=True, timeout=limit_s, check=False
        )

    def state(self) -> dict[str, Any]:
        """What the supervisor wrote: addresses of all parts."""
        found: dict[str, Any] = json.loads((self.folder / "run" / "state.json").read_text(encoding="utf-8"))
        return found


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let no ctrl-C through: whoever is impatient with a shutdown would leave half of it running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder for one measurement, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="memvault-evals-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def load_average() -> str:
    """The machine's load over 1, 5 and 15 minutes, and its cores."""
    one, five, fifteen = os.getloadavg()
    return f"{one:.1f} {five:.1f} {fifteen:.1f} on {os.cpu_count()} cores"


def stamp() -> str:
    """Now, in UTC, as RFC 3339."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
