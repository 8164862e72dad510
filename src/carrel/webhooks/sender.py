"""Sends what the outbox holds to the host, beside everything else: nobody waits for it."""

import asyncio
import base64
import hmac
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from carrel.accounts.service import ServiceDatabase
from carrel.config import Secret
from carrel.errors import CarrelError
from carrel.kit import logs
from carrel.kit.clock import Clock
from carrel.kit.logs import tail
from carrel.providers.base import ProviderError
from carrel.providers.connections.network import Network
from carrel.providers.connections.transport import Reply, Transport
from carrel.vault.keyring import UserUuid
from carrel.webhooks import outbox
from carrel.webhooks.outbox import DueEvent, Event

LOOK_SECONDS: Final = 30.0
"""Between two looks for events that are due again."""
_TIMEOUT_SECONDS: Final = 10.0
_CONNECTIONS: Final = 8
_MOST_BYTES: Final = 64 * 1024
"""Of an answer, which nobody reads."""


class Webhooks:
    """Owned by the event loop. Without a URL nothing is recorded and nothing sent.

    `owner_of` is `Accounts.owner`. Of several secrets each signs, so that the host can change to the next one.
    """

    def __init__(
        self,
        url: str | None,
        secrets: Sequence[Secret],
        service: ServiceDatabase,
        owner_of: Callable[[str], str],
        network: Network,
        clock: Clock,
    ) -> None:
        self.url = url
        self._secrets = secrets
        self._service = service
        self._owner_of = owner_of
        self._network = network
        self._clock = clock
        # The operator names this one host, so it may be on the operator's own network.
        self._transport = Transport(network, _CONNECTIONS, (rule_of(url or ""),))
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def tell(self, uuid: UserUuid, *events: Event) -> None:
        """Record events, each once, and send them soon.

        Raises:
            CarrelError: they cannot be recorded now.
        """
        if self.url is None or not events:
            return
        if await self._service.run(outbox.add, self._owner_of(uuid), events) > 0:
            self._news.set()

    def start(self) -> None:
        """Send what is due, from now on."""
        if self.url is not None:
            self._task = asyncio.create_task(self._again_and_again(self.url))

    async def stop(self) -> None:
        """Stop. What is under way is sent again by the next process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._transport.close()

    async def _again_and_again(self, url: str) -> None:
        while True:
            self._news.clear()
            try:
                while events := await self._service.run(outbox.due):
                    await asyncio.gather(*(self._send(url, event) for event in events))
            except CarrelError as error:
                logs.warning("webhooks-not-sent", code=error.code)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._news.wait()

    async def _send(self, url: str, event: DueEvent) -> None:
        fields = {"user": event.uuid, **event.data}
        body = msgspec.json.encode({"type": event.type, "timestamp": event.created_at, "data": fields})
        headers = {"Content-Type": "application/json", **self._signed(event.id, body)}
        try:
            with self._network.room.place("webhooks") as place:
                reply: Reply[None] = await self._transport.send(
                    *("POST", url, headers, body),
                    timeout_seconds=_TIMEOUT_SECONDS,
                    place=place,
                    most_bytes=_MOST_BYTES,
                )
            delivered, code = 200 <= reply.status < 300, str(reply.status)
        except ProviderError as error:
            delivered, code = False, error.code.removeprefix("provider-")
        if await self._service.run(outbox.settle, event, delivered=delivered):
            logs.warning("webhook-given-up", user=tail(event.uuid), kind=event.type, code=code)

    def _signed(self, message_id: str, body: bytes) -> dict[str, str]:
        stamp = str(int(self._clock.now()))
        content = f"{message_id}.{stamp}.".encode() + body
        signatures = (hmac.digest(secret.reveal(), content, "sha256") for secret in self._secrets)
        return {
            "Webhook-Id": message_id,
            "Webhook-Timestamp": stamp,
            "Webhook-Signature": " ".join(f"v1,{base64.b64encode(one).decode()}" for one in signatures),
        }


def rule_of(url: str) -> str:
    """The rule that allows the host of this URL and no other; see `base_url.check`."""
    return "/".join(url.split("/")[:3]).removeprefix("https://")
