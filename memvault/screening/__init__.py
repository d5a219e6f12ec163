"""Screening: one versioned rule set for every way in and every way out (R-40, R-55, R-60).

Pure: no network, no clock. Rules are data (`data/rules.toml`); detection lifts disguises and keeps offsets into the
original text; redaction replaces what is dangerous and keeps the rest.
"""

from memvault.screening.detection import Hit, is_unsafe_for_injection, scan, suspects
from memvault.screening.redaction import PLACEHOLDER, Sanitised, sanitize_for_injection
from memvault.screening.rules import ruleset_version

RULESET_VERSION: str = ruleset_version()
"""Version of the rules, kept with each screened block and each audit entry."""

__all__ = [
    "PLACEHOLDER",
    "RULESET_VERSION",
    "Hit",
    "Sanitised",
    "is_unsafe_for_injection",
    "sanitize_for_injection",
    "scan",
    "suspects",
]
