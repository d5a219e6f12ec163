"""The variants of a run: profiles, and what is switched off in them to see what it brings."""

from __future__ import annotations

from collections.abc import Sequence

from memvault_evals.asking import Variant
from memvault_evals.house import EvalError
from memvault_evals.pulse import OTHERS, SIDES
from memvault_gateway.domain.words import SWITCHES
from memvault_search.domain.scoring.pipeline import STAGES

PROFILES = ("tuned", "reference")
INTENTS = ("entity_lookup", "factual", "conceptual", "exploratory", "cross_domain", "unknown")
_STAGES = tuple(f"stage:{stage.name}" for stage in STAGES)
_RANKERS = tuple(part for parts in SIDES.values() for part in parts)
ABLATIONS: dict[str, tuple[tuple[str, ...], ...]] = {
    "stage": (*((one,) for one in _STAGES), _STAGES),
    "view": (("view:self",), ("view:context",)),
    "ranker": (*((one,) for one in _RANKERS), *SIDES.values()),
    "rerank": (("rerank",),),
    "gate": (("gate",),),
}
PARTS = (*SWITCHES, "view:self", "view:context", *_RANKERS, *OTHERS, *_STAGES)  # all that can be switched off
THINKING = ("fast", "slow")


def variants_of(
    profiles: Sequence[str],
    *,
    ablate: Sequence[str] = (),
    off: Sequence[Sequence[str]] = (),
    thinking: Sequence[str] = (),
    intents: Sequence[str] = (),
) -> list[Variant]:
    """Return the variants of a run, the plain ones first: each profile as it is, then the first profile changed.

    Args:
        profiles: Of `PROFILES`, at least one.
        ablate: Of `ABLATIONS`: one variant for each part, and one for all stages together.
        off: Sets of parts, of `PARTS`, that are switched off together.
        thinking: Modes to force.
        intents: Intents to force; `all` for each of the six.

    Raises:
        EvalError: When a name is unknown, naming the option and what there is.
    """
    forced = INTENTS if list(intents) == ["all"] else intents
    for option, given, known in (
        ("--profile", profiles, PROFILES),
        ("--ablate", ablate, ABLATIONS),
        ("--off", [part for parts in off for part in parts], PARTS),
        ("--thinking", thinking, THINKING),
        ("--intent", forced, INTENTS),
    ):
        unknown = [one for one in given if one not in known]
        if unknown:
            raise EvalError(f"{option}: unknown {', '.join(unknown)}; there are {', '.join(known)}")
    if not profiles:
        raise EvalError(f"--profile: name at least one of {', '.join(PROFILES)}")
    first = profiles[0]
    parts = [one for name in ablate for one in ABLATIONS[name]] + [tuple(one) for one in off]
    changed = [Variant(first, one) for one in parts]
    changed += [Variant(first, thinking=one) for one in thinking] + [Variant(first, intent=one) for one in forced]
    plain = [Variant(profile) for profile in profiles]
    return list({variant.label: variant for variant in (*plain, *changed)}.values())
