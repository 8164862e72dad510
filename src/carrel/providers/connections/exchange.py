"""Exchanges requests for answers: the HTTP client, in the thread of the network.

It follows no redirects, reads no proxy from the environment and keeps no cookie. It resolves a name once for each
connection, checks the addresses and connects to one of them, so a later change of the name has no effect.
"""

import asyncio
import io
import socket
import zlib
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Final, TypeVar

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from carrel.providers import base_url
from carrel.providers.base import ANSWER_TOO_LARGE, ProviderError
from carrel.providers.connections import addresses
from carrel.providers.connections.transport import MAX_ERROR_BYTES, STREAM_ANSWERS, Reply, Submission

T = TypeVar("T")

CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 4.0
"""Shorter than the five seconds after which widespread servers close an idle connection; otherwise a call could use a
connection while the server closes it."""
_NAME_SECONDS = 30
_GZIP_OR_ZLIB: Final = 47
_BARE_DEFLATE: Final = -15
_PACKED: Final = ("gzip", "x-gzip", "deflate")
_MAX_HEADERS: Final = 512
_MAX_HEADER_BYTES: Final = 64 * 1024
"""Of one header of an answer: gateways put policies and cookies of any length there."""
_LONG_BODY_BYTES = 512 * 1024
_STEP_BYTES: Final = 16 * 1024
"""So much of a stream is read at once, and then other calls go on."""
_TINY_BYTES: Final = 16
_MOST_TINY: Final = 4_096
"""So many pieces of an answer may be shorter. Some servers send a space from time to time while a model thinks."""
_EVENTS: Final = (b"data:", b"event:", b"id:", b"retry:", b":", b"\0")
"""What a stream of events begins with, the last in AWS's own frames. Servers call it by many types, and send JSON under
its own."""


_MARK: Final = b"\xef\xbb\xbf"


class _AddressRefused(Exception):
    """A name leads to an address that Carrel may not call."""


_UNREACHABLE = ("provider-unreachable", True)
_TIMED_OUT = ("provider-timeout", True)
_UNTRUSTED = ("provider-untrusted", False)
_NOT_ALLOWED = ("provider-host-not-allowed", False)
_MALFORMED = ("provider-malformed", True)
_BEFORE_WORK = frozenset({_UNTRUSTED, _NOT_ALLOWED})


class Exchange:
    """One pool of at most `connections`. Belongs to the event loop that made it."""

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
            # This module unpacks answers itself, because it limits the size of the result.
            auto_decompress=False,
            headers={"User-Agent": "carrel", "Accept": "application/json", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            max_line_size=_MAX_HEADER_BYTES,
            max_field_size=_MAX_HEADER_BYTES,
            max_headers=_MAX_HEADERS,
        )

    async def reply(self, asked: Submission[T]) -> Reply[T]:
        """Send the request and read the answer; see `Transport.send`.

        Raises:
            ProviderError
        """
        # What aiohttp raises holds the request with its key, and the traceback of our own errors what was read. They
        # are dropped, also as a context, before our error is raised.
        trouble, failure = _MALFORMED, None
        unbilled = False
        try:
            target = _target(asked.url, self._rules)
            async with asyncio.timeout(asked.timeout_seconds):
                return await self._exchange(target, asked)
        except aiohttp.ConnectionTimeoutError:
            # The request was not sent.
            trouble, unbilled = _UNREACHABLE, True
        except TimeoutError:
            trouble = _TIMED_OUT
        except ProviderError as error:
            failure = error.with_traceback(None)
        except _AddressRefused:
            trouble = _NOT_ALLOWED
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError):
            trouble = _UNTRUSTED
        except aiohttp.ClientConnectorError:
            trouble, unbilled = _UNREACHABLE, True
        except (aiohttp.ClientPayloadError, aiohttp.ClientResponseError, zlib.error):
            trouble = _MALFORMED
        except (aiohttp.ClientError, OSError):
            trouble = _UNREACHABLE
        if failure is not None:
            raise failure
        code, retryable = trouble
        raise ProviderError(code, retryable=retryable, unbilled=unbilled or trouble in _BEFORE_WORK)

    async def close(self) -> None:
        """Close every connection; calls in flight end with `provider-unreachable`."""
        await self._session.close()

    async def _exchange(self, target: URL, asked: Submission[T]) -> Reply[T]:
        data, headers = _sent(asked.body), asked.headers
        request = self._session.request(asked.method, target, headers=headers, data=data, allow_redirects=False)
        async with request as answer:
            packed = answer.headers.get("Content-Encoding", "").strip().lower() or "identity"
            if asked.on_piece is not None and answer.status == HTTPStatus.OK:
                rest = await _hear(answer, asked, asked.on_piece, packed)
                if rest is None:
                    return Reply(answer.status, answer.headers, b"")
                found = asked.read(rest) if asked.read is not None else None
                return Reply(answer.status, answer.headers, b"" if found is not None else rest, found)
            if not 200 <= answer.status < 300:
                try:
                    body = _unpacked(await _body(answer, asked, MAX_ERROR_BYTES), packed, MAX_ERROR_BYTES)
                except (ProviderError, zlib.error):
                    # Its status says enough.
                    answer.close()
                    body = b""
                return Reply(answer.status, answer.headers, body)
            body = _unpacked(await _body(answer, asked, asked.most_bytes), packed, asked.most_bytes)
        found = asked.read(body) if asked.read is not None else None
        if asked.read is not None and (found is not None or len(body) > MAX_ERROR_BYTES):
            body = b""
        return Reply(answer.status, answer.headers, body, found)


async def _body(answer: aiohttp.ClientResponse, asked: Submission[T], most: int) -> bytes:
    """The body as it was sent, of which the place of the answer holds every byte."""
    if (answer.content_length or 0) > most:
        raise _too_large()
    body = bytearray()
    async for piece in _pieces(answer, most):
        body += piece
        asked.place.hold(len(body))
    return bytes(body)


async def _hear(
    answer: aiohttp.ClientResponse, asked: Submission[T], on_piece: Callable[[bytes], None], packed: str
) -> bytes | None:
    """Pass a stream on as it comes; other calls go on between two pieces. Return a body that is none."""
    begun, is_stream, heard = bytearray(), None, 0
    async for piece in _plain(answer, packed, STREAM_ANSWERS * asked.most_bytes):
        said = piece
        if not is_stream:
            begun += piece
            if len(begun) > asked.most_bytes:
                raise _too_large()
            asked.place.hold(len(begun))
            if is_stream is None:
                is_stream = _is_stream(begun)
            if is_stream is None and not begun.strip():
                # Some servers send line ends while a model thinks.
                begun.clear()
            if not is_stream:
                continue
            said = bytes(begun)
            begun.clear()
        on_piece(said)
        heard += len(said)
        if heard >= _STEP_BYTES:
            # Not between small pieces: what has come must be read before a connection that breaks off takes it away.
            heard = 0
            await asyncio.sleep(0)
    return None if is_stream else bytes(begun)


def _is_stream(begun: bytearray) -> bool | None:
    """Whether this is how a stream of events begins; `None` if that does not show yet."""
    if _MARK.startswith(begun):
        return None
    beginning = bytes(begun).removeprefix(_MARK).lstrip()[:_TINY_BYTES]
    if any(word.startswith(beginning) for word in _EVENTS):
        return None if beginning not in _EVENTS else True
    return beginning.startswith(_EVENTS)


async def _plain(answer: aiohttp.ClientResponse, packed: str, most: int) -> AsyncIterator[bytes]:
    """The pieces of the body, unpacked as they come."""
    if packed == "identity":
        async for piece in _pieces(answer, most):
            yield piece
        return
    if packed not in _PACKED:
        raise zlib.error
    unpacker, length = zlib.decompressobj(_GZIP_OR_ZLIB), 0
    async for piece in _pieces(answer, most):
        left = piece
        while left:
            plain = unpacker.decompress(left, _STEP_BYTES)
            left = unpacker.unconsumed_tail
            length += len(plain)
            if length > most:
                raise _too_large()
            yield plain


async def _pieces(answer: aiohttp.ClientResponse, most: int) -> AsyncIterator[bytes]:
    """The body in the pieces in which it comes; of one without a length, in the server's own.

    Raises:
        ProviderError: `answer-too-large`, it is longer than `most`, or cut into far more pieces than anybody needs.
            Each takes a microsecond and a hundred bytes, whatever is in it.
    """
    length = count = 0
    async for piece, _ in answer.content.iter_chunks():
        length += len(piece)
        count += 1
        if length > most or count > _MOST_TINY + length // _TINY_BYTES:
            raise _too_large()
        yield piece


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


def _unpacked(body: bytes, packed: str, most: int) -> bytes:
    """Unpack the body, as far as `most`. Carrel does not ask for packed answers, but some servers pack them anyway."""
    if packed == "identity":
        return body
    if packed not in _PACKED:
        raise zlib.error
    try:
        return _inflated(body, most, _GZIP_OR_ZLIB)
    except zlib.error:
        if packed != "deflate":
            raise
        # Some servers take the name literally, and leave the wrapping of zlib out.
        return _inflated(body, most, _BARE_DEFLATE)


def _inflated(body: bytes, most: int, kind: int) -> bytes:
    plain = b""
    while body:
        unpacker = zlib.decompressobj(kind)
        plain += unpacker.decompress(body, most + 1 - len(plain))
        if len(plain) > most:
            raise _too_large()
        if not unpacker.eof:
            raise zlib.error
        body = unpacker.unused_data
    return plain


def _too_large() -> ProviderError:
    return ProviderError(ANSWER_TOO_LARGE, retryable=False)
