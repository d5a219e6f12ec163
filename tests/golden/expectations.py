"""What a golden question may expect: one function a key, in one visible table.

Each takes the answer, what is wanted, and the file's other answers in the same profile, and yields sentences on what
does not hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from tests.golden.frame import steps

Answer = Mapping[str, Any]
Others = Mapping[str, Answer]
Check = Callable[[Answer, Any, Others], Iterator[str]]

FIRST = 5
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}


def _ids(answer: Answer) -> list[str]:
    return [card["block_id"] for card in answer["cards"]]


def _all(answer: Answer) -> list[Any]:
    return [*answer["cards"], *answer.get("cascade_cards", [])]


def _compares(value: float, wanted: str) -> bool:
    sign, _, number = wanted.partition(" ")
    return bool(_COMPARE[sign](value, float(number)))


def _field(name: str, answer: Answer, wanted: Any, _: Others) -> Iterator[str]:
    found = answer.get(name, answer["explanation"].get(name, ""))
    if found != wanted:
        yield f"{name} is {found!r}, not {wanted!r}"


def _among(name: str, answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = answer["explanation"].get(name, [])
    yield from (f"{name} has no {one!r}: {found}" for one in wanted if one not in found)


def _skipped(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = steps(answer["explanation"].get("skipped", []))
    yield from (f"{one} was not skipped: {found}" for one in wanted if one not in found)


def _taken(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = [one.partition(":")[0] for one in steps(answer["explanation"].get("skipped", []))]
    yield from (f"{one} was skipped: {found}" for one in wanted if one in found)


def _degraded(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = [f"{one['part']}:{one['reason']}" for one in answer.get("degraded", [])]
    if found != wanted:
        yield f"degraded is {found}, not {wanted}"


def _first(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    if not _ids(answer) or _ids(answer)[0] not in wanted:
        yield f"none of {wanted} leads: {_ids(answer)[:FIRST]}"


def _within(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    yield from (
        f"{one} is not among the first five: {_ids(answer)[:8]}" for one in wanted if one not in _ids(answer)[:FIRST]
    )


def _absent(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    yield from (
        f"{one} is among the first five: {_ids(answer)[:FIRST]}" for one in wanted if one in _ids(answer)[:FIRST]
    )


def _nowhere(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = {card["block_id"] for card in _all(answer)}
    yield from (f"{one} is in the answer" for one in wanted if one in found)


def _above(answer: Answer, wanted: list[list[str]], _: Others) -> Iterator[str]:
    found = _ids(answer)
    for left, right in wanted:
        if left not in found or (right in found and found.index(left) > found.index(right)):
            yield f"{left} does not stand above {right}: {found}"


def _ranks(answer: Answer, wanted: Mapping[str, Mapping[str, str]], _: Others) -> Iterator[str]:
    for block, rankers in wanted.items():
        card = _card(answer, block)
        places = {} if card is None else {one["ranker"]: one["rank"] for one in card["explanation"]["places"]}
        for ranker, rank in rankers.items():
            if card is None:
                yield f"{block} is no card"
            elif rank == "absent":
                if ranker in places:
                    yield f"{block} was found by {ranker} at rank {places[ranker]}"
            elif ranker not in places or not _compares(places[ranker], rank):
                yield f"{block} has rank {places.get(ranker, 'none')} in {ranker}, not {rank}"


def _stages(answer: Answer, wanted: Mapping[str, Mapping[str, str]], _: Others) -> Iterator[str]:
    for block, stages in wanted.items():
        card = _card(answer, block)
        factors = {} if card is None else {one["stage"]: one["factor"] for one in card["explanation"]["stages"]}
        for stage, factor in stages.items():
            if stage not in factors or not _compares(round(factors[stage], 4), factor):
                yield f"{block}: {stage} is {factors.get(stage, 'absent')}, not {factor}"


def _numbers(answer: Answer, wanted: Mapping[str, Mapping[str, str]], _: Others) -> Iterator[str]:
    """A card's own numbers: `score`, or of its explanation `base_score`, `similarity`, `rerank_score`, ..."""
    for block, numbers in wanted.items():
        card = _card(answer, block)
        known = {} if card is None else {**card["explanation"], **card}
        for name, number in numbers.items():
            if name not in known or not _compares(known[name], number):
                yield f"{block}: {name} is {known.get(name, 'absent')}, not {number}"


def _reranked(answer: Answer, wanted: str, _: Others) -> Iterator[str]:
    found = answer["explanation"].get("reranked", 0)
    if not _compares(found, wanted):
        yield f"{found} were reranked, not {wanted}"


def _reached(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = {one for card in _all(answer) for one in (card["block_id"], *card.get("supports", ()))}
    yield from (f"the walk did not reach {one}" for one in wanted if one not in found)


def _kinds(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = {card["kind"] for card in answer.get("cascade_cards", [])}
    if found != set(wanted):
        yield f"the cascade cards are of {sorted(found)}, not {sorted(wanted)}"


def _paths(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = {
        f"{step['subject']} > {step['predicate']} > {step['object']}"
        for card in answer.get("cascade_cards", [])
        for step in card.get("path", [])
    }
    yield from (f"no card was reached over {one!r}: {sorted(found)}" for one in wanted if one not in found)


def _redacted(answer: Answer, wanted: Mapping[str, list[str]], _: Others) -> Iterator[str]:
    """By block: what must no longer be in its text, which stays beside the mark."""
    for block, secrets in wanted.items():
        card = next((one for one in _all(answer) if one["block_id"] == block), None)
        if card is None:
            yield f"{block} is not in the answer"
            continue
        if not card.get("redacted") or "[REDACTED]" not in card["text"] or card["text"].strip() == "[REDACTED]":
            yield f"{block} is not redacted in part: {card['text']!r}"
        yield from (f"{block} still says {one!r}" for one in secrets if one.lower() in card["text"].lower())


def _marked(answer: Answer, wanted: Mapping[str, Mapping[str, Any]], _: Others) -> Iterator[str]:
    """By block: fields of its card, such as `superseded_by`, `frozen`, `summarised`, `trust`."""
    for block, fields in wanted.items():
        card = next((one for one in _all(answer) if one["block_id"] == block), None)
        for name, value in fields.items():
            found = None if card is None else card.get(name, type(value)())
            if found != value:
                yield f"{block}: {name} is {found!r}, not {value!r}"


def _says(field: str, answer: Answer, wanted: Mapping[str, str], _: Others) -> Iterator[str]:
    """By block: words that its text or its highlight must hold."""
    for block, words in wanted.items():
        found = next((card.get(field, "") for card in _all(answer) if card["block_id"] == block), "")
        if words not in found:
            yield f"{block}: the {field} lacks {words!r}: {found!r}"


def _unlinked(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = answer["explanation"].get("entities", [])
    yield from (f"{one} was linked: {found}" for one in wanted if one in found)


def _untold(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = [card["text"] for card in answer.get("cascade_cards", []) if card["kind"] == "triple"]
    yield from (f"the fact {one!r} is told" for one in wanted if one in found)


def _sure(answer: Answer, wanted: str, _: Others) -> Iterator[str]:
    if not _compares(answer["intent_confidence"], wanted):
        yield f"the intent's probability is {answer['intent_confidence']}, not {wanted}"


def _completed(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    found = answer["explanation"].get("completed_query", "")
    yield from (f"the completed question {found!r} lacks {one!r}" for one in wanted if one not in found)


def _range(answer: Answer, wanted: Mapping[str, str], _: Others) -> Iterator[str]:
    found = answer["explanation"].get("time_range", {})
    yield from (f"the range is {found}, not {wanted}" for key, value in wanted.items() if found.get(key) != value)


def _text_has(answer: Answer, wanted: list[str], _: Others) -> Iterator[str]:
    yield from (f"the text lacks {one!r}: {answer['text'][:400]!r}" for one in wanted if one not in answer["text"])


def _packing(answer: Answer, wanted: Mapping[str, str], _: Others) -> Iterator[str]:
    """Figures of the packing; `used` is the share of the budget."""
    packing = answer["packing"]
    known = {**packing, "used": packing.get("tokens_used", 0) / packing["token_budget"]}
    for name, number in wanted.items():
        if not _compares(known.get(name, 0), number):
            yield f"packing: {name} is {known.get(name, 0)}, not {number}"


def _cards(answer: Answer, wanted: str, _: Others) -> Iterator[str]:
    if not _compares(len(answer["cards"]), wanted):
        yield f"there are {len(answer['cards'])} cards, not {wanted}"


def _beside(answer: Answer, wanted: Mapping[str, Any], others: Others) -> Iterator[str]:
    """Compared with another question of the file: shared ids of the first `top`, the same order, or one's place."""
    other, top = others[wanted["question"]], wanted.get("top", 10)
    if wanted.get("same_order") and _ids(answer)[:top] != _ids(other)[:top]:
        yield f"another order than {wanted['question']}: {_ids(answer)[:top]} and {_ids(other)[:top]}"
    if wanted.get("other_order") and _ids(answer)[:top] == _ids(other)[:top]:
        yield f"the same order as {wanted['question']}: {_ids(answer)[:top]}"
    shared = len(set(_ids(answer)[:top]) & set(_ids(other)[:top]))
    if "shared" in wanted and not _compares(shared, wanted["shared"]):
        yield f"shares {shared} of the first {top} with {wanted['question']}, not {wanted['shared']}"
    for block in wanted.get("higher", ()):
        if block not in _ids(answer) or _ids(answer).index(block) >= [*_ids(other), block].index(block):
            yield f"{block} does not stand higher than for {wanted['question']}: {_ids(answer)} and {_ids(other)}"
    for block in wanted.get("same_score", ()):
        scores = [next((c["score"] for c in _all(one) if c["block_id"] == block), None) for one in (answer, other)]
        if None in scores or abs(scores[0] - scores[1]) > wanted.get("within", 1e-9):
            yield f"{block} has the scores {scores}"


def _card(answer: Answer, block: str) -> Any:
    return next((card for card in _all(answer) if card["block_id"] == block and "explanation" in card), None)


_FIELDS = ("intent", "facet", "thinking_mode", "retrieval_mode", "confidence", "self_check", "answered_from")
_EXPLAINED = (
    "funnel",
    "scoring_profile",
    "completed_query",
    "time_expression",
    "time_range",
    "time_filtered",
    "profile",
)
_LISTS = ("keyword_matches", "layers", "entities", "self_check_steps", "parts")

EXPECTATIONS: Mapping[str, Check] = {
    **{name: partial(_field, name) for name in (*_FIELDS, *_EXPLAINED)},
    **{name: partial(_among, name) for name in _LISTS},
    "skipped": _skipped,
    "taken": _taken,
    "degraded": _degraded,
    "first": _first,
    "within": _within,
    "absent": _absent,
    "nowhere": _nowhere,
    "above": _above,
    "ranks": _ranks,
    "stages": _stages,
    "numbers": _numbers,
    "reranked": _reranked,
    "reached": _reached,
    "kinds": _kinds,
    "paths": _paths,
    "redacted": _redacted,
    "marked": _marked,
    "highlighted": partial(_says, "highlight"),
    "says": partial(_says, "text"),
    "unlinked": _unlinked,
    "untold": _untold,
    "sure": _sure,
    "completed": _completed,
    "time_range": _range,
    "text_has": _text_has,
    "packing": _packing,
    "cards": _cards,
    "beside": _beside,
}


def unmet(answer: Answer, wanted: Mapping[str, Any], others: Others) -> list[str]:
    """Return a sentence on everything that does not hold.

    Raises:
        KeyError: The file expects something under a key that is none.
    """
    return [said for key, value in wanted.items() for said in EXPECTATIONS[key](answer, value, others)]
