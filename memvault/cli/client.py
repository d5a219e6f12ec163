"""A small client of the gateway's HTTP face: proto JSON in and out, tried again until a deadline.

The standard library's `http.client`, because a command should not spend longer on importing than on asking.
"""

from __future__ import annotations

import http.client
import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from memvault.cli import where
from memvault.cli.failure import CommandError, from_problem
from memvault.runtime.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIRST_PAUSE_S = 0.1
_PAUSE_CAP_S = 1.0
_LEAST_TIMEOUT_S = 0.05
_REDIRECTS = 300
# A gateway that restarts, or one whose search restarts: the same question is worth asking again.
_TRY_AGAIN = frozenset({"SERVICE_UNAVAILABLE", "SEARCH_UNAVAILABLE", "BUS_UNAVAILABLE", "STORE_UNAVAILABLE"})


class _Away(Exception):  # noqa: N818 - a state of the gateway
    """Nobody took the request. `sent`: it may have arrived all the same."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class Gateway:
    """One gateway. Not for use by two threads at once."""

    def __init__(self, url: str | None = None, timeout_s: float = 10.0) -> None:
        """`url` None: see `where.gateway_url`. `timeout_s` bounds each request with all its tries."""
        self._given = url
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPConnection | None = None
        self._connected_to = ""

    def get(self, path: str, **parameters: str | int) -> dict[str, Any]:
        """GET `path`; parameters go into the query string."""
        return self.request("GET", f"{path}?{urlencode(parameters)}" if parameters else path)

    def post(self, path: str, body: Mapping[str, Any], *, repeatable: bool = True) -> dict[str, Any]:
        """POST a JSON body. `repeatable` False: not sent again once it may have arrived."""
        return self.request("POST", path, body, repeatable=repeatable)

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, repeatable: bool = True
    ) -> dict[str, Any]:
        """Send until there is an answer or the time is over.

        Raises:
            CommandError: Refused, or nobody answered in time.
        """
        return _decoded(self._answer(method, path, body, repeatable=repeatable))

    def lines(self, path: str, **parameters: str | int) -> list[bytes]:
        """GET `path` whole and return its lines; an answer that breaks off is asked for again, as in `request`."""
        return self._answer("GET", f"{path}?{urlencode(parameters)}", None, repeatable=True).splitlines()

    def _answer(self, method: str, path: str, body: Mapping[str, Any] | None, *, repeatable: bool) -> bytes:
        payload = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "strict")
        give_up = time.monotonic() + self._timeout_s
        pause = _FIRST_PAUSE_S
        while True:
            try:
                status, raw = self._once(method, path, payload, give_up - time.monotonic())
                if status < _REDIRECTS:
                    return raw
                answer = _decoded(raw)
                error = from_problem({"status": status, **answer})
                if str(answer.get("reason")) not in _TRY_AGAIN:
                    raise error
            except _Away as away:
                self.close()
                if away.sent and not repeatable:
                    message = f"the gateway went away in the middle ({away}): look whether it took effect, then repeat"
                    raise CommandError(Exit.UNAVAILABLE, message) from away
                error = self._unreachable(away)
                if where.is_local(self._given) and not where.running():
                    raise error from away
            if time.monotonic() + pause >= give_up:
                raise error
            time.sleep(pause)
            pause = min(2 * pause, _PAUSE_CAP_S)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, method: str, path: str, payload: bytes | None, left_s: float) -> tuple[int, bytes]:
        sent = False
        try:
            connection = self._connect(max(_LEAST_TIMEOUT_S, left_s))
            headers = {"Accept": "application/json", "Content-Type": "application/json; charset=utf-8"}
            sent = True
            connection.request(method, path, payload, headers)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise _Away(str(error) or type(error).__name__, sent=sent and not _refused(error)) from error

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        url = where.gateway_url(self._given)
        if self._connection is not None and self._connected_to == url:
            if self._connection.sock is not None:
                self._connection.sock.settimeout(timeout_s)
            self._connection.timeout = timeout_s
            return self._connection
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise CommandError(Exit.USAGE, f"{url!r} is no address: write http://host:port")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout_s)
        self._connected_to = url
        return self._connection

    def _unreachable(self, reason: Exception) -> CommandError:
        url = where.gateway_url(self._given)
        if where.is_local(self._given) and not where.running():
            message = f"memvault does not run in {where.home()}: start it with `memvault up`"
        else:
            message = f"nobody answers at {url} ({reason}): see `memvault status`, or raise --timeout"
        return CommandError(Exit.UNAVAILABLE, message)


def fetch(url: str | None, timeout_s: float, path: str, **parameters: str | int) -> dict[str, Any]:
    """One GET on a connection of its own."""
    gateway = Gateway(url, timeout_s)
    try:
        return gateway.get(path, **parameters)
    finally:
        gateway.close()


def send(
    url: str | None, timeout_s: float, path: str, body: Mapping[str, Any], *, repeatable: bool = True
) -> dict[str, Any]:
    """One POST on a connection of its own."""
    gateway = Gateway(url, timeout_s)
    try:
        return gateway.post(path, body, repeatable=repeatable)
    finally:
        gateway.close()


def segment(value: str) -> str:
    """`value` as one segment of a path."""
    return quote(value, safe="")


def _decoded(body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    try:
        decoded = json.loads(body)
    except ValueError:
        return {"detail": "the gateway's answer is no JSON: is something else listening there?"}
    return decoded if isinstance(decoded, dict) else {"detail": str(decoded)}


def _refused(error: Exception) -> bool:
    return isinstance(error, ConnectionRefusedError)
