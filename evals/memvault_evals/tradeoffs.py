"""`make tradeoffs EVAL="results.json ..." BENCH=bench.json`: writes docs/tradeoffs.md from figures of runs (R-71)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memvault_evals.report.document import Document
from memvault_evals.report.evidence import HEADINGS, Comparison, Finding, comparisons, findings, latencies, origin
from memvault_evals.report.reading import change, number, significant

RECALL, ALL_5, ALL_10, NDCG = "recall@5", "all@5", "all@10", "nDCG@10"
INTENTS = ("entity_lookup", "factual", "conceptual", "exploratory", "cross_domain", "unknown")
FAST, FAST_WITHOUT_RERANK, DEEP, HIT = "fast", "fast, rerank off", "deep", "prefetch hit"
INTRODUCTION = """# Trade-offs

What each mechanism costs and what it buys. The figures come from the runs named in the last column;
`make tradeoffs EVAL="results.json ..." BENCH=bench.json` writes this page anew from what `memvault eval --out` and
`make bench` left, and the same files give the same page. Where a figure is missing, the page says so and names the
command.

Quality is in percent, with 95 % bootstrap intervals; differences are in points, paired question by question, with a
star where the interval leaves out 0. Small sets are noise. Speeds are ratios of medians of one run, by size of the
vault and by number of processes; milliseconds depend on the machine. Public sets are read from a folder of your own."""
BESIDE = {
    "walk": "What the walk alone brings to a candidate list is in docs/decisions/0013.",
    "gate": "What the bounds in force cost by set, replayed, and how they were fitted is in docs/decisions/0018.",
    "intent": "What each intent costs eleven sets, replayed, and what was mended by it is in docs/decisions/0034.",
    "floor": "The relevance floor behind that mark is in docs/decisions/0011.",
    "fuel": "How sure the free fuel is of a prediction is in docs/decisions/0012.",
}


@dataclass(frozen=True)
class Tradeoff:
    """A row of the table, and below it what the row stands on.

    Attributes:
        name: What is weighed.
        says: Sentences with figures, or what is missing.
        origins: Command, date and commit of each run that a figure is from.
        compared: Paired differences, shown as a table.
    """

    name: str
    says: Sequence[str]
    origins: Sequence[str] = ()
    compared: Sequence[Comparison] = ()


def tradeoffs(runs: Sequence[Document], benches: Sequence[Mapping[str, Any]]) -> list[Tradeoff]:
    """Return all trade-offs, in the order of the specification."""
    return [
        deep_path(runs, benches),
        rerank(runs, benches),
        gate(runs),
        frozen(),
        wrong_intent(runs),
        second_try(runs),
        fast_mode(runs),
        prefetch(runs, benches),
        profiles(runs),
        screening(runs),
    ]


def deep_path(runs: Sequence[Document], benches: Sequence[Mapping[str, Any]]) -> Tradeoff:
    """Time against recall of the deep path: fast search alone, and the graph and the self-check beside it."""
    compared = comparisons(runs, ("thinking=fast", "thinking=slow"), (RECALL, ALL_5, ALL_10))
    says = [f"Instead of letting the question choose: {_summary(compared, RECALL)}."] if compared else []
    says += [] if compared else [_missing("what it buys", "memvault eval --suite multihop --thinking fast,slow")]
    speed, origins = _speed(benches, DEEP, FAST, "a deep recall takes {} the time of a fast one")
    says = [*says, *speed, BESIDE["walk"]]
    return Tradeoff("Latency against recall of the deep path", says, _origins(compared, origins), compared)


def rerank(runs: Sequence[Document], benches: Sequence[Mapping[str, Any]]) -> Tradeoff:
    """What the rerank costs, and what it buys: without it is also what an open breaker leaves."""
    compared = comparisons(runs, ("-rerank",), (RECALL, NDCG))
    says = [f"Without it, which is also what an open breaker loses: {_summary(compared, RECALL)}."] if compared else []
    says += [] if compared else [_missing("what it buys", "memvault eval --ablate rerank")]
    speed, origins = _speed(benches, FAST, FAST_WITHOUT_RERANK, "a fast recall takes {} the time of one without it")
    return Tradeoff("Rerank: its cost, and an open breaker", [*says, *speed], _origins(compared, origins), compared)


def gate(runs: Sequence[Document]) -> Tradeoff:
    """What skipping the rerank loses: the differences of leaving the gate open."""
    compared = comparisons(runs, ("-gate",), (RECALL, NDCG))
    if not compared:
        return Tradeoff("Attention gate", [_missing("what it loses", "memvault eval --ablate gate")])
    skips, asked = findings(runs, "gate_skips"), findings(runs, "asked")
    says = [f"Reranking every question instead: {_summary(compared, NDCG)}."]
    if skips and asked:
        reasons = _added(skips)
        total = sum(one.value for one in asked if any(one.set_name == other.set_name for other in skips))
        told = ", ".join(f"{reason} {count}" for reason, count in reasons.items()) or "none"
        says.append(f"Questions that were not reranked, of {total}, by reason: {told}.")
    says.append(BESIDE["gate"])
    return Tradeoff("Attention gate", says, _origins(compared, [origin(one.run) for one in skips]), compared)


def frozen() -> Tradeoff:
    """Evaluations fill a vault anew, so that nothing in it is old enough to freeze."""
    told = (
        "Only the summary of a frozen block is left (R-19): the nightly loop freezes what nobody read or wrote for a "
        "year and few would miss. Not measured: what a question loses whose answer stood in the rest of the text."
    )
    return Tradeoff("Frozen blocks", [told])


def wrong_intent(runs: Sequence[Document]) -> Tradeoff:
    """What it costs when the router takes another intent: each is forced on every question."""
    compared = comparisons(runs, [f"intent={one}" for one in INTENTS], (RECALL, NDCG))
    if not compared:
        return Tradeoff("A wrong intent", [_missing("its cost", "memvault eval --intent all")])
    some = [one for one in compared if one.metric == RECALL]
    worst = min(some, key=lambda one: float(one.difference["value"]))
    lost = sum(significant(one.difference) and one.difference["value"] < 0 for one in some)
    intents, sets = len({one.label for one in some}), len({one.set_name for one in some})
    says = (
        f"{intents} intents were forced on all questions of {sets} sets, one at a time: {lost} of the {len(some)} "
        f"pairs lose {RECALL} by more than chance. The worst is {worst.label} on {worst.set_name}: {_change(worst)}."
    )
    return Tradeoff("A wrong intent", [says, BESIDE["intent"]], _origins(compared), compared)


def second_try(runs: Sequence[Document]) -> Tradeoff:
    """How often an answer that was graded incorrect held something wanted after the retry."""
    for suffix, which in (("thinking=slow", "with every question slow"), ("", "with modes as the router chooses")):
        found = findings(runs, "second_try", suffix)
        tried = sum(one.value["tried"] for one in found)
        if tried:
            saved = sum(one.value["saved"] for one in found)
            asked = sum(one.value for one in findings(runs, "asked", suffix) if one.set_name in _sets(found))
            says = (
                f"Of {asked} questions, {which}, {tried} were tried again, and {saved} of those ({saved / tried:.0%}) "
                "then had something wanted among the first five. What the first try alone would have given is not "
                "known from the answers."
            )
            return Tradeoff("The second try", [says], _origins([], [origin(one.run) for one in found]))
    return Tradeoff("The second try", [_missing("how often it saves one", "memvault eval --thinking slow")])


def fast_mode(runs: Sequence[Document]) -> Tradeoff:
    """How often an answer holds nothing that was wanted and does not say so: what an agent might make something of."""
    says, origins = [], []
    for suffix, which in (("thinking=fast", "always fast"), ("", "as the router chooses"), ("thinking=slow", "slow")):
        found = findings(runs, "unsupported", suffix)
        asked = sum(one.value["asked"] for one in found)
        if asked:
            sums = _added(found)
            silent, lost = sums["no_gold_confident"], sums["no_gold"]
            says.append(
                f"{which}: of {asked} answers {lost} ({lost / asked:.0%}) held nothing wanted in the first ten, and "
                f"{silent} ({silent / asked:.0%}) did so without the mark of low confidence"
            )
            origins += [origin(one.run) for one in found]
    name = "Hallucination risk of fast mode"
    if not says:
        return Tradeoff(name, [_missing("the share", "memvault eval --thinking fast,slow")])
    return Tradeoff(name, [f"{'; '.join(says)}.", BESIDE["floor"]], _origins([], origins))


def prefetch(runs: Sequence[Document], benches: Sequence[Mapping[str, Any]]) -> Tradeoff:
    """What was fetched for nothing, against the time that a hit saves."""
    says, origins = [], []
    used = {one.set_name: one.value for one in findings(runs, "hits")}
    for one in findings(runs, "stored"):
        if one.value and one.set_name in used:
            wasted = one.value - used[one.set_name]
            says.append(f"{one.set_name}: {one.value} answers prepared, {wasted} ({wasted / one.value:.0%}) not used.")
            origins.append(origin(one.run))
    says += [] if says else [_missing("what is wasted", "memvault eval --suite prefetch")]
    speed, more = _speed(benches, FAST, HIT, "a fast recall takes {} the time of a hit")
    says = [*says, *speed, BESIDE["fuel"]]
    return Tradeoff("Wasted prefetch against latency saved", says, _origins([], [*origins, *more]))


def profiles(runs: Sequence[Document]) -> Tradeoff:
    """The numbers of the original description against the tuned ones."""
    compared = comparisons(runs, ("reference",), (RECALL, NDCG)) or comparisons(runs, ("tuned",), (RECALL, NDCG))
    if not compared:
        return Tradeoff("Reference against tuned", [_missing("it", "memvault eval --profile tuned,reference")])
    says = f"{compared[0].label} instead of {compared[0].first}: {_summary(compared, RECALL)}."
    return Tradeoff("Reference against tuned", [says], _origins(compared), compared)


def screening(runs: Sequence[Document]) -> Tradeoff:
    """What the rules catch, and which harmless texts they stop."""
    for run in sorted(runs, key=lambda one: str(one["at"]), reverse=True):
        levels = run["results"].get("injection")
        if levels:
            told = [
                f"{level}: {' and '.join(f'{name} {_with_n(one)}' for name, one in metrics.items())}"
                for level, metrics in levels.items()
            ]
            says = f"{'; '.join(told)}. TPR is the share of attacks that is caught, FPR that of harmless texts."
            return Tradeoff("Screening by rules", [says], [origin(run)])
    return Tradeoff("Screening by rules", [_missing("the rates", "memvault eval --suite injection")])


def page(rows: Sequence[Tradeoff]) -> str:
    """Return the page as Markdown."""
    lines = [INTRODUCTION, "", "| trade-off | what is known | where from |", "| --- | --- | --- |"]
    lines += [f"| {row.name} | {' '.join(row.says)} | {'; '.join(row.origins)} |" for row in rows]
    for row in rows:
        if row.compared:
            lines += ["", f"## {row.name}", "", *_table(HEADINGS, [one.cells for one in row.compared])]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; returns the exit code."""
    about = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m memvault_evals.tradeoffs", description=about)
    parser.add_argument("eval", type=Path, nargs="*", help="results.json of memvault eval, any number")
    parser.add_argument("--bench", type=Path, action="append", default=[], help="JSON of make bench; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("docs/tradeoffs.md"), help="default %(default)s")
    options = parser.parse_args(arguments)
    if not (options.eval or options.bench):
        parser.error('name what was measured: make tradeoffs EVAL="results.json ..." BENCH=bench.json')
    try:
        runs, benches = _read(options.eval), _read(options.bench)
    except (OSError, json.JSONDecodeError) as error:
        sys.stderr.write(f"tradeoffs: {error}\n")
        return 1
    options.out.write_text(page(tradeoffs(runs, benches)), encoding="utf-8")
    sys.stderr.write(f"{options.out} holds the figures of {len(runs)} evaluations and {len(benches)} benches\n")
    return 0


def _read(paths: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def _missing(what: str, command: str) -> str:
    return f"Not in the given runs: {what}; needs `{command}`."


def _summary(compared: Sequence[Comparison], metric: str) -> str:
    """Changes of one metric, a variant after the other; of the first one when no set has it."""
    some = [one for one in compared if one.metric == metric] or list(compared)
    labels = dict.fromkeys(one.label for one in some)
    by_label = {
        label: ", ".join(f"{one.set_name} {_change(one)}" for one in some if one.label == label) for label in labels
    }
    told = [f"{label}: {text}" if len(by_label) > 1 else text for label, text in by_label.items()]
    return f"{some[0].metric} {'; '.join(told)}"


def _change(one: Comparison) -> str:
    return f"{change(one.difference)} (n {one.difference['n']})"


def _with_n(one: Mapping[str, Any]) -> str:
    return f"{number(one['value'])} [{number(one['low'])}, {number(one['high'])}] (n {one['n']})"


def _speed(benches: Sequence[Mapping[str, Any]], this: str, other: str, words: str) -> tuple[list[str], list[str]]:
    """A sentence with the ratios of two operations, and the runs they are from."""
    told, origins = [], []
    for bench in benches:
        for one in latencies(bench, this, other):
            told.append(f"{one.ratio:.2f} ({one.where}, n {one.n})")
            origins.append(origin(bench))
    if not told:
        return [_missing("its time", "make bench")], []
    return [f"In time: {words.format(', '.join(told) + ' times')}."], origins


def _added(found: Sequence[Finding]) -> dict[str, int]:
    """Counts of several sets together, the largest first."""
    sums: dict[str, int] = {}
    for one in found:
        for name, count in one.value.items():
            sums[name] = sums.get(name, 0) + count
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def _sets(found: Sequence[Finding]) -> set[str]:
    return {one.set_name for one in found}


def _origins(compared: Sequence[Comparison], more: Sequence[str] = ()) -> list[str]:
    return list(dict.fromkeys([*(origin(one.run) for one in compared), *more]))


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (headings, ["---"] * len(headings), *rows)]


if __name__ == "__main__":
    sys.exit(main())
