"""The way in and out: sign up, sign in, unlock, sign out."""

from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from carrel_sdk import CarrelError
from litestar import Response, get, post

from carrel_website import users
from carrel_website.pages import (
    address_of,
    asked_path,
    end_visit,
    go,
    go_signed_in,
    guessing,
    own_path,
    page,
    page_signed_in,
    refusing,
    signed_in,
    site_of,
    visitor,
)
from carrel_website.passwords import fault
from carrel_website.protection import Ask, form
from carrel_website.refusals import Refusal, ServiceAway, TooBusy, WrongPassword
from carrel_website.threads import in_thread

_NO_CODE: Final = (
    "Your account was created, but the service cannot be reached right now, so there is no recovery code yet. "
    "Make one on your account page as soon as your workspace is open."
)


@get("/")
@in_thread
def landing(request: Ask) -> Response[Any]:
    """Describe the website. A user who is signed in is sent to the workspace."""
    return go("/desk") if visitor(request) else page(request, "landing.html")


@get("/sign-up")
@in_thread
def sign_up_page(request: Ask) -> Response[Any]:
    """The form."""
    return page(request, "sign_up.html", email="")


@post("/sign-up")
@in_thread
def sign_up(request: Ask) -> Response[Any]:
    """Create the account, and the encrypted workspace with it."""
    site, sent = site_of(request), form(request)
    email, password = sent["email"].strip(), sent["password"]
    wrong = _fault_of_email(email) or fault(password, sent["repeated"])
    if wrong:
        return page(request, "sign_up.html", status=400, error=wrong, email=email)
    # The uuid never changes: another uuid would make another key.
    uuid = str(uuid4())
    try:
        site.throttle.signing_up(address_of(request))
        password_hash = site.workspaces.passwords.hash(password)
    except Refusal as refusal:
        return refusing(request, "sign_up.html", refusal, email=email)
    try:
        with site.database.begin() as conn:
            password_id = users.create(conn, uuid, email, password_hash, site.now())
    except users.EmailTaken:
        # An attacker can learn here, slowly, who has an account. Only a confirmation mail could prevent that.
        text = "An account with this address exists already. Sign in, or use “Forgotten password”."
        return page(request, "sign_up.html", status=409, error=text, email=email)
    try:
        site.workspaces.open(uuid, password)
        if sent["recovery"]:
            code, _ = site.workspaces.make_recovery_code(uuid, password)
            return page_signed_in(request, password_id, "recovery_code.html", code=code)
    except (ServiceAway, TooBusy):
        # The account exists, and the next sign-in makes the workspace. Until then its page says so.
        if sent["recovery"]:
            return page_signed_in(request, password_id, "message.html", title="Welcome", text=_NO_CODE)
    return go_signed_in(request, password_id, "/desk")


@get("/sign-in")
@in_thread
def sign_in_page(request: Ask) -> Response[Any]:
    """The form."""
    return page(request, "sign_in.html", email="", next=asked_path(request))


@post("/sign-in")
@in_thread
def sign_in(request: Ask) -> Response[Any]:
    """Check the password here, then open the workspace with it."""
    sent = form(request)
    email, next_path = sent["email"].strip(), own_path(sent["next"])
    try:
        with guessing(request, email):
            password_id = _open(request, email, sent["password"])
    except Refusal as refusal:
        return refusing(request, "sign_in.html", refusal, email=email, next=next_path)
    return go_signed_in(request, password_id, next_path)


@get("/unlock")
@in_thread
def unlock_page(request: Ask) -> Response[Any]:
    """Ask a user whom this website still knows for the password again.

    The form is shown even if the workspace seems open: the app leads here when the service has said that it is locked,
    and a redirect back to the app would be a loop.
    """
    user = signed_in(request)
    return page(request, "unlock.html", user=user, next=asked_path(request))


@post("/unlock")
@in_thread
def unlock(request: Ask) -> Response[Any]:
    """Open the workspace and return to it."""
    site, sent, user = site_of(request), form(request), signed_in(request)
    next_path = own_path(sent["next"])
    try:
        with guessing(request, user.email):
            password_id = site.workspaces.open(user.uuid, sent["password"])
    except Refusal as refusal:
        return refusing(request, "unlock.html", refusal, user=user, next=next_path)
    return go_signed_in(request, password_id, next_path)


@post("/sign-out")
@in_thread
def sign_out(request: Ask) -> Response[Any]:
    """End the visit, and every session in the service. The service keeps the key only as long as a run needs it."""
    user = visitor(request)
    end_visit(request)
    if user is not None:
        # While the service is away the sessions live on until their hour is over; this website lets nobody use them.
        with suppress(CarrelError):
            site_of(request).host.sign_out(user.uuid)
    return go("/")


ROUTES = [landing, sign_up_page, sign_up, sign_in_page, sign_in, unlock_page, unlock, sign_out]


def _open(request: Ask, email: str, password: str) -> int:
    """Check the password, open the workspace if the service can be reached, and return the password's id.

    Raises:
        WrongPassword: also for an unknown address, and after the same time.
        Refusal: as `Workspaces.open` does.
    """
    site = site_of(request)
    with site.database.begin() as conn:
        user = users.by_email(conn, email)
    if user is None:
        site.workspaces.passwords.which((), password)
        raise WrongPassword
    # Also while the service is away: the page of the workspace then says so and asks for the password later.
    return site.workspaces.open(user.uuid, password, also_locked=True)


def _fault_of_email(email: str) -> str | None:
    name, at, domain = email.partition("@")
    good = name and at and "." in domain and email.isprintable() and " " not in email and len(email) <= 254
    return None if good else "Type an e-mail address, such as reader@example.org."
