"""`/users` (specification, section 4.2): the host creates, activates and deletes; a user asks who they are."""

from functools import partial
from typing import Annotated

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import Account, Accounts, UserExists, UserUnknown
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.auth.sessions import User
from carrel.config import Settings
from carrel.credits import ledger
from carrel.credits.schemas import Balance
from carrel.http.answers.response import Response
from carrel.http.requests.auditing import AUDITED
from carrel.http.requests.describe import raises
from carrel.http.requests.idempotency import Once
from carrel.http.requests.routing import Path, Router, delete, get, post
from carrel.kit.sqlite.database import Connection
from carrel.users import lifecycle, store
from carrel.users.lifecycle import Users
from carrel.users.schemas import Me, UserIn, UserLimits, UserOut
from carrel.vault.keyring import UserUuid
from carrel.vault.workspace import Workspace

PathUuid = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$(?!\n)")]


@post("", guards=[guard.plugin], opt=raises(UserExists) | AUDITED)
async def create_user(data: UserIn, users: Users, once: Once) -> Response[UserOut]:
    """Create a user. The encrypted workspace is created at the first login, with the key given then."""
    uuid = UserUuid(data.uuid)
    return await once(uuid, partial(users.write_new, uuid), lifecycle.insert, uuid, data.membership)


def _account_and_balance(conn: Connection) -> tuple[Account, Balance]:
    return account_rows.get(conn), ledger.balance(conn)


@get("/me", guards=[guard.session], opt=scopes.READ)
async def read_me(
    user: User,
    workspace: Workspace,
    accounts: Accounts,
    settings: Settings,
) -> Me:
    """The signed-in user, with credits, counts and limits."""
    account, balance = await accounts.recall(user.uuid, _account_and_balance)
    counts = await workspace.recall(store.counts)
    limits = UserLimits(
        json_bytes=settings.max_json_bytes,
        upload_bytes=settings.max_upload_bytes,
        import_bytes=settings.max_import_bytes,
        name_characters=settings.max_name_characters,
        body_bytes=settings.max_body_bytes,
        workspace_megabytes=account.workspace_megabytes or settings.max_workspace_mb,
        calls_per_day=account.calls_per_day,
        event_streams=settings.max_event_streams,
    )
    return Me(account.uuid, account.membership, account.created_at, balance.balance, counts, limits)


@post("/{uuid:str}/activate", guards=[guard.plugin], status_code=200, opt=raises(UserUnknown) | AUDITED)
async def activate_user(uuid: PathUuid, users: Users) -> UserOut:
    """Give the user paid membership."""
    return await users.activate(UserUuid(uuid))


@post("/{uuid:str}/deactivate", guards=[guard.plugin], status_code=200, opt=raises(UserUnknown) | AUDITED)
async def deactivate_user(uuid: PathUuid, users: Users) -> UserOut:
    """Give the user free membership; runs in progress pause."""
    return await users.deactivate(UserUuid(uuid))


@delete("/{uuid:str}", guards=[guard.plugin_or_admin], status_code=204, opt=raises(UserUnknown) | AUDITED)
async def delete_user(uuid: PathUuid, users: Users) -> None:
    """Remove the user with everything, for good."""
    await users.delete(UserUuid(uuid))


router = Router(
    "/users", route_handlers=[create_user, read_me, activate_user, deactivate_user, delete_user], tags=["Users"]
)
