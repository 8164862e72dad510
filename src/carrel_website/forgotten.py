"""The forgotten password: a link by mail and a new password, and the workspace is kept if there is any way."""

from typing import Any

from litestar import Response, get, post
from litestar.background_tasks import BackgroundTask
from litestar.params import FromPath

from carrel_website import links, users
from carrel_website.pages import address_of, go_signed_in, guessing, page, refusing, site_of
from carrel_website.passwords import fault
from carrel_website.protection import Ask, form
from carrel_website.refusals import ProofNeeded, Refusal, TooManyTries
from carrel_website.resetting import PHRASE, OldPassword, Proof, RecoveryCode, reset, start_anew
from carrel_website.site import Site
from carrel_website.threads import in_thread


class LinkOver(Refusal):
    """The link was used, is too old, or never existed."""

    status = 404

    def __init__(self) -> None:
        super().__init__("This link is no longer valid. Ask for a new one.")


@get("/forgotten")
@in_thread
def forgotten_page(request: Ask) -> Response[Any]:
    """The form."""
    return page(request, "forgotten.html", sent=False)


@post("/forgotten")
@in_thread
def forgotten(request: Ask) -> Response[Any]:
    """Send a link. The answer is the same whether there is such an account or not, and takes as long."""
    site, email = site_of(request), form(request)["email"].strip()
    try:
        site.throttle.sending_mail(email, address_of(request))
    except TooManyTries as refusal:
        return refusing(request, "forgotten.html", refusal, sent=False)
    response = page(request, "forgotten.html", sent=True)
    response.background = BackgroundTask(_send_link, site, email)
    return response


@get("/reset/{link:str}")
@in_thread
def reset_page(request: Ask, link: FromPath[str]) -> Response[Any]:
    """The form. At first it asks only for the new password, because that may be enough."""
    _user_of(request, link)
    return _form(request, link)


@post("/reset/{link:str}")
@in_thread
def reset_password(request: Ask, link: FromPath[str]) -> Response[Any]:
    """Set a new password, and keep the workspace in whichever way the user can."""
    sent = form(request)
    uuid = _user_of(request, link)
    ways = sent["way"] != ""
    wrong = fault(sent["password"], sent["repeated"])
    if wrong:
        return _form(request, link, status=400, error=wrong, ways=ways, way=sent["way"])
    try:
        with guessing(request, uuid):
            password_id = _reset(request, uuid, link)
    except LinkOver:
        # There is no form to show again.
        raise
    except ProofNeeded as needed:
        return _form(request, link, status=needed.status, ways=True)
    except Refusal as refusal:
        return refusing(request, "reset.html", refusal, link=link, ways=ways, way=sent["way"], phrase=PHRASE)
    return go_signed_in(request, password_id, "/desk")


ROUTES = [forgotten_page, forgotten, reset_page, reset_password]


def _send_link(site: Site, email: str) -> None:
    with site.database.begin() as conn:
        user = users.by_email(conn, email)
        link = links.make(conn, user.uuid, site.now()) if user is not None and user.state != "deleting" else None
    if user is not None and link is not None:
        address = f"{site.config.origins[0]}/reset/{link}"
        site.outbox.send(user.email, f"To choose a new password, open this within half an hour:\n\n{address}\n")


def _reset(request: Ask, uuid: str, link: str) -> int:
    workspaces, sent = site_of(request).workspaces, form(request)

    def leave() -> str:
        return _user_of(request, link)

    if sent["way"] == "anew":
        if sent["phrase"].strip().lower() != PHRASE or not sent["understood"]:
            raise Refusal(f"To give up your workspace, type “{PHRASE}” and tick the box. Nothing was changed.")
        return start_anew(workspaces, uuid, sent["password"], leave)
    proofs: dict[str, Proof] = {"password": OldPassword(sent["old"]), "code": RecoveryCode(sent["code"])}
    return reset(workspaces, uuid, sent["password"], proofs.get(sent["way"]), leave)


def _user_of(request: Ask, link: str) -> str:
    site = site_of(request)
    with site.database.begin() as conn:
        uuid = links.user_of(conn, link, site.now())
    if uuid is None:
        raise LinkOver
    return uuid


def _form(
    request: Ask, link: str, *, status: int = 200, error: str | None = None, ways: bool = False, way: str = ""
) -> Response[str]:
    return page(request, "reset.html", status=status, error=error, link=link, ways=ways, way=way, phrase=PHRASE)
