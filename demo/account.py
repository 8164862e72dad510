"""The user's account: plan, credits, password, recovery code, terminal, deletion."""

from typing import Any

from carrel_sdk import CarrelError, Workspace
from carrel_sdk.account import Me
from litestar import Response, get, post

from demo import orders, users
from demo.desk_page import UNLOCK_PATH
from demo.pages import end_visit, go, go_signed_in, guessing, page, page_signed_in, refusing, signed_in, site_of
from demo.passwords import fault
from demo.protection import Ask, form
from demo.refusals import Refusal, ServiceAway
from demo.threads import in_thread
from demo.users import Plan, User


@get("/account")
@in_thread
def account(request: Ask) -> Response[Any]:
    """Everything on one page; what only the service knows is left out while it is away or the desk is locked."""
    return _account(request, signed_in(request))


@post("/account/plan")
@in_thread
def change_plan(request: Ask) -> Response[Any]:
    """Upgrade or downgrade. Nothing costs anything here; a real host charges first."""
    site, user = site_of(request), signed_in(request)
    plan: Plan = "paid" if form(request)["plan"] == "paid" else "free"
    try:
        # The service first: it is what counts, and pressing the button again does no harm.
        site.host.set_membership(user.uuid, plan)
    except CarrelError:
        return _account(request, user, ServiceAway())
    with site.database.begin() as conn:
        users.set_plan(conn, user.uuid, plan)
    return go("/account")


@post("/account/credits")
@in_thread
def buy_credits(request: Ask) -> Response[Any]:
    """Order, and deliver. The form that was shown holds the order's number."""
    site, user, sent = site_of(request), signed_in(request), form(request)
    try:
        if sent["credits"]:
            orders.place(site.database, sent["order"], user.uuid, sent["credits"], site.now())
        orders.deliver(site.database, site.host, sent["order"], user.uuid, site.now())
    except Refusal as refusal:
        return _account(request, user, refusal)
    return go("/account")


@get("/account/password")
@in_thread
def password_page(request: Ask) -> Response[Any]:
    """The form."""
    return page(request, "change_password.html", user=signed_in(request))


@post("/account/password")
@in_thread
def change_password(request: Ask) -> Response[Any]:
    """Re-encrypt the desk with a new password; this browser stays signed in, every other one does not."""
    site, user, sent = site_of(request), signed_in(request), form(request)
    wrong = fault(sent["password"], sent["repeated"])
    if wrong is None and sent["password"] == sent["old"]:
        wrong = "This is the password that you have."
    if wrong:
        return page(request, "change_password.html", status=400, user=user, error=wrong)
    try:
        with guessing(request, user.email):
            password_id = site.desks.change_password(user.uuid, sent["old"], sent["password"])
    except Refusal as refusal:
        return refusing(request, "change_password.html", refusal, user=user)
    return go_signed_in(request, password_id, "/desk")


@post("/account/recovery-code")
@in_thread
def recovery_code(request: Ask) -> Response[Any]:
    """A recovery code, shown now and never again."""
    site, user = site_of(request), signed_in(request)
    try:
        with guessing(request, user.email):
            code, password_id = site.desks.make_recovery_code(user.uuid, form(request)["password"])
    except Refusal as refusal:
        return _account(request, user, refusal)
    return page_signed_in(request, password_id, "recovery_code.html", code=code)


@get("/terminal")
@in_thread
def terminal_page(request: Ask) -> Response[Any]:
    """What a token is good for, before one is shown."""
    return page(request, "terminal.html", user=signed_in(request), token=None, service_url=None)


@post("/terminal")
@in_thread
def terminal(request: Ask) -> Response[Any]:
    """A token for the user's own terminal."""
    site, user = site_of(request), signed_in(request)
    try:
        token = site.desks.token(user)
    except ServiceAway as away:
        return refusing(request, "terminal.html", away, user=user, token=None, service_url=None)
    if token is None:
        return go(f"{UNLOCK_PATH}?next=/terminal")
    return page(request, "terminal.html", user=user, token=token, service_url=site.config.service_url)


@get("/account/delete")
@in_thread
def delete_page(request: Ask) -> Response[Any]:
    """What would be gone."""
    return page(request, "delete_account.html", user=signed_in(request))


@post("/account/delete")
@in_thread
def delete(request: Ask) -> Response[Any]:
    """Delete everything, on both sides, after the password was typed."""
    site, user = site_of(request), signed_in(request)
    try:
        with guessing(request, user.email):
            site.desks.delete(user.uuid, form(request)["password"])
    except ServiceAway as away:
        end_visit(request)
        return refusing(request, "message.html", away, title="Almost gone", text=away.text)
    except Refusal as refusal:
        return refusing(request, "delete_account.html", refusal, user=user)
    text = "Your account was deleted, and your desk with everything on it."
    return page(request, "message.html", title="Goodbye", text=text)


ROUTES = [
    account,
    change_plan,
    buy_credits,
    password_page,
    change_password,
    recovery_code,
    terminal_page,
    terminal,
    delete_page,
    delete,
]


def _account(request: Ask, user: User, refusal: Refusal | None = None) -> Response[Any]:
    site = site_of(request)
    with site.database.begin() as conn:
        waiting = orders.open_orders(conn, user.uuid, site.now())
    values: dict[str, Any] = {
        "user": user,
        "me": _me(request, user),
        "packs": orders.PACKS,
        "waiting": waiting,
        "order": orders.new_number(),
    }
    if refusal is not None:
        return refusing(request, "account.html", refusal, **values)
    return page(request, "account.html", **values)


def _me(request: Ask, user: User) -> Me | None:
    """What the service says of the user, if it can be asked right now."""
    site = site_of(request)
    try:
        token = site.desks.token(user)
        if token is None:
            return None
        with Workspace(site.config.service_url, token, http=site.config.http) as workspace:
            return workspace.me()
    except (ServiceAway, CarrelError):
        return None
