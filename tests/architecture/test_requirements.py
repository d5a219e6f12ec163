"""Every mechanism of the specification is held by a test that names it, by a marker `r("R-13")` or in a docstring."""

import re
from collections import Counter

from tests.architecture.repository import ROOT, is_generated, shown, tracked

MECHANISMS = {
    "R-01": "keyword funnel",
    "R-02": "embedding funnel",
    "R-03": "fusion of the funnels",
    "R-04": "a language model only when unsure",
    "R-05": "personalised router",
    "R-06": "attention profile",
    "R-07": "time expressions",
    "R-08": "follow-ups",
    "R-09": "routes: mode, thinking, strengths",
    "R-10": "hybrid retrieval and fusion",
    "R-10a": "calibrated similarity",
    "R-11": "BM25 per user and service",
    "R-11a": "words are not gated by vectors",
    "R-11b": "contextual views",
    "R-12": "long blocks as passages",
    "R-13": "the eleven stages",
    "R-13a": "boosts must not drown relevance",
    "R-14": "late scoring in the frame of the first",
    "R-15": "attention gate before the reranker",
    "R-16": "blending",
    "R-17": "nothing relevant is an answer too",
    "R-17a": "two clocks and supersession",
    "R-18": "reading extends life",
    "R-19": "frozen tier",
    "R-20": "reranker",
    "R-21": "circuit breaker",
    "R-22": "work that would be late is dropped",
    "R-30": "three layers of the graph",
    "R-31": "local, global and hybrid walks",
    "R-32": "cascade cards and their paths",
    "R-33": "entity linking",
    "R-34": "triples and dual projection",
    "R-35": "self-check",
    "R-36": "dream loop",
    "R-40": "sanitise on the way out",
    "R-40a": "quoted data, and a cap per source",
    "R-41": "audit of every hit",
    "R-42": "packing under a token budget",
    "R-43": "formats",
    "R-44": "degraded, never failed",
    "R-50": "utterances start the slow thinker",
    "R-50a": "two fuels",
    "R-51": "prediction pipeline",
    "R-52": "admission",
    "R-53": "speculative fetch",
    "R-54": "prefetch hits",
    "R-55": "double screening of the cache",
    "R-56": "figures of the prefetch",
    "R-60": "writes: accepted, indexed, confirmed",
    "R-60a": "writes never vanish",
    "R-61": "trust and confidence by source",
    "R-62": "forget",
    "R-63": "export and import",
    "R-70": "one trace per recall",
    "R-71": "trade-offs with figures",
    "R-72": "golden queries",
}
_ID = re.compile(r"\bR-\d\d[ab]?\b")


def mentions(*tops: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for path in tracked():
        own = path.name == "test_requirements.py"
        if not own and path.relative_to(ROOT).parts[0] in tops and path.suffix in {".py", ".toml", ".md"}:
            found.update(_ID.findall(path.read_text(encoding="utf-8")))
    return found


def test_whatever_the_repository_refers_to_is_a_mechanism() -> None:
    strangers = [
        f"{shown(path)}: {name}"
        for path in tracked()
        if path.suffix in {".py", ".toml", ".md", ".proto"} and not is_generated(path)
        for name in _ID.findall(path.read_text(encoding="utf-8"))
        if name not in MECHANISMS
    ]
    assert strangers == []


def test_every_mechanism_is_held_by_a_test() -> None:
    held = mentions("tests")
    open_ones = {name: title for name, title in MECHANISMS.items() if not held[name]}
    assert open_ones == {}, f"without a test: {open_ones}"
