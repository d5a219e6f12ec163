"""Freezing with the packaged encoder and the embedded engine: found, marked, and the words really gone (R-19)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memvault.recall.v1 import types_pb2
from memvault.rpc.client import call
from memvault.search.v1 import search_pb2 as pb
from memvault.vectors.edge import EdgeStore
from memvault_search.adapters.collections import PASSAGES, TOKENS, passages_spec
from memvault_search.adapters.pointer import BLOCKS, BLOCKS_SPEC
from memvault_search.adapters.token_opening import tokens_beside
from memvault_search.domain.moment import Moment
from memvault_search.handlers.convert import block_from
from memvault_search.usecases.writing import Write
from tests.integration.search.conftest import RealSearch, open_search

OLD = datetime.now(UTC) - timedelta(days=900)
SECRET = "藍色茶壺"
TALK = (
    "我們在淡水河邊討論了划船社的事。划船社的船庫需要新的屋頂，屋頂要在冬天以前修好。"
    "社員希望船庫的屋頂用鐵皮，不要再用木板。划船社有四艘船，平常都停在船庫裡。"
    "船庫的門要換鎖，鑰匙由社長保管。屋頂漏水的地方先用帆布蓋住，等下一期社費收齊再修。"
    "船庫旁邊的小屋也歸划船社使用。社員每個星期天在船庫集合。離開以前有人提到一個藍色茶壺。"
    "屋頂的估價有三家，最便宜的一家要八萬。划船社決定先修船庫的屋頂，再換船庫的門。"
    "社長說船庫的屋頂如果撐不過颱風，四艘船要先搬到對岸的倉庫。社員同意輪流看守船庫。"
    "船庫的屋頂上次修理是十二年前，當時的社長用自己的錢買了木板。木板已經爛了，所以屋頂才會漏水。"
    "划船社今年的預算裡有一筆是給船庫的，但是不夠修整個屋頂。"
)


@pytest.mark.r("R-19")
async def test_only_the_summary_is_left_in_every_collection_and_after_a_restart(tmp_path: Path) -> None:
    running = await open_search(tmp_path)
    try:
        await written(running, "talk", TALK, "conversation")
        await written(running, "mine", TALK, "hand_written")
        assert (await running.app.usecases.dreaming.dream("night", "ann"))["frozen"] == 1
    finally:
        await running.bus.stop()
        await running.app.stop()
    await only_the_summary_is_stored(tmp_path)
    again = await open_search(tmp_path)
    try:
        asked = pb.Understanding(user_id="ann", query="划船社的屋頂要怎麼修？")
        answer: pb.SearchResponse = await call(again.stub.Search, pb.SearchRequest(understanding=asked), timeout_s=60)  # type: ignore[arg-type]
        found = {hit.block.id: hit.block for hit in answer.hits}
        assert (found["talk"].frozen, found["mine"].frozen) == (True, False)
        assert SECRET not in found["talk"].text
        assert len(found["talk"].text) <= 150
        counts: pb.GetIndexResponse = await call(again.stub.GetIndex, pb.GetIndexRequest(), timeout_s=60)  # type: ignore[arg-type]
        assert (counts.blocks, counts.frozen) == (2, 1)
    finally:
        await again.bus.stop()
        await again.app.stop()


async def written(running: RealSearch, name: str, text: str, kind: str) -> None:
    block = types_pb2.Block(id=name, user_id="ann", text=text, source=types_pb2.Source(kind=kind))
    block.recorded_at.FromDatetime(OLD)
    await running.app.usecases.writing.write(Write(block_from(block), "refuse", name, Moment(1, OLD)))


async def only_the_summary_is_stored(folder: Path) -> None:
    """Read what is stored: heads, passages and token vectors of the frozen block."""
    store = EdgeStore(folder / "data", flush_every_s=30)
    token_store = tokens_beside(store, cached=1)
    try:
        for spec in (BLOCKS_SPEC, passages_spec(384)):
            await store.ensure(spec)
        await token_store.ensure(TOKENS)
        heads, _ = await store.scroll(BLOCKS, None, limit=100)
        texts = {one.payload["block_id"]: one.payload["content"]["text"] for one in heads if "content" in one.payload}
        assert SECRET in texts["mine"]
        assert not any(SECRET in str(one.payload) for one in heads if one.payload.get("block_id") == "talk")
        passages, _ = await store.scroll(PASSAGES, None, limit=100)
        own = {one.payload["block_id"]: one.id for one in passages}
        assert sorted(own) == sorted(one.payload["block_id"] for one in passages) == ["mine", "talk"]
        tokens = await token_store.read(TOKENS, "ann", list(own.values()))
        assert len(tokens[own["talk"]][0]) < len(tokens[own["mine"]][0])
    finally:
        await token_store.close()
        await store.close()
