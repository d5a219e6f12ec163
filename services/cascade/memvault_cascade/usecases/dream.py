"""This service's part of the nightly loop, and its alarm clock (R-36)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from memvault.faults import Fault, Reason
from memvault_cascade.domain.schedule import next_run, run_id

if TYPE_CHECKING:
    from memvault_cascade.ports import Announcer, Clock, GraphState
    from memvault_cascade.usecases.garden import Garden
    from memvault_cascade.usecases.graphs import Graphs
    from memvault_cascade.usecases.ingest import Ingest

_LOOK_AT_CLOCK_S = 60.0


@dataclass(frozen=True, slots=True)
class DreamLimits:
    """`hour` of the local day (0 to 23); seconds one delivery may work; seconds the lock on the alarm lasts."""

    hour: int = 4
    work_s: float = 90.0
    lock_s: float = 3600.0


class Dream:
    """Tends every graph. What is done stays done, so a run cut short goes on where it was."""

    def __init__(
        self,
        graphs: Graphs,
        garden: Garden,
        ingest: Ingest,
        announcer: Announcer,
        clock: Clock,
        generator: str,
        limits: DreamLimits,
    ) -> None:
        """`generator` is what writes summaries now: communities that another one wrote are written again."""
        self._graphs = graphs
        self._garden = garden
        self._ingest = ingest
        self._announcer = announcer
        self._clock = clock
        self._generator = generator
        self._limits = limits
        self._totals: dict[str, Counter[str]] = {}
        self._done: dict[str, set[str]] = {}

    async def run(self, identity: str, user_id: str) -> dict[str, int]:
        """Do a run, for one user or (empty) for all, tell the result and return it.

        Raises:
            Fault: OVERLOADED when there is more than one delivery may do; asked again, it continues.
        """
        started = time.perf_counter()
        totals = self._totals.setdefault(identity, Counter())
        done = self._done.setdefault(identity, set())
        users: Sequence[str] = [user_id] if user_id else await self._graphs.users()
        for user in (one for one in users if one not in done):
            if time.perf_counter() - started > self._limits.work_s:
                raise Fault(Reason.OVERLOADED, "the nightly run is not done yet: deliver the request again")
            if removed := await self._ingest.weed(user):
                totals.update(roles_removed=removed)
            if not self._is_behind(await self._graphs.state(user)):
                totals.update(centralities=await self._garden.recentre(user))
                done.add(user)
                continue
            tended = await self._garden.tend(user, renew=True)
            done.add(user)
            totals.update(
                users=1,
                communities=tended.communities,
                summaries=tended.summaries,
                communities_removed=tended.removed,
                centralities=tended.centralities,
            )
        self._done.pop(identity)
        changes = {"users": 0, "summaries": 0, "centralities": 0, **self._totals.pop(identity)}
        await self._announcer.finish_dream(identity, changes, (time.perf_counter() - started) * 1000)
        return changes

    def _is_behind(self, state: GraphState) -> bool:
        if state.version != state.community_version:
            return True
        return any(c.generator != self._generator for c in state.communities)

    async def alarm(self, zone: tzinfo) -> None:
        """Ask for a run every night until cancelled; of several replicas one asks."""
        while True:
            due = next_run(self._clock.now(), self._limits.hour, zone)
            # In steps, because a laptop that slept wakes up with a wrong idea of how long it has waited.
            while (left := (due - self._clock.now()).total_seconds()) > 0:  # noqa: ASYNC110 - the clock is no event
                await asyncio.sleep(min(left, _LOOK_AT_CLOCK_S))
            identity = run_id(due, zone)
            if await self._announcer.claim(f"alarm.{identity}", self._limits.lock_s):
                await self._announcer.request_dream(identity, due)
