"""Writes: screen, put on the bus, and wait for the confirmation where that is wanted (R-60)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memvault.faults import Fault, Reason
from memvault.screening import scan
from memvault_gateway.domain.model import Carried, WriteOutcome
from memvault_gateway.ports import Confirmations, Facts


@dataclass(frozen=True)
class NewBlock:
    """A checked block: `texts` is everything of it that must be screened."""

    block_id: str
    texts: tuple[str, ...]
    carried: Carried


@dataclass(frozen=True)
class WriteOptions:
    """How a write behaves; see the contract's `WriteOptions`."""

    wait: str
    on_unsafe: str
    wait_s: float
    restore: bool = False


class Write:
    """Stores blocks durably on the bus; each has an outcome of its own."""

    def __init__(
        self, facts: Facts, confirmations: Confirmations, new_id: Callable[[], str], *, concurrency: int
    ) -> None:
        self._facts = facts
        self._confirmations = confirmations
        self._new_id = new_id
        self._concurrency = concurrency

    async def __call__(self, blocks: Sequence[NewBlock | Fault], options: WriteOptions) -> tuple[WriteOutcome, ...]:
        """Return one outcome per block, in order; a `Fault` in place of a block is that block's refusal.

        Raises:
            Fault: BUS_UNAVAILABLE when not a single block could be stored.
        """
        gate = asyncio.Semaphore(self._concurrency)

        async def one(block: NewBlock | Fault) -> WriteOutcome | Fault:
            if isinstance(block, Fault):
                return _refused(block.metadata.get("block_id", ""), block)
            async with gate:
                return await self._store(block, options)

        outcomes = await asyncio.gather(*(one(block) for block in blocks))
        unstored = [outcome for outcome in outcomes if isinstance(outcome, Fault)]
        if unstored and len(unstored) == len(outcomes):
            raise unstored[0]
        return tuple(
            _refused(_id_of(block), outcome) if isinstance(outcome, Fault) else outcome
            for block, outcome in zip(blocks, outcomes, strict=True)
        )

    async def _store(self, block: NewBlock, options: WriteOptions) -> WriteOutcome | Fault:
        if options.on_unsafe == "refuse":
            rules = sorted({hit.rule for text in block.texts for hit in scan(text)})
            if rules:
                detail = f"holds injected instructions ({', '.join(rules)}): send on_unsafe redact or mark to store it"
                return WriteOutcome(block.block_id, "refused", Reason.UNSAFE_CONTENT.value, detail)
        event_id = self._new_id()
        waits = options.wait == "indexed"
        if waits:
            self._confirmations.expect(event_id)
        try:
            await self._facts.block_upserted(block.carried, options.on_unsafe, event_id, restore=options.restore)
        except Fault as fault:
            if waits:
                await self._confirmations.outcome(event_id, 0)
            return fault
        outcome = await self._confirmations.outcome(event_id, options.wait_s) if waits else None
        return WriteOutcome(block.block_id, *outcome) if outcome else WriteOutcome(block.block_id, "accepted")


def _id_of(block: NewBlock | Fault) -> str:
    return block.block_id if isinstance(block, NewBlock) else block.metadata.get("block_id", "")


def _refused(block_id: str, fault: Fault) -> WriteOutcome:
    return WriteOutcome(block_id, "refused", fault.reason.value, fault.message)
