"""Tells people and metrics when the breaker opens, probes or closes."""

import logging

from memvault.runtime import telemetry
from memvault_rerank.domain.breaker import Breaker, Phase

CHANGES = "memvault.rerank.breaker.changes"

_LOG = logging.getLogger(__name__)


class BreakerLog:
    """A log line and a count for each change; only an opening is a warning."""

    def changed(self, breaker: Breaker) -> None:
        """Note the change."""
        telemetry.counter(CHANGES, **{"memvault.rerank.breaker": breaker.phase.value})
        level = logging.WARNING if breaker.phase is Phase.OPEN else logging.INFO
        _LOG.log(
            level,
            "the breaker is %s; failures in a row: %d, opened so far: %d, calls bypassed: %d",
            breaker.phase.value,
            breaker.failures,
            breaker.opened,
            breaker.bypassed,
        )
