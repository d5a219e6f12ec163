"""Settings of rerank; all values come from section `rerank` of `memvault/defaults.toml`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0.0)]
Positive = Annotated[int, Field(ge=1)]


class RerankSettings(BaseModel):
    """One profile's numbers.

    Attributes:
        model: `late_interaction` (the embedded default) or `none`.
        open_after: failures in a row that open the breaker.
        cool_down_s: how long it stays open before a probe.
        timeout_s: longest call of the model; a longer one is a failure.
        default_deadline_s: for a call that came without one.
        answer_margin_s: kept back of a caller's deadline, so that the answer still reaches it.
        batch_tokens: document tokens that the model reads in one go.

    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Literal["late_interaction", "none"]
    open_after: Positive
    cool_down_s: Seconds
    timeout_s: Seconds
    default_deadline_s: Seconds
    answer_margin_s: Annotated[float, Field(ge=0.0)]
    batch_tokens: Positive
