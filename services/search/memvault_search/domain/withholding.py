"""Which blocks cannot be shown at all, so that they take no place in an answer (R-40)."""

from __future__ import annotations

from memvault.screening import RULESET_VERSION, sanitize_for_injection
from memvault_search.domain.block import Block


def withheld_by(block: Block) -> tuple[str, ...]:
    """Return the rules that leave nothing of a block's text, sorted; empty for a block that can be shown.

    Delivery screens everything once more. Here only those are read that were stored with a mark or screened by other
    rules than those in force: the text of any other block passed these very rules when it was written.
    """
    if not block.unsafe_rules and block.screened_version == RULESET_VERSION:
        return ()
    found = sanitize_for_injection(block.text or block.summary)
    return tuple(sorted({hit.rule for hit in found.hits})) if found.emptied else ()
