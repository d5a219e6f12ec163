"""Vaults are kept away from Python's garbage collector, and freed without it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from memvault_search.usecases.lasting import Lasting
from tests.unit.search.conftest import House, note, turn


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as it was: it is one for the whole process."""
    assert gc.isenabled()
    yield
    gc.unfreeze()
    assert gc.isenabled()


async def test_a_vault_that_is_let_go_of_is_freed_by_its_references_alone(house: House) -> None:
    await house.write(*(turn(n, f"word{n} in turn {n}") for n in range(5)), note("a", "alone"))
    again = await house.reopened()
    vaults = again.app.vaults
    vault = await vaults.of("ann")
    assert len(vault) == 6
    await again.ask("word1")
    gone = [weakref.ref(one) for one in (vault, vault.words, vault.sessions, vault.statements, vault.speakers)]
    with Lasting.loading():  # nothing is collected meanwhile
        Lasting.keep()
        vaults.drop("ann")
        del vault
        assert [one() for one in gone] == [None] * len(gone)
    await again.bus.stop()


async def test_only_a_large_vault_is_taken_from_the_collector(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    await house.write(*(note(f"n{n}", f"word{n}") for n in range(3)))
    vaults = house.app.vaults
    before = gc.get_freeze_count()
    vaults.drop("ann")
    assert len(await vaults.of("ann")) == 3
    assert gc.get_freeze_count() == before
    monkeypatch.setattr(vaults, "_lasting_blocks", 3)
    vaults.drop("ann")
    assert len(await vaults.of("ann")) == 3
    assert gc.get_freeze_count() > before + 1000


def test_the_collector_works_again_once_the_last_vault_is_read() -> None:
    with Lasting.loading():
        with Lasting.loading():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(OSError, match="unread"), Lasting.loading():
        raise OSError("unread")
    assert gc.isenabled()
