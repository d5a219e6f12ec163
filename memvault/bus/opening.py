"""The bus of one process, as the settings describe it."""

from memvault.bus.broker import NatsBus, build_bus
from memvault.bus.settings import BusSettings
from memvault.runtime.places import EMBEDDED, Stores
from memvault.runtime.settings import load


def open_bus(service: str) -> NatsBus:
    """The bus that the sections `bus` and `stores` name; nothing is connected before `start`."""
    settings, url = load("bus", BusSettings), load("stores", Stores).nats
    return build_bus(settings if url == EMBEDDED else settings.model_copy(update={"url": url}), service)
