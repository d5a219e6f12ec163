"""Puts the same questions to memvault: written once, settled, then asked over HTTP through every hop."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from memvault_evals.asking import Variant, ask
from memvault_evals.datasets import Scope
from memvault_evals.house import Client, House, Mode, load_average, stamp
from memvault_evals.peers.asking_peers import Answers, Step
from memvault_evals.progress import Bars
from memvault_evals.vault import SETTINGS, Vault, fingerprint


def fill(
    vault: Vault, sets: Mapping[str, Sequence[Scope]], mode: Mode, settings: Mapping[str, str], bars: Bars
) -> None:
    """Write every set that the vault does not hold, and let it settle; `settings` may name kept vectors.

    Raises:
        EvalError: When a block was not indexed or the vault did not settle.
    """
    held = {name: [vault.holds(one.user_id, one.blocks) for one in scopes] for name, scopes in sets.items()}
    if vault.settled and all(all(one) for one in held.values()):
        bars.step(sum(len(scope.blocks) for scopes in sets.values() for scope in scopes))
        return
    with House(vault.home, mode, {**settings, **SETTINGS}) as house, closing(Client(house.http)) as client:
        for name, scopes in sets.items():
            begin = time.monotonic()
            for scope in scopes:
                for count in vault.fill(client, scope.user_id, scope.blocks):
                    bars.step(count)
            if not any(held[name]):
                _record(vault.folder, name, time.monotonic() - begin)
        vault.settle(client, house.state()["nats"], bars)


def ask_ours(
    client: Client, vault: Vault, name: str, scopes: Sequence[Scope], profile: str, step: Step, *, kept: bool
) -> Answers:
    """Ask the questions of a set; the house runs without kept vectors, so that each question is encoded.

    Raises:
        EvalError: When an answer is degraded: such a figure would not be the product's.
    """
    at, load, variant = stamp(), load_average(), Variant(profile)
    ranked: dict[str, Sequence[str]] = {}
    ms: dict[str, float] = {}
    for scope in scopes:
        for query in scope.queries:
            begin = time.perf_counter()
            ranked[query.id] = tuple(ask(client, scope, query, variant)["ranked"])
            ms[query.id] = (time.perf_counter() - begin) * 1000
            step(1)
    seconds = _recorded(vault.folder).get(name)
    return Answers(ranked, ms, sum(len(scope.blocks) for scope in scopes), seconds, kept, at, load)


def open_vault(folder: Path) -> Vault:
    """The vault of this comparison; it is emptied when the code that makes it has changed."""
    return Vault(folder, fingerprint() + str(SETTINGS))


def _record(folder: Path, name: str, seconds: float) -> None:
    told = {**_recorded(folder), name: seconds}
    (folder / "fill_seconds.json").write_text(json.dumps(told), encoding="utf-8")


def _recorded(folder: Path) -> dict[str, float]:
    path = folder / "fill_seconds.json"
    told: dict[str, float] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return told
