"""`/admin/users`, behind the admin secret: who there are, what they take, and what the operator does about it."""

from typing import Annotated

from carrel.accounts.accounts import UserUnknown
from carrel.auth import guard
from carrel.auth.sign_out import SignOut
from carrel.http.requests.auditing import AUDITED
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Path, Router, delete, get, post, put
from carrel.kit.sqlite.paging import Page, Paging
from carrel.users.administration import Administration, QuotaIn, UserUsage
from carrel.vault.keyring import UserUuid

NamedUuid = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$(?!\n)")]


@get("")
async def list_users(administration: Administration, paging: Paging) -> Page[UserUsage]:
    """Every user of this service, or of this node."""
    return await administration.listed(paging)


@get("/{uuid:str}", opt=raises(UserUnknown))
async def read_user(uuid: NamedUuid, administration: Administration) -> UserUsage:
    """One user."""
    return await administration.get(UserUuid(uuid))


@post("/{uuid:str}/suspend", status_code=200, opt=raises(UserUnknown) | AUDITED)
async def suspend_user(uuid: NamedUuid, administration: Administration) -> UserUsage:
    """End every session of the user, pause the runs, and refuse sign-ins until the user is reinstated."""
    return await administration.suspend(UserUuid(uuid))


@post("/{uuid:str}/reinstate", status_code=200, opt=raises(UserUnknown) | AUDITED)
async def reinstate_user(uuid: NamedUuid, administration: Administration) -> UserUsage:
    """End a suspension."""
    return await administration.reinstate(UserUuid(uuid))


@put("/{uuid:str}/quota", opt=raises(UserUnknown) | AUDITED)
async def set_quota(uuid: NamedUuid, data: QuotaIn, administration: Administration) -> UserUsage:
    """Limit the user's calls on one UTC day, and the size of the workspace from its next opening on."""
    return await administration.set_quota(UserUuid(uuid), data)


@delete("/{uuid:str}/sessions", opt=raises(UserUnknown) | AUDITED)
async def end_sessions(uuid: NamedUuid, sign_out: SignOut) -> None:
    """End every session of the user. The key leaves the memory, or does so when the user's runs have ended."""
    await sign_out.end_all(UserUuid(uuid))


router = Router(
    "/admin/users",
    guards=[guard.admin],
    route_handlers=[list_users, read_user, suspend_user, reinstate_user, set_quota, end_sessions],
    tags=["Admin"],
)
