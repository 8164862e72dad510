"""Tokens for which keys are traded, kept for some minutes each: their keys may leave the memory before they end."""

import asyncio
import hashlib
from http import HTTPStatus
from typing import Final, NamedTuple

from carrel.kit.clock import Clock
from carrel.kit.concurrency.keyed_lock import KeyedLock
from carrel.providers import base_url, refusals
from carrel.providers.answer_room import AnswerMemory
from carrel.providers.base import Access, ProviderError
from carrel.providers.connections.transport import Transport
from carrel.providers.credentials import trade
from carrel.providers.credentials.trade import KeyTrade

_KEPT_SECONDS: Final = 600.0
_TIMEOUT_SECONDS: Final = 15.0
_MOST: Final = 1_000
_FORM: Final = "application/x-www-form-urlencoded"
_NOT_GRANTED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED)


class _Token(NamedTuple):
    text: str
    until: float


class KeyTokens:
    """Owned by the event loop. A key is traded once, however many calls wait for its token."""

    def __init__(self, transport: Transport, rules: tuple[str, ...], clock: Clock) -> None:
        self._transport = transport
        self._rules = rules
        self._clock = clock
        self._held: dict[bytes, _Token] = {}
        self._lock = KeyedLock[bytes]()

    async def of(self, access: Access, kind: KeyTrade) -> str:
        """The token of the key.

        Raises:
            ProviderError: none was granted, or as `Transport.send` says. Nothing was billed.
        """
        digest = hashlib.sha256(access.key.reveal()).digest()
        async with self._lock.of(digest):
            held = self._held.get(digest)
            if held is None or held.until <= self._clock.monotonic():
                held = _Token(await self._traded(access, kind), self._clock.monotonic() + _KEPT_SECONDS)
                if len(self._held) >= _MOST:
                    self._held.clear()
                self._held[digest] = held
        return held.text

    async def _traded(self, access: Access, kind: KeyTrade) -> str:
        # A signature takes a twentieth of a second.
        grant = await asyncio.to_thread(kind.grant, access.key.reveal().decode("ascii"), self._clock.now())
        if not base_url.is_allowed(grant.url, self._rules):
            raise ProviderError("provider-host-not-allowed", retryable=False, unbilled=True)
        reply = await self._transport.send(
            *("POST", grant.url, {"Content-Type": _FORM}, grant.form),
            timeout_seconds=_TIMEOUT_SECONDS,
            place=AnswerMemory("tokens"),
            read=trade.token_in,
        )
        if reply.found is not None:
            return reply.found
        refusal = refusals.read(reply.status, reply.body)
        error = refusals.error(refusal, reply.headers, self._clock.now())
        if reply.status in _NOT_GRANTED:
            error = ProviderError("provider-key-rejected", retryable=False, said=refusal.said)
        error.unbilled = True
        raise refusals.without_key(error, access)
