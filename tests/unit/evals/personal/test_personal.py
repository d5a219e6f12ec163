"""The measurement of the personal prior: nothing leaks, what is compared is the product's own, chance is given."""

from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from memvault.runtime.settings import load
from memvault_evals.fitting.router import FOLDS, Row, folds_of, verdict_shares
from memvault_evals.personal.__main__ import ASKED, app, by_question, gather, report
from memvault_evals.personal.gains import Gains, held_out_choice
from memvault_evals.personal.people import draw, fed_back, in_truth, in_windows, understood
from memvault_evals.personal.priors import compared, habits, plain, reference
from memvault_evals.personal.questions import Questions, held_out, own_rows
from memvault_router.domain.habits import HabitNumbers, factors
from memvault_router.domain.labels import INTENTS
from memvault_router.domain.operators.personalise import added
from memvault_router.domain.profile import WindowCounts, combined, frequencies
from memvault_router.settings import RouterSettings

SETTINGS = load("router", RouterSettings, profile="tuned", environ={})
WINDOWS = SETTINGS.windows


def invented(per_intent=20, seed=1, noise=1.2):
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(6), per_intent)
    logits = 2.0 * np.eye(6)[labels] + random.normal(size=(len(labels), 6)) * noise
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    usual = np.tile(np.bincount(chances.argmax(axis=1), minlength=6) / len(labels), (len(labels), 1))
    return Questions(labels, np.arange(len(labels)) % FOLDS, chances, usual)


def counts_of(random, people=40):
    longest = random.integers(0, 120, size=(people, 6)).astype(float)
    return [np.floor(longest * share) for share in (0.1, 0.4)] + [longest]


def named(row):
    return dict(zip(INTENTS, row.tolist(), strict=True))


def test_the_compared_formula_of_the_reference_profile_is_the_products():
    counts = counts_of(np.random.default_rng(3))
    counts[0][:5] = 0  # nothing within a week
    for count in counts:
        count[-2:] = 0  # nobody asked anything
        count[-4:-2] = np.floor(count[-4:-2] / 100)  # below fifty
    found = reference(counts, np.full(6, 1 / 6), numbers=SETTINGS.personal, windows=WINDOWS)
    for person, row in enumerate(found):
        past = [named(count[person].astype(int)) for count in counts]
        enough = sum(past[-1].values()) >= SETTINGS.personal.least_samples
        wanted = added(combined(past, WINDOWS) if enough else {}, INTENTS, SETTINGS.personal.alpha)
        assert named(row) == pytest.approx(wanted)


def test_the_compared_habits_are_the_products():
    counts = counts_of(np.random.default_rng(4))
    usual = np.array(list(SETTINGS.personal.habits.usual.values()))
    usual /= usual.sum()
    found = habits(counts, usual, k=7.0, most=0.7, windows=WINDOWS)
    numbers = HabitNumbers(7.0, 0.7, named(usual))
    for person, row in enumerate(found):
        past = frequencies([WindowCounts(named(count[person].astype(int)), {}) for count in counts], WINDOWS)
        assert named(row) == pytest.approx(factors(past.intent_counts, numbers))


def test_each_question_meets_what_the_router_usually_says_outside_its_fold():
    questions = invented()
    usual = questions.usual.copy()
    usual[questions.folds == 3] = [0.5, 0.1, 0.1, 0.1, 0.1, 0.1]
    factor = by_question(lambda counts, said: counts[0] / said, [np.ones((2, 6))], replace(questions, usual=usual))
    assert factor.shape == (2, len(questions.labels), 6)
    assert factor == pytest.approx(np.broadcast_to(1 / usual, factor.shape))


def test_the_plain_prior_is_pseudo_counts_around_a_sixth():
    counts = [np.zeros((1, 6)), np.zeros((1, 6)), np.array([[0, 10.0, 0, 0, 0, 0]])]
    found = plain(counts, np.full(6, 0.1), k=3, windows=WINDOWS)
    assert found[0] == pytest.approx([0.5 / 5 * 6, 2.5 / 5 * 6, *[0.5 / 5 * 6] * 4])  # 10 old questions count as 2


def test_what_is_asked_later_is_never_what_was_learned_from_and_weighs_as_the_habit():
    questions = invented()
    people = draw(questions, 30, 0.5, 100, 20, 0.0, np.random.default_rng(5))
    assert people.history.shape == (30, 120)
    assert not np.take_along_axis(people.asking, people.history, axis=1).any()
    weights = people.weights(questions.labels)
    by_intent = np.stack([weights[:, questions.labels == intent].sum(axis=1) for intent in range(6)], axis=1)
    assert by_intent == pytest.approx(people.habits)


def test_habits_are_as_strong_as_their_concentration_says_and_infinite_means_none():
    top = [draw(invented(), 200, c, 1, 0, 0.0, np.random.default_rng(6)).habits.max(axis=1).mean() for c in (0.3, 1, 5)]
    assert top == sorted(top, reverse=True)
    assert draw(invented(), 3, np.inf, 1, 0, 0.0, np.random.default_rng(6)).habits == pytest.approx(
        np.full((3, 6), 1 / 6)
    )


def test_questions_in_runs_keep_the_habit_and_tell_less_of_it():
    def shares(repeating):
        questions = invented()
        people = draw(questions, 400, 0.5, 40, 0, repeating, np.random.default_rng(6))
        return in_truth(questions, people.history).mean(axis=1) - people.habits

    alone, runs = shares(0.0), shares(0.6)
    assert np.abs(runs.mean(axis=0)).max() < 0.02
    assert runs.std() > 1.5 * alone.std()


def test_windows_count_back_from_the_next_question():
    verdicts = np.eye(6)[np.array([[0] * 50 + [1] * 20 + [2] * 4]).astype(int)]
    week, month, quarter = in_windows(verdicts, WINDOWS, per_day=2)  # 14, 60 and 180 questions
    assert week[0].tolist() == [0, 10, 4, 0, 0, 0]
    assert month[0].tolist() == [36, 20, 4, 0, 0, 0]
    assert quarter[0].tolist() == [50, 20, 4, 0, 0, 0]


def test_what_is_learned_from_is_the_truth_the_raw_verdict_or_what_the_prior_made_of_it():
    questions = invented()
    history = draw(questions, 8, 0.3, 60, 0, 0.0, np.random.default_rng(7)).history
    raw, truth = understood(questions, history), in_truth(questions, history)
    assert (truth.argmax(axis=2) == questions.labels[history]).all()
    assert (raw.argmax(axis=2) == questions.chances.argmax(axis=1)[history]).all()
    nothing = lambda counts, usual: np.ones_like(counts[0])  # noqa: E731
    assert (fed_back(questions, history, nothing, WINDOWS, 5) == raw).all()
    certain = lambda counts, usual: np.eye(6)[np.zeros(8, int)] + 1e-9  # noqa: E731
    assert (fed_back(questions, history, certain, WINDOWS, 5).argmax(axis=2) == 0).all()


def test_nothing_gains_nothing_and_a_prior_that_knows_the_habit_gains():
    questions = invented()
    people = draw(questions, 60, 0.3, 1, 0, 0.0, np.random.default_rng(8))
    weights = people.weights(questions.labels)
    gains = Gains(questions, people.habits, people.asking, weights, seed=9)
    nothing, knowing = gains.of(np.ones((60, 1, 6))), gains.of(people.habits[:, None] * 6)
    assert (nothing.figure.value, nothing.rare, set(nothing.by_fold)) == (0, 0, {0})
    assert 0 < knowing.figure.low < knowing.figure.value < knowing.figure.high
    assert knowing.rare < 0  # what is hardly ever asked is mistaken for what is
    right = questions.chances.argmax(axis=1) == questions.labels
    assert gains.accuracy().value == pytest.approx(100 * float((weights * right).sum(axis=1).mean()))


def test_the_interval_is_wider_with_fewer_questions_however_many_people_there_are():
    def width(per_intent):
        questions = invented(per_intent)
        people = draw(questions, 200, 0.3, 1, 0, 0.0, np.random.default_rng(8))
        gains = Gains(questions, people.habits, people.asking, people.weights(questions.labels), seed=9)
        figure = gains.of(people.habits[:, None] * 6).figure
        return figure.high - figure.low

    assert width(8) > 1.5 * width(80)


def test_what_is_chosen_for_a_fold_is_chosen_without_it():
    questions = invented()
    people = draw(questions, 10, 0.3, 1, 0, 0.0, np.random.default_rng(8))
    base = Gains(questions, people.habits, people.asking, people.weights(questions.labels), 9).of(np.ones((10, 1, 6)))
    lucky, steady = replace(base, by_fold=(9.0, 0, 0, 0, 0)), replace(base, by_fold=(1.0, 1, 1, 1, 1))
    place, held, chosen = held_out_choice([[lucky], [steady]])
    assert place == 0  # 9 / 5 on all folds together
    assert chosen == [1, 0, 0, 0, 0]
    assert held == pytest.approx(0.2)


def test_no_question_is_judged_by_numbers_that_saw_it():
    random = np.random.default_rng(10)
    rows = [Row(f"q{n}", "en" if n % 2 else "zh", n % 6, "x") for n in range(240)]
    cosines = 0.2 * np.eye(6)[[row.intent for row in rows]] + random.normal(size=(240, 6)) * 0.1
    votes, fitted = random.integers(0, 2, size=(240, 6)).astype(float), np.arange(240) < 200
    before, folds = held_out(rows, fitted, cosines, votes), folds_of(rows)
    changed = cosines.copy()
    changed[folds == 2] = random.normal(size=changed[folds == 2].shape)
    after = held_out(rows, fitted, changed, votes)
    # the numbers of fold 2 come from the others: its usual verdicts stay, theirs do not
    assert after.usual[folds == 2] == pytest.approx(before.usual[folds == 2])
    assert after.chances[folds == 1] != pytest.approx(before.chances[folds == 1])
    # rows that may not be fitted on move nobody
    changed = cosines.copy()
    changed[200:] = 0
    assert held_out(rows, fitted, changed, votes).chances[:200] == pytest.approx(before.chances[:200])


def test_usual_verdicts_weigh_every_intent_of_a_language_the_same():
    rows = [Row("", "en", 0, "x")] * 9 + [Row("", "en", 1, "x")] + [Row("", "zh", 0, "x"), Row("", "zh", 1, "x")]
    chosen = np.eye(6)[[0] * 9 + [1] + [2, 2]]
    assert verdict_shares(rows, chosen) == pytest.approx([0.25, 0.25, 0.5, 0, 0, 0])


def test_our_own_questions_are_read_with_their_languages():
    rows = own_rows()
    assert {row.lang for row in rows} == {"zh", "en"}
    assert {row.src for row in rows} == {"own"}
    assert all(("一" <= row.text[0] <= "鿿") <= (row.lang == "zh") for row in rows)


def test_the_same_seed_prints_the_same_tables():
    priors = compared(SETTINGS.personal, WINDOWS)
    few = {name: priors[name] for name in priors if "k=3" in name or name in ("R-05", "shipped")}
    found = {"en": invented(8)}
    first, again = (report(gather(found, 4, 0.5, 20), few, WINDOWS, 5.0) for _ in range(2))
    assert first == again
    assert sum(line.startswith("| en | strong |") for line in first) == len(ASKED)
    assert first != report(gather(found, 4, 0.5, 21), few, WINDOWS, 5.0)


def test_a_folder_without_questions_is_told(tmp_path):
    told = CliRunner().invoke(app, ["--data", str(tmp_path), "--folder", str(tmp_path)])
    assert told.exit_code == 1
    assert "intent" in told.output
