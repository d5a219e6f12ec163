"""What vague words mean; shared by both languages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from memvault_router.domain.time import span as s
from memvault_router.domain.time.span import Span, VagueNumbers

NIGHT_ENDS_HOUR = 5


@dataclass(frozen=True)
class Vague:
    """Builders for vague words; none of them filters."""

    numbers: VagueNumbers

    def recently(self, _: re.Match[str], now: datetime) -> Span:
        """Return "recently", "最近"."""
        return s.last_days(now, self.numbers.recent_days).softened()

    def few_days(self, _: re.Match[str], now: datetime) -> Span:
        """Return "these days", "這兩天"."""
        return s.last_days(now, self.numbers.few_days).softened()

    def other_day(self, _: re.Match[str], now: datetime) -> Span:
        """Return "the other day", "前幾天"."""
        count = self.numbers.other_day_days
        return s.days(now.date() - timedelta(days=count), count).softened()

    def while_ago(self, _: re.Match[str], now: datetime) -> Span:
        """Return "a while ago", "前陣子"."""
        first = now.date() - timedelta(days=self.numbers.while_days)
        return s.days(first, self.numbers.while_days - self.numbers.few_days).softened()

    def just_now(self, _: re.Match[str], now: datetime) -> Span:
        """Return "just now", "剛才"."""
        return Span(now - timedelta(hours=self.numbers.just_now_hours), now, explicit=False, elapsed=True)

    def earlier(self, _: re.Match[str], now: datetime) -> Span:
        """Return "a little earlier", "稍早": the day so far, to which a night before it still belongs."""
        return Span(s.midnight((now - timedelta(hours=NIGHT_ENDS_HOUR)).date()), now, explicit=False)
