"""The user's account: plan, credits, password, recovery code, terminal, deletion."""

from typing import Any

from carrel_sdk import CarrelError, Workspace
from carrel_sdk.models import Me
from litestar import Response, get, post

from carrel_website import orders, users
from carrel_website.pages import (
    end_visit,
    go,
    go_signed_in,
    guessing,
    page,
    page_signed_in,
    refusing,
    signed_in,
    site_of,
)
from carrel_website.passwords import fault
from carrel_website.protection import Ask, form
from carrel_website.refusals import Refusal, ServiceAway
from carrel_website.threads import in_thread
from carrel_website.users import Plan, User
from carrel_website.workspace_page import UNLOCK_PATH


@get("/account")
@in_thread
def account(request: Ask) -> Response[Any]:
    """Show the account. What only the service knows is left out while it is away or the workspace is locked."""
    return _account(request, signed_in(request))


@post("/account/plan")
@in_thread
def change_plan(request: Ask) -> Response[Any]:
    """Upgrade or downgrade. Nothing costs anything here; a real host would charge first."""
    site, user = site_of(request), signed_in(request)
    plan: Plan = "paid" if form(request)["plan"] == "paid" else "free"
    try:
        # The service comes first, because its membership counts. Pressing the button again does no harm.
        site.host.set_membership(user.uuid, plan)
    except CarrelError:
        return _account(request, user, ServiceAway())
    with site.database.begin() as conn:
        users.set_plan(conn, user.uuid, plan)
    return go("/account")


@post("/account/credits")
@in_thread
def buy_credits(request: Ask) -> Response[Any]:
    """Store the order and deliver it. The form holds the order's number."""
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
    """Re-encrypt the workspace with a new password. Only this browser stays signed in."""
    site, user, sent = site_of(request), signed_in(request), form(request)
    wrong = fault(sent["password"], sent["repeated"])
    if wrong is None and sent["password"] == sent["old"]:
        wrong = "This is your current password. Choose another one."
    if wrong:
        return page(request, "change_password.html", status=400, user=user, error=wrong)
    try:
        with guessing(request, user.email):
            password_id = site.workspaces.change_password(user.uuid, sent["old"], sent["password"])
    except Refusal as refusal:
        return refusing(request, "change_password.html", refusal, user=user)
    return go_signed_in(request, password_id, "/desk")


@post("/account/recovery-code")
@in_thread
def recovery_code(request: Ask) -> Response[Any]:
    """Make a recovery code and show it once."""
    site, user = site_of(request), signed_in(request)
    try:
        with guessing(request, user.email):
            code, password_id = site.workspaces.make_recovery_code(user.uuid, form(request)["password"])
    except Refusal as refusal:
        return _account(request, user, refusal)
    return page_signed_in(request, password_id, "recovery_code.html", code=code)


@get("/terminal")
@in_thread
def terminal_page(request: Ask) -> Response[Any]:
    """Say what a token can do, before one is shown."""
    return page(request, "terminal.html", user=signed_in(request), token=None, service_url=None)


@post("/terminal")
@in_thread
def terminal(request: Ask) -> Response[Any]:
    """Show a token for the user's own terminal."""
    site, user = site_of(request), signed_in(request)
    try:
        token = site.workspaces.token(user)
    except ServiceAway as away:
        return refusing(request, "terminal.html", away, user=user, token=None, service_url=None)
    if token is None:
        return go(f"{UNLOCK_PATH}?next=/terminal")
    return page(request, "terminal.html", user=user, token=token, service_url=site.config.service_url)


@get("/account/delete")
@in_thread
def delete_page(request: Ask) -> Response[Any]:
    """Say what would be deleted."""
    return page(request, "delete_account.html", user=signed_in(request))


@post("/account/delete")
@in_thread
def delete(request: Ask) -> Response[Any]:
    """Delete everything, on the website and in the service, after the user has typed the password."""
    site, user = site_of(request), signed_in(request)
    try:
        with guessing(request, user.email):
            site.workspaces.delete(user.uuid, form(request)["password"])
    except ServiceAway as away:
        end_visit(request)
        return refusing(request, "message.html", away, title="Almost deleted", text=away.text)
    except Refusal as refusal:
        return refusing(request, "delete_account.html", refusal, user=user)
    text = "Your account was deleted, and your workspace with everything in it."
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
    """What the service knows about the user, if it can be reached and the workspace is unlocked."""
    site = site_of(request)
    try:
        token = site.workspaces.token(user)
        if token is None:
            return None
        with Workspace(site.config.service_url, token, http=site.config.http) as workspace:
            return workspace.me()
    except (ServiceAway, CarrelError):
        return None
