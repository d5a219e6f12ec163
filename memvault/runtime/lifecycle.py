"""Runs one service as a process: logging, signals, start, readiness, an orderly stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Protocol

import structlog

from memvault.faults import Fault, Reason
from memvault.runtime import telemetry
from memvault.runtime.settings import SettingsError, load
from memvault.runtime.telemetry import TelemetrySettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

OK = 0
FAILED = 1
MISCONFIGURED = 78  # EX_CONFIG of sysexits.h
_HOPELESS = frozenset({Reason.NO_MODEL, Reason.EMBEDDER_CHANGED})
"""Reasons that no second start mends: a setting or a file has to change first."""
_PARENT_CHECK_S = 1.0
_STOP_S = 20.0
_log = structlog.get_logger("memvault.lifecycle")


class App(Protocol):
    """What is run: wired, but not started."""

    @property
    def address(self) -> str:
        """`host:port` that it listens on; final once started."""
        ...

    async def start(self) -> None:
        """Start in dependency order; returns once calls are taken."""
        ...

    async def stop(self) -> None:
        """Stop in reverse order."""
        ...


def configure_logging(*, level: str | None = None) -> None:
    """Logs go to stderr: lines for people on a terminal, JSON otherwise. `MEMVAULT_LOG_LEVEL` sets the level."""
    name = (level or os.environ.get("MEMVAULT_LOG_LEVEL") or "info").upper()
    number = logging.getLevelNamesMapping().get(name, logging.INFO)
    people = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer() if people else structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=number, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s", force=True)


async def run_service(name: str, build: Callable[[], Awaitable[App]]) -> int:
    """Build, start and run a service until SIGTERM, SIGINT, or the end of its supervisor.

    Returns:
        The exit code: `OK`, `FAILED` when it could not start, `MISCONFIGURED` when it cannot until a setting changes.
    """
    configure_logging()
    structlog.contextvars.bind_contextvars(service=name)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    watch = asyncio.create_task(_until_orphaned(stop), name="watch-parent")
    try:
        figures = telemetry.setup(name, load("telemetry", TelemetrySettings))
    except SettingsError as error:
        return _refused(error, MISCONFIGURED)
    try:
        return await _run(build, stop)
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
        figures.shutdown()


async def _run(build: Callable[[], Awaitable[App]], stop: asyncio.Event) -> int:
    app: App | None = None
    refusal: tuple[Exception, int] | None = None
    try:
        app = await build()
        starting = asyncio.create_task(app.start(), name="start")
        stopping = asyncio.create_task(stop.wait(), name="stop-asked")
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            return OK
        await starting
        _log.info("service.ready", address=app.address)
        await stopping
    except SettingsError as error:
        refusal = error, MISCONFIGURED
    except (Fault, OSError) as error:
        refusal = error, MISCONFIGURED if getattr(error, "reason", None) in _HOPELESS else FAILED
    finally:
        if app is not None:
            await _stop(app)
    return OK if refusal is None else _refused(*refusal)


async def _stop(app: App) -> None:
    """Stop in bounded time: whatever hangs then ends with the process."""
    _log.info("service.stopping")
    try:
        async with asyncio.timeout(_STOP_S):
            await app.stop()
    except TimeoutError:
        _log.error("service.stop_timed_out", after_s=_STOP_S)
    except Exception as error:  # noqa: BLE001 - the process ends either way; the reason must be seen
        _log.error("service.stop_failed", reason=repr(error), exc_info=True)


async def _until_orphaned(stop: asyncio.Event) -> None:
    """Ask for a stop once the supervisor is gone: the kernel tells on Linux only."""
    parent = os.environ.get("MEMVAULT_SUPERVISOR_PID")
    while parent is not None:
        if str(os.getppid()) != parent:
            _log.warning("service.orphaned")
            stop.set()
            return
        await asyncio.sleep(_PARENT_CHECK_S)


def _refused(error: Exception, code: int) -> int:
    """The last line of the log is the reason, which is what the supervisor shows."""
    with contextlib.suppress(BrokenPipeError):
        print(f"{error}", file=sys.stderr, flush=True)  # noqa: T201 - the last word of a process that cannot start
    return code
