"""`/credits`: the user reads the balance, the host adds credits."""

from functools import partial
from typing import Annotated

from carrel.accounts.accounts import Accounts, UserUnknown
from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.auth.sessions import User
from carrel.credits import ledger, write_offs
from carrel.credits.schemas import AddIn, Balance, LedgerEntry, WriteOffs
from carrel.http.answers.response import Response
from carrel.http.requests.auditing import AUDITED
from carrel.http.requests.describe import raises
from carrel.http.requests.idempotency import Once
from carrel.http.requests.parameters import FromDay, ToDay
from carrel.http.requests.routing import Query, Router, get, post
from carrel.kit.sqlite.paging import Page, Paging


@get("", guards=[guard.session], opt=scopes.READ)
async def read_balance(user: User, accounts: Accounts) -> Balance:
    """The user's balance."""
    return await accounts.recall(user.uuid, ledger.balance)


@get("/ledger", guards=[guard.session], opt=scopes.READ)
async def list_ledger(user: User, accounts: Accounts, paging: Paging) -> Page[LedgerEntry]:
    """Every change of the balance, newest first."""
    return await accounts.read(user.uuid, ledger.entries, paging)


@post("/add", guards=[guard.plugin], status_code=200, opt=raises(UserUnknown) | AUDITED)
async def add_credits(data: AddIn, accounts: Accounts, once: Once) -> Response[Balance]:
    """Add credits to a user's balance."""
    return await once(data.uuid, partial(accounts.run, data.uuid), ledger.add, data)


@get("", guards=[guard.plugin_or_admin])
async def read_write_offs(
    service: ServiceDatabase,
    accounts: Accounts,
    since: FromDay = None,
    until: ToDay = None,
    uuid: Annotated[str | None, Query(max_length=128, description="Only of this user.")] = None,
) -> WriteOffs:
    """What the host bore where credits were to pay: calls of unknown cost, and costs above their holds."""
    owner = None if uuid is None else accounts.owner(uuid)
    return await service.run(write_offs.report, since, until, owner)


write_offs_router = Router("/admin/write-offs", route_handlers=[read_write_offs], tags=["Admin"])
router = Router("/credits", route_handlers=[read_balance, list_ledger, add_credits], tags=["Credits"])
