"""GitHub's REST API as bytes: headers, answers and refusals, over the same transport as model providers.

The requests of one task of a user run one after another, as GitHub asks of its clients. Each user does one task of each
kind at a time, so a user who starts a hundred takes no memory or connections from others. The token is sent in a header
only.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import msgspec

from carrel.config import Secret
from carrel.github import refusals
from carrel.github.refusals import GithubHostNotAllowed, GithubUnavailable
from carrel.kit.clock import Clock
from carrel.kit.concurrency.keyed_lock import KeyedLock
from carrel.providers import base_url
from carrel.providers.base import ProviderError
from carrel.providers.connections.network import Network
from carrel.providers.connections.transport import Transport
from carrel.providers.foreign_json import decoded


class Target(NamedTuple):
    """One repository. `base_url` has no slash at its end; `branch` is `None` for the repository's default."""

    base_url: str
    repository: str
    branch: str | None
    token: Secret

    @property
    def url(self) -> str:
        """The repository's own address."""
        return f"{self.base_url}/repos/{self.repository}"


T = TypeVar("T")

_CONNECTIONS = 32
_TIMEOUT_SECONDS = 20.0
_VERSION = "2022-11-28"
_TURN_SECONDS = 120.0


class Github:
    """The only way to GitHub. `hosts` are CARREL_GITHUB_HOSTS. Belongs to the event loop of its first call."""

    def __init__(self, network: Network, hosts: tuple[str, ...], clock: Clock) -> None:
        self._hosts = hosts
        self.clock = clock
        self._network = network
        self._transport = Transport(network, _CONNECTIONS, hosts)
        self._locks: KeyedLock[tuple[str, str]] = KeyedLock()

    def turn(self, user: str, work: Literal["look", "fetch", "send"]) -> AbstractAsyncContextManager[None]:
        """Let the user do one task of this kind at a time, for the length of the block.

        Raises:
            GithubUnavailable: the tasks before it took too long.
        """
        return self._locks.of((user, work), _TURN_SECONDS, GithubUnavailable)

    async def ask(
        self,
        target: Target,
        method: str,
        path: str,
        kind: type[T],
        body: object = None,
        *,
        most_bytes: int | None = None,
    ) -> T:
        """Send one request below the repository. Returns the fields of the answer that `kind` names.

        `most_bytes` bounds an answer that may be longer than others.

        Raises:
            CarrelError: one of `refusals.OF_GITHUB`.
        """
        # The operator may have changed the hosts since the connection was stored.
        if not base_url.is_allowed(target.base_url, self._hosts):
            raise GithubHostNotAllowed
        headers = {
            "Authorization": f"Bearer {target.token.reveal().decode('ascii')}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": _VERSION,
        }
        sent = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            sent = await asyncio.to_thread(msgspec.json.encode, body)
        url, read = target.url + path, partial(decoded, msgspec.json.Decoder(kind))
        try:
            with self._network.room.place(target.url) as place:
                reply = await self._transport.send(
                    *(method, url, headers, sent),
                    timeout_seconds=_TIMEOUT_SECONDS,
                    place=place,
                    read=read,
                    most_bytes=most_bytes,
                )
        except ProviderError as error:
            # The transport's error contains no header and no address.
            raise refusals.of_transport(error) from None
        if not 200 <= reply.status < 300:
            raise refusals.refusal(reply.status, reply.headers, self.clock.now())
        if reply.found is None:
            raise GithubUnavailable
        return reply.found

    async def close(self) -> None:
        """Close every connection; calls in flight end with `GithubUnavailable`."""
        await self._transport.close()
