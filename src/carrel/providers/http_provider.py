"""A provider that is called over HTTP, in any protocol. It checks the address and chooses the form of answers."""

import asyncio
import hashlib
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from http import HTTPStatus
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from carrel.kit.clock import Clock
from carrel.providers import base_url, endings, hosts, refusals, thought
from carrel.providers.answer_room import AnswerMemory
from carrel.providers.base import (
    ANSWER_TOO_LARGE,
    FORM_REFUSED,
    NOT_LISTED,
    Access,
    Answer,
    ModelInfo,
    ModelRequest,
    Offer,
    OtherProtocolError,
    ProviderError,
)
from carrel.providers.batch_client import BatchClient
from carrel.providers.batches import HttpReply
from carrel.providers.catalogue import KNOWN, KnownProvider
from carrel.providers.connections.network import Network
from carrel.providers.connections.transport import MAX_ERROR_BYTES, Reply, Transport
from carrel.providers.credentials import trade
from carrel.providers.credentials.key_tokens import KeyTokens
from carrel.providers.families import family_of
from carrel.providers.protocols import call_bodies, names
from carrel.providers.protocols.names import Listed
from carrel.providers.protocols.streamed import StreamReader
from carrel.providers.protocols.wire import NO_QUIRKS, Form, ModelPage, Quirks, Wire
from carrel.providers.refusals import Refusal, ToldError
from carrel.providers.thought import Spoken

T = TypeVar("T")

_BYTES_OF_A_CHARACTER = 4
"""An answer is longer than its text, which is escaped in it, and memory takes up to so many bytes for a character."""
_MOST_REMEMBERED = 1_000
_MOST_MENDED = 12
"""How often one call is sent again in another way, because a server did not take what Carrel chose by itself."""
_MOST_PAGES = 20
_BROKEN_JSON_TAKEN = 2
"""After so many replies that were not valid JSON, a weaker form is asked for."""
_BATCH_SECONDS = 300.0
"""How long sending a batch, or reading its results, may take."""
_BROKEN_WAYS = ("provider-malformed", "provider-unreachable")
_NO_ROUTE = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)
_NO_ENTRY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


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
        self._tokens = KeyTokens(self._transport, rules, clock)
        self._weaker: dict[tuple[str, str, bytes], int] = {}
        """How many forms of structured answers a server has refused for a model."""
        self._broken: dict[tuple[str, str, bytes], int] = {}
        """How many replies in the present form a server has called invalid JSON."""
        self._quirks: dict[tuple[str, str], Quirks] = {}
        """What servers have refused for a model, and its limits."""

    def _wire_of(self, base: str, request: ModelRequest) -> Wire:
        """The protocol in which the model is asked."""
        is_moved = self._quirks_of(base, request.model).in_second
        return self._known.wire_of(base, request.model, is_moved=is_moved, searches=request.grounding != "off")

    def models(self) -> tuple[ModelInfo, ...]:
        """Return no models: the key of a user decides which there are."""
        return ()

    def named(self, name: str) -> ModelInfo | None:
        """Return a model for any name that a model could have."""
        if not names.can_be(name):
            return None
        family = family_of(self.name, name)
        return ModelInfo(name=name, family=family, roles=("generate", "judge"), description="")

    def check(self, request: ModelRequest, host: str | None) -> None:
        """Do nothing if the protocol of the model at this host has words for all that was set.

        Raises:
            ParametersNotTaken: it has not.
            ProviderError: `thinking-budget-too-high`.
        """
        base = self._known.base_url if host is None else host
        call_bodies.encoded(self._known.wire_of(base, request.model), request, "words")

    async def complete(self, request: ModelRequest) -> Answer:
        """Return one answer.

        Raises:
            ProviderError: `provider-key-missing`, `parameter-not-supported`, `thinking-budget-too-high`,
                `structured-output-refused` (another try asks in a weaker form), and what `transport.send` and
                `refusals.error` say.
        """
        answer = await self._complete(request)
        return await self._again(request, answer) if self._is_empty(answer) else answer

    def _is_empty(self, answer: Answer) -> bool:
        """Whether the model ended without a word, as Google's do by chance."""
        return self._wire.stops_empty and answer.finish_reason == "stop" and not answer.text

    async def _again(
        self, request: ModelRequest, empty: Answer, on_piece: Callable[[str], None] = lambda _: None
    ) -> Answer:
        """Ask once more. Both answers are paid for."""
        answer = await self._complete(request)
        if answer.text:
            on_piece(answer.text)
        both = None if empty.usage is None or answer.usage is None else empty.usage.plus(answer.usage)
        return replace(answer, usage=both)

    async def _complete(self, request: ModelRequest) -> Answer:
        base, access = self._reached(request)
        form = self._form(base, request)
        with self._place(request) as place:
            try:
                reply = await self._ask(request, access, base, form, place)
            except OtherProtocolError:
                reply = await self._ask(request, access, base, form, place)
        return self._answered(request, base, form, reply)

    def _reached(self, request: ModelRequest) -> tuple[str, Access]:
        if request.access is None:
            raise ProviderError("provider-key-missing", retryable=False, unbilled=True)
        return self._base(request.access), request.access

    def _place(self, request: ModelRequest) -> AbstractContextManager[AnswerMemory]:
        """What the answer holds. A place of the caller's goes on after the call, until the caller releases it."""
        return self.network.room.place(request.user) if request.place is None else nullcontext(request.place)

    def _answered(self, request: ModelRequest, base: str, form: Form, reply: Reply[Answer]) -> Answer:
        if reply.found is not None:
            return reply.found
        return self._refused(request, base, form, refusals.read(reply.status, reply.body), reply.headers)

    def _read(self, wire: Wire, place: AnswerMemory, body: bytes) -> Answer | None:
        """The answer in the body. From here on, only its text takes memory."""
        answer = wire.answered(body)
        return None if answer is None else self._kept(place, answer)

    def _kept(self, place: AnswerMemory, answer: Answer) -> Answer:
        if len(answer.text) > self.network.max_answer_bytes // _BYTES_OF_A_CHARACTER:
            raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
        place.hold(sys.getsizeof(answer.text))
        return self._believed(answer)

    def _believed(self, answer: Answer) -> Answer:
        """The answer without what its model thought before, and without numbers that cannot be."""
        if answer.usage is not None and not answer.usage.can_be(answer.text):
            answer = replace(answer, usage=None)
        if answer.told_micros is not None and not self._known.tells_cost:
            answer = replace(answer, told_micros=None)
        found = thought.apart(answer.text)
        if not found.thought and not found.is_open:
            return answer
        finish = "length" if found.is_open and answer.finish_reason == "stop" else answer.finish_reason
        thoughts = "\n\n".join(filter(None, (answer.thought, found.thought)))
        return replace(answer, text=found.text, thought=thoughts, finish_reason=finish)

    async def _ask(
        self,
        request: ModelRequest,
        access: Access,
        base: str,
        form: Form,
        place: AnswerMemory,
        on_piece: Callable[[bytes], None] | None = None,
    ) -> Reply[Answer]:
        """Send the call. While the server refuses what nobody set and Carrel chose by itself, choose otherwise.

        Raises:
            OtherProtocolError: the model answers in the provider's second protocol, and the next call asks there.
        """
        wire = self._wire_of(base, request)
        url = wire.stream_url if on_piece is not None else wire.call_url
        limit: int | None = None
        for _ in range(_MOST_MENDED):
            quirks = self._quirks_of(base, request.model)
            sent = call_bodies.adapted(request, quirks, limit)
            body = call_bodies.encoded(wire, sent, form, quirks, stream=on_piece is not None)
            reply = await self._send(
                *(access, "POST", url(base, request.model), body),
                timeout_seconds=request.timeout_seconds,
                place=place,
                read=partial(self._read, wire, place),
                on_piece=on_piece,
            )
            if reply.found is not None:
                break
            # Gateways pass on a refusal inside a 200, too.
            refusal = refusals.read(reply.status, reply.body)
            is_first = self._known.second is not None and wire is self._wire
            if is_first and refusals.is_about_protocol(refusal):
                self._remember(base, request.model, quirks._replace(in_second=True))
                raise OtherProtocolError
            if self._learned(base, request, refusal, quirks, streams=on_piece is not None):
                continue
            fits = refusals.room(refusal, sent.output_limit) if request.parameters.max_output_tokens is None else None
            if fits is None or (reply.status < HTTPStatus.BAD_REQUEST and fits.is_guess):
                break
            # What fits beside one text is not remembered: others would get short answers.
            limit = fits.limit
            self._learn(base, request.model, Listed(request.model, fits.window, fits.most))
        return reply

    def _learned(self, base: str, request: ModelRequest, refusal: Refusal, quirks: Quirks, *, streams: bool) -> bool:
        """Note what the server does not take for this model. Return whether another request may be taken."""
        learned = quirks
        if request.system and not quirks.no_system and refusals.is_about_system(refusal):
            learned = quirks._replace(no_system=True)
        elif not quirks.other_limit_word and refusals.is_about_limit_word(refusal):
            learned = quirks._replace(other_limit_word=True)
        elif streams and not quirks.no_stream_options and refusals.is_about_stream_options(refusal):
            learned = quirks._replace(no_stream_options=True)
        elif not quirks.no_summary and refusals.is_about_summary(refusal):
            learned = quirks._replace(no_summary=True)
        if learned is quirks:
            return False
        self._remember(base, request.model, learned)
        return True

    def _can_mend(self, request: ModelRequest, base: str, refusal: Refusal) -> bool:
        """Whether another request may be taken where a stream began with this refusal."""
        fits = refusals.room(refusal, request.output_limit) if request.parameters.max_output_tokens is None else None
        quirks = self._quirks_of(base, request.model)
        return (fits is not None and not fits.is_guess) or self._learned(base, request, refusal, quirks, streams=True)

    def _learn(self, base: str, model: str, listed: Listed) -> None:
        """Remember the model's limits, where they are told."""
        before = self._quirks_of(base, model)
        limits = before._replace(
            window=listed.window or before.window, most_output=listed.most_output or before.most_output
        )
        if limits != before:
            self._remember(base, model, limits)

    def _remember(self, base: str, model: str, quirks: Quirks) -> None:
        if len(self._quirks) >= _MOST_REMEMBERED:
            self._quirks.clear()
        self._quirks[base, model] = quirks

    def _quirks_of(self, base: str, model: str) -> Quirks:
        return self._quirks.get((base, model), NO_QUIRKS)

    def _refused(
        self,
        request: ModelRequest,
        base: str,
        form: Form,
        refusal: Refusal,
        headers: Mapping[str, str],
        *,
        unbilled: bool = True,
    ) -> Answer:
        """Turn a reply without an answer into an error. A refusal of the contents counts as an answer.

        Not `unbilled`: something was said before it, which may cost something.
        """
        if refusals.is_content_refusal(refusal):
            return Answer(text="", finish_reason="refused", usage=None)
        if request.schema is not None and refusals.is_broken_json(refusal):
            return self._not_json(request, base, form)
        if refusals.is_about_parameter(refusal, request.parameters):
            raise self._told("parameter-not-supported", request, refusal)
        if request.grounding != "off" and refusals.is_about_search(refusal):
            raise self._told("parameter-not-supported", request, refusal)
        if request.schema is not None and form != "words" and refusals.is_about_form(refusal):
            self._weaken(base, request, form)
            raise ProviderError(FORM_REFUSED, retryable=True, unbilled=True)
        error = refusals.error(refusal, headers, self._clock.now())
        error.unbilled = error.unbilled and unbilled
        raise refusals.without_key(error, request.access)

    def _told(self, code: str, request: ModelRequest, refusal: Refusal) -> ProviderError:
        error = ProviderError(code, retryable=False, unbilled=True, said=refusal.said)
        return refusals.without_key(error, request.access)

    def _not_json(self, request: ModelRequest, base: str, form: Form) -> Answer:
        """The server checked the reply itself: it is as malformed as one that it would have sent."""
        key = (base, request.model, _asked(request))
        self._broken[key] = self._broken.pop(key, 0) + 1
        if self._broken[key] >= _BROKEN_JSON_TAKEN and form != "words":
            self._weaken(base, request, form)
            del self._broken[key]
        if len(self._broken) > _MOST_REMEMBERED:
            self._broken.clear()
        if request.role == "judge":
            return Answer(text="", finish_reason="stop", usage=None)
        raise ProviderError("provider-malformed", retryable=True)

    async def stream(self, request: ModelRequest, on_piece: Callable[[str], None]) -> Answer:
        """Return one answer, and call `on_piece` with each piece of its text.

        A server that does not stream, or refuses to, sends one piece. One whose stream cannot be read is asked for
        whole answers from then on.

        Raises:
            ProviderError: as `complete` says; `provider-malformed` also if the answer broke off.
        """
        base, access = self._reached(request)
        if not self._quirks_of(base, request.model).whole_only:
            try:
                try:
                    answer = await self._in_pieces(request, base, access, on_piece)
                except OtherProtocolError:
                    answer = await self._in_pieces(request, base, access, on_piece)
            except ProviderError as error:
                if error.code == "provider-malformed":
                    self._ask_whole(base, request)
                raise
            if answer is not None:
                return answer
            self._ask_whole(base, request)
        answer = await self.complete(request)
        if answer.text:
            on_piece(answer.text)
        return answer

    async def _in_pieces(
        self, request: ModelRequest, base: str, access: Access, on_piece: Callable[[str], None]
    ) -> Answer | None:
        """The answer piece by piece; `None` if the server refuses to send it so."""
        streamed, spoken = self._wire_of(base, request).streamed(), Spoken()
        form, loop = self._form(base, request), asyncio.get_running_loop()
        sent = 0

        def take(data: bytes) -> None:
            nonlocal sent
            text = spoken.feed(streamed.feed(data))
            if streamed.size > self.network.max_answer_bytes // _BYTES_OF_A_CHARACTER:
                raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
            place.hold(streamed.size)
            if text:
                sent += len(text)
                loop.call_soon_threadsafe(on_piece, text)

        try:
            with self._place(request) as place:
                reply = await self._heard(request, access, base, form, place, streamed, take)
                if reply.found is None and reply.status == HTTPStatus.OK and not reply.body:
                    reply = reply._replace(found=self._kept(place, _whole(streamed)))
        except ToldError as error:
            if error.unbilled and self._can_mend(request, base, error.refusal):
                whole = await self._complete(request)
                on_piece(whole.text)
                return whole
            return self._refused(request, base, form, error.refusal, {}, unbilled=error.unbilled)
        answer = reply.found
        if answer is None:
            told = refusals.read(reply.status, reply.body)
            return None if refusals.is_about_stream(told) else self._refused(request, base, form, told, reply.headers)
        if self._is_empty(answer):
            return await self._again(request, answer, on_piece)
        if answer.text[sent:]:
            on_piece(answer.text[sent:])
        return answer

    async def _heard(
        self,
        request: ModelRequest,
        access: Access,
        base: str,
        form: Form,
        place: AnswerMemory,
        streamed: StreamReader,
        take: Callable[[bytes], None],
    ) -> Reply[Answer]:
        try:
            return await self._ask(request, access, base, form, place, on_piece=take)
        except ProviderError as error:
            # However the connection ends after the end of the answer, the answer is whole.
            with suppress(ProviderError):
                streamed.finish()
            if error.code not in _BROKEN_WAYS or streamed.answer() is None:
                raise
            return Reply(HTTPStatus.OK, {}, b"")

    def _ask_whole(self, base: str, request: ModelRequest) -> None:
        self._remember(base, request.model, self._quirks_of(base, request.model)._replace(whole_only=True))

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

        def encoded(request: ModelRequest) -> tuple[str, bytes]:
            quirks = self._quirks_of(base, request.model)
            wire = self._known.wire_of(base, request.model)
            path = wire.call_url("/v1", request.model)
            return path, call_bodies.encoded(
                wire, call_bodies.adapted(request, quirks, None), self._form(base, request), quirks
            )

        def answered(request: ModelRequest, status: int, body: bytes) -> Answer:
            answer = self._known.wire_of(base, request.model).answered(body) if status == HTTPStatus.OK else None
            if answer is not None:
                return self._believed(answer)
            said = body if len(body) <= MAX_ERROR_BYTES else b""
            return self._refused(request, base, self._form(base, request), refusals.read(status, said), {})

        return BatchClient(api, send, encoded, answered, self._clock)

    async def ready(self) -> None:
        """Open the pool of connections now."""
        with suppress(ProviderError):
            await self._transport.ready()

    async def offered(self, access: Access, *, timeout_seconds: float = 15.0) -> Offer:
        """Return the models that the server lists for this key, and remember their limits and ends.

        Raises:
            ProviderError: `models-not-listed`, there is no server at the address, or as `complete` says.
        """
        begun = self._clock.monotonic()
        base = self._base(access)
        url = self._wire.models_url(base)
        found: dict[str, Listed] = {}
        query = ""
        # Some clouds list models at another host than they answer.
        pages = _MOST_PAGES if base_url.is_allowed(url.partition("?")[0], self._rules) else 0
        reply: Reply[ModelPage] = Reply(HTTPStatus.FORBIDDEN, {}, b"")
        for _ in range(pages):
            with self.network.room.place(base) as place:
                reply = await self._send(
                    *(access, "GET", url + query, None),
                    timeout_seconds=timeout_seconds,
                    place=place,
                    read=self._wire.models,
                )
            if reply.found is None:
                break
            found |= {one.name: one for one in reply.found.models}
            if reply.found.following is None:
                break
            query = f"&{reply.found.following}"
        if reply.found is None and not found:
            await self._check_unlisted(access, base, reply, timeout_seconds)
        for one in found.values():
            if one.window is not None or one.most_output is not None:
                self._learn(base, one.name, one)
        if not self._known.own and hosts.host_of(self.name, access.base_url) is None:
            for one in found.values():
                endings.note(f"{self.name}:{one.name}", one.ends_on)
        is_listed = reply.found is not None or bool(found)
        return Offer(tuple(sorted(found)), round((self._clock.monotonic() - begun) * 1000), is_listed)

    async def _check_unlisted(self, access: Access, base: str, reply: Reply[ModelPage], timeout_seconds: float) -> None:
        """A server without a list of models can be used. That it is there shows in how it refuses an empty call.

        Raises:
            ProviderError: `models-not-listed`, nothing is at this address; otherwise why there is no list.
        """
        refusal = refusals.read(reply.status, reply.body)
        # Clouds allow or forbid each action by itself.
        of_cloud = self._known.trade is not None or self._known.sign is not None
        if reply.status in _NO_ROUTE or (of_cloud and reply.status == HTTPStatus.FORBIDDEN):
            with self.network.room.place(base) as place:
                url = self._wire.call_url(base, "none")
                called: Reply[None] = await self._send(
                    access, "POST", url, b"{}", timeout_seconds=timeout_seconds, place=place
                )
            refusal = refusals.read(called.status, called.body)
            if called.status in _NO_ROUTE:
                raise refusals.without_key(ProviderError(NOT_LISTED, retryable=False, said=refusal.said), access)
            if called.status < HTTPStatus.INTERNAL_SERVER_ERROR and called.status not in _NO_ENTRY:
                return
        raise refusals.without_key(refusals.error(refusal, reply.headers, self._clock.now()), access)

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.close()

    def _base(self, access: Access) -> str:
        """Return the base URL, checked again: the operator may have changed the rules since the key was stored."""
        url = access.base_url or self._known.base_url or ""
        if not base_url.is_allowed(url, self._rules):
            raise ProviderError("provider-host-not-allowed", retryable=False, unbilled=True)
        return url.rstrip("/")

    def _form(self, base: str, request: ModelRequest) -> Form:
        return self._wire_of(base, request).forms[self._weaker.get((base, request.model, _asked(request)), 0)]

    def _weaken(self, base: str, request: ModelRequest, refused: Form) -> None:
        # Servers refuse the calls in flight together: only the first refusal moves to the next form.
        if self._form(base, request) == refused:
            if len(self._weaker) >= _MOST_REMEMBERED:
                self._weaker.clear()
            self._weaker[base, request.model, _asked(request)] = self._wire_of(base, request).forms.index(refused) + 1

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
        headers = await self._headers(access, method, url, body or b"")
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

    async def _headers(self, access: Access, method: str, url: str, body: bytes) -> dict[str, str]:
        """The headers that carry the key, or what stands for it."""
        key = access.key.reveal().decode("ascii")
        if self._known.trade is not None and trade.is_object(key):
            return {"Authorization": f"Bearer {await self._tokens.of(access, self._known.trade)}"}
        signed = None if self._known.sign is None else self._known.sign(key, method, url, body)
        return signed or self._wire.headers(key)


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


def _whole(streamed: StreamReader) -> Answer:
    """The answer of a stream at its end.

    Raises:
        ProviderError: `provider-malformed`, it has none.
    """
    streamed.finish()
    answer = streamed.answer()
    if answer is None:
        raise ProviderError("provider-malformed", retryable=True)
    return answer
