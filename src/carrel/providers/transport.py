"""Bytes to a provider and back: one pool of connections, and every limit that a stranger's server needs.

Redirects are not followed, no proxy is read from the environment, no cookie is kept. A name is resolved once for each
connection, its addresses are checked, and the connection goes to one of those: what the name points to a moment later
changes nothing. Importing this module takes a third of a second, so it is imported with the first call.
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
"""Each token of a stream comes in an envelope of a few hundred bytes, and none of them is kept."""
CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 4.0
"""Less than the five seconds after which widespread servers close an idle connection, or a call would meet its end."""
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
    """A name leads to where nobody may be sent."""


class _TooLong(Exception):
    """The answer is larger than any answer should be."""


UNREACHABLE = ("provider-unreachable", True)
_TIMED_OUT = ("provider-timeout", True)
_UNTRUSTED = ("provider-untrusted", False)
_NOT_ALLOWED = ("provider-host-not-allowed", False)
_MALFORMED = ("provider-malformed", True)
_BEFORE_WORK = frozenset({_UNTRUSTED, _NOT_ALLOWED})


class Transport:
    """At most `connections` at once. `rules` are CARREL_PROVIDER_HOSTS. Belongs to the event loop it is made in."""

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
            # Unpacked here, where there is a bound on what comes out.
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
        told: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """One request. No exception of it holds a header.

        `timeout_seconds` is for all of it: a model that thinks sends nothing meanwhile, so a limit for the first byte
        would end good calls and have them paid twice.

        If the answer is a stream of events, `told` is called with each piece as it comes, and the reply has no body.

        Raises:
            ProviderError: `provider-timeout`, `provider-unreachable`, `provider-malformed`, `provider-untrusted` for a
                certificate, `provider-host-not-allowed` for an address.
        """
        # What aiohttp raises holds the request with its key: it is dropped, also as a context, before ours is raised.
        trouble = _MALFORMED
        unbilled = False
        try:
            target = _target(url, self._rules)
            async with asyncio.timeout(timeout_seconds):
                return await self._exchange(method, target, headers, body, told)
        except aiohttp.ConnectionTimeoutError:
            # Nothing was sent yet.
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
        told: Callable[[bytes], None] | None,
    ) -> Reply:
        data = _sent(body)
        async with self._session.request(method, url, headers=headers, data=data, allow_redirects=False) as answer:
            if (answer.content_length or 0) > MAX_ANSWER_BYTES:
                raise _TooLong
            packed = answer.headers.get("Content-Encoding", "identity").lower()
            pieces: list[bytes] = []
            take, most = pieces.append, MAX_ANSWER_BYTES
            if told is not None and (answer.status, answer.content_type, packed) == _STREAM:
                take, most = told, MAX_STREAM_BYTES
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
    """Resolves names to addresses that may be called, or not at all."""

    def __init__(self, rules: tuple[str, ...]) -> None:
        self._rules = rules

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        found = [(str(address[0]), kind, proto) for kind, _, proto, _, address in infos]
        inside = base_url.is_inside(host, port, self._rules)
        # One bad address among good ones is no accident.
        if not all(addresses.allowed(address, inside=inside) for address, _, _ in found):
            raise _AddressRefused
        return [
            ResolveResult(hostname=host, host=address, port=port, family=kind, proto=proto, flags=socket.AI_NUMERICHOST)
            for address, kind, proto in found
        ]

    async def close(self) -> None:
        """There is nothing to give back."""


def _sent(body: bytes | None) -> bytes | io.BytesIO | None:
    """The body as aiohttp wants it: a long one in pieces, or it would warn that the event loop stands still."""
    return io.BytesIO(body) if body is not None and len(body) > _LONG_BODY_BYTES else body


@lru_cache(maxsize=1_000)
def _target(text: str, rules: tuple[str, ...]) -> URL:
    """The URL, parsed. An address in the URL itself is never resolved, so it is looked at here."""
    url = URL(text, encoded=True)
    host, port = url.host or "", url.port or 0
    is_address = ":" in host or host.replace(".", "").isdigit()
    if is_address and not addresses.allowed(host, inside=base_url.is_inside(host, port, rules)):
        raise _AddressRefused
    return url


def _unpacked(body: bytes, packed: str) -> bytes:
    """The body as it was before it was packed; nobody asked for that, but some servers pack all the same."""
    if packed == "identity":
        return body
    if packed not in ("gzip", "deflate"):
        raise _TooLong
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    plain = unpacker.decompress(body, MAX_ANSWER_BYTES)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise _TooLong
    return plain
