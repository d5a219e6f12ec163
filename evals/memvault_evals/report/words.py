"""What else was found about a set, in words that need no code beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

# words for what the product names shortly; other names are given with their underscores as spaces
NAMES: Mapping[str, str] = {
    "dominant": "one memory far ahead",
    "tight_cluster": "scores so close that the order hardly matters",
    "too_few": "hardly any candidates",
    "no_entry": "nothing was predicted",
    "far": "too far from every prediction",
    "few_turns": "too few turns",
    "p50": "median",
    "p95": "95th percentile",
    "free": "rules alone",
    "llm": "a text model",
}
KEPT = frozenset({"intents"})  # facts whose names are those of the contract
HEADS: Mapping[str, str] = {
    "intents": "questions taken for",
    "thinking": "thinking",
    "gate_skips": "not reranked, by reason",
    "confidence": "confidence that answers state",
    "self_check": "self-check",
    "attacks": "attacks",
    "benign": "harmless texts",
    "points": "points counted",
    "turns": "turns played",
    "turns with an answer": "turns after which an answer was prepared",
    "refused by": "predictions refused, by reason",
    "stored": "answers prepared",
    "fuel": "predictions drafted by",
    "hits": "real questions served from a prepared answer",
    "ms from utterance to stored": "ms from an utterance to its prepared answer",
    "why not served": "real questions not served, by reason",
    "asked": "questions",
    "reranked": "answers that were reranked",
    "from_graph_in_first_10": "answers with a memory of the graph among their first ten",
}


def told(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the facts of a set say, one phrase each: `questions taken for: factual 200, unknown 15`.

    Counts beside `asked` are given as shares of it too. What nobody described is told under its own name; what is too
    long for a phrase (confusions, lists of ids) is left out, and stands in results.json.
    """
    for name, value in facts.items():
        phrase = PHRASES[name](value) if name in PHRASES else _plainly(name, value, facts)
        if phrase:
            yield phrase


def _plainly(name: str, value: Any, facts: Mapping[str, Any]) -> str:  # noqa: ANN401 - JSON
    head = HEADS.get(name) or _named(name)
    if isinstance(value, Mapping):
        called = str if name in KEPT else _named
        parts = [f"{called(key)} {_number(one)}" for key, one in value.items() if isinstance(one, int | float)]
        return f"{head}: {', '.join(parts)}" if parts else ""
    if isinstance(value, int) and name != "asked" and facts.get("asked"):
        return f"{head}: {value} ({value / facts['asked']:.0%})"
    return f"{head}: {_number(value)}" if isinstance(value, int | float | str) else ""


def _named(name: str) -> str:
    return NAMES.get(name) or name.replace("_", " ")


def _number(value: float | str) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value}"


def _tokens(value: Mapping[str, float]) -> str:
    return f"tokens returned, mean: {', '.join(f'{_number(one)} in the {name} cards' for name, one in value.items())}"


def _unsupported(value: Mapping[str, int]) -> str:
    if not value["no_gold"]:
        return "something wanted among the first ten of every answer"
    share = value["no_gold"] / value["asked"]
    return (
        f"nothing wanted among the first ten: {value['no_gold']} ({share:.0%}), "
        f"of which {value['no_gold_confident']} do not call themselves low in confidence"
    )


def _second_try(value: Mapping[str, int]) -> str:
    told = f"second tries after the self-check: {value['tried']}"
    return f"{told}, of which {value['saved']} have something wanted among the first five" if value["tried"] else told


def _pulse(value: Mapping[str, int]) -> str:
    sides = ", ".join(f"{side} {found}" for side, found in value.items() if side != "probes")
    return f"of {value['probes']} memories asked for by their own words each side alone put first: {sides}"


def _funnel(value: Mapping[str, Mapping[str, float]]) -> str:
    parts = [
        f"{name} {one['rows']}" + (f" ({one['accuracy']:.0f}% right)" if "accuracy" in one else "")
        for name, one in value.items()
    ]
    return f"decided by: {', '.join(parts)}" if parts else ""


def _differing(value: list[str]) -> str:
    return f"texts judged otherwise on the way out than on the way in: {len(value)}"


def _useful(value: Mapping[str, Mapping[str, float]]) -> str:
    parts = [f"from {name} on {one['held']:.0f}% of {one['answers']}" for name, one in value.items()]
    return (
        f"prepared right before a point and holding what it needs, by stated confidence: {', '.join(parts)}"
        if parts
        else ""
    )


def _wasted(value: float) -> str:
    return f"prepared answers that served no question: {_number(value)}%"


PHRASES: Mapping[str, Callable[[Any], str]] = {
    "tokens": _tokens,
    "unsupported": _unsupported,
    "second_try": _second_try,
    "pulse": _pulse,
    "funnel": _funnel,
    "differing": _differing,
    "useful": _useful,
    "wasted": _wasted,
}
