"""The vault that is kept from run to run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.house import EvalError
from memvault_evals.vault import Vault, fingerprint

BLOCKS = [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}, {"id": "c", "text": "three"}]


class Gateway:
    """Takes blocks two at a time, and fails at the batch it is told to."""

    def __init__(self, fails_at: int = 99) -> None:
        self.writes, self._fails_at = 0, fails_at

    def write(self, user_id: str, blocks: Sequence[Mapping[str, Any]]) -> Iterator[int]:
        for begin in range(0, len(blocks), 2):
            if begin >= self._fails_at:
                raise EvalError("the gateway went away")
            self.writes += 1
            yield begin + 2


def test_what_was_written_is_not_written_again_even_by_a_later_run(tmp_path: Path) -> None:
    gateway = Gateway()
    assert list(Vault(tmp_path, "now").fill(gateway, "u", BLOCKS)) == [2, 1]
    assert list(Vault(tmp_path, "now").fill(gateway, "u", BLOCKS)) == [3]
    assert gateway.writes == 2


def test_a_user_who_was_not_written_to_the_end_is_written_again(tmp_path: Path) -> None:
    with pytest.raises(EvalError):
        list(Vault(tmp_path, "now").fill(Gateway(fails_at=2), "u", BLOCKS))
    again = Vault(tmp_path, "now")
    assert not again.holds("u", BLOCKS)
    assert not again.settled


def test_other_blocks_of_the_same_user_are_written(tmp_path: Path) -> None:
    vault = Vault(tmp_path, "now")
    list(vault.fill(Gateway(), "u", BLOCKS))
    assert not vault.holds("u", BLOCKS[:2])


def test_a_vault_made_by_other_code_is_emptied(tmp_path: Path) -> None:
    old = Vault(tmp_path, "before")
    list(old.fill(Gateway(), "u", BLOCKS))
    (old.home / "data").mkdir(parents=True)
    assert not Vault(tmp_path, "now").holds("u", BLOCKS)
    assert not old.home.exists()


def test_a_new_vault_has_nothing_to_settle(tmp_path: Path) -> None:
    assert Vault(tmp_path, "now").settled


def test_the_record_is_whole_whenever_it_is_there(tmp_path: Path) -> None:
    vault = Vault(tmp_path, "now")
    list(vault.fill(Gateway(), "u", BLOCKS))
    assert json.loads((tmp_path / "written.json").read_text(encoding="utf-8"))["made_by"] == "now"
    assert not list(tmp_path.glob("*.part"))


def test_a_fingerprint_tells_packages_apart_and_stays_the_same() -> None:
    assert fingerprint(["memvault_evals"]) == fingerprint(["memvault_evals"]) != fingerprint(["memvault"])
