"""Models of the provider `test`: they do what a test tells them, and remember what they were asked."""

import asyncio
import hashlib
import json
from collections.abc import Callable

from carrel.providers.base import (
    Answer,
    CombineMatter,
    CompareMatter,
    FinishReason,
    GenerateMatter,
    ModelInfo,
    ModelRequest,
    ProviderError,
    ScoreMatter,
    Usage,
)
from carrel.providers.registry import register_free

GENERATORS = ("one", "two", "three", "four", "five", "six")
JUDGES = ("judge", "jury")

Script = Callable[[ModelRequest], Answer]


class TestModels:
    """`script` answers, or raises `ProviderError`. While the gate is shut, calls wait in flight."""

    __test__ = False
    name = "test"

    def __init__(self, script: Script | None = None) -> None:
        register_free(self.name)
        self.script = script or honest
        self.asked: list[ModelRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.cancelled = 0
        self.gate = asyncio.Event()
        self.gate.set()

    def models(self) -> tuple[ModelInfo, ...]:
        return (
            *(
                ModelInfo(name=name, family=f"family-{name}", roles=("generate",), description="")
                for name in GENERATORS
            ),
            *(ModelInfo(name=name, family="family-judge", roles=("judge",), description="") for name in JUDGES),
        )

    async def complete(self, request: ModelRequest) -> Answer:
        self.asked.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.in_flight, self.most_in_flight)
        try:
            # Always a step aside: a real call never answers in the same instant.
            await asyncio.sleep(0)
            await self.gate.wait()
            return self.script(request)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1

    async def until(self, in_flight: int) -> None:
        """Wait until so many calls are in flight at once."""
        async with asyncio.timeout(60):
            while self.in_flight < in_flight:
                await asyncio.sleep(0.01)

    async def close(self) -> None:
        self.gate.set()


def honest(request: ModelRequest) -> Answer:
    """The same answer to the same matter; judges follow the texts, not the order in which they see them."""
    matter = request.matter
    if isinstance(matter, GenerateMatter):
        return said(f"What {request.model} makes of {_number(matter.document)}.")
    if isinstance(matter, CombineMatter):
        return said(f"What {request.model} makes of {len(matter.answers)} answers: {_number(''.join(matter.answers))}.")
    if isinstance(matter, ScoreMatter):
        return said_json({"reason": "So it is.", "scores": {c.name: _mark(matter, c.name) for c in matter.criteria}})
    return said_json({"reason": "So it is.", "winner": _winner(matter)})


def said(text: str, finish_reason: FinishReason = "stop") -> Answer:
    return Answer(text=text, finish_reason=finish_reason, usage=Usage(input_tokens=10, output_tokens=5))


def said_json(value: object) -> Answer:
    return said(json.dumps(value))


def fails(code: str, *, retryable: bool = True) -> Answer:
    raise ProviderError(code, retryable=retryable)


def _winner(matter: CompareMatter) -> str:
    return "first" if _number(matter.first + matter.document) > _number(matter.second + matter.document) else "second"


def _mark(matter: ScoreMatter, criterion: str) -> int:
    return 1 + _number(matter.answer + criterion) % 5


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
