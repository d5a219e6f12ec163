"""Houses that golden questions share, and what changed since the recording, told at the end of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.golden.frame import Mechanism, mechanisms
from tests.golden.houses import answers_of, open_house
from tests.house import House

MECHANISMS = mechanisms()
CHANGES: list[str] = []
"""Sentences for the end of the run."""

Answers = dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Mechanism], Answers]]:
    """All answers of a file, asked once; a house starts when the first of its files is asked."""
    houses: dict[str, House] = {}
    known: dict[str, Answers] = {}

    def of(mechanism: Mechanism) -> Answers:
        if mechanism.name not in known:
            name = mechanism.house
            if name not in houses:
                houses[name] = open_house(name, tmp_path_factory.mktemp(name) / "home", MECHANISMS)
            known[mechanism.name] = answers_of(houses[name], mechanism)
        return known[mechanism.name]

    try:
        yield of
    finally:
        for house in houses.values():
            house.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show every change of a recorded answer."""
    if CHANGES:
        terminalreporter.section("golden: changed since it was recorded")
        for change in CHANGES:
            terminalreporter.write_line(change)
