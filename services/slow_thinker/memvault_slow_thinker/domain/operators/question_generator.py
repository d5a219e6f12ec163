"""QuestionGenerator: what may be asked next, from an LLM if one wrote something, and from free fuel (R-50a, R-51).

Free fuel is what the last utterances point to: their own text as a query, the entities in them with their
neighbours in the graph, names, and things still to do. Each question must be searchable by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memvault.text import fold, is_chinese, search_tokens, sentences
from memvault.text.segmentation import parts_of_speech
from memvault.text.tokens import stop_words
from memvault_slow_thinker.domain.conversation import Utterance
from memvault_slow_thinker.domain.lexicon import Lexicon
from memvault_slow_thinker.domain.numbers import FreeConfidence
from memvault_slow_thinker.domain.prediction import Draft, Kind, Linked, Prediction

_QUOTED = re.compile(r"[「『《“\"]([^「」『』《》“”\"\n]{2,40})[」』》”\"]")
_LATIN_IN_CHINESE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.+#/][A-Za-z0-9\u4e00-\u9fff]+)*(?:\s[A-Z][A-Za-z0-9]*)*")
_CODE = re.compile(r"\b(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*\b")
_CAPITALISED = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w-]+(?:\s[A-Z][\w-]+)*")
_DOTTED = re.compile(r"[\u4e00-\u9fff]{1,8}(?:[·・][\u4e00-\u9fff]{1,8})+")
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})
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
        yield from self._own_text(state.sample, state.linked, numbers)
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
            lead = " ".join(missing[:2]) or (self._said_before(before) if pointing else "")
            if lead and ((pointing and short) or (not named and (pointing or short))):
                sure = numbers.announced if announced else numbers.own_text_completed
                yield Draft(f"{lead} {text}", sure * kept, kind)
            elif named or not pointing:
                yield Draft(text, (numbers.announced if announced else numbers.own_text) * kept, kind)
            return

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


def _proper_nouns(text: str) -> Iterator[tuple[int, str]]:
    """Yield Chinese names of people, places and organisations with their places in `text`.

    The dictionary knows Simplified words; a text that folding makes longer or shorter has no places to map back to.
    """
    folded = fold(text)
    if len(folded) != len(text):
        return
    start = 0
    for word, tag in parts_of_speech(folded):
        if tag in _NAME_TAGS and len(word) > 1 and not word.isascii():
            yield start, text[start : start + len(word)]
        start += len(word)


def names_in(text: str) -> tuple[str, ...]:
    """Return quoted titles, codes and names in `text`, in order of appearance, each once."""
    patterns = (_QUOTED, _LATIN_IN_CHINESE, _DOTTED) if is_chinese(text) else (_QUOTED, _CODE, _CAPITALISED)
    found = list(_proper_nouns(text)) if is_chinese(text) else []
    for pattern in patterns:
        for match in pattern.finditer(text):
            name = match.group(match.lastindex or 0).strip()
            if len(name) > 1 and name.lower() not in stop_words("en"):
                found.append((match.start(), name))
    whole = {name for _, name in found}
    parts = {name for name in whole if any(name != other and name in other for other in whole)}
    return tuple(dict.fromkeys(name for _, name in sorted(found) if name not in parts))


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
