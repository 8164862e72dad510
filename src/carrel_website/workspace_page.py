"""The page that shows the workspace, and the route from which its script fetches a newer token.

Section 5.5 of the specification describes both. The SDK keeps a token for 55 minutes. After that it fetches a new one
before the page is sent, which takes ten seconds at most. The browser never gets the plugin secret or a key.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from carrel_sdk import CarrelError, SessionEnded, Workspace
from litestar import Response, get, post

from carrel_website.pages import go, has_deleted, new_nonce, page, refusing, signed_in, site_of, visitor, way_back
from carrel_website.protection import TOKEN_PATH, Ask
from carrel_website.refusals import AWAY, ServiceAway
from carrel_website.threads import in_thread
from carrel_website.users import User

UNLOCK_PATH: Final = "/unlock"


@get(["/desk", "/desk/{rest:path}"])
@in_thread
def workspace(request: Ask) -> Response[Any]:
    """Show the workspace, or lead to the page that unlocks it. The app's own addresses lead here, too."""
    site, user = site_of(request), signed_in(request)
    try:
        token = site.workspaces.token(user)
    except ServiceAway as away:
        return _out_of_reach(request, user, away)
    if token is None:
        return go(f"{UNLOCK_PATH}?{way_back(request)}")
    script = site.built_app.script()
    if script is None:
        return _without_app(request, token)
    nonce = new_nonce()
    carrel = {
        "baseUrl": site.config.service_url,
        "sessionToken": token,
        "userName": user.email,
        "tokenUrl": TOKEN_PATH,
        "unlockUrl": UNLOCK_PATH,
        "upgradeUrl": "/account",
    }
    return page(
        request,
        "workspace.html",
        policy=policy(nonce, site.config.service_url),
        nonce=nonce,
        user=user,
        carrel=carrel,
        script=script,
    )


@get(TOKEN_PATH)
@in_thread
def token(request: Ask) -> Response[Any]:
    """The current token, for the script in the page."""
    return _token(request)


@post(TOKEN_PATH, status_code=200)
@in_thread
def fresh_token(request: Ask) -> Response[Any]:
    """A new token, for a script whose token was refused: the stored one is not handed out again."""
    user = visitor(request)
    if user is not None:
        site_of(request).host.forget(user.uuid)
    return _token(request)


ROUTES = [workspace, token, fresh_token]


def _token(request: Ask) -> Response[Any]:
    user = visitor(request)
    if user is None:
        return _answer(401, {"code": "account-deleted" if has_deleted(request) else "signed-out"})
    try:
        token = site_of(request).workspaces.token(user)
    except ServiceAway:
        return _answer(503, {"code": "service-away"})
    if token is None:
        return _answer(401, {"code": "key-not-cached"})
    return _answer(200, {"session_token": token, "user_name": user.email})


def _answer(status: int, body: dict[str, str]) -> Response[dict[str, str]]:
    return Response(body, status_code=status, headers={"Cache-Control": "no-store"})


def policy(nonce: str, service_url: str) -> str:
    """What the page may do: run our scripts, talk to us and to the service, show reports in a frame.

    Styles may be inline here and scripts may not: a report is a page of its own in a sandboxed frame, and takes over
    the policy of the page that holds it.
    """
    address = urlsplit(service_url)
    service = f"{address.scheme}://{address.netloc}"
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}' 'self'; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' {service}; frame-src blob:; "
        "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def _out_of_reach(request: Ask, user: User, away: ServiceAway) -> Response[Any]:
    title = "Your workspace cannot be reached"
    return refusing(request, "message.html", away, user=user, title=title, text=away.text, again=request.url.path)


def _without_app(request: Ask, token: str) -> Response[Any]:
    """Say that the app is not built, and show that everything else works."""
    site, user = site_of(request), signed_in(request)
    try:
        with Workspace(site.config.service_url, token, http=site.config.http) as workspace:
            me = workspace.me()
    except SessionEnded:
        # The service was restarted within the 55 minutes.
        site.host.forget(user.uuid)
        return go(UNLOCK_PATH)
    except CarrelError:
        return _out_of_reach(request, user, ServiceAway(AWAY))
    return page(request, "workspace_without_app.html", user=user, me=me, service_url=site.config.service_url)
