"""How nodes speak to each other: a port of its own on each, with mutual TLS beyond one machine.

Every request names the cluster by a token that only somebody with the service key can compute.
"""

import hmac
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import aiohttp
import msgspec
from aiohttp import ClientSession, ClientTimeout, web

from carrel.auth.handed_over import HandedUser
from carrel.cluster import copying
from carrel.cluster.copying import CopyBroken, CopyResult, Stamp
from carrel.cluster.refusals import NodeCertificateUnusable, NodePeerUnusable
from carrel.config import Settings
from carrel.errors import CarrelError

_CONNECT_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 25.0
"""Longer than calls of models may take to end, and a release after them."""
_TOKEN: Final = "X-Carrel-Cluster"  # noqa: S105  # the name of a header
_MOST_MOVES: Final = 8
_MAX_BODY_BYTES: Final = 64 * 1024 * 1024


class PeerFailed(Exception):
    """Another node did not do what it was asked for; `args[0]` says why, in words for the operator."""


class UserKey(msgspec.Struct, frozen=True):
    """A user whose key is on its way."""

    user: HandedUser
    key: bytes

    def __repr__(self) -> str:
        return "UserKey(hidden)"


class Schemas(msgspec.Struct, frozen=True):
    """The numbers of the last migrations that a program knows."""

    workspace: int
    account: int
    service: int


class Ask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a target asks of a source. `is_last`: the copy from which the target goes on."""

    move: str
    have: dict[str, Stamp] = {}
    is_last: bool = False


class Giving(Protocol):
    """The source's side of moves. Each method raises `PeerFailed` where the source does not agree."""

    async def prepare(self, slot: int, move: str) -> Schemas:
        """Get ready for the first copy, while the slot is served."""
        ...

    async def hold(self, slot: int, move: str) -> None:
        """Let what changes from now on go into small files, and return when the large ones can be copied for good."""
        ...

    async def release(self, slot: int, move: str) -> None:
        """End the work of the slot's users, and write nothing to the slot any more."""
        ...

    def folder(self, slot: int, move: str, *, is_last: bool) -> Path:
        """The folder to copy from; the last time it has been released."""
        ...

    async def keys(self, slot: int, move: str) -> list[UserKey]:
        """The keys of the slot's users, once its move is committed."""
        ...


def token_of(cluster_id: str, service_key: bytes) -> str:
    """What each node shows the others."""
    return hmac.digest(service_key, f"peers:{cluster_id}".encode(), "sha256").hex()


def contexts(settings: Settings) -> tuple[ssl.SSLContext, ssl.SSLContext] | None:
    """For a node as a server and as a client: each side proves itself. `None` without certificates.

    Raises:
        NodeCertificateUnusable
    """
    if settings.node_ca is None or settings.node_cert is None:
        return None
    try:
        server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=settings.node_ca)
        server.verify_mode = ssl.CERT_REQUIRED
        client = ssl.create_default_context(cafile=settings.node_ca)
        for context in (server, client):
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.load_cert_chain(settings.node_cert, settings.node_key)
    except OSError:
        raise NodeCertificateUnusable from None
    return server, client


class PeerServer:
    """Answers the other nodes, from `start` to `stop`. `may_act` says whether this node still is one."""

    def __init__(self, giving: Giving, token: str, may_act: Callable[[], bool]) -> None:
        self._giving = giving
        self._token = token
        self._may_act = may_act
        self._runner: web.AppRunner | None = None
        self._sent: dict[str, copying.SentBlocks] = {}
        """By the id of the move, for the last few."""

    async def start(self, address: str, tls: ssl.SSLContext | None) -> None:
        """Listen.

        Raises:
            NodePeerUnusable
        """
        app = web.Application(client_max_size=_MAX_BODY_BYTES, middlewares=[self._guard])
        app.router.add_post("/slots/{slot}/prepare", self._prepare)
        app.router.add_post("/slots/{slot}/copy", self._copy)
        app.router.add_post("/slots/{slot}/hold", self._hold)
        app.router.add_post("/slots/{slot}/release", self._release)
        app.router.add_post("/slots/{slot}/keys", self._keys)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        host, _, port = address.rpartition(":")
        try:
            await web.TCPSite(self._runner, host.strip("[]"), int(port), ssl_context=tls, reuse_address=True).start()
        except OSError:
            raise NodePeerUnusable from None

    async def stop(self) -> None:
        """Listen no more, and end what is under way."""
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _guard(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if not hmac.compare_digest(request.headers.get(_TOKEN, "").encode(), self._token.encode()):
            return web.Response(status=403, text="another cluster, or another service key")
        if not self._may_act():
            return web.Response(status=503, text="the lease of the node has ended")
        try:
            return await handler(request)
        except PeerFailed as refused:
            return web.Response(status=409, text=str(refused.args[0]))
        except CarrelError as error:
            return web.Response(status=500, text=error.code)
        except msgspec.DecodeError:
            return web.Response(status=400, text="a node of another version")

    async def _prepare(self, request: web.Request) -> web.Response:
        return _json(await self._giving.prepare(_slot(request), (await _asked(request)).move))

    async def _hold(self, request: web.Request) -> web.Response:
        await self._giving.hold(_slot(request), (await _asked(request)).move)
        return web.Response()

    async def _release(self, request: web.Request) -> web.Response:
        await self._giving.release(_slot(request), (await _asked(request)).move)
        return web.Response()

    async def _copy(self, request: web.Request) -> web.StreamResponse:
        slot, asked = _slot(request), await _asked(request)
        folder = self._giving.folder(slot, asked.move, is_last=asked.is_last)
        answer = web.StreamResponse()
        await answer.prepare(request)
        blocks = self._sent.pop(asked.move, {})
        async for piece in copying.sent(folder, asked.have, blocks):
            await answer.write(piece)
        self._sent[asked.move] = blocks
        for oldest in list(self._sent)[:-_MOST_MOVES]:
            del self._sent[oldest]
        # A copy without its last line is none. What was true at the beginning may not be so any more.
        if self._may_act() and folder == self._giving.folder(slot, asked.move, is_last=asked.is_last):
            await answer.write(copying.ending(folder))
        return answer

    async def _keys(self, request: web.Request) -> web.Response:
        return _json(await self._giving.keys(_slot(request), (await _asked(request)).move))


class Peers:
    """Asks other nodes."""

    def __init__(self, token: str, tls: ssl.SSLContext | None) -> None:
        self._token = token
        self._tls = tls
        self._opened: ClientSession | None = None

    async def prepare(self, address: str, slot: int, move: str) -> Schemas:
        """See `Giving`.

        Raises:
            PeerFailed
        """
        return msgspec.json.decode(await self._answer(address, slot, "prepare", Ask(move=move)), type=Schemas)

    async def hold(self, address: str, slot: int, move: str) -> None:
        """See `Giving`.

        Raises:
            PeerFailed
        """
        await self._answer(address, slot, "hold", Ask(move=move))

    async def release(self, address: str, slot: int, move: str) -> None:
        """See `Giving`.

        Raises:
            PeerFailed
        """
        await self._answer(address, slot, "release", Ask(move=move))

    async def keys(self, address: str, slot: int, move: str) -> list[UserKey]:
        """See `Giving`.

        Raises:
            PeerFailed
        """
        return msgspec.json.decode(await self._answer(address, slot, "keys", Ask(move=move)), type=list[UserKey])

    async def copy(
        self, address: str, slot: int, move: str, folder: Path, have: Mapping[str, Stamp], *, is_last: bool
    ) -> CopyResult:
        """Bring the folder up to what the source has.

        Raises:
            PeerFailed
            DiskFull, Unavailable: this node's disk does not take it.
        """
        asked = Ask(move=move, have=dict(have), is_last=is_last)
        try:
            async with self._post(address, slot, "copy", asked) as answer:
                if answer.status != 200:
                    raise PeerFailed(await answer.text())
                return await copying.received(answer.content, folder, have)
        except (OSError, TimeoutError, aiohttp.ClientError, EOFError, CopyBroken):
            raise PeerFailed("the copy broke off") from None

    async def close(self) -> None:
        """Close every connection."""
        if self._opened is not None:
            await self._opened.close()

    async def _answer(self, address: str, slot: int, what: str, asked: Ask) -> bytes:
        try:
            async with self._post(address, slot, what, asked) as answer:
                if answer.status != 200:
                    raise PeerFailed(await answer.text())
                return await answer.read()
        except ssl.SSLError:
            raise PeerFailed("the certificates of the two nodes do not fit") from None
        except (OSError, TimeoutError, aiohttp.ClientError):
            raise PeerFailed("the node that has the slot does not answer") from None

    def _post(self, address: str, slot: int, what: str, asked: Ask) -> "aiohttp.client._RequestContextManager":
        if self._opened is None:
            connector = aiohttp.TCPConnector(ssl=self._tls if self._tls is not None else True)
            limits = ClientTimeout(sock_connect=_CONNECT_SECONDS, sock_read=_SILENT_SECONDS)
            self._opened = ClientSession(
                connector=connector,
                timeout=limits,
                trust_env=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                read_bufsize=1024 * 1024,
            )
        url = f"{'https' if self._tls is not None else 'http'}://{address}/slots/{slot}/{what}"
        return self._opened.post(url, data=msgspec.json.encode(asked), headers={_TOKEN: self._token})


def _slot(request: web.Request) -> int:
    with suppress(ValueError):
        return int(request.match_info["slot"])
    raise PeerFailed("there is no such slot")


async def _asked(request: web.Request) -> Ask:
    return msgspec.json.decode(await request.read(), type=Ask)


def _json(content: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), content_type="application/json")
