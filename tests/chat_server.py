"""A chat address on this machine that answers as a test wants: well, late, wrongly, or not at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from memvault.llm.client import LlmClient, LlmSettings

Answer = Callable[[bytes], Awaitable[tuple[int, bytes]]]


def said(text: object) -> Answer:
    async def answer(_: bytes) -> tuple[int, bytes]:
        return 200, json.dumps({"choices": [{"message": {"content": text}}]}).encode()

    return answer


def plain(status: int, body: bytes) -> Answer:
    async def answer(_: bytes) -> tuple[int, bytes]:
        return status, body

    return answer


async def late(_: bytes) -> tuple[int, bytes]:
    await asyncio.sleep(0.5)
    return 200, b"{}"


def numbers(url: str, **changes: object) -> LlmSettings:
    values = {
        "base_url": url, "model": "tiny", "api_key": "", "calls_per_minute": 600.0, "burst": 10, "max_tokens": 64,
        "temperature": 0.0,
    }  # fmt: skip
    return LlmSettings.model_validate(values | changes)


@asynccontextmanager
async def serving(answer: Answer, **changes: object) -> AsyncIterator[tuple[LlmClient, list[bytes]]]:
    requests: list[bytes] = []
    answering: list[asyncio.Task[None]] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        answering.append(task)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
        body = await reader.readexactly(length)
        requests.append(head + body)
        status, content = await answer(body)
        writer.write(
            b"HTTP/1.1 %d X\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % (status, len(content)) + content
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = LlmClient(numbers(f"http://127.0.0.1:{port}/v1", **changes))
    try:
        yield client, requests
    finally:
        await client.stop()
        await asyncio.gather(*answering)
        server.close()
