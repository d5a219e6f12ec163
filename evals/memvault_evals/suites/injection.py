"""Suite injection: what the screening refuses on the way in, and what it lets through on the way out (R-40, R-60).

On the way in every text is written as a block that is refused when it is unsafe. On the way out it is a block of
another user, kept as it is with a mark, and asked for by its own words: what counts is the text that an agent gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from memvault_evals.house import WRITE_WAIT_MS, Client, EvalError
from memvault_evals.results import Figures, Row, SetReport, averaged
from memvault_evals.suites.suite import Run

SET = "injection"
INGRESS, EGRESS = "ingress", "egress"
INGRESS_USER, EGRESS_USER = "injection.in", "injection.out"
TPR, FPR = "TPR", "FPR"
# who talks about an instruction does not give one; so few rows that they are counted apart
MENTION, FPR_MENTION = "mention_not_use", "FPR mention_not_use"
DIRECT, INDIRECT = "carrier:direct", "carrier:indirect"
BATCH = 100
DEADLINE_MS = 120_000
TOKEN_BUDGET = 100_000
WITHHELD = "unsafe"  # of the contract: screening left nothing of the text
REDACTED = "[REDACTED]"
UNSAFE = "UNSAFE_CONTENT"


@dataclass(frozen=True)
class Sample:
    """A text; `attack` tells whether it holds an injected instruction, `carrier` where such a text is met."""

    id: str
    text: str
    lang: str
    attack: bool
    kind: str
    carrier: str

    @property
    def block(self) -> dict[str, Any]:
        """The block it is written as; its tag lets a question look at nothing else."""
        return {"id": self.id, "text": self.text, "service": "eval", "tags": [self.id], "source": {"kind": "web"}}


def read_samples(run: Run) -> list[Sample]:
    """Return the texts of the set."""
    return [
        Sample(row["id"], row["text"], row["lang"], bool(row["label"]), row["kind"], row["carrier"])
        for row in run.data.rows(SET, "id", "text", "lang", "label", "kind", "carrier")
    ]


class InjectionSuite:
    """Writes, asks, and compares with the labels. Screening is the same under every profile and variant."""

    name = "injection"
    sets: tuple[str, ...] = (SET,)

    def fill(self, set_name: str, run: Run) -> None:
        """Write every text twice: to be refused when it is unsafe, and as it is, with a mark."""
        samples = read_samples(run)
        run.progress.begin(f"{set_name}: writing", 2 * len(samples))
        self._refuse(run, samples)
        for count in run.vault.fill(run.gateway.client, EGRESS_USER, [one.block for one in samples]):
            run.progress.step(count)

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        """Ask for every text that was written with a mark."""
        samples = read_samples(run)
        run.progress.begin(f"{set_name}: asking", len(samples))
        profile = run.variants[0].profile
        asks = [(_key(EGRESS, one), partial(ask, run.gateway.client, one, profile)) for one in samples]
        told = {
            one.id: {INGRESS: _went_in(run, one), EGRESS: came_out}
            for one, came_out in zip(samples, run.answers(asks), strict=True)
        }
        found = report(samples, told)
        return {variant.label: found for variant in run.variants}

    def _refuse(self, run: Run, samples: Sequence[Sample]) -> None:
        unknown = [one for one in samples if run.log.get(_key(INGRESS, one)) is None]
        run.progress.step(len(samples) - len(unknown))
        for begin in range(0, len(unknown), BATCH):
            part = unknown[begin : begin + BATCH]
            for one, outcome in zip(part, write(run.gateway.client, part), strict=True):
                run.log.keep(_key(INGRESS, one), outcome)
            run.progress.step(len(part))


def _went_in(run: Run, sample: Sample) -> Mapping[str, Any]:
    known = run.log.get(_key(INGRESS, sample))
    if known is None:
        raise EvalError(f"{sample.id} was not written before it was asked for: fill the vault in the same run")
    return known


def _key(level: str, sample: Sample) -> str:
    return f"{SET}|{level}|{sample.id}"


def write(client: Client, samples: Sequence[Sample]) -> Iterator[dict[str, Any]]:
    """Write texts that are to be refused when unsafe; yields whether each was, and the rules that it hit.

    Raises:
        EvalError: When a block was not stored for another reason.
    """
    options = {"wait": "indexed", "on_unsafe": "refuse", "wait_ms": WRITE_WAIT_MS}
    body = {"user_id": INGRESS_USER, "blocks": [one.block for one in samples], "options": options}
    for outcome in client.call("POST", "/v1/blocks:batch", body)["outcomes"]:
        refused = outcome["status"] == "refused" and outcome["reason"] == UNSAFE
        if not refused and outcome["status"] not in {"indexed", "unchanged"}:
            raise EvalError(f"{outcome['block_id']} was neither stored nor refused as unsafe: {outcome}")
        yield {"refused": refused, "rules": outcome["detail"] if refused else ""}


def ask(client: Client, sample: Sample, profile: str) -> dict[str, Any]:
    """Ask for a text by its own words and return whether a span of what came out was replaced.

    Raises:
        EvalError: When the answer was degraded, or the block is missing from it without having been screened out.
    """
    context = {
        "user_id": EGRESS_USER,
        "origin": "eval",
        "format": "text",
        "limit": 1,
        "token_budget": TOKEN_BUDGET,
        "deadline_ms": DEADLINE_MS,
        "filters": {"tags": [sample.id]},
        "evaluation": {"profile": profile},
    }
    answer = client.recall(sample.text, context)
    if answer.get("degraded"):
        raise EvalError(f"{sample.id} was answered degraded: {answer['degraded']}")
    card = next((one for one in answer["cards"] if one["block_id"] == sample.id), None)
    if card is None:
        # a card of which nothing harmless is left does not come at all, and the answer says so
        if not any(one["reason"] == WITHHELD for one in answer.get("withheld", [])):
            raise EvalError(f"{sample.id} was not found by its own words, and no screening tells why")
        return {"caught": True, "left": ""}
    caught = bool(card.get("redacted"))
    if caught and (REDACTED not in answer["text"] or sample.text in answer["text"]):
        raise EvalError(f"the card of {sample.id} says redacted, and the answer's text still holds all of it")
    return {"caught": caught, "left": card["text"] if caught else ""}


def report(samples: Sequence[Sample], told: Mapping[str, Mapping[str, Any]]) -> SetReport:
    """Return the rates on both ways, by kind, language and carrier."""
    rows = [_row(one, told[one.id]) for one in samples]
    groups: dict[str, list[Row]] = {}
    for one, row in zip(samples, rows, strict=True):
        for group in (one.kind, f"lang:{one.lang}", DIRECT if one.carrier == "direct" else INDIRECT):
            groups.setdefault(group, []).append(row)
    by_type: dict[str, Figures] = {name: averaged(some).figures for name, some in sorted(groups.items())}
    return SetReport(averaged(rows).figures, by_type, rows, facts(samples, rows))


def _row(sample: Sample, told: Mapping[str, Any]) -> Row:
    rate = TPR if sample.attack else FPR_MENTION if sample.kind == MENTION else FPR
    levels = {
        INGRESS: {rate: float(told[INGRESS]["refused"])},
        EGRESS: {rate: float(told[EGRESS]["caught"])},
    }
    return Row(sample.id, sample.kind, levels, told)


def facts(samples: Sequence[Sample], rows: Sequence[Row]) -> dict[str, Any]:
    """Return rows per label, how often each set of rules refused, and the texts on which the two ways differ."""
    rules: dict[str, dict[str, int]] = {"attack": {}, "benign": {}}
    for one, row in zip(samples, rows, strict=True):
        if row.told[INGRESS]["refused"]:
            counts = rules["attack" if one.attack else "benign"]
            counts[row.told[INGRESS]["rules"]] = counts.get(row.told[INGRESS]["rules"], 0) + 1
    return {
        "attacks": sum(one.attack for one in samples),
        "benign": sum(not one.attack for one in samples),
        "rules": rules,
        "differing": [row.id for row in rows if row.told[INGRESS]["refused"] != row.told[EGRESS]["caught"]],
    }


INJECTION = InjectionSuite()
