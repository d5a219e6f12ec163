"""The closed sets of the contract that the gateway checks at its edge."""

from typing import Final

CALLERS: Final = ("hook", "api", "mcp", "cli")
FORMATS: Final = ("text", "json", "cards")
ORIGINS: Final = ("user", "prefetch", "eval")
PROFILES: Final = ("reference", "tuned")
INTENTS: Final = ("entity_lookup", "factual", "conceptual", "exploratory", "cross_domain", "unknown")
FACETS: Final = ("progress", "recollection", "advice", "definition", "none")
THINKING_MODES: Final = ("fast", "slow")
RETRIEVAL_MODES: Final = ("LOCAL", "GLOBAL", "HYBRID")
SOURCE_KINDS: Final = ("hand_written", "document", "conversation", "agent", "web")
VERDICTS: Final = ("up", "down", "rejected")
WAITS: Final = ("accepted", "indexed")
ON_UNSAFE: Final = ("refuse", "redact", "mark")
SWITCHES: Final = (
    "gate",
    "rerank",
    "cascade",
    "prefetch",
    "personalise",
    "time_filter",
    "completion",
    "parts",
    "common",
    "told_afterwards",
)
SWITCH_GROUPS: Final = ("view", "ranker", "stage")
