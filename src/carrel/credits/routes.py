"""`/credits`: the user reads the balance, the host adds credits."""

from functools import partial

from litestar import Router, get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from carrel.accounts.accounts import Accounts, UserUnknown
from carrel.auth import guard
from carrel.auth.sessions import User
from carrel.credits import ledger
from carrel.credits.schemas import AddIn, Balance, LedgerEntry
from carrel.kit.http.answer import Answer
from carrel.kit.http.describe import raises
from carrel.kit.http.idempotency import Once
from carrel.kit.sqlite.paging import Page, Paging


@get("", guards=[guard.session])
async def read_balance(user: NamedDependency[User], accounts: NamedDependency[Accounts]) -> Balance:
    """The user's balance."""
    return await accounts.read(user.uuid, ledger.balance)


@get("/ledger", guards=[guard.session])
async def list_ledger(
    user: NamedDependency[User], accounts: NamedDependency[Accounts], paging: NamedDependency[Paging]
) -> Page[LedgerEntry]:
    """Every change of the balance, newest first."""
    return await accounts.read(user.uuid, ledger.entries, paging)


@post("/add", guards=[guard.plugin], status_code=200, opt=raises(UserUnknown))
async def add_credits(
    data: JSONBody[AddIn], accounts: NamedDependency[Accounts], once: NamedDependency[Once]
) -> Answer[Balance]:
    """Add credits to a user's balance."""
    return await once(data.uuid, partial(accounts.run, data.uuid), ledger.add, data)


router = Router("/credits", route_handlers=[read_balance, list_ledger, add_credits], tags=["Credits"])
