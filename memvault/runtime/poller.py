"""Keeps gRPC's event poller alive until the process ends."""

from functools import cache

from grpc import aio


@cache
def keep_poller() -> None:
    """Hold one reference to gRPC's poller thread.

    gRPC stops the thread when its last channel or server is collected, and waits for it without limit while a cancelled
    call is still being undone: a process could hang at its exit. The thread is a daemon, so holding it costs nothing.
    """
    aio.init_grpc_aio()  # type: ignore[attr-defined] # public, but the stubs do not know it
