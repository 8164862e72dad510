"""A provider that is called over HTTP, in any protocol. It checks the address and chooses the form of answers."""

import asyncio
import hashlib
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import lru_cache, partial
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from carrel.errors import BadInput
from carrel.kit.clock import Clock
from carrel.providers import base_url, refusals
from carrel.providers.answer_room import AnswerMemory
from carrel.providers.base import ANSWER_TOO_LARGE, Access, Answer, ModelInfo, ModelRequest, Offer, ProviderError
from carrel.providers.batch_client import BatchClient
from carrel.providers.batches import HttpReply
from carrel.providers.catalogue import KNOWN, KnownProvider
from carrel.providers.families import family_of
from carrel.providers.network import Network
from carrel.providers.protocols.wire import Form
from carrel.providers.transport import MAX_ERROR_BYTES, Reply, Transport

T = TypeVar("T")

_BYTES_OF_A_CHARACTER = 4
"""An answer is longer than its text, which is escaped in it, and memory takes up to so many bytes for a character."""
_MOST_REMEMBERED = 1_000
_LOWEST_OUTPUT_TOKENS = 1_024
"""Carrel assumes no lower output limit than this one. Every model that anybody still serves accepts it."""
_OK = 200
_BATCH_SECONDS = 300.0
"""How long sending a batch, or reading its results, may take."""


class HttpProvider:
    """One provider of the catalogue. At most `connections` at once; `rules` are CARREL_PROVIDER_HOSTS."""

    def __init__(
        self,
        name: str,
        known: KnownProvider,
        network: Network,
        *,
        connections: int,
        rules: tuple[str, ...],
        clock: Clock,
    ) -> None:
        self.name = name
        self._known = known
        self._wire = known.wire
        self.network = network
        self._rules = rules
        self._clock = clock
        self._transport = Transport(network, connections, rules)
        self._weaker: dict[tuple[str, str, bytes], int] = {}
        """How many forms of structured answers a server has refused for a model."""
        self._whole_only: set[tuple[str, str]] = set()
        """Servers, with a model, that have refused to stream."""

    def models(self) -> tuple[ModelInfo, ...]:
        """Return no models: the key of a user decides which there are."""
        return ()

    def named(self, name: str) -> ModelInfo | None:
        """Return a model for any name that a model could have."""
        if not self._wire.can_be_called(name):
            return None
        family = family_of(self.name, name)
        return ModelInfo(name=name, family=family, roles=("generate", "judge"), description="")

    async def complete(self, request: ModelRequest) -> Answer:
        """Return one answer.

        Raises:
            ProviderError: `provider-key-missing`, `parameter-not-supported`, `structured-output-refused` (another try
                asks in a weaker form), and what `transport.send` and `refusals.refusal` say.
        """
        if request.access is None:
            raise ProviderError("provider-key-missing", retryable=False, unbilled=True)
        base = self._base(request.access)
        form = self._form(base, request)
        with self._place(request) as place:
            reply = await self._ask(request, request.access, self._wire.call_url(base, request.model), form, place)
        return self._answered(request, base, form, reply)

    def _place(self, request: ModelRequest) -> AbstractContextManager[AnswerMemory]:
        """What the answer holds. A place of the caller's goes on after the call, until the caller releases it."""
        return self.network.room.place(request.user) if request.place is None else nullcontext(request.place)

    def _answered(self, request: ModelRequest, base: str, form: Form, reply: Reply[Answer]) -> Answer:
        if reply.status == _OK and reply.found is not None:
            return reply.found
        return self._refused(request, base, form, reply.status, reply.headers, reply.body)

    def _read(self, place: AnswerMemory, body: bytes) -> Answer | None:
        """The answer in the body. From here on, only its text takes memory."""
        answer = self._wire.answered(body)
        return None if answer is None else self._kept(place, answer)

    def _kept(self, place: AnswerMemory, answer: Answer) -> Answer:
        if len(answer.text) > self.network.max_answer_bytes // _BYTES_OF_A_CHARACTER:
            raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
        place.hold(sys.getsizeof(answer.text))
        return answer

    async def _ask(
        self,
        request: ModelRequest,
        access: Access,
        url: str,
        form: Form,
        place: AnswerMemory,
        on_piece: Callable[[bytes], None] | None = None,
    ) -> Reply[Answer]:
        """Send the call. While the server finds an output limit too high that nobody set, send half of it.

        The lower limit is not remembered. It can depend on the length of one user's text, and others would get short
        answers.
        """
        limit = request.output_limit
        is_assumed = request.parameters.max_output_tokens is None
        while True:
            body = self._wire.encoded(request, form, stream=on_piece is not None)
            seconds = request.timeout_seconds
            read = partial(self._read, place)
            reply = await self._send(
                access, "POST", url, body, timeout_seconds=seconds, place=place, read=read, on_piece=on_piece
            )
            limit //= 2
            too_high = is_assumed and refusals.is_about_output_limit(reply.status, reply.body)
            if not too_high or limit < _LOWEST_OUTPUT_TOKENS:
                return reply
            request = replace(request, parameters=replace(request.parameters, max_output_tokens=limit))

    def _refused(
        self, request: ModelRequest, base: str, form: Form, status: int, headers: Mapping[str, str], body: bytes
    ) -> Answer:
        """Turn a reply without an answer into an error. A refusal of the contents counts as an answer."""
        if refusals.is_content_refusal(status, body):
            return Answer(text="", finish_reason="refused", usage=None)
        if refusals.is_about_parameter(status, body, request.parameters):
            raise ProviderError("parameter-not-supported", retryable=False, unbilled=True)
        if request.grounding != "off" and refusals.is_about_search(status, body):
            raise ProviderError("parameter-not-supported", retryable=False, unbilled=True)
        if request.schema is not None and form != "words" and refusals.is_about_form(status, body):
            self._weaken(base, request, form)
            raise ProviderError("structured-output-refused", retryable=True, unbilled=True)
        raise refusals.refusal(status, headers, body, self._clock.now())

    async def stream(self, request: ModelRequest, on_piece: Callable[[str], None]) -> Answer:
        """Return one answer, and call `on_piece` with each piece of its text.

        A server that does not stream, or refuses to, sends one piece.

        Raises:
            ProviderError: as `complete` says; `provider-malformed` also if the answer broke off.
        """
        if request.access is None:
            raise ProviderError("provider-key-missing", retryable=False, unbilled=True)
        base, streamed = self._base(request.access), self._wire.streamed()
        if (base, request.model) in self._whole_only:
            return await self._in_one_piece(request, on_piece)
        form, loop = self._form(base, request), asyncio.get_running_loop()

        def take(data: bytes) -> None:
            text = streamed.feed(data)
            if streamed.size > self.network.max_answer_bytes // _BYTES_OF_A_CHARACTER:
                raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
            place.hold(streamed.size)
            if text:
                loop.call_soon_threadsafe(on_piece, text)

        url = self._wire.stream_url(base, request.model)
        with self._place(request) as place:
            reply = await self._ask(request, request.access, url, form, place, on_piece=take)
            answer = reply.found or streamed.answer()
            if answer is not None:
                self._kept(place, answer)
        if refusals.is_about_stream(reply.status, reply.body):
            if len(self._whole_only) >= _MOST_REMEMBERED:
                self._whole_only.clear()
            self._whole_only.add((base, request.model))
            return await self._in_one_piece(request, on_piece)
        if reply.status != _OK or reply.body:
            return self._refused(request, base, form, reply.status, reply.headers, reply.body)
        if answer is None:
            raise ProviderError("provider-malformed", retryable=True)
        if not streamed.text and answer.text:
            on_piece(answer.text)
        return answer

    async def _in_one_piece(self, request: ModelRequest, on_piece: Callable[[str], None]) -> Answer:
        answer = await self.complete(request)
        if answer.text:
            on_piece(answer.text)
        return answer

    def batch_client(self, access: Access) -> BatchClient | None:
        """The provider's batches for this key; `None` if it has none.

        Raises:
            ProviderError: `provider-host-not-allowed`.
        """
        api = self._known.batches
        if api is None:
            return None
        base = self._base(access)

        async def send(
            method: str, path: str, body: bytes | None, kind: str, *, most_bytes: int | None = None
        ) -> HttpReply:
            url = api.root(base) + path
            # Its caller reads one document at a time, so it is not counted beside answers.
            reply: Reply[None] = await self._send(
                access,
                *(method, url, body),
                place=AnswerMemory("batches"),
                timeout_seconds=_BATCH_SECONDS,
                kind=kind,
                most_bytes=most_bytes,
            )
            return HttpReply(reply.status, reply.headers, reply.body)

        def encoded(request: ModelRequest) -> bytes:
            return self._wire.encoded(request, self._form(base, request))

        def answered(request: ModelRequest, status: int, body: bytes) -> Answer:
            answer = self._wire.answered(body) if status == _OK else None
            if answer is not None:
                return answer
            said = body if len(body) <= MAX_ERROR_BYTES else b""
            return self._refused(request, base, self._form(base, request), status, {}, said)

        return BatchClient(api, send, encoded, answered, self._clock)

    async def ready(self) -> None:
        """Open the pool of connections now."""
        with suppress(ProviderError):
            await self._transport.ready()

    async def offered(self, access: Access, *, timeout_seconds: float = 15.0) -> Offer:
        """Return the models that the server lists for this key.

        Raises:
            ProviderError: as `complete` says.
        """
        begun = self._clock.monotonic()
        base, read = self._base(access), self._wire.models
        with self.network.room.place(base) as place:
            url = self._wire.models_url(base)
            reply = await self._send(access, "GET", url, None, timeout_seconds=timeout_seconds, place=place, read=read)
        if reply.status != _OK or reply.found is None:
            raise refusals.refusal(reply.status, reply.headers, reply.body, self._clock.now())
        return Offer(reply.found, round((self._clock.monotonic() - begun) * 1000))

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.close()

    def _base(self, access: Access) -> str:
        """Return the base URL, checked again: the operator may have changed the rules since the key was stored."""
        url = access.base_url or self._known.base_url or ""
        if not _is_allowed(url, self._rules):
            raise ProviderError("provider-host-not-allowed", retryable=False, unbilled=True)
        return url.rstrip("/")

    def _form(self, base: str, request: ModelRequest) -> Form:
        return self._wire.forms[self._weaker.get((base, request.model, _asked(request)), 0)]

    def _weaken(self, base: str, request: ModelRequest, refused: Form) -> None:
        # Servers refuse the calls in flight together: only the first refusal moves to the next form.
        if self._form(base, request) == refused:
            if len(self._weaker) >= _MOST_REMEMBERED:
                self._weaker.clear()
            self._weaker[base, request.model, _asked(request)] = self._wire.forms.index(refused) + 1

    async def _send(
        self,
        access: Access,
        method: str,
        url: str,
        body: bytes | None,
        *,
        timeout_seconds: float,
        place: AnswerMemory,
        read: Callable[[bytes], T | None] | None = None,
        on_piece: Callable[[bytes], None] | None = None,
        kind: str = "application/json",
        most_bytes: int | None = None,
    ) -> Reply[T]:
        headers = self._wire.headers(access.key.reveal().decode("ascii"))
        if body is not None:
            headers["Content-Type"] = kind
        return await self._transport.send(
            *(method, url, headers, body),
            timeout_seconds=timeout_seconds,
            place=place,
            read=read,
            on_piece=on_piece,
            most_bytes=most_bytes,
        )


def every_known(network: Network, *, connections: int, rules: tuple[str, ...], clock: Clock) -> list[HttpProvider]:
    """Every provider of the catalogue."""
    return [
        HttpProvider(name, known, network, connections=connections, rules=rules, clock=clock)
        for name, known in KNOWN.items()
    ]


def _asked(request: ModelRequest) -> bytes:
    """What tells schemas apart that a server may refuse by themselves. Those of judges are all of one kind."""
    if request.schema is None or request.role == "judge":
        return b""
    return hashlib.sha256(msgspec.json.encode(request.schema)).digest()


@lru_cache(maxsize=1_000)
def _is_allowed(url: str, rules: tuple[str, ...]) -> bool:
    try:
        base_url.check(url, rules)
    except BadInput:
        return False
    return True
