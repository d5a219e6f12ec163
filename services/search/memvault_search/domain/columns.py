"""Columns of a vault: growing arrays of numbers in which nan means unknown."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from memvault_search.domain.scoring.candidates import UNKNOWN

Scalar = TypeVar("Scalar", bound=np.generic)


def number(value: datetime | float | None) -> float:
    """A field as a number: times in seconds since the epoch, None as unknown."""
    if value is None:
        return UNKNOWN
    return value.timestamp() if isinstance(value, datetime) else float(value)


def grown(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The array, twice as long; what is new is 0."""
    return np.concatenate([array, np.zeros_like(array)])
