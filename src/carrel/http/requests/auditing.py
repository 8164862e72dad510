"""What is written down before it is done: requests of the host and the operator that change or take something.

A guard says who asks, the route says that it is audited, and the state holds what writes the entry.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, NamedTuple

from carrel.http.answers import problem
from carrel.http.answers.fenced import USER
from carrel.http.request import Request

WRITE_ENTRY: Final = "carrel.audit"
"""The key in the state under which there is a `WriteEntry`."""
_ASKED_BY: Final = "carrel.asked_by"
_AUDITED: Final = "carrel.audited"
AUDITED: Final[dict[str, Any]] = {_AUDITED: True}
"""In a route's `opt`."""
_DIGITS: Final = 8


class Asking(NamedTuple):
    """Who asks. `secret` tells two secrets apart and nothing else of them."""

    by: Literal["host", "operator"]
    secret: str


class Audited(NamedTuple):
    """What is to be written down; `uuid` is empty if it is about no user."""

    asking: Asking
    what: str
    uuid: str
    request_id: str


WriteEntry = Callable[[Audited], Awaitable[None]]
"""Writes an entry durably. If it cannot, the request is refused."""


def name_asking(request: Request, by: Literal["host", "operator"], secret: bytes) -> None:
    """Note who asks; a guard calls it when the secret is right."""
    request.scope[_ASKED_BY] = Asking(by, hashlib.sha256(secret).hexdigest()[:_DIGITS])


async def write_down(request: Request) -> None:
    """Write the entry of a request that is audited, which has passed every check of its form."""
    asking: Asking | None = request.scope.get(_ASKED_BY)
    if asking is not None and _AUDITED in request.opt:
        scope = request.scope
        write: WriteEntry = request.state[WRITE_ENTRY]
        what = f"{scope['method']} {scope['path_template']}"
        await write(Audited(asking, what, scope.get(USER, ""), scope[problem.REQUEST_ID]))
