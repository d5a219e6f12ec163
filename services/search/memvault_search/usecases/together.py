"""The use cases of one index, for a process that calls them directly."""

from __future__ import annotations

from dataclasses import dataclass

from memvault_search.usecases.dreaming import Dreaming
from memvault_search.usecases.forgetting import Forgetting
from memvault_search.usecases.preparing import Preparing
from memvault_search.usecases.reading import Reading
from memvault_search.usecases.searching import Searching
from memvault_search.usecases.signals import Signals
from memvault_search.usecases.writing import Writing


@dataclass(frozen=True, slots=True)
class UseCases:
    """The use cases, for a process that calls them directly."""

    searching: Searching
    writing: Writing
    forgetting: Forgetting
    signals: Signals
    dreaming: Dreaming
    reading: Reading
    preparing: Preparing
