"""A model whose answers are set from outside: for tests and for trying out the breaker."""

from collections import deque
from collections.abc import Sequence

from memvault_rerank.domain.reading import Batched, Reading, Score


class ScriptedModel:
    """Gives out answers in turn; an exception in their place is raised. Without any left it scores in given order."""

    name = "scripted"

    def __init__(self, answers: Sequence[list[Score] | Exception] = ()) -> None:
        self.answers = deque(answers)
        self.readings: list[Reading] = []

    async def start(self) -> None:
        """Nothing to load."""

    async def stop(self) -> None:
        """Nothing to release."""

    @property
    def batched(self) -> Batched:
        """Every reading is a batch of its own."""
        return Batched(len(self.readings), len(self.readings))

    def lacks(self, reading: Reading) -> str:
        """Any reading will do."""
        del reading
        return ""

    async def score(self, reading: Reading, *, within_s: float) -> list[Score]:
        """Return or raise the next answer."""
        del within_s
        self.readings.append(reading)
        if not self.answers:
            return [Score(document.id, -float(place)) for place, document in enumerate(reading.documents)]
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        return answer
