"""What the router adds to encoding a question, told from the hops of one explained recall."""

from __future__ import annotations

from collections.abc import Mapping

KEYWORDS = "keyword funnel"
READING = "reading the words"
DECIDING = "comparing and deciding"
OWN = "both: all that classification computes"
REST = "classification without the embedding"
_READING = ("router.follow_up", "router.time_range", "router.bare", "router.keyword")
_DECIDING = ("router.fuse", "router.personalise", "router.plan")
ABOUT: Mapping[str, str] = {
    KEYWORDS: "the lexicons alone; while the encoder works",
    READING: "follow-up, time, subject, keyword funnel; while the encoder works, but for the follow-up",
    DECIDING: "archetypes, fusion, personal prior, plan; after the embedding",
    OWN: "the two above, recall by recall",
    REST: "all of the hop but the embedding: the call, deciding, and what of words and Redis is not done by then",
}


def classified(hops: Mapping[str, float]) -> dict[str, float]:
    """Return milliseconds by row of `ABOUT`; nothing where the router was degraded.

    Args:
        hops: Name to milliseconds, as an explanation lists them: `router` is the gateway's call, `router.*` its parts.
    """
    if not {"router", "router.embed", *_READING, *_DECIDING} <= set(hops):
        return {}
    reading, deciding = (sum(hops[name] for name in names) for names in (_READING, _DECIDING))
    return {
        KEYWORDS: hops["router.keyword"],
        READING: reading,
        DECIDING: deciding,
        OWN: reading + deciding,
        REST: max(0.0, hops["router"] - hops["router.embed"]),
    }
