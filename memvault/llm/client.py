"""Client of any OpenAI-compatible chat address: Ollama, LM Studio, vLLM, mlx_lm.server, or a hosted model.

Answers are JSON objects. Every call has a deadline, and a rate limit that refuses instead of waiting, because callers
always know what to do without an answer.
"""

import asyncio
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

import httpx
from pydantic import BaseModel, Field, SecretStr, ValidationError

from memvault.faults import Fault, Reason
from memvault.runtime.settings import FrozenSettings

M = TypeVar("M", bound=BaseModel)

LARGEST_ANSWER = 1 << 20  # bytes
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n\s*```\s*$", re.DOTALL)
_SECONDS_A_MINUTE = 60.0


class LlmSettings(FrozenSettings):
    """Section `llm`.

    Attributes:
        base_url: for example `http://127.0.0.1:11434/v1`; empty: there is no language model.
        model: as the address names it.
        api_key: sent as bearer token; empty: none is sent.
        calls_per_minute: more are refused.
        burst: calls that may come at once.
        max_tokens: longest answer.
        temperature: of the sampling.

    """

    base_url: str
    model: str
    api_key: SecretStr
    calls_per_minute: Annotated[float, Field(gt=0)]
    burst: Annotated[int, Field(ge=1)]
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: Annotated[float, Field(ge=0, le=2)]


class RateLimit:
    """A bucket that fills steadily; a call takes one from it or is refused."""

    def __init__(self, per_minute: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s, self._burst, self._clock = per_minute / _SECONDS_A_MINUTE, float(burst), clock
        self._left, self._at = self._burst, clock()

    def take(self) -> bool:
        """Take one call; False: the limit is reached."""
        now = self._clock()
        self._left = min(self._burst, self._left + max(0.0, now - self._at) * self._per_s)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class LlmClient:
    """One address, one model. Close it with `stop()`."""

    def __init__(self, settings: LlmSettings, *, limit: RateLimit | None = None) -> None:
        key = settings.api_key.get_secret_value()
        self._settings = settings
        self._limit = limit or RateLimit(settings.calls_per_minute, settings.burst)
        self._http = httpx.AsyncClient(
            base_url=settings.base_url.rstrip("/") + "/",
            headers={"authorization": f"Bearer {key}"} if key else {},
            trust_env=False,  # a proxy of the environment must not see private memories
        )

    @property
    def model(self) -> str:
        """The model as the address names it."""
        return self._settings.model

    async def stop(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def json(self, system: str, user: str, *, timeout_s: float) -> Mapping[str, Any]:
        """Ask once for a JSON object.

        Args:
            system: What to do.
            user: What to do it with.
            timeout_s: Seconds for the whole call.

        Raises:
            Fault: RATE_LIMITED, DEADLINE_EXCEEDED, SERVICE_UNAVAILABLE, or MODEL_FAILED when the
                answer is none.

        """
        return await self._ask(system, user, {"type": "json_object"}, timeout_s)

    async def structured(self, system: str, user: str, answer: type[M], *, timeout_s: float) -> M:
        """Ask once for an object of the given shape, whose JSON schema is sent along.

        Raises:
            Fault: As `json`; MODEL_FAILED also when the object has another shape.

        """
        schema = {"name": answer.__name__, "schema": answer.model_json_schema(), "strict": True}
        raw = await self._ask(system, user, {"type": "json_schema", "json_schema": schema}, timeout_s)
        try:
            return answer.model_validate(raw)
        except ValidationError as error:
            raise self._nonsense(f"an object that is no {answer.__name__}") from error

    async def _ask(self, system: str, user: str, form: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        if timeout_s <= 0:
            raise Fault(Reason.DEADLINE_EXCEEDED, "no time was left to ask the language model")
        if not self._limit.take():
            raise Fault(Reason.RATE_LIMITED, "the language model was asked too often: raise llm.calls_per_minute")
        body = {
            "model": self._settings.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
            "response_format": form,
        }
        try:
            async with asyncio.timeout(timeout_s):
                status, content = await self._post(body)
        except TimeoutError as error:
            message = f"the language model did not answer within {timeout_s:.1f} s"
            raise Fault(Reason.DEADLINE_EXCEEDED, message) from error
        except httpx.HTTPError as error:
            message = f"the language model at {self._settings.base_url} cannot be reached: check llm.base_url"
            raise Fault(Reason.SERVICE_UNAVAILABLE, message) from error
        self._check(status)
        return self._object(content)

    async def _post(self, body: Mapping[str, Any]) -> tuple[int, bytes]:
        async with self._http.stream("POST", "chat/completions", json=body, timeout=None) as response:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > LARGEST_ANSWER:
                    raise self._nonsense("more than 1 MiB")
            return response.status_code, bytes(content)

    def _check(self, status: int) -> None:
        if status == httpx.codes.TOO_MANY_REQUESTS:
            raise Fault(Reason.RATE_LIMITED, "the language model's address refuses more calls for now")
        if status != httpx.codes.OK:
            message = f"the language model's address answered with HTTP {status}: check llm.model and llm.api_key"
            raise Fault(Reason.MODEL_FAILED, message, http_status=str(status))

    def _object(self, content: bytes) -> dict[str, Any]:
        try:
            text = json.loads(content)["choices"][0]["message"]["content"]
            answer = json.loads(_bare(text))
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise self._nonsense("no JSON object") from error
        if not isinstance(answer, dict):
            raise self._nonsense("JSON that is no object")
        return answer

    def _nonsense(self, what: str) -> Fault:
        return Fault(Reason.MODEL_FAILED, f"the language model {self._settings.model} answered with {what}")


def open_llm(settings: LlmSettings) -> LlmClient | None:
    """Return the client, or None when no address is configured."""
    return LlmClient(settings) if settings.base_url else None


def _bare(text: str) -> str:
    """Take away thoughts and a code fence around the answer."""
    without_thoughts = _THOUGHTS.sub("", text)
    fenced = _FENCE.match(without_thoughts)
    return fenced.group(1) if fenced else without_thoughts
