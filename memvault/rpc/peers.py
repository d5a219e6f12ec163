"""Who gives a service channels to the services it asks: addresses in a process of its own, else whoever built it."""

from collections.abc import Callable
from typing import TypeAlias

import grpc

from memvault.rpc.client import open_channel
from memvault.runtime.places import Addresses
from memvault.runtime.settings import load

Connect: TypeAlias = Callable[[str], grpc.aio.Channel]
"""From a name (`search`, `embed`, `rerank`, ...) to a channel; the caller closes it."""


def by_address(name: str) -> grpc.aio.Channel:
    """Return a channel to the address that the section `addresses` gives for `name`."""
    addresses = load("addresses", Addresses)
    address: str = getattr(addresses, name)
    # embeddings have a contract of their own, so that they may move out of search by setting one address
    return open_channel(address or addresses.search if name == "embed" else address)
