"""QuestionGenerator: what may be asked next, from an LLM if one wrote something, and from free fuel (R-50a, R-51).

Free fuel is what the last utterances point to: their own text as a query, the entities in them with their
neighbours in the graph, names, and things still to do. Each question must be searchable by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memvault.text import search_tokens, sentences
from memvault.text.tokens import stop_words
from memvault_slow_thinker.domain.conversation import Utterance
from memvault_slow_thinker.domain.follow_ups import follow_up, subjects, thread
from memvault_slow_thinker.domain.lexicon import Lexicon
from memvault_slow_thinker.domain.names import names_in
from memvault_slow_thinker.domain.numbers import FreeConfidence
from memvault_slow_thinker.domain.prediction import Draft, Kind, Linked, Prediction

_FEW_WORDS = 6  # tokens; what is longer says what it is about
_SPOKEN_BY_ASSISTANT = "assistant"


@dataclass(frozen=True)
class QuestionGenerator:
    """Write up to `drafts` questions, the surest first, each text once."""

    lexicon: Lexicon
    name: str = "question_generator"

    def __call__(self, state: Prediction, /) -> Prediction:
        """Return the state with its drafts; none when nothing searchable was said."""
        if not state.sample:
            return state
        known: dict[str, Draft] = {}
        for draft in (*state.written, *self._free(state)):
            text = " ".join(draft.text.split())[: state.numbers.question_chars]
            if not self._searchable(text):
                continue
            before = known.get(text)
            if before is None or before.confidence < draft.confidence:
                known[text] = replace(draft, text=text)
        surest = sorted(known.values(), key=lambda draft: (-draft.confidence, draft.text))
        return replace(state, drafts=tuple(surest[: state.numbers.drafts]))

    def _free(self, state: Prediction) -> Iterator[Draft]:
        numbers = state.numbers.free
        yield from self._continued(state, list(self._own_text(state.sample, state.linked, numbers)))
        yield from self._entities(state.sample, state.linked, numbers)
        yield from self._names(state.sample, numbers)

    def _own_text(
        self, sample: tuple[Utterance, ...], linked: tuple[Linked, ...], numbers: FreeConfidence
    ) -> Iterator[Draft]:
        """The last utterance that says something, completed by names from before where it points back at them."""
        for age, utterance in enumerate(reversed(sample)):
            text, announced = self._without_opening(utterance.text)
            if self.lexicon.is_empty(text):
                continue
            before = sample[: len(sample) - 1 - age]
            pointing = self.lexicon.of(text).pointing.search(text.lower()) is not None
            missing = [name for name in _names_before(before, linked) if name.lower() not in text.lower()]
            kept = numbers.recency**age
            kind = Kind.ANNOUNCED if announced else Kind.OWN_TEXT
            named = bool(names_in(text))
            short = len(set(search_tokens(text))) <= _FEW_WORDS
            about = [name for name in subjects(before) if name not in text] if numbers.follow_up else []
            lead = " ".join(about or missing[:2]) or (self._said_before(before) if pointing else "")
            if lead and ((pointing and short) or (not named and (pointing or short))):
                sure = numbers.announced if announced else numbers.own_text_completed
                yield Draft(f"{lead} {text}", sure * kept, kind)
            elif named or not pointing:
                yield Draft(text, (numbers.announced if announced else numbers.own_text) * kept, kind)
            return

    def _continued(self, state: Prediction, own_text: list[Draft]) -> Iterator[Draft]:
        """The person's own text or, after an answer, the last exchange; and what the person has said of late."""
        numbers, chars = state.numbers.free, state.numbers.question_chars
        said = [one for one in state.sample if not self.lexicon.is_empty(one.text)]
        if not (numbers.follow_up and said):
            yield from own_text
            return
        answered = said[-1].speaker == _SPOKEN_BY_ASSISTANT
        asked = [] if answered else own_text
        yield from asked or [Draft(follow_up(said, chars), numbers.follow_up, Kind.FOLLOW_UP)]
        own = [one for one in said if one.speaker != _SPOKEN_BY_ASSISTANT]
        yield Draft(thread(own, said, chars, answered=answered), numbers.thread, Kind.THREAD)

    def _entities(
        self, sample: tuple[Utterance, ...], linked: tuple[Linked, ...], numbers: FreeConfidence
    ) -> Iterator[Draft]:
        words = self.lexicon.of(sample[-1].text)
        for entity in linked:
            sure = entity.confidence * (1.0 + entity.specificity) / 2.0
            sure *= numbers.recency ** _age_of(entity.name, sample)
            yield Draft(words.entity_template.format(entity=entity.name), numbers.entity * sure, Kind.ENTITY)
            for relation, _ in entity.neighbours[:1]:
                text = words.relation_template.format(entity=entity.name, relation=relation)
                yield Draft(text, numbers.relation * sure, Kind.RELATION)

    def _names(self, sample: tuple[Utterance, ...], numbers: FreeConfidence) -> Iterator[Draft]:
        for age, utterance in enumerate(reversed(sample)):
            words = self.lexicon.of(utterance.text)
            kept = numbers.recency**age
            for sentence in sentences(utterance.text):
                open_task = words.task.search(sentence.lower()) and utterance.speaker != _SPOKEN_BY_ASSISTANT
                for name in names_in(sentence):
                    if self.lexicon.is_empty(name):
                        continue
                    if open_task:
                        yield Draft(words.task_template.format(name=name), numbers.task * kept, Kind.TASK)
                    else:
                        yield Draft(words.entity_template.format(entity=name), numbers.named * kept, Kind.NAMED)

    def _said_before(self, before: tuple[Utterance, ...]) -> str:
        """Return the last thing the person said before that says anything."""
        spoken = [one.text for one in before if one.speaker != _SPOKEN_BY_ASSISTANT]
        return next((text for text in reversed(spoken) if not self.lexicon.is_empty(text)), "")

    def _without_opening(self, text: str) -> tuple[str, bool]:
        """Return the text without the words that only lead up to a question, and whether they announced one."""
        stripped, announced = text.strip(), False
        words = self.lexicon.of(stripped)
        while True:
            announcing = words.announcing.match(stripped.lower())
            match = announcing or words.opening.match(stripped.lower())
            rest = stripped[match.end() :].lstrip(" ,，、:：") if match else ""
            if not rest:
                return stripped, announced
            stripped, announced = rest, announced or announcing is not None

    def _searchable(self, text: str) -> bool:
        """Return whether the text can be understood alone: it has a word that means something."""
        if self.lexicon.is_empty(text):
            return False
        common = stop_words("zh") | stop_words("en")
        return any(len(token) > 1 and token not in common for token in search_tokens(text))


def _names_before(before: tuple[Utterance, ...], linked: tuple[Linked, ...]) -> list[str]:
    """Return what was named before: by the person first, the latest first, entities of the graph before other names."""
    named: list[str] = []
    by_speaker = sorted(enumerate(before), key=lambda one: (one[1].speaker == _SPOKEN_BY_ASSISTANT, -one[0]))
    for _, utterance in by_speaker:
        text = utterance.text.lower()
        named += [entity.name for entity in linked if entity.name.lower() in text]
        named += reversed(names_in(utterance.text))
    return list(dict.fromkeys(named))


def _age_of(name: str, sample: tuple[Utterance, ...]) -> int:
    """Return how many utterances ago the name was last said; an alias counts as said last."""
    for age, utterance in enumerate(reversed(sample)):
        if name.lower() in utterance.text.lower():
            return age
    return 0
