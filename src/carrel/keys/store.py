"""Keys for model providers: a user's own in the workspace, the system's in `service.db`; one table for both.

Carrel never sends a stored key back: it shows only the last four characters.
"""

from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from carrel.config import Secret
from carrel.errors import BadInput, Conflict, NotFound
from carrel.http.answers.etag import IfMatch
from carrel.http.requests.schema import Hidden, In
from carrel.kit.clock import Time
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select, columns_of, insert
from carrel.kit.sqlite.versions import VERSION
from carrel.providers import base_url, catalogue, hosts
from carrel.providers.base import Access
from carrel.providers.catalogue import KNOWN
from carrel.providers.credentials import trade
from carrel.providers.registry import fold, is_free, provider_of

MAX_KEYS = 100
"""Lists of models ask all servers at once."""
_HINT_CHARACTERS = 4
_SHORTEST_HINTED = 12


class ProviderKeyMissing(Conflict):
    """A request would call a model for which the user has no key."""

    code = "provider-key-missing"
    detail = "No key is stored for the provider of a model; see errors."


class KeyNotFound(NotFound):
    """No key is stored for this provider."""

    code = "provider-key-not-found"
    detail = "No key is stored for this provider."


class TooManyProviderKeys(Conflict):
    """As many keys are stored as may be."""

    code = "too-many-provider-keys"
    detail = "You have stored as many keys as you may; delete some."


class ProviderKeyIn(Hidden, In, frozen=True):
    """A key to store, replacing an earlier one of the same provider.

    `provider` is a known provider, or with a `base_url` any other name: that of an OpenAI-compatible server of the
    user's own, whose models are `name:model` from then on.
    """

    provider: Annotated[str, Meta(min_length=1, max_length=50)]
    key: Annotated[str, Meta(min_length=8, max_length=8_000)]
    base_url: Annotated[str, Meta(max_length=500)] | None = None

    def __post_init__(self) -> None:
        fold(self, "provider")


class LastKeyTest(msgspec.Struct, frozen=True):
    """The outcome of the last test call."""

    ok: bool
    at: Time


class ProviderKey(msgspec.Struct, frozen=True):
    """A stored key as Carrel shows it; `hint` is its last four characters."""

    provider: str
    hint: str
    base_url: str | None
    created_at: Time
    updated_at: Time
    last_test: LastKeyTest | None


class _Row(NamedTuple):
    version: int
    provider: str
    secret: str
    base_url: str | None
    created_at: str
    updated_at: str
    last_test_ok: bool | None
    last_test_at: str | None


_rows = Select(_Row, version=VERSION)


def put(conn: Connection, data: ProviderKeyIn, provider_hosts: tuple[str, ...]) -> tuple[ProviderKey, int]:
    """Store a key. Return it as Carrel shows it, and its version.

    Raises:
        BadInput: the provider is not known and cannot be the name of a server, or the base URL is not one.
        ProviderHostNotAllowed: the operator does not allow its host.
        TooManyProviderKeys: there are `MAX_KEYS` already.
    """
    known = catalogue.find(data.provider)
    if known is None or is_free(data.provider) or (data.provider not in KNOWN and data.base_url is None):
        raise BadInput.at("provider", "must be a known provider, or together with base_url a name for your own server")
    named = None if data.base_url is None else base_url.normal(data.provider, data.base_url) or None
    key = trade.plain(data.key) if known.trade is None else known.trade.kept(data.key.strip())
    if known.trade is not None:
        named = known.trade.address(key, named)
    url = named or known.base_url
    if url is None:
        raise BadInput.at("base_url", "is required for this provider")
    base_url.check(url, provider_hosts)
    others = conn.value("SELECT count(*) FROM provider_key WHERE provider <> ?", data.provider)
    if others >= MAX_KEYS:
        raise TooManyProviderKeys
    now = conn.now()
    conn.run(
        "INSERT INTO provider_key (provider, secret, base_url, created_at, updated_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (provider) DO UPDATE SET secret = excluded.secret, base_url = excluded.base_url, "
        "updated_at = excluded.updated_at, version = version + 1, last_test_ok = NULL, last_test_at = NULL",
        *(data.provider, key, named, now, now),
    )
    return get(conn, data.provider)


def get(conn: Connection, provider: str) -> tuple[ProviderKey, int]:
    """Return a stored key as Carrel shows it, and its version.

    Raises:
        KeyNotFound: there is none.
    """
    row = _rows.one(conn, "FROM provider_key WHERE provider = ?", provider)
    if row is None:
        raise KeyNotFound
    return _shown(row), row.version


def access(conn: Connection, provider: str) -> Access | None:
    """What Carrel needs to call this provider; `None` if no key is stored."""
    row = _rows.one(conn, "FROM provider_key WHERE provider = ?", provider)
    return None if row is None else Access(Secret(row.secret.encode()), row.base_url)


def host(conn: Connection, model: str) -> str | None:
    """The host at which the model answers with the key that is stored now; `None` if it is the provider's own."""
    if is_free(model):
        return None
    provider = provider_of(model)
    url = conn.value("SELECT base_url FROM provider_key WHERE provider = ?", provider)
    return hosts.host_of(provider, url)


def stored(conn: Connection) -> set[str]:
    """The providers for which a key is stored."""
    return set(conn.column("SELECT provider FROM provider_key"))


def tested(conn: Connection, provider: str, version: int, *, ok: bool) -> None:
    """Record the outcome of a test call, unless the key was replaced or removed meanwhile."""
    conn.run(
        f"UPDATE provider_key SET last_test_ok = ?, last_test_at = ? WHERE provider = ? AND {VERSION} = ?",
        *(ok, conn.now(), provider, version),
    )


def listed(conn: Connection, paging: Paging) -> Page[ProviderKey]:
    """The stored keys, newest first."""
    return fetch(conn, paging, _rows, "FROM provider_key").map(_shown)


def delete(conn: Connection, provider: str, if_match: IfMatch) -> None:
    """Remove a key.

    Raises:
        KeyNotFound: there is none.
        PreconditionFailed: it was replaced in the meantime.
    """
    if_match.require(get(conn, provider)[1])
    conn.run("DELETE FROM provider_key WHERE provider = ?", provider)


class StoredKey(msgspec.Struct, frozen=True, array_like=True):
    """A row as it is stored."""

    seq: int
    provider: str
    secret: str
    base_url: str | None
    version: int
    created_at: str
    updated_at: str
    last_test_ok: int | None
    last_test_at: str | None


class KeyTable(msgspec.Struct, frozen=True):
    """All keys, and the number of the last one that was ever stored."""

    rows: list[StoredKey]
    last: int


def table(conn: Connection) -> KeyTable:
    """Everything that is stored."""
    last = conn.value("SELECT seq FROM sqlite_sequence WHERE name = 'provider_key'")
    return KeyTable(_stored.all(conn, "FROM provider_key ORDER BY seq"), last or 0)


def replace_table(conn: Connection, table: KeyTable) -> None:
    """Store exactly this, as another node did."""
    conn.run("DELETE FROM provider_key")
    for row in table.rows:
        insert(conn, "provider_key", columns_of(row))
    conn.run("DELETE FROM sqlite_sequence WHERE name = 'provider_key'")
    conn.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('provider_key', ?)", table.last)


def _shown(row: _Row) -> ProviderKey:
    # Four characters would be too much of a short key, and those of a JSON object say nothing.
    is_shown = len(row.secret) >= _SHORTEST_HINTED and not trade.is_object(row.secret)
    hint = row.secret[-_HINT_CHARACTERS:] if is_shown else ""
    last_test = LastKeyTest(bool(row.last_test_ok), row.last_test_at) if row.last_test_at is not None else None
    return ProviderKey(row.provider, hint, row.base_url, row.created_at, row.updated_at, last_test)


_stored = Select(StoredKey)
