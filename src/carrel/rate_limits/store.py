"""The limits that a user has set. Without a row, the provider's defaults apply."""

from collections.abc import Iterator, Mapping

from carrel.errors import NotFound
from carrel.http.answers.etag import IfMatch
from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.versions import NO_ROW, version_of
from carrel.providers.catalogue import KNOWN, find
from carrel.rate_limits.schemas import RateLimitIn

_USUAL = RateLimitIn()
_OWN = {"ollama": RateLimitIn(concurrency=4)}


class _Defaults(Mapping[str, RateLimitIn]):
    def __getitem__(self, provider: str) -> RateLimitIn:
        if find(provider) is None:
            raise KeyError(provider)
        return _OWN.get(provider, _USUAL)

    def __iter__(self) -> Iterator[str]:
        return iter(KNOWN)

    def __len__(self) -> int:
        return len(KNOWN)


DEFAULTS: Mapping[str, RateLimitIn] = _Defaults()
"""The defaults by provider, also of servers with names of their own, which are not listed. Built-in models have no
limits: users share a few workers by turns."""


def own(conn: Connection) -> dict[str, RateLimitIn]:
    """Everything that the user has set, by provider."""
    rows = conn.all("SELECT provider, requests_per_minute, tokens_per_minute, concurrency FROM rate_limits")
    return {
        provider: RateLimitIn(requests_per_minute=requests, tokens_per_minute=tokens, concurrency=concurrency)
        for provider, requests, tokens, concurrency in rows
    }


def put(conn: Connection, provider: str, data: RateLimitIn, if_match: IfMatch) -> int:
    """Set a provider's limits and return their version.

    Raises:
        NotFound: there is no such provider.
        PreconditionFailed: they were changed in the meantime.
    """
    if_match.require(_version(conn, provider))
    conn.run(
        "INSERT INTO rate_limits (provider, requests_per_minute, tokens_per_minute, concurrency, updated_at)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (provider) DO UPDATE SET"
        " requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute,"
        " concurrency = excluded.concurrency, updated_at = excluded.updated_at, version = version + 1",
        *(provider, data.requests_per_minute, data.tokens_per_minute, data.concurrency, conn.now()),
    )
    return _version(conn, provider)


def delete(conn: Connection, provider: str, if_match: IfMatch) -> None:
    """Go back to a provider's defaults, which may apply already.

    Raises:
        NotFound: there is no such provider.
        PreconditionFailed: the limits were changed in the meantime.
    """
    if_match.require(_version(conn, provider))
    conn.run("DELETE FROM rate_limits WHERE provider = ?", provider)


def _version(conn: Connection, provider: str) -> int:
    version = version_of(conn, "rate_limits", "provider", provider)
    if version == NO_ROW and provider not in KNOWN and provider not in keys.stored(conn):
        raise NotFound
    return version
