"""Sends bytes to a provider and receives them: one pool of connections, with every limit that a foreign server needs.

It follows no redirects, reads no proxy from the environment and keeps no cookie. It resolves a name once for each
connection, checks the addresses and connects to one of them, so a later change of the name has no effect. Importing
this module takes a third of a second, so the first call imports it.
"""

import asyncio
import io
import socket
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from carrel.providers import addresses, base_url
from carrel.providers.base import ProviderError

MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_STREAM_BYTES = 16 * MAX_ANSWER_BYTES
"""Each token of a stream comes in an envelope of a few hundred bytes, which nobody keeps."""
CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 4.0
"""Shorter than the five seconds after which widespread servers close an idle connection; otherwise a call could use a
connection while the server closes it."""
_NAME_SECONDS = 30
_GZIP_OR_ZLIB = 47
_LONG_BODY_BYTES = 512 * 1024
_STREAM = (HTTPStatus.OK, "text/event-stream", "identity")


class Reply(NamedTuple):
    """An answer of any status, with its body unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _AddressRefused(Exception):
    """A name leads to an address that Carrel may not call."""


class _TooLong(Exception):
    """The answer is larger than any answer should be."""


UNREACHABLE = ("provider-unreachable", True)
_TIMED_OUT = ("provider-timeout", True)
_UNTRUSTED = ("provider-untrusted", False)
_NOT_ALLOWED = ("provider-host-not-allowed", False)
_MALFORMED = ("provider-malformed", True)
_BEFORE_WORK = frozenset({_UNTRUSTED, _NOT_ALLOWED})


class Transport:
    """At most `connections` at once. `rules` are CARREL_PROVIDER_HOSTS. Belongs to the event loop that made it."""

    def __init__(self, connections: int, rules: tuple[str, ...]) -> None:
        self._rules = rules
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=connections,
                keepalive_timeout=_IDLE_SECONDS,
                resolver=_Resolver(rules),
                ttl_dns_cache=_NAME_SECONDS,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            # This class unpacks answers itself, because it limits the size of the result.
            auto_decompress=False,
            headers={"User-Agent": "carrel", "Accept": "application/json", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        )

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        timeout_seconds: float,
        on_piece: Callable[[bytes], None] | None = None,
        most_bytes: int | None = None,
    ) -> Reply:
        """Send one request. No exception of it holds a header.

        `timeout_seconds` bounds the whole call. A model that thinks sends nothing meanwhile, so a limit for the first
        byte would end good calls, and their user would pay for them twice.

        If the answer is a stream of events, each piece goes to `on_piece` as it comes, and the reply has no body.
        `most_bytes` bounds the reply in place of `MAX_ANSWER_BYTES`.

        Raises:
            ProviderError: `provider-timeout`, `provider-unreachable`, `provider-malformed`, `provider-untrusted` for a
                certificate, `provider-host-not-allowed` for an address.
        """
        # What aiohttp raises holds the request with its key. It is dropped, also as a context, before our error is
        # raised.
        trouble = _MALFORMED
        unbilled = False
        try:
            target = _target(url, self._rules)
            async with asyncio.timeout(timeout_seconds):
                return await self._exchange(method, target, headers, body, on_piece, most_bytes or MAX_ANSWER_BYTES)
        except aiohttp.ConnectionTimeoutError:
            # The request was not sent.
            trouble, unbilled = UNREACHABLE, True
        except TimeoutError:
            trouble = _TIMED_OUT
        except _AddressRefused:
            trouble = _NOT_ALLOWED
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
            trouble = _UNTRUSTED
        except aiohttp.ClientConnectorError:
            trouble, unbilled = UNREACHABLE, True
        except (aiohttp.ClientPayloadError, aiohttp.ClientResponseError, zlib.error, _TooLong):
            trouble = _MALFORMED
        except (aiohttp.ClientError, OSError):
            trouble = UNREACHABLE
        code, retryable = trouble
        raise ProviderError(code, retryable=retryable, unbilled=unbilled or trouble in _BEFORE_WORK)

    async def _exchange(
        self,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | None,
        on_piece: Callable[[bytes], None] | None,
        most: int,
    ) -> Reply:
        data = _sent(body)
        async with self._session.request(method, url, headers=headers, data=data, allow_redirects=False) as answer:
            if (answer.content_length or 0) > most:
                raise _TooLong
            packed = answer.headers.get("Content-Encoding", "identity").lower()
            pieces: list[bytes] = []
            take = pieces.append
            if on_piece is not None and (answer.status, answer.content_type, packed) == _STREAM:
                take, most = on_piece, MAX_STREAM_BYTES
            length = 0
            async for piece in answer.content.iter_any():
                length += len(piece)
                if length > most:
                    raise _TooLong
                take(piece)
            return Reply(answer.status, answer.headers, _unpacked(b"".join(pieces), packed))

    async def close(self) -> None:
        """Close every connection; calls in flight end with `provider-unreachable`."""
        await self._session.close()


class _Resolver(AbstractResolver):
    """Resolves a name to addresses that Carrel may call, or raises."""

    def __init__(self, rules: tuple[str, ...]) -> None:
        self._rules = rules

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        found = [(str(address[0]), kind, proto) for kind, _, proto, _, address in infos]
        inside = base_url.is_inside(host, port, self._rules)
        # A bad address among good ones is no accident, so none of them is called.
        if not all(addresses.allowed(address, inside=inside) for address, _, _ in found):
            raise _AddressRefused
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=proto, flags=socket.AI_NUMERICHOST)
            for address, kind, proto in found
        ]

    async def close(self) -> None:
        """Do nothing: the resolver holds nothing."""


def _sent(body: bytes | None) -> bytes | io.BytesIO | None:
    """The body as aiohttp wants it: a long one in pieces, because aiohttp would warn that it blocks the event loop."""
    return io.BytesIO(body) if body is not None and len(body) > _LONG_BODY_BYTES else body


@lru_cache(maxsize=1_000)
def _target(text: str, rules: tuple[str, ...]) -> URL:
    """Parse the URL. An address in the URL itself is never resolved, so this function checks it."""
    url = URL(text, encoded=True)
    host, port = url.host or "", url.port or 0
    is_address = ":" in host or host.replace(".", "").isdigit()
    if is_address and not addresses.allowed(host, inside=base_url.is_inside(host, port, rules)):
        raise _AddressRefused
    return url


def _unpacked(body: bytes, packed: str) -> bytes:
    """Unpack the body. Carrel does not ask for packed answers, but some servers pack them all the same."""
    if packed == "identity":
        return body
    if packed not in ("gzip", "deflate"):
        raise _TooLong
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    plain = unpacker.decompress(body, MAX_ANSWER_BYTES)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise _TooLong
    return plain
