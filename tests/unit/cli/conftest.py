import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memvault.cli.main import build, run


@dataclass
class Seen:
    method: str
    path: str
    body: Any


@dataclass
class FakeGateway:
    """Answers what the test has laid out, one after another for a path; the last answer stays."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    answers: dict[str, list[tuple[int, Any]]] = field(default_factory=dict)

    def answer(self, path: str, document: Any, status: int = 200) -> None:
        self.answers.setdefault(path, []).append((status, document))

    def take(self, path: str) -> tuple[int, Any]:
        known = self.answers.get(path.partition("?")[0])
        if not known:
            return 404, {"status": 404, "reason": "NOT_FOUND", "detail": "no such thing"}
        return known.pop(0) if len(known) > 1 else known[0]


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeGateway]:
    fake = FakeGateway()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            fake.seen.append(Seen(self.command, self.path, json.loads(raw) if raw else None))
            status, document = fake.take(self.path)
            if callable(document):
                document = document(fake.seen[-1].body)
            whole = isinstance(document, bytes)  # lines of an export
            body = document if whole else json.dumps(document, ensure_ascii=False).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - the names that http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("MEMVAULT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMVAULT_URL", fake.url)
    monkeypatch.setenv("MEMVAULT_USER", "ada")
    monkeypatch.setenv("COLUMNS", "100")
    yield fake
    server.shutdown()
    server.server_close()


@pytest.fixture
def memvault() -> Callable[..., int]:
    """Runs one command in this process and returns its exit code."""

    def command(*arguments: str) -> int:
        return run(build(), list(arguments))

    return command
