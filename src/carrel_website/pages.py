"""Makes and sends a page: template, cookie, form token, and headers that keep it from everybody but its reader."""

import logging
import re
import secrets
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import Response
from litestar.exceptions import HTTPException
from litestar.response import Redirect

from carrel_website import visits
from carrel_website.protection import Ask, cookie_name, form_token
from carrel_website.refusals import Refusal
from carrel_website.site import Site
from carrel_website.users import User

_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_VISIT_ID: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_OWN_PATH: Final = re.compile(r"/(desk|account|terminal)([/?#][!-\[\]-~]*)?")
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_log: Final = logging.getLogger("carrel_website")


class NotSignedIn(Exception):
    """The page is for users who are signed in."""


def site_of(ask: Ask) -> Site:
    """The website that this request is for."""
    site: Site = ask.app.state.site
    return site


def visitor(ask: Ask) -> User | None:
    """The user who is signed in, if any."""
    site = site_of(ask)
    visit_id = _visit_id(ask)
    if visit_id is None:
        return None
    with site.database.begin() as conn:
        return visits.user_of(conn, visit_id, site.now())


def has_deleted(ask: Ask) -> bool:
    """Whether nobody is signed in because the user has deleted the account."""
    visit_id = _visit_id(ask)
    if visit_id is None:
        return False
    with site_of(ask).database.begin() as conn:
        return visits.is_of_deleted(conn, visit_id)


def signed_in(ask: Ask) -> User:
    """The user who is signed in.

    Raises:
        NotSignedIn
    """
    user = visitor(ask)
    if user is None:
        raise NotSignedIn
    return user


def page(
    ask: Ask, template: str, *, status: int = 200, policy: str = _POLICY, visit_id: str | None = None, **values: Any
) -> Response[str]:
    """Render a page. It is made for one reader, so neither a proxy nor the browser may store it.

    `visit_id` is given if the visit has just begun.
    """
    site = site_of(ask)
    known = _visit_id(ask)
    response_id = visit_id or known or visits.new_id()
    html = _TEMPLATES.get_template(template).render(
        {"error": None, "user": None, "again": None, "form_token": form_token(response_id), **values}
    )
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        # Not no-referrer: with it, browsers send forms with `Origin: null`.
        "Referrer-Policy": "same-origin",
    }
    if site.https:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    response = Response(html, status_code=status, media_type="text/html", headers=headers)
    if response_id != known:
        _set_cookie(ask, response, response_id)
    return response


def go(path: str) -> Redirect:
    """Redirect to another page, by GET."""
    return Redirect(path, status_code=303, headers={"Cache-Control": "no-store"})


def go_signed_in(ask: Ask, password_id: int, path: str) -> Redirect:
    """Sign in the user of this password, and redirect to another page.

    The visit gets a new cookie, so a cookie that an attacker planted earlier is worth nothing.

    Raises:
        PasswordReplaced
    """
    response = go(path)
    _set_cookie(ask, response, begin_visit(ask, password_id))
    return response


def page_signed_in(ask: Ask, password_id: int, template: str, **values: Any) -> Response[str]:
    """Sign in the user of this password, and show a page at once.

    Raises:
        PasswordReplaced
    """
    visit_id, site = begin_visit(ask, password_id), site_of(ask)
    with site.database.begin() as conn:
        user = visits.user_of(conn, visit_id, site.now())
    return page(ask, template, visit_id=visit_id, user=user, **values)


def end_visit(ask: Ask) -> None:
    """Sign out."""
    visit_id = _visit_id(ask)
    if visit_id is not None:
        with site_of(ask).database.begin() as conn:
            visits.end(conn, visit_id)


def own_path(path: str) -> str:
    """The path if it is one of ours, else the workspace: a link from outside must not lead to another website."""
    return path if _OWN_PATH.fullmatch(path) else "/desk"


def guessing(ask: Ask, account: str) -> AbstractContextManager[None]:
    """Limit the tries, around a check of a password.

    Raises:
        TooManyTries
    """
    return site_of(ask).throttle.guessing(account, address_of(ask))


def address_of(ask: Ask) -> str:
    """The address of the client. Behind a proxy, use the address that this proxy reports, and trust no other sender."""
    return ask.client.host if ask.client else ""


def asked_path(ask: Ask) -> str:
    """The path in `next`, to which a form leads afterwards."""
    return own_path(str(ask.query_params.get("next", "")))


def way_back(ask: Ask) -> str:
    """The query that makes a form lead back to this page."""
    path = f"{ask.url.path}?{ask.url.query}" if ask.url.query else ask.url.path
    return "next=" + quote(own_path(path), safe="/")


def new_nonce() -> str:
    """A nonce for the scripts of one page."""
    return secrets.token_urlsafe(16)


# When there is no page ----------------------------------------------------------------------------------------------


def to_sign_in(ask: Ask, error: NotSignedIn) -> Response[Any]:
    """Redirect to the sign-in, which leads back afterwards."""
    return go("/sign-in" if ask.method != "GET" else f"/sign-in?{way_back(ask)}")


def refused(ask: Ask, refusal: Refusal) -> Response[str]:
    """Show a refusal on a page of its own."""
    return refusing(ask, "message.html", refusal, title="That did not work", text=refusal.text)


def refusing(ask: Ask, template: str, refusal: Refusal, **values: Any) -> Response[str]:
    """Show the form again with what was wrong. Passwords are not filled in again."""
    response = page(ask, template, **{"status": refusal.status, "error": refusal.text, **values})
    if refusal.wait_seconds is not None:
        response.headers["Retry-After"] = str(refusal.wait_seconds)
    return response


def not_found_or_refused(ask: Ask, error: HTTPException) -> Response[str]:
    """Show a refusal of the framework or of `check_form`."""
    texts = {404: "There is no such page.", 405: "This page does not support that.", 413: "The form is too large."}
    text = texts.get(error.status_code, error.detail if error.status_code in {400, 403} else "That did not work.")
    return page(ask, "message.html", status=error.status_code, title="That did not work", text=text)


def failed(ask: Ask, error: Exception) -> Response[str]:
    """Show that something failed on our side. The log gets the traceback and no values."""
    _log.error("a page failed", exc_info=error)
    text = "Something went wrong on our side. If you were changing your password, sign in again: nothing is lost."
    return page(ask, "message.html", status=500, title="Sorry", text=text)


def begin_visit(ask: Ask, password_id: int) -> str:
    """Begin a new visit, which replaces the one of this request."""
    site, old, fresh = site_of(ask), _visit_id(ask), visits.new_id()
    with site.database.begin() as conn:
        if old is not None:
            visits.end(conn, old)
        visits.begin(conn, fresh, password_id, site.now())
    return fresh


def _visit_id(ask: Ask) -> str | None:
    visit_id = ask.cookies.get(cookie_name(ask), "")
    return visit_id if _VISIT_ID.fullmatch(visit_id) else None


def _set_cookie(ask: Ask, response: Response[Any], visit_id: str) -> None:
    response.set_cookie(
        cookie_name(ask),
        visit_id,
        max_age=visits.LONGEST_SECONDS,
        path="/",
        httponly=True,
        samesite="lax",
        secure=site_of(ask).https,
    )
