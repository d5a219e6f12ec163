"""A local address that embeds texts as OpenAI's API does: what most products take as an encoder of one's own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Embed = Callable[[Sequence[str]], list[list[float]]]
_BUFFER = 1 << 16


@contextmanager
def endpoint(embed: Embed) -> Iterator[str]:
    """Serve `embed` on 127.0.0.1 and give the base address, such as `http://127.0.0.1:4711/v1`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(embed))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="embeddings", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(embed: Embed) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # head and body in one packet: apart they wait 40 ms for each other's acknowledgement
        wbufsize = _BUFFER
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            try:
                self._send(HTTPStatus.OK, _answer(embed(texts), str(asked.get("model", ""))))
            except Exception as error:  # noqa: BLE001 - told to the caller, who fails by it
                self._send(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": {"message": f"{type(error).__name__}: {error}"}})

        def log_message(self, *_: object) -> None:
            """Say nothing: a line per text would be all that a log holds."""

        def _send(self, status: HTTPStatus, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _answer(vectors: list[list[float]], model: str) -> dict[str, Any]:
    rows = [{"object": "embedding", "index": index, "embedding": one} for index, one in enumerate(vectors)]
    return {"object": "list", "model": model, "data": rows, "usage": {"prompt_tokens": 0, "total_tokens": 0}}
