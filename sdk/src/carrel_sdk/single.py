"""Single calls outside of runs: a generation, a score or a comparison."""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.errors import RENEWABLE_CODES, CarrelUnreachable, SessionEnded
from carrel_sdk.event_stream import SILENCE_SECONDS, events_of
from carrel_sdk.models import Compared, Completion, Scored
from carrel_sdk.transport import Request, told_error


class _Piece(msgspec.Struct, frozen=True):
    text: str


class Pieces(Iterator[str]):
    """A streamed answer: iterate over its pieces, and read `answer` after the last one.

    The call begins when the first piece is requested. If you stop early, the service still reads the call to its end
    and meters it.
    """

    answer: Completion | None = None

    def __init__(self, calls: Calls, request: Request) -> None:
        self._begun = False
        self._pieces = self._read(calls, request)

    def __next__(self) -> str:
        """The next piece.

        Raises:
            Conflict, TryLater: as `Single.generate` says, also in the middle of an answer.
            CarrelUnreachable: the stream broke off; the metering tells what became of the call.
        """
        return next(self._pieces)

    def close(self) -> None:
        """Stop reading."""
        self._pieces.close()

    def _read(self, calls: Calls, request: Request) -> Generator[str, None, None]:
        try:
            yield from self._once(calls, request)
        except SessionEnded as error:
            # Refused at the door: no model was called.
            if error.code not in RENEWABLE_CODES or self._begun or not calls.forget_token():
                raise
            yield from self._once(calls, request)

    def _once(self, calls: Calls, request: Request) -> Generator[str, None, None]:
        with closing(events_of(calls, request)) as events:
            for event in events:
                self._begun = True
                if event.kind == "piece":
                    yield msgspec.json.decode(event.data, type=_Piece).text
                elif event.kind == "error":
                    raise told_error(event.data)
                elif event.kind == "end":
                    self.answer = msgspec.json.decode(event.data, type=Completion)
                    return
        raise CarrelUnreachable("the answer broke off", sent=True)


class Single:
    """The routes `/generation`, `/evaluation/score` and `/evaluation/compare`. No call is sent twice, as each costs."""

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
    ) -> Completion:
        """One answer of one model.

        Raises:
            Conflict: there is no key, or the provider refuses such a call.
            TryLater: a rate limit is reached, or the provider did not answer.
        """
        body = {"model": model, "prompt": prompt, "system": system, "parameters": parameters or {}}
        # The service is silent until the model has answered, and then has waited for its turn, too.
        request = _generation(body, timeout_seconds, "application/json", timeout_seconds + SILENCE_SECONDS)
        return self._calls.send(request).decode(Completion)

    def stream(
        self,
        model: str,
        prompt: str,
        *,
        system: str = "",
        parameters: dict[str, Any] | None = None,
        timeout_seconds: int = 120,
    ) -> Pieces:
        """One answer of one model, piece by piece as the model writes it. `Pieces` lists the errors."""
        body = {"model": model, "prompt": prompt, "system": system, "parameters": parameters or {}}
        return Pieces(self._calls, _generation(body, timeout_seconds, "text/event-stream", SILENCE_SECONDS))

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
        """Have two answers compared, in both orders. Raises as `generate` does."""
        body = {"judge": {"model": judge}, "document": document, "a": a, "b": b, "criteria": criteria}
        return self._calls.post("/evaluation/compare", Compared, body | _given(reference, instructions))


def _generation(body: dict[str, Any], timeout_seconds: int, accept: str, read_seconds: float) -> Request:
    content = msgspec.json.encode(body | {"timeout_seconds": timeout_seconds})
    headers = {"Content-Type": "application/json", "Accept": accept}
    return Request("POST", "/generation", headers=headers, content=content, read_seconds=read_seconds)


def _given(reference: str | None, instructions: str | None) -> dict[str, str | None]:
    return {"reference": reference, "instructions": instructions}
