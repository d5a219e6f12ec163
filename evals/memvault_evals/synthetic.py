"""An invented bilingual vault of any size, and questions about it that never repeat; the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random
from typing import Any

_LAST = datetime(2026, 6, 1, 9, tzinfo=UTC)
_GAP = timedelta(minutes=15)
_PAUSE = timedelta(minutes=1)
_TURNS = 20
_NOTES_SHARE = 0.4
_REMEMBERED = 300

_EN_WHO = ("Ada", "Boris", "Chen", "Dalia", "Emeka", "Freya", "Goran", "Hana", "Imre", "Jun", "Kofi", "Lena")
_EN_THING = (
    "billing export", "camera rig", "harbour map", "invoice parser", "kitchen plan", "login page", "market survey",
    "night train", "ocean sensor", "parking app", "quarterly report", "river trail", "search index", "tax form",
    "user interview", "violin lesson", "water pump", "year plan", "backup script", "garden fence",
)  # fmt: skip
_EN_DID = (
    "finished", "postponed", "rewrote", "lost", "presented", "tested", "measured", "ordered", "cancelled", "repaired",
    "compared", "sold",
)  # fmt: skip
_EN_WHY = (
    "because the supplier changed the price", "after the meeting about safety", "since nobody had time before",
    "so that the team can travel in spring", "because the old one broke twice", "after reading three reviews",
    "to keep the promise made in winter", "although the budget was already spent",
)  # fmt: skip
_ZH_WHO = ("雅婷", "志明", "怡君", "建宏", "淑芬", "冠宇", "佩珊", "俊傑", "美玲", "家豪", "思妤", "柏翰")
_ZH_THING = (
    "帳單匯出", "攝影支架", "港口地圖", "發票解析", "廚房計畫", "登入頁面", "市場調查", "夜間列車", "海洋感測器",
    "停車應用", "季度報告", "河邊步道", "搜尋索引", "報稅表格", "使用者訪談", "小提琴課", "抽水馬達", "年度規劃",
    "備份腳本", "花園圍籬",
)  # fmt: skip
_ZH_DID = (
    "完成了",
    "延後了",
    "重寫了",
    "弄丟了",
    "報告了",
    "測試了",
    "量過了",
    "訂購了",
    "取消了",
    "修好了",
    "比較了",
    "賣掉了",
)
_ZH_WHY = (
    "因為供應商改了價格", "在安全會議之後", "之前一直沒有人有空", "好讓大家春天可以出門", "因為舊的壞了兩次",
    "看了三篇評論才決定", "為了遵守冬天的約定", "雖然預算已經用完",
)  # fmt: skip
_EN_ASKED = (
    "Why was the {thing} {did} by {who} in room {n}?", "What did {who} say about the {thing} number {n}?",
    "Who {did} the {thing} for {who} at {n} dollars?", "Where is the {thing} that {who} {did} on day {n}?",
)  # fmt: skip
_ZH_ASKED = (
    "{who}為什麼把{thing}第{n}版{did}？", "關於{thing}，{who}在{n}號房說了什麼？", "{who}{did}的{thing}花了{n}元嗎？",
    "第{n}天{who}的{thing}放在哪裡？",
)  # fmt: skip


def blocks(count: int, *, seed: int) -> list[dict[str, Any]]:
    """Return `count` JSON blocks of the public contract: conversations of 20 turns and single notes, newest first.

    A larger vault of the same seed begins with the smaller one.
    """
    return list(islice(all_blocks(seed), count))


def all_blocks(seed: int) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a vault without end."""
    chance = Random(seed)
    number = 0
    while True:
        begun = _LAST - number * _GAP
        if chance.random() < _NOTES_SHARE / (_NOTES_SHARE + (1 - _NOTES_SHARE) / _TURNS):
            note = {"title": _thing(chance), "source": {"kind": "hand_written"}}
            yield _completed(note, number, begun, chance)
            number += 1
            continue
        conversation = f"talk-{number}"
        for place in range(_TURNS):
            turn = {
                "conversation_id": conversation,
                "position": place,
                "source": {"kind": "conversation"},
                "speaker": chance.choice(_EN_WHO + _ZH_WHO),
            }
            yield _completed(turn, number, begun + place * _PAUSE, chance)
            number += 1


def _completed(block: dict[str, Any], number: int, when: datetime, chance: Random) -> dict[str, Any]:
    return block | {
        "id": f"block-{number}",
        "text": _statement(chance),
        "event_time": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def memories(*, seed: int) -> Iterator[str]:
    """Yield texts of one sentence that the vault of this seed holds among its first 300 blocks, no two alike."""
    texts = {str(block["text"]): None for block in islice(all_blocks(seed), _REMEMBERED)}
    return (text for text in texts if text.count(".") + text.count("。") == 1)


def questions(*, seed: int) -> Iterator[str]:
    """Yield questions without end, half of them Chinese, no two alike."""
    chance = Random(seed)
    seen: set[str] = set()
    while True:
        chinese = len(seen) % 2 == 1
        pattern = chance.choice(_ZH_ASKED if chinese else _EN_ASKED)
        made = pattern.format(
            who=chance.choice(_ZH_WHO if chinese else _EN_WHO),
            thing=chance.choice(_ZH_THING if chinese else _EN_THING),
            did=chance.choice(_ZH_DID if chinese else _EN_DID),
            n=chance.randrange(2, 10_000),
        )
        if made not in seen:
            seen.add(made)
            yield made


def _thing(chance: Random) -> str:
    return chance.choice(_EN_THING + _ZH_THING)


def _statement(chance: Random) -> str:
    parts = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        number = chance.randrange(2, 10_000)
        if chance.random() < 0.5:  # noqa: PLR2004 - half of it is Chinese
            who, other = chance.sample(_ZH_WHO, 2)
            parts.append(
                f"{who}把{chance.choice(_ZH_THING)}第{number}版{chance.choice(_ZH_DID)}，{chance.choice(_ZH_WHY)}，{other}也在場。"
            )
        else:
            who, other = chance.sample(_EN_WHO, 2)
            thing, did, why = chance.choice(_EN_THING), chance.choice(_EN_DID), chance.choice(_EN_WHY)
            parts.append(f"{who} {did} the {thing} number {number} {why}, and {other} was there.")
    return " ".join(parts)
