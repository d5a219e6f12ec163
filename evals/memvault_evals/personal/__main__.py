"""`python -m memvault_evals.personal --data DIR`: is the personal prior worth it, for whom, and with which numbers?

Prints tables in Markdown: points of intent accuracy that priors gain over none, for people with habits of any strength
after any number of questions; what it costs them on what they seldom ask; what learning from verdicts does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from memvault.runtime.settings import load
from memvault_evals.datasets import Data
from memvault_evals.house import EvalError
from memvault_evals.metrics import Figure
from memvault_evals.personal.gains import Gain, Gains, held_out_choice
from memvault_evals.personal.people import People, Prior, draw, fed_back, in_truth, in_windows, understood
from memvault_evals.personal.priors import DOUBT, MOSTS, PLAIN, REFERENCE, SHIPPED, compared
from memvault_evals.personal.questions import Array, Questions, by_language
from memvault_evals.workspace import Workspace, default_folder
from memvault_router.domain.profile import Window
from memvault_router.settings import RouterSettings

SEED = 20
PEOPLE = 300
PER_DAY = 5.0
REPEATING = 0.5
BEFORE = 150
ASKED = (5, 20, 50, 100, 300)
HABITS: Mapping[str, float] = {"strong": 0.3, "clear": 1.0, "weak": 5.0, "none": math.inf}
"""Concentration of the Dirichlet distribution that habits are drawn from; 1: every mixture is equally likely."""

app = typer.Typer(help="Measure the personal prior on people invented from labelled questions.")


@dataclass(frozen=True)
class Case:
    """People of one language and strength of habit after so many questions."""

    language: str
    habit: str
    asked: int
    changed: bool


@dataclass(frozen=True)
class Crowd:
    """The people of the cases that differ only in how much was asked, and what measures priors on them."""

    questions: Questions
    people: People
    gains: Gains
    before: int

    def gain(self, prior: Prior, verdicts: Array, asked: int, windows: Sequence[Window], per_day: float) -> Gain:
        """Measure a prior after `asked` questions of today's habit."""
        counts = in_windows(verdicts[:, : self.before + asked], windows, per_day)
        return self.gains.of(by_question(prior, counts, self.questions))


def by_question(prior: Prior, counts: Sequence[Array], questions: Questions) -> Array:
    """Return the factors of each question, (u, n, 6), by what the router usually says outside its fold."""
    _, firsts, fold_of = np.unique(questions.folds, return_index=True, return_inverse=True)
    by_fold = np.stack([prior(counts, questions.usual[first]) for first in firsts], axis=1)
    return by_fold[:, fold_of]


@app.command()
def measure(
    data: Annotated[Path, typer.Option(help="Folder with the normalised sets.", exists=True, file_okay=False)],
    folder: Annotated[Path | None, typer.Option(help="Where vectors are kept from run to run.")] = None,
    people: Annotated[int, typer.Option(help="People per language and strength of habit.", min=2)] = PEOPLE,
    per_day: Annotated[
        float, typer.Option(help="Questions a day, which the profile's windows go by.", min=0.1)
    ] = PER_DAY,
    repeating: Annotated[
        float, typer.Option(help="Chance that a question repeats the intent of the one before.", min=0, max=0.99)
    ] = REPEATING,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.")] = SEED,
) -> None:
    """Measure every prior and print what was found."""
    try:
        found = by_language(Data(data, data.parent / "corpora"), Workspace(folder or default_folder()).embeddings)
    except EvalError as error:
        typer.secho(f"personal: {error}", fg="red", err=True)
        raise typer.Exit(1) from error
    numbers = load("router", RouterSettings, profile="tuned")
    priors, windows = compared(numbers.personal, numbers.windows), numbers.windows
    crowds = gather(found, people, repeating, seed)
    typer.echo("\n".join(report(crowds, priors, windows, per_day)))


def gather(
    found: Mapping[str, Questions], people: int, repeating: float, seed: int
) -> dict[tuple[str, str, bool], Crowd]:
    """Draw people for every language and strength of habit, once with today's habit only and once after another one."""
    crowds = {}
    for language, questions in found.items():
        for habit, concentration in HABITS.items():
            for changed in (False, True) if math.isfinite(concentration) else (False,):
                before = BEFORE if changed else 0
                random = np.random.default_rng(seed)
                drawn = draw(questions, people, concentration, max(ASKED), before, repeating, random)
                weights = drawn.weights(questions.labels)
                gains = Gains(questions, drawn.habits, drawn.asking, weights, seed)
                crowds[language, habit, changed] = Crowd(questions, drawn, gains, before)
    return crowds


def report(
    crowds: Mapping[tuple[str, str, bool], Crowd],
    priors: Mapping[str, Prior],
    windows: Sequence[Window],
    per_day: float,
) -> list[str]:
    """Return the lines to print."""
    table: dict[str, dict[Case, Gain]] = {name: {} for name in priors}
    for (language, habit, changed), crowd in crowds.items():
        verdicts = understood(crowd.questions, crowd.people.history)
        for asked in ASKED:
            case = Case(language, habit, asked, changed)
            for name, prior in priors.items():
                table[name][case] = crowd.gain(prior, verdicts, asked, windows, per_day)
    lines, best = _choices(table)
    shown = [name for name in (REFERENCE, best[0], SHIPPED) if name in priors]
    lines += ["", *_gains(crowds, table, shown), "", *_changed(table, shown), "", *_rare(table)]
    return [*lines, "", *_loops(crowds, {name: priors[name] for name in shown[1:]}, windows, per_day)]


def _choices(table: Mapping[str, Mapping[Case, Gain]]) -> tuple[list[str], list[str]]:
    """The best numbers of each sort of prior over all cases with one habit, and what choosing them is worth."""
    kinds = {PLAIN: "", **{f"{DOUBT} most={most:g}": f" most={most:g}" for most in MOSTS}}
    lines = [
        "| prior | best | mean gain | chosen on the other folds | gain held out |",
        "| --- | --- | --- | --- | --- |",
    ]
    best = []
    for kind, ending in kinds.items():
        names = [name for name in table if name.startswith(kind.split()[0]) and name.endswith(ending)]
        cases = [[gain for case, gain in table[name].items() if not case.changed] for name in names]
        place, held, chosen = held_out_choice(cases)
        best.append(names[place])
        mean = np.mean([gain.figure.value for gain in cases[place]])
        others = ", ".join(names[one].split()[1] for one in chosen)
        lines.append(f"| {kind} | {names[place]} | {mean:+.2f} | {others} | {held:+.2f} |")
    return lines, best


def _gains(
    crowds: Mapping[tuple[str, str, bool], Crowd], table: Mapping[str, Mapping[Case, Gain]], names: Sequence[str]
) -> list[str]:
    lines = _heading("language", "habit", "no prior", "asked", *names)
    for (language, habit, changed), crowd in crowds.items():
        base = crowd.gains.accuracy()
        for asked in () if changed else ASKED:
            cells = [_figure(table[name][Case(language, habit, asked, changed=False)].figure) for name in names]
            lines.append(f"| {language} | {habit} | {base.value:.1f} | {asked} | {' | '.join(cells)} |")
    return lines


def _changed(table: Mapping[str, Mapping[Case, Gain]], names: Sequence[str]) -> list[str]:
    """Mean gain over habits and languages for people who had another habit before."""
    return _heading(f"after {BEFORE} questions of another habit", *names) + [
        f"| {asked} | {' | '.join(f'{_mean(table[name], asked):+.2f}' for name in names)} |" for asked in ASKED
    ]


def _mean(gains: Mapping[Case, Gain], asked: int) -> float:
    return float(np.mean([gain.figure.value for case, gain in gains.items() if case.changed and case.asked == asked]))


def _rare(table: Mapping[str, Mapping[Case, Gain]]) -> list[str]:
    """What priors cost on the intents that a person seldom asks, beside their mean gain."""
    names = [REFERENCE, *(name for name in table if name != REFERENCE)]
    lines = _heading("prior", "mean gain", "on intents below 5 % of a person's questions")
    for name in names:
        gains = [gain for case, gain in table[name].items() if not case.changed]
        rare = [gain.rare for gain in gains if not math.isnan(gain.rare)]
        lines.append(f"| {name} | {np.mean([gain.figure.value for gain in gains]):+.2f} | {np.mean(rare):+.2f} |")
    return lines


def _loops(
    crowds: Mapping[tuple[str, str, bool], Crowd],
    priors: Mapping[str, Prior],
    windows: Sequence[Window],
    per_day: float,
) -> list[str]:
    """What a person's history is learned from: mean gains after the longest history, over habits and languages."""
    sources: Mapping[str, Callable[[Crowd, Prior], Array]] = {
        "the truth": lambda crowd, _: in_truth(crowd.questions, crowd.people.history),
        "raw verdicts (as shipped)": lambda crowd, _: understood(crowd.questions, crowd.people.history),
        "its own final verdicts": lambda crowd, prior: fed_back(
            crowd.questions, crowd.people.history, prior, windows, per_day
        ),
    }
    lines = _heading("learned from", *priors)
    for title, learned in sources.items():
        for habit in HABITS:
            chosen = [crowd for (_, name, changed), crowd in crowds.items() if name == habit and not changed]
            cells = [
                np.mean(
                    [one.gain(prior, learned(one, prior), max(ASKED), windows, per_day).figure.value for one in chosen]
                )
                for prior in priors.values()
            ]
            lines.append(f"| {title}, habit {habit} | {' | '.join(f'{cell:+.2f}' for cell in cells)} |")
    return lines


def _heading(*names: str) -> list[str]:
    return [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]


def _figure(figure: Figure) -> str:
    return f"{figure.value:+.1f} [{figure.low:.1f}, {figure.high:.1f}]"


if __name__ == "__main__":
    app()
