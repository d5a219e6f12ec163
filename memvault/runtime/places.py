"""Where the parts are: the sections `stores` and `addresses`, and the name of this start of a process."""

import os
from uuid import uuid4

from memvault.runtime.settings import FrozenSettings

EMBEDDED = "embedded"
INSTANCE_VARIABLE = "MEMVAULT_INSTANCE_ID"


class Stores(FrozenSettings):
    """Section `stores`: each an address, or `embedded`."""

    nats: str
    redis: str
    qdrant: str


class Addresses(FrozenSettings):
    """Section `addresses`: `host:port` of each service's gRPC; `embed` empty: at the search service."""

    router: str
    search: str
    embed: str
    rerank: str
    cascade: str
    slow_thinker: str
    gateway: str


def instance_id() -> str:
    """Return the id that the supervisor gave this start of the process, else a new one."""
    return os.environ.get(INSTANCE_VARIABLE) or uuid4().hex
