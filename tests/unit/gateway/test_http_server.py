"""The HTTP face on a real socket."""

import asyncio
import http.client
import time

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from memvault_gateway.handlers.http_server import HttpServer

DELAYED_ACKNOWLEDGEMENT_S = 0.04


async def _alive(_: Request) -> Response:
    return PlainTextResponse("yes")


def _quickest_answer_s(address: str, tries: int) -> float:
    connection = http.client.HTTPConnection(address, timeout=10)
    taken = []
    for _ in range(tries):
        begin = time.perf_counter()
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"yes"
        taken.append(time.perf_counter() - begin)
    connection.close()
    return min(taken[1:])


async def test_an_answer_on_a_kept_alive_connection_waits_for_no_acknowledgement() -> None:
    server = HttpServer(Starlette(routes=[Route("/", _alive)]), "127.0.0.1:0")
    await server.start()
    try:
        quickest_s = await asyncio.to_thread(_quickest_answer_s, server.address, 10)
    finally:
        await server.stop()
    assert quickest_s < DELAYED_ACKNOWLEDGEMENT_S / 2
