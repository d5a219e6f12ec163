"""Settings of rerank; all values come from section `rerank` of `memvault/defaults.toml`."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Seconds = Annotated[float, Field(gt=0.0)]
Positive = Annotated[int, Field(ge=1)]


class JinaV3Settings(BaseModel):
    """jina-reranker-v3 on MLX.

    Attributes:
        folder: that holds the model; empty: its own below `models` in MEMVAULT_HOME.
        documents_a_pass: read together; the model was made for at most 64.
        pass_tokens: of documents and query read together.
        document_tokens: of one document that are read.
        query_tokens: of the query that are read.

    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    documents_a_pass: Annotated[int, Field(ge=1, le=125)]
    pass_tokens: Positive
    document_tokens: Positive
    query_tokens: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        least = 2 * self.query_tokens + 2 * self.document_tokens
        if self.pass_tokens < least:
            raise ValueError(f"pass_tokens must be at least twice query_tokens and document_tokens, {least}")
        return self


class Qwen3RerankerSettings(BaseModel):
    """Qwen3-Reranker on MLX.

    Attributes:
        folder: that holds the model; empty: its own below `models` in MEMVAULT_HOME.
        longest: tokens of a whole question with its document.
        batch_tokens: read in one go, padding counted.

    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    longest: Annotated[int, Field(ge=256, le=32768)]
    batch_tokens: Positive


class RerankSettings(BaseModel):
    """One profile's numbers.

    Attributes:
        model: `late_interaction` (the embedded default), `jina_v3` or `qwen3` (on MLX), or `none`.
        open_after: failures in a row that open the breaker.
        cool_down_s: how long it stays open before a probe.
        timeout_s: longest call of the model; a longer one is a failure.
        default_deadline_s: for a call that came without one.
        answer_margin_s: kept back of a caller's deadline, so that the answer still reaches it.
        batch_tokens: document tokens that late interaction reads in one go.
        jina_v3: numbers of that model.
        qwen3: numbers of that model.

    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Literal["late_interaction", "jina_v3", "qwen3", "none"]
    open_after: Positive
    cool_down_s: Seconds
    timeout_s: Seconds
    default_deadline_s: Seconds
    answer_margin_s: Annotated[float, Field(ge=0.0)]
    batch_tokens: Positive
    jina_v3: JinaV3Settings
    qwen3: Qwen3RerankerSettings
