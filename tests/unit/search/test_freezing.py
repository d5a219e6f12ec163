"""Freezing (R-19): which memories the nightly loop freezes, what is left of them, and how they become whole again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memvault.bus import subjects
from memvault.bus.envelope import Event
from memvault.events.v1 import events_pb2
from memvault.runtime.settings import SettingsError, load
from memvault_search.domain.block import Block, Source, StoredBlock
from memvault_search.domain.freezing import FreezingNumbers, as_frozen, may_freeze
from memvault_search.domain.moment import Moment
from memvault_search.domain.passages import PassageLimits
from memvault_search.settings import SearchSettings
from memvault_search.usecases.asking import Found
from memvault_search.usecases.writing import Write
from tests.unit.search.conftest import NOW, House, note, turn

pytestmark = pytest.mark.r("R-19")

YEARS = timedelta(days=800)
LONG = (
    "We walked to the harbour and spoke about the rowing club. The boat house of the rowing club needs a new roof. "
    "The club wants the roof of the boat house before the winter. The rowing boats stay in the harbour until then. "
    "Our club has four rowing boats and a boat house in the harbour. The harbour master lets the club use a shed. "
    "Somebody mentioned a zeppelin. The boats of the club are old and the roof leaks. "
    "In the harbour the rowing club meets on Sundays at the boat house. The new roof will cost the club two boats. "
    "Before the winter the club moves the boats out of the harbour. The roof of the shed is new."
)
LIMITS = PassageLimits(1600, 1000)


@pytest.fixture
def settings(tmp_path: Path) -> SearchSettings:
    return load("search", SearchSettings, environ={}, home=tmp_path)


@pytest.fixture
def freezes(settings: SearchSettings) -> Callable[..., bool]:
    def judged(*, written: datetime = NOW - YEARS, numbers: dict[str, Any] | None = None, **changes: Any) -> bool:
        block = Block("a", "ann", LONG, confidence=0.6, tier="warm", source=Source("conversation"), trust=0.7)
        stored = StoredBlock(replace(block, **changes), "", (), Moment(1, written), 1, ())
        asked: FreezingNumbers = replace(settings.freezing, **(numbers or {}))
        return may_freeze(stored, asked, settings.scoring, NOW)

    return judged


def test_an_old_unread_memory_of_little_worth_is_frozen(freezes: Callable[..., bool]) -> None:
    assert freezes()
    assert freezes(source=Source("agent"), confidence=0.5)
    assert freezes(source=Source("web"), tier="cold", confidence=0.2)
    assert freezes(ups=1, downs=1)


@pytest.mark.parametrize(
    "changes",
    [
        {"numbers": {"enabled": False}},
        {"frozen": True},
        {"text": "x" * 599},
        {"tier": "hot"},
        {"tier": "core"},
        {"source": Source("hand_written")},
        {"tags": ("pinned", "rowing")},
        {"ups": 2, "downs": 1},
        {"centrality": 0.51},
        {"written": NOW - timedelta(days=364)},
        {"recorded_at": NOW - timedelta(days=364)},
        {"last_accessed_at": NOW - timedelta(days=364)},
        {"access_count": 31},
    ],
)
def test_each_reason_to_stay_whole_is_enough(freezes: Callable[..., bool], changes: dict[str, Any]) -> None:
    assert not freezes(**changes)


def test_the_bounds_themselves_are_frozen(freezes: Callable[..., bool]) -> None:
    assert freezes(written=NOW - timedelta(days=365))
    assert freezes(centrality=0.5, text="x" * 600)
    assert freezes(text="字" * 300)
    assert not freezes(text="字" * 299)


def test_reading_gives_a_memory_more_half_lives_before_it_is_frozen(freezes: Callable[..., bool]) -> None:
    """Warm, read three times: 6 x 30 days x (1 + log2(4)) = 540 days."""
    assert not freezes(access_count=3, written=NOW - timedelta(days=539))
    assert freezes(access_count=3, written=NOW - timedelta(days=540))


def test_the_summary_takes_the_place_of_the_text_and_all_else_stays(settings: SearchSettings) -> None:
    block = Block("a", "ann", LONG, title="Harbour", tags=("rowing",), access_count=2, version=3)
    stored = StoredBlock(block, "old", ("e1",), Moment(1, NOW), 7, (), revision=5)
    frozen = as_frozen(stored, settings.freezing, LIMITS, event_id="night", events_kept=2)
    assert frozen.block.frozen
    assert frozen.block.text == frozen.block.summary
    assert 0 < len(frozen.block.text) <= settings.freezing.summary_width
    assert "zeppelin" not in frozen.block.text
    kept = {name: getattr(frozen.block, name) for name in ("title", "tags", "access_count")}
    assert kept == {"title": "Harbour", "tags": ("rowing",), "access_count": 2}
    assert (frozen.block.version, frozen.revision, frozen.event_ids) == (4, 6, ("e1", "night"))
    assert frozen.passages[-1].end == len(frozen.block.text)


@pytest.mark.parametrize(("written", "kept"), [("  A walk by the harbour. ", True), ("", False), (LONG + "!", False)])
def test_a_summary_that_came_with_the_memory_is_kept_when_it_is_shorter(
    settings: SearchSettings, written: str, kept: bool
) -> None:
    stored = StoredBlock(Block("a", "ann", LONG, summary=written), "", (), Moment(1, NOW), 1, ())
    text = as_frozen(stored, settings.freezing, LIMITS, event_id="night", events_kept=8).block.text
    assert (text == written.strip()) is kept
    assert len(text) < len(LONG)


@pytest.mark.parametrize(
    "wrong", [{"TIERS": '["lukewarm"]'}, {"KEPT_SOURCES": '["oracle"]'}, {"SUMMARY_WIDTH": "600"}, {"IDLE_DAYS": "0"}]
)
def test_numbers_that_make_no_sense_are_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    environ = {f"MEMVAULT__SEARCH__FREEZING__{name}": value for name, value in wrong.items()}
    with pytest.raises(SettingsError):
        load("search", SearchSettings, environ=environ, home=tmp_path)


async def old(house: House, *blocks: Block) -> None:
    """Write blocks as they were written years ago."""
    for block in blocks:
        house.sequence += 1
        moment = Moment(house.sequence, NOW - YEARS)
        past = replace(block, recorded_at=NOW - YEARS)
        await house.app.usecases.writing.write(Write(past, "refuse", f"old-{house.sequence}", moment))


def talk(number: int = 1, text: str = LONG, **more: Any) -> Block:
    return turn(number, text, source=Source("conversation"), **more)


def told(house: House) -> Sequence[Event[Any]]:
    return [event for event in house.bus.published if event.subject == subjects.BLOCK_INDEXED]


def ids(found: Found) -> list[str]:
    return [hit.stored.block.id for hit in found.hits]


async def test_the_night_freezes_and_says_how_many_and_nothing_of_the_words_is_left(house: House) -> None:
    await old(house, talk(1), talk(2, "And then we went home."), note("mine", LONG.replace("zeppelin", "airship")))
    only_words = frozenset({"ranker:dense_self", "ranker:dense_context"})
    assert "turn-1" in ids(await house.ask("zeppelin", off=only_words))
    version = (await house.app.vaults.of("ann")).write_version
    await house.bus.publish(subjects.DREAM_REQUESTED, events_pb2.DreamRequested(run_id="night-1"))
    await house.bus.settled()
    finished = [event.message for event in house.bus.published if event.subject == subjects.DREAM_FINISHED]
    assert finished[0].changes["frozen"] == 1
    frozen = await house.get("turn-1")
    assert frozen.frozen
    assert frozen.text == frozen.summary
    assert (await house.get("mine")).frozen is False
    # neither its own views nor those of its neighbour hold the word any more
    assert ids(await house.ask("zeppelin", off=only_words)) == []
    assert "turn-1" in ids(await house.ask("rowing club harbour"))
    vault = await house.app.vaults.of("ann")
    assert vault.write_version > version
    message = told(house)[-1].message
    assert (message.block.id, message.block.frozen, message.changed) == ("turn-1", True, True)
    assert "zeppelin" not in message.block.text
    assert (await house.app.usecases.reading.count("")).frozen == 1
    assert (await house.app.usecases.reading.count("ann")).frozen == 1
    assert (await house.app.usecases.dreaming.dream("night-2", ""))["frozen"] == 0


async def test_passages_and_token_vectors_of_the_whole_text_are_removed(house: House) -> None:
    await old(house, talk(1, LONG + " " + "The lock keeper told the story again. " * 60))
    vault = await house.app.vaults.of("ann")
    before = [one.point_id for one in vault.blocks()[0].passages]
    tokens = await house.app.index.token_vectors("ann", before)
    assert len(before) > 1
    await house.app.usecases.dreaming.dream("night", "ann")
    after = await house.app.index.token_vectors("ann", before)
    assert list(after) == before[:1]
    assert after[before[0]][0].values.shape < tokens[before[0]][0].values.shape
    assert list(await house.app.index.passages("ann", before)) == before[:1]
    loaded = await house.app.index.load("ann")
    assert [len(stored.passages) for stored, _ in loaded.blocks] == [1]
    assert await house.app.index.orphans("ann") == []


async def test_a_frozen_memory_stays_frozen_after_a_restart(house: House) -> None:
    await old(house, talk())
    await house.app.usecases.dreaming.dream("night", "ann")
    before = await house.get("turn-1")
    await house.bus.stop()
    again = await house.reopened()
    assert await again.get("turn-1") == before
    await again.bus.stop()
    await again.app.stop()


@pytest.mark.parametrize("text", [LONG, "Quite another text about a zeppelin, as long as it likes."])
async def test_a_frozen_memory_that_is_written_again_is_whole_again(house: House, text: str) -> None:
    await old(house, talk())
    await house.app.usecases.signals.accessed("ann", ["turn-1"], at=NOW - YEARS, counts=True, event_id="read")
    await house.app.usecases.dreaming.dream("night", "ann")
    (written,) = await house.write(talk(1, text))
    thawed = await house.get("turn-1")
    assert (written.status, thawed.frozen, thawed.text, thawed.access_count) == ("indexed", False, text, 1)
    assert "turn-1" in ids(await house.ask("zeppelin", off=frozenset({"ranker:dense_self"})))
    assert (await house.app.usecases.dreaming.dream("night-2", "ann"))["frozen"] == 0


async def test_an_export_made_while_frozen_takes_no_whole_text_away_and_comes_back_as_it_was(house: House) -> None:
    await old(house, talk())
    await house.app.usecases.dreaming.dream("night", "ann")
    exported = await house.get("turn-1")
    (again,) = await house.write(exported)
    assert (again.status, (await house.get("turn-1")).frozen) == ("unchanged", True)
    await house.write(talk())
    (late,) = await house.write(exported)
    assert (late.status, (await house.get("turn-1")).text) == ("unchanged", LONG)
    (elsewhere,) = await house.write(replace(exported, user_id="bob"))
    assert elsewhere.status == "indexed"
    assert (await house.get("turn-1", "bob")).frozen


async def test_a_night_cut_off_before_it_told_tells_when_it_is_delivered_again(house: House) -> None:
    await old(house, talk())
    already = len(told(house))
    house.bus.down = True
    with pytest.raises(Exception, match="bus"):
        await house.app.usecases.dreaming.dream("night", "ann")
    house.bus.down = False
    assert len(told(house)) == already
    assert (await house.app.usecases.dreaming.dream("night", "ann"))["frozen"] == 0
    assert [one.message.block.frozen for one in told(house)[already:]] == [True]
    await house.app.usecases.dreaming.dream("night-2", "ann")
    assert len(told(house)) == already + 1


async def test_one_night_freezes_no_more_than_its_share(house: House) -> None:
    dreaming = house.app.usecases.dreaming
    few = replace(dreaming._settings.freezing, a_night=3)
    dreaming._settings = dreaming._settings.model_copy(update={"freezing": few})
    await old(house, *(talk(number) for number in range(5)))
    assert [(await dreaming.dream(f"night-{night}", "ann"))["frozen"] for night in range(3)] == [3, 2, 0]
