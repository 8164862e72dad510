"""`/api/admin`: a page on which the operator sees users, spending, disk and runs, and no text of a user.

The page itself holds nothing. Its script asks the operator's routes with the admin secret, which stays in its memory.
"""

from functools import cache
from pathlib import Path

from carrel.app.docs import STYLE, page_of
from carrel.http.answers.response import Response
from carrel.http.requests.routing import Router, get

_POLICY = "script-src 'self'; connect-src 'self'; form-action 'none'; "


@cache
def _file(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


@get("", include_in_schema=False)
async def read_operators_page() -> Response[bytes]:
    """The page, which asks for the secret."""
    return page_of(_file("operators_page.html").replace(b"{style}", STYLE.encode()), _POLICY)


@get("/page.js", include_in_schema=False)
async def read_operators_script() -> Response[bytes]:
    """What the page does."""
    return Response(_file("operators_page.js"), media_type="text/javascript")


router = Router("/admin", route_handlers=[read_operators_page, read_operators_script])
