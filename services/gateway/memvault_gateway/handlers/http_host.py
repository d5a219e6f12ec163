"""Keeps web pages out that reach this machine under a name of their own (DNS rebinding)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from memvault.faults import Fault, Reason

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[^:\[\]]+))(?::\d{0,5})?")


class LocalNamesOnly:
    """Answers only requests that name this machine; a caller that names none, as HTTP/1.0 may, is no browser."""

    def __init__(self, app: ASGIApp, names: frozenset[str], problem: Callable[[Fault], Response]) -> None:
        self._app = app
        self._names = names
        self._problem = problem

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or refuse with PERMISSION_DENIED."""
        hosts = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"host"]
        if scope["type"] != "http" or all(_name(host) in self._names for host in hosts):
            await self._app(scope, receive, send)
            return
        message = "the Host header names another machine: memvault listens on this one only, call it as localhost"
        await self._problem(Fault(Reason.PERMISSION_DENIED, message, field="host"))(scope, receive, send)


def is_loopback(address: str) -> bool:
    """Say whether `host:port` can only be reached from this machine."""
    host = _bound(address)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def names_of(address: str) -> frozenset[str]:
    """Return the names by which a server bound to `host:port` on this machine is called."""
    return LOCAL | {_bound(address)}


def _bound(address: str) -> str:
    return address.rpartition(":")[0].strip("[]").lower()


def _name(host: str) -> str:
    found = _HOST.fullmatch(host.strip().lower())
    return (found["six"] or found["name"]) if found else ""
