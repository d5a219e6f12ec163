"""Reads times as the product does, at the instant and in the zone of the table of cases."""

import tomllib
from pathlib import Path
from zoneinfo import ZoneInfo

from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.operators.time_range import read_time
from memvault_router.settings import RouterSettings

TABLE = tomllib.loads((Path(__file__).parent / "times.toml").read_text(encoding="utf-8"))
ZONE = ZoneInfo(TABLE["zone"])
WORDS = load_language().time_words
VAGUE = load("router", RouterSettings, profile="reference", home=Path("/nonexistent"), environ={}).vague


def read(text, now=TABLE["now"], zone=ZONE):
    return read_time(text, now, zone, WORDS, VAGUE)


def local(instant, zone=ZONE):
    if instant is None:
        return ""
    shown = instant.astimezone(zone).strftime("%Y-%m-%d %H:%M")
    return shown.removesuffix(" 00:00")
