"""A running memvault for tests: started, asked and stopped as a user would, over the command line and HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PROGRAM = Path(sys.executable).with_name("memvault")
MODELS = Path(__file__).parent.parent / ".cache" / "models"
VECTORS = TemporaryDirectory(prefix="memvault-vectors-")
"""Where the houses of one run keep their vectors: many of them are filled with the same texts."""
START_LIMIT_S = 180
CALL_LIMIT_S = 60


@dataclass
class Reply:
    """An HTTP answer: `body` is parsed JSON where there was any."""

    status: int
    body: Any


@dataclass
class House:
    """One memvault with a folder and ports of its own."""

    home: Path
    in_process: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)
    http_port: int = 0
    grpc_port: int = 0

    def __post_init__(self) -> None:
        self.http_port = self.http_port or free_port()
        self.grpc_port = self.grpc_port or free_port()

    @property
    def environ(self) -> dict[str, str]:
        """What every command of this house is told."""
        return os.environ | {
            "MEMVAULT_HOME": str(self.home),
            "MEMVAULT__HTTP__ADDRESS": f"127.0.0.1:{self.http_port}",
            "MEMVAULT__ADDRESSES__GATEWAY": f"127.0.0.1:{self.grpc_port}",
            "MEMVAULT__SEARCH__EMBEDDER__MODELS": str(MODELS),
            "MEMVAULT__SEARCH__EMBEDDER__CACHE_FOLDER": VECTORS.name,
            **self.extra,
        }

    def start(self) -> None:
        """`memvault up`."""
        words = ["up", "--in-process"] if self.in_process else ["up"]
        done = self.command(*words, limit_s=START_LIMIT_S)
        assert done.returncode == 0, f"memvault up: {done.stdout}\n{done.stderr}\n{self.logs()}"

    def stop(self) -> None:
        """`memvault down`."""
        self.command("down")

    def command(self, *words: str, limit_s: float = CALL_LIMIT_S) -> subprocess.CompletedProcess[str]:
        """Run one command of the program."""
        return subprocess.run(
            [str(PROGRAM), *words], env=self.environ, capture_output=True, text=True, timeout=limit_s, check=False
        )

    def call(self, method: str, path: str, body: object = None, *, limit_s: float = CALL_LIMIT_S) -> Reply:
        """Make one HTTP call; an error status is an answer, not an exception."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body, ensure_ascii=False).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.http_port}{path}",
            data=sent,
            method=method,
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=limit_s) as answer:  # noqa: S310 - our own server
                return Reply(answer.status, _parsed(answer.read()))
        except urllib.error.HTTPError as error:
            return Reply(error.code, _parsed(error.read()))

    def recall(self, query: str, user_id: str, **context: Any) -> dict[str, Any]:
        """Ask, and expect an answer."""
        reply = self.call("POST", "/v1/recall", {"query": query, "context": {"user_id": user_id, **context}})
        assert reply.status == 200, reply
        answer: dict[str, Any] = reply.body
        return answer

    def write(
        self, user_id: str, blocks: Iterable[Mapping[str, Any]], *, on_unsafe: str = "refuse"
    ) -> list[dict[str, Any]]:
        """Write blocks and wait until they can be recalled; returns their outcomes."""
        outcomes: list[dict[str, Any]] = []
        rows = list(blocks)
        for begin in range(0, len(rows), 100):
            body = {
                "user_id": user_id,
                "blocks": rows[begin : begin + 100],
                "options": {"wait": "indexed", "on_unsafe": on_unsafe, "wait_ms": 120_000},
            }
            reply = self.call("POST", "/v1/blocks:batch", body, limit_s=150)
            assert reply.status == 200, reply
            outcomes.extend(reply.body["outcomes"])
        return outcomes

    def logs(self) -> str:
        """The end of every log, for a failing test."""
        parts = sorted((self.home / "logs").glob("*.log"))
        return "\n".join(f"--- {part.name}\n" + part.read_text(errors="replace")[-2000:] for part in parts)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def eventually(check: Callable[[], bool], *, limit_s: float, every_s: float = 0.1) -> bool:
    """Return whether `check` became true within the limit."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(every_s)
    return check()


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
