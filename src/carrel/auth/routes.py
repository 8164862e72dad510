"""`/auth/*`: the host's server signs users in (specification, section 4.1). Not throttled, as section 8 says."""

from litestar import Router, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from carrel.auth import guard
from carrel.auth.schemas import LoginIn, RefreshIn, RekeyIn, SessionOut, key_from
from carrel.auth.sessions import NotProvisioned, OldKeyRequired, Sessions, WorkspaceAbsent
from carrel.kit.http.describe import raises
from carrel.kit.sqlite.database import Damaged, KeyRejected, Missing
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached


@post("/login", status_code=200, opt=raises(NotProvisioned, KeyRejected, Missing, Damaged))
async def login(data: JSONBody[LoginIn], sessions: NamedDependency[Sessions]) -> SessionOut:
    """Open the user's database with the key, creating it at the first login; returns a session token."""
    return SessionOut(await sessions.login(UserUuid(data.uuid), key_from(data.db_key_hex)))


@post("/refresh", status_code=200, opt=raises(KeyNotCached))
async def refresh(data: JSONBody[RefreshIn], sessions: NamedDependency[Sessions]) -> SessionOut:
    """A new session token, as long as the key is in memory; the database is not opened."""
    return SessionOut(await sessions.refresh(UserUuid(data.uuid)))


@post("/rekey", status_code=200, opt=raises(NotProvisioned, KeyRejected, OldKeyRequired, WorkspaceAbsent))
async def rekey(data: JSONBody[RekeyIn], sessions: NamedDependency[Sessions]) -> SessionOut:
    """Re-encrypt the user's database with a new key; every earlier session ends."""
    old_key = key_from(data.old_db_key_hex) if data.old_db_key_hex is not None else None
    return SessionOut(await sessions.rekey(UserUuid(data.uuid), key_from(data.new_db_key_hex), old_key))


router = Router("/auth", guards=[guard.plugin], route_handlers=[login, refresh, rekey], tags=["Auth"])
