"""Formats of an answer: what the agent or the person reads (R-43). Adding one is one file and one line here."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from memvault_gateway.domain.formats import cards, json, text
from memvault_gateway.domain.model import Answer

Formatter = Callable[[Answer], str]

FORMATS: Final[Mapping[str, Formatter]] = MappingProxyType(
    {
        "json": json.render,
        "text": text.render,
        "cards": cards.render,
    },
)
"""Every format by its name in the contract."""
