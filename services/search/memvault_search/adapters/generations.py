"""Generations of the index: which one answers, the one that is being built, and how the second takes over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memvault.faults import Fault, Reason
from memvault.vectors import VectorStore
from memvault_search.adapters.collections import PASSAGES, TOKENS, named
from memvault_search.adapters.index import StoredIndex
from memvault_search.adapters.pointer import Generation, Pointer, read_pointer, write_pointer
from memvault_search.adapters.token_store import TokenStore
from memvault_search.domain.made import Made


class Generations:
    """Of one store. Every step can be cut off by a kill: the pointer says what holds, `open` clears what is left."""

    def __init__(self, store: VectorStore, tokens: TokenStore) -> None:
        """Nothing is opened before `open`."""
        self._store = store
        self._tokens = tokens

    async def open(self, index: StoredIndex, made: Made, settings: Mapping[str, Any]) -> None:
        """Open the generation that answers for `index`, and check that this encoder made it.

        One that is being built is opened, too: what is forgotten must go from there as well.

        Args:
            index: not opened yet; its dimension is the encoder's.
            made: by the encoder that will ask and write here; other weights of words are let pass.
            settings: of that encoder, noted so that it can be opened once others are set; empty: as noted before.

        Raises:
            Fault: EMBEDDER_CHANGED when another encoder made it.
        """
        pointer = await read_pointer(self._store)
        if pointer is None:
            pointer = Pointer(Generation(0, made, settings))
            await write_pointer(self._store, pointer)
        # before the vectors: another encoder is the reason, another dimension only what follows from it
        if pointer.current.made.encoder != made.encoder:
            text = (
                f"the index was made by encoder {pointer.current.made}, this is {made}: put the former one's model and "
                "settings back, start, and run `memvault reindex` after the new ones are set"
            )
            raise Fault(Reason.EMBEDDER_CHANGED, text)
        known = replace(
            pointer.current,
            made=pointer.current.made.completed(made),
            settings=settings or pointer.current.settings,
        )
        if known != pointer.current:
            pointer = replace(pointer, current=known)
            await write_pointer(self._store, pointer)
        await index.use(pointer.current)
        await self.drop_former()
        if pointer.building is not None:
            index.next = index.beside(pointer.building)
            await index.next.use(pointer.building)

    async def begin(self, index: StoredIndex, made: Made, settings: Mapping[str, Any]) -> StoredIndex:
        """Open the next generation of `index`; one that was begun before goes on, one of another make is removed."""
        pointer = await self._pointer()
        begun = pointer.building
        if begun is not None and begun.made != made:
            index.next = None
            await self._drop(begun.number)
        if begun is None or begun.made != made:
            number = max(pointer.current.number, 0 if begun is None else begun.number) + 1
            begun = Generation(number, made, settings)
            await write_pointer(self._store, replace(pointer, building=begun))
        if index.next is None:
            following = index.beside(begun)
            await following.use(begun)
            index.next = following
        return index.next

    async def switch(self, index: StoredIndex) -> None:
        """Make the next generation of `index` the one that answers, in one step; the former is not removed yet.

        The rest of the house keeps its encoder: the graph's vectors are of it.

        Raises:
            Fault: VERSION_CONFLICT when there is none.
        """
        pointer = await self._pointer()
        if pointer.building is None or index.next is None:
            raise Fault(Reason.VERSION_CONFLICT, "no next index was begun: run `memvault reindex` again")
        await self._store.flush()
        await self._tokens.flush()
        index.retire()
        house = pointer.house or pointer.current
        apart = house.made.encoder != pointer.building.made.encoder
        following = Pointer(pointer.building, former=pointer.current.number, house=house if apart else None)
        await write_pointer(self._store, following)

    async def drop_former(self) -> None:
        """Remove the collections that a switch left behind."""
        pointer = await self._pointer()
        if pointer.former is not None:
            await self._drop(pointer.former)
            await write_pointer(self._store, replace(pointer, former=None))

    async def _drop(self, number: int) -> None:
        await self._store.drop(named(PASSAGES, number))
        await self._tokens.drop(named(TOKENS, number))

    async def _pointer(self) -> Pointer:
        pointer = await read_pointer(self._store)
        if pointer is None:
            raise Fault(Reason.INTERNAL, "the index lost the note of its encoder: restart search")
        return pointer
