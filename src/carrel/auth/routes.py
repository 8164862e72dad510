"""`/auth/*`: the host's server signs users in (specification, section 4.1). Not throttled, as section 8 says.

A user signs out here as well, and sees and ends sessions at `/users/me/sessions`.
"""

from starlette.types import Scope

from carrel.accounts.accounts import UserSuspended, UserUnknown
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.auth.schemas import (
    LoginIn,
    LogoutIn,
    OpenSession,
    OpenSessions,
    RefreshIn,
    RekeyIn,
    SessionOut,
    key_from,
)
from carrel.auth.sessions import Session
from carrel.auth.sign_in import NotProvisioned, OldKeyRequired, SignIn, WorkspaceAbsent
from carrel.auth.sign_out import SessionUnknown, SignOut
from carrel.auth.tokens import LIFETIME_SECONDS
from carrel.errors import BadInput
from carrel.http.answers.fenced import USER
from carrel.http.request import Request
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, delete, get, post
from carrel.kit.clock import rfc3339
from carrel.kit.sqlite.database import Damaged, KeyRejected, Missing
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached


@post("/login", status_code=200, opt=raises(NotProvisioned, KeyRejected, UserSuspended, Missing, Damaged))
async def login(data: LoginIn, request: Request, sign_in: SignIn) -> SessionOut:
    """Open the user's database with the key, creating it at the first login; returns a session token."""
    return SessionOut(await sign_in.login(_about(data.uuid, request.scope), key_from(data.db_key_hex)))


@post("/refresh", status_code=200, opt=raises(KeyNotCached))
async def refresh(data: RefreshIn, request: Request, sign_in: SignIn) -> SessionOut:
    """A new session token, as long as the key is in memory; the database is not opened."""
    return SessionOut(await sign_in.refresh(_about(data.uuid, request.scope)))


@post(
    "/rekey", status_code=200, opt=raises(NotProvisioned, KeyRejected, UserSuspended, OldKeyRequired, WorkspaceAbsent)
)
async def rekey(data: RekeyIn, request: Request, sign_in: SignIn) -> SessionOut:
    """Re-encrypt the user's database with a new key; every earlier session ends."""
    old_key = key_from(data.old_db_key_hex) if data.old_db_key_hex is not None else None
    return SessionOut(await sign_in.rekey(_about(data.uuid, request.scope), key_from(data.new_db_key_hex), old_key))


@post("/logout", guards=[guard.session_or_plugin], status_code=204, opt=scopes.PERSON | raises(UserUnknown))
async def logout(
    request: Request,
    sign_out: SignOut,
    signed_in: UserUuid | None,
    data: LogoutIn | None = None,
) -> None:
    """End all sessions of the user. The key leaves the memory, or does so when the user's runs under way have ended.

    The host names the user in the body. With a session token no body is needed.
    """
    named = _about(data.uuid, request.scope) if data is not None else signed_in
    if named is None:
        raise BadInput.at("uuid", "is required")
    if signed_in not in (None, named):
        raise BadInput.at("uuid", "must be the user of the session token")
    await sign_out.end_all(named)


@get("", guards=[guard.session], opt=scopes.PERSON)
async def list_sessions(session: Session, sign_out: SignOut) -> OpenSessions:
    """The user's sessions. Each login and each refresh begins one, which ends after an hour by itself."""
    known, complete = sign_out.open(session)
    this_one = session.expires_at - LIFETIME_SECONDS
    return OpenSessions(
        [
            OpenSession(
                one.issued_at,
                rfc3339(one.issued_at),
                rfc3339(one.expires_at),
                sign_out.used_at(one),
                one.issued_at == this_one,
            )
            for one in known
        ],
        complete,
    )


@delete("/{number:int}", guards=[guard.session], opt=scopes.PERSON | raises(SessionUnknown))
async def end_session(number: int, session: Session, sign_out: SignOut) -> None:
    """End one session, also the present one. The key stays in memory."""
    await sign_out.end_one(session.user.uuid, number)


def _about(uuid: str, scope: Scope) -> UserUuid:
    """The user whom the request is about; the access log shows the end of the uuid."""
    scope[USER] = uuid
    return UserUuid(uuid)


router = Router(
    "/auth",
    route_handlers=[Router("/", guards=[guard.plugin], route_handlers=[login, refresh, rekey]), logout],
    tags=["Auth"],
)
sessions_router = Router("/users/me/sessions", route_handlers=[list_sessions, end_session], tags=["Auth"])
