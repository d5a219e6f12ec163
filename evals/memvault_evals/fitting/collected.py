"""Cases of whole sets, kept in a file each outside the repository: collected once for the same data and code."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from memvault_evals.datasets import Data, Scope, read_set
from memvault_evals.fitting.cases import Case, keep, kept
from memvault_evals.fitting.collecting import ask_all, cases_of
from memvault_evals.house import Client, EvalError, House
from memvault_evals.vault import MAKERS, SETTINGS, Vault, fingerprint
from memvault_evals.workspace import Workspace

CODE = (*MAKERS, "memvault_router", "memvault_rerank")
FIELDS = {"id", "scope", "q", "gold"}


def checked(data: Data, names: Sequence[str]) -> None:
    """Refuse what is no normalised set of questions, a sealed file above all.

    Raises:
        EvalError: With the name of the set and what is wrong with it.
    """
    for name in names:
        path = data.path(f"{name}.queries")
        if path is None:
            raise EvalError(f"{name}.queries.jsonl[.gz] is not there: only normalised sets are fitted on")
        lacking = next((FIELDS - set(row) for row in data.rows(f"{name}.queries") if FIELDS - set(row)), None)
        if lacking:
            raise EvalError(f"{path} is no normalised set: a row lacks {', '.join(sorted(lacking))}")


def collected(data: Data, names: Sequence[str], workspace: Workspace, say: Callable[[str], None]) -> list[Case]:
    """The cases of all sets, from their files where these are there."""
    checked(data, names)
    code, folder = fingerprint(CODE), workspace.folder / "fitting"
    cases: list[Case] = []
    for name in names:
        scopes = read_set(data, name)
        path = folder / f"{name}-{_digest(scopes)}-{code}.cases"
        found = kept(path)
        if found is None:
            say(f"{name}: asking the product")
            found = _collect(name, scopes, folder / "vaults" / name, workspace)
            keep(path, found)
        cases += found
    return cases


def _collect(name: str, scopes: Sequence[Scope], folder: Path, workspace: Workspace) -> list[Case]:
    vault = Vault(folder, fingerprint())
    with House(vault.home, "six", {**workspace.settings(), **SETTINGS}) as house:
        state = house.state()
        with closing(Client(house.http)) as client:
            for scope in scopes:
                for _ in vault.fill(client, scope.user_id, scope.blocks):
                    pass
            vault.settle(client, state["nats"])
        addresses = {one: state["processes"][one]["address"] for one in ("router", "search")}
        asked = asyncio.run(ask_all(addresses, scopes))
    return asyncio.run(cases_of(name, vault.home, asked))


def _digest(scopes: Sequence[Scope]) -> str:
    told = [[scope.user_id, list(scope.blocks), [query.id for query in scope.queries]] for scope in scopes]
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False, default=str).encode()).hexdigest()[:12]
