"""Makes sure that only our own pages send forms: a token bound to the cookie, and what the browser says."""

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from litestar import Request
from litestar.exceptions import ClientException, PermissionDeniedException

Ask: TypeAlias = Request[Any, Any, Any]
"""A request, as every page gets it."""

TOKEN_PATH: Final = "/token"  # noqa: S105  # an address
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST_VALUES: Final = 20
_FORM_TYPE: Final = "application/x-www-form-urlencoded"


def cookie_name(ask: Ask) -> str:
    """The cookie's name. With HTTPS, no other page of the domain can set it."""
    return "__Host-reading-room" if ask.app.state.site.https else "reading-room"


def form_token(visit_id: str) -> str:
    """The token that a form must carry. It is derived from the cookie, which scripts and other sites cannot read."""
    return hmac.new(visit_id.encode(), b"form", hashlib.sha256).hexdigest()


def form(ask: Ask) -> Mapping[str, str]:
    """The fields of the form, exactly as they were typed. A missing field is empty."""
    sent: Mapping[str, str] = ask.state.form
    return sent


async def check_form(ask: Ask) -> None:
    """Refuse a request that changes something and does not come from one of our pages. Runs before every page."""
    if ask.method in _SAFE:
        return
    own = _comes_from_us(ask)
    if own is False:
        raise PermissionDeniedException("This form came from another website.")
    if ask.url.path == TOKEN_PATH:
        # The app's script sends no form. Browsers say where a request comes from; a request that does not is refused.
        if own is None:
            raise PermissionDeniedException("This address is for the pages of this website.")
        return
    fields = await _fields(ask)
    visit_id = ask.cookies.get(cookie_name(ask), "")
    if not visit_id or not hmac.compare_digest(fields.get("form_token", "").encode(), form_token(visit_id).encode()):
        raise PermissionDeniedException("This form is out of date. Please go back, reload the page and try again.")
    ask.state.form = fields


def _comes_from_us(ask: Ask) -> bool | None:
    """None if the browser does not say."""
    site = ask.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = ask.headers.get("origin")
    if origin is None:
        return None
    return urlsplit(origin).netloc == ask.headers.get("host")


async def _fields(ask: Ask) -> "_Fields":
    if ask.headers.get("content-type", "").partition(";")[0].strip() != _FORM_TYPE:
        raise ClientException("This address takes forms only.")
    try:
        # The framework does not parse it: it would trim a password, or read it as something other than text.
        pairs = parse_qsl(
            (await ask.body()).decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_LONGEST_VALUES,
        )
    except ValueError:
        raise ClientException("This form cannot be read.") from None
    return _Fields(pairs)


class _Fields(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return ""

    def __repr__(self) -> str:
        return f"_Fields({len(self)} values)"
