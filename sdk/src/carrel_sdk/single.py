"""Single calls outside of runs: one generation, one score, one comparison."""

from typing import Any, Literal

import msgspec

from carrel_sdk.calls import Calls


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """A model's answer; `cost` is `None` where the price or the tokens are unknown."""

    id: str
    model: str
    text: str
    finish_reason: Literal["stop", "length", "refused"]
    usage: Usage | None
    cost: str | None
    latency_ms: int


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """One judge's marks of one answer; `None` if its replies stayed malformed, as `fault` says."""

    judge: str
    marks: dict[str, float] | None
    reason: str | None
    fault: str | None
    calls: list[str]
    cost: str | None
    latency_ms: int


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge said in one order."""

    word: Literal["first", "second", "tie", "invalid", "missing"]
    reason: str | None
    fault: str | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One judge on two answers, both ways round; `winner` only if it said the same in both."""

    judge: str
    winner: Literal["a", "b", "tie"] | None
    fate: str
    ab: Said
    ba: Said
    calls: list[str]
    cost: str | None
    latency_ms: int


class Single:
    """The routes `/generation`, `/evaluation/score` and `/evaluation/compare`. None is sent twice: each costs."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def generate(
        self,
        model: str,
        prompt: str,
        *,
        system: str = "",
        parameters: dict[str, Any] | None = None,
        timeout_seconds: int = 120,
    ) -> Generated:
        """One answer of one model.

        Raises:
            Conflict: there is no key, or the provider refuses such a call.
            TryLater: a rate limit is reached, or the provider did not answer.
        """
        body = {"model": model, "prompt": prompt, "system": system, "timeout_seconds": timeout_seconds}
        return self._calls.post("/generation", Generated, body | {"parameters": parameters or {}})

    def score(
        self,
        judge: str,
        document: str,
        answer: str,
        criteria: str,
        *,
        reference: str | None = None,
        instructions: str | None = None,
    ) -> Scored:
        """Have one answer scored; `criteria` is YAML. Raises as `generate` does."""
        body = {"judge": {"model": judge}, "document": document, "answer": answer, "criteria": criteria}
        return self._calls.post("/evaluation/score", Scored, body | _given(reference, instructions))

    def compare(
        self,
        judge: str,
        document: str,
        a: str,
        b: str,
        *,
        criteria: str | None = None,
        reference: str | None = None,
        instructions: str | None = None,
    ) -> Compared:
        """Have two answers compared, both ways round. Raises as `generate` does."""
        body = {"judge": {"model": judge}, "document": document, "a": a, "b": b, "criteria": criteria}
        return self._calls.post("/evaluation/compare", Compared, body | _given(reference, instructions))


def _given(reference: str | None, instructions: str | None) -> dict[str, str | None]:
    return {"reference": reference, "instructions": instructions}
