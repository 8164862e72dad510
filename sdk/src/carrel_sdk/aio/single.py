"""Written by `sdk/generate.py` from `carrel_sdk.single`. Change that, and run it again."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import msgspec

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.aio.event_stream import events_of
from carrel_sdk.errors import RENEWABLE_CODES, CarrelUnreachable, SessionEnded
from carrel_sdk.event_stream import SILENCE_SECONDS
from carrel_sdk.models import Compared, Completion, Scored
from carrel_sdk.single import _generation, _given, _Piece
from carrel_sdk.transport import Request, told_error


class AsyncPieces(AsyncIterator[str]):
    """A streamed answer: iterate over its pieces, and read `answer` after the last one.

    The call begins when the first piece is requested. If you stop early, the service still reads the call to its end
    and meters it.
    """

    answer: Completion | None = None

    def __init__(self, calls: AsyncCalls, request: Request) -> None:
        self._begun = False
        self._pieces = self._read(calls, request)

    async def __anext__(self) -> str:
        """The next piece.

        Raises:
            Conflict, TryLater: as `Single.generate` says, also in the middle of an answer.
            CarrelUnreachable: the stream broke off; the metering tells what became of the call.
        """
        return await anext(self._pieces)

    async def close(self) -> None:
        """Stop reading."""
        await self._pieces.aclose()

    async def _read(self, calls: AsyncCalls, request: Request) -> AsyncGenerator[str, None]:
        try:
            async for item in self._once(calls, request):
                yield item
        except SessionEnded as error:
            if error.code not in RENEWABLE_CODES or self._begun or (not calls.forget_token()):
                raise
            async for item in self._once(calls, request):
                yield item

    async def _once(self, calls: AsyncCalls, request: Request) -> AsyncGenerator[str, None]:
        async with aclosing(events_of(calls, request)) as events:
            async for event in events:
                self._begun = True
                if event.kind == "piece":
                    yield msgspec.json.decode(event.data, type=_Piece).text
                elif event.kind == "error":
                    raise told_error(event.data)
                elif event.kind == "end":
                    self.answer = msgspec.json.decode(event.data, type=Completion)
                    return
        raise CarrelUnreachable("the answer broke off", sent=True)


class AsyncSingle:
    """The routes `/generation`, `/evaluation/score` and `/evaluation/compare`. No call is sent twice, as each costs."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def generate(
        self,
        model: str,
        prompt: str,
        *,
        system: str = "",
        parameters: dict[str, Any] | None = None,
        timeout_seconds: int = 120,
    ) -> Completion:
        """One answer of one model.

        Raises:
            Conflict: there is no key, or the provider refuses such a call.
            TryLater: a rate limit is reached, or the provider did not answer.
        """
        body = {"model": model, "prompt": prompt, "system": system, "parameters": parameters or {}}
        request = _generation(body, timeout_seconds, "application/json", timeout_seconds + SILENCE_SECONDS)
        return (await self._calls.send(request)).decode(Completion)

    def stream(
        self,
        model: str,
        prompt: str,
        *,
        system: str = "",
        parameters: dict[str, Any] | None = None,
        timeout_seconds: int = 120,
    ) -> AsyncPieces:
        """One answer of one model, piece by piece as the model writes it. `Pieces` lists the errors."""
        body = {"model": model, "prompt": prompt, "system": system, "parameters": parameters or {}}
        return AsyncPieces(self._calls, _generation(body, timeout_seconds, "text/event-stream", SILENCE_SECONDS))

    async def score(
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
        return await self._calls.post("/evaluation/score", Scored, body | _given(reference, instructions))

    async def compare(
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
        """Have two answers compared, in both orders. Raises as `generate` does."""
        body = {"judge": {"model": judge}, "document": document, "a": a, "b": b, "criteria": criteria}
        return await self._calls.post("/evaluation/compare", Compared, body | _given(reference, instructions))
