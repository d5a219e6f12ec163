"""A hub on this machine: answers what huggingface_hub asks, with the files of a folder, and can break off."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

REVISION = "0123456789abcdef0123456789abcdef01234567"
_FILE = re.compile(rf"/([^/]+/[^/]+)/resolve/{REVISION}/(.+)")


@dataclass
class Hub:
    """Serves `files` as the only repository; `breaks` names a file that is cut off in the middle, then refused."""

    files: Path
    repository: str
    licence: str = "apache-2.0"
    url: str = ""
    breaks: str = ""
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    def info(self) -> dict[str, object]:
        names = sorted(path.relative_to(self.files).as_posix() for path in self.files.rglob("*") if path.is_file())
        siblings = [{"rfilename": name, **_told(self.files / name)} for name in names]
        tags = [f"license:{self.licence}", "mlx"]
        return {"id": self.repository, "sha": REVISION, "siblings": siblings, "tags": tags, "private": False}

    def times(self, method: str, name: str) -> int:
        return sum(asked[0] == method and asked[1].endswith(name) for asked in self.asked)


class _Handler(BaseHTTPRequestHandler):
    hub: ClassVar[Hub]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        hub, path = self.hub, self.path.partition("?")[0]
        span = self.headers.get("Range", "")
        hub.asked.append((self.command, path, span))
        found = _FILE.fullmatch(path)
        if path == f"/api/models/{hub.repository}":
            self._send(200, json.dumps(hub.info()).encode(), {"Content-Type": "application/json"}, body=body)
        elif found and found[1] == hub.repository and (hub.files / found[2]).is_file():
            self._file(hub.files / found[2], span, body=body)
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, body=body)

    def _file(self, path: Path, span: str, *, body: bool) -> None:
        content = path.read_bytes()
        begin = int(re.sub(r"bytes=(\d+)-.*", r"\1", span) or 0)
        headers: dict[str, str] = {}
        if body and path.name == self.hub.breaks:
            if self.hub.times("GET", path.name) > 1:
                self._send(500, b"{}", {}, body=body)
                return
            self.close_connection = True
            self._send(200, content, headers, body=body, most=len(content) // 2)
            return
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        self._send(206 if begin else 200, content[begin:], headers, body=body)

    def _send(
        self, status: int, content: bytes, headers: dict[str, str], *, body: bool, most: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content[:most])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Tests print nothing."""


def _told(path: Path) -> dict[str, object]:
    """Size and hash as a hub tells them: large files by SHA-256, small ones by git's own hash."""
    content = path.read_bytes()
    told: dict[str, object] = {
        "size": len(content),
        "blobId": hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest(),
    }
    if path.suffix == ".safetensors":
        digest = hashlib.sha256(content).hexdigest()
        told["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 130}
    return told


@contextmanager
def running(hub: Hub) -> Iterator[Hub]:
    """Serve until the end of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
