"""R-04: the dynamic threshold below which a language model is asked.

The state is an exponentially weighted rate of overrulings, 0 to 1; the threshold lies that far between its bounds.
So it rises when the model recently overruled the funnels, falls when it agreed, and cannot leave the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ThresholdNumbers:
    """`start` is the threshold before any verdict, within [`floor`, `ceiling`]; `rate`, 0 to 1, weighs the newest."""

    start: float
    floor: float
    ceiling: float
    rate: float


def start_rate(numbers: ThresholdNumbers) -> float:
    """Return the overruling rate whose threshold is `start`."""
    return (numbers.start - numbers.floor) / (numbers.ceiling - numbers.floor)


def threshold(overruled_rate: float, numbers: ThresholdNumbers) -> float:
    """Return the threshold for a rate of overrulings in [0, 1]."""
    bounded = min(1.0, max(0.0, overruled_rate))
    return numbers.floor + (numbers.ceiling - numbers.floor) * bounded


def after_verdict(overruled_rate: float, numbers: ThresholdNumbers, *, overruled: bool) -> float:
    """Return the rate after one more verdict of the model."""
    return overruled_rate + numbers.rate * ((1.0 if overruled else 0.0) - overruled_rate)
