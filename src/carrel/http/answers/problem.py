"""Every error has one shape: RFC 9457 `application/problem+json` with a stable code and constant words."""

from http import HTTPStatus
from traceback import clear_frames

import msgspec
from starlette.types import Scope

from carrel.errors import CarrelError
from carrel.http.answers.response import AsgiAnswer, Header, Response
from carrel.kit import logs
from carrel.kit.logs import places

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "carrel.request_id"
"""The key of the request's id in its ASGI scope."""
CODE = "carrel.code"
"""The key under which the scope gets the code of the error that the request was answered with, for the access log."""


class Fault(msgspec.Struct, frozen=True):
    """One fault of the input."""

    path: str
    message: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of every error; `errors` names each faulty field of bad input."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[Fault] = []


class NotAcceptable(CarrelError):
    """The resource has no representation that `Accept` names."""

    status = 406
    code = "not-acceptable"
    detail = "There is no representation of this resource that the Accept header allows."


def answer(error: CarrelError, request_id: str, headers: tuple[Header, ...] = ()) -> Response[Problem]:
    """The answer that tells a caller of `error`."""
    headers = (*headers, *error.headers)
    if error.retry_after_seconds is not None:
        headers = (*headers, (b"retry-after", b"%d" % error.retry_after_seconds))
    return Response(_body(error, request_id), status_code=error.status, media_type=MEDIA_TYPE, headers=headers)


def respond(scope: Scope, error: Exception, *headers: Header) -> AsgiAnswer:
    """The answer to a request in which `error` was raised."""
    known = _noted(scope, error)
    return answer(known, scope.get(REQUEST_ID, ""), headers).with_status(known.status)


def told(scope: Scope, error: Exception) -> Problem:
    """The same as the body alone, for a request whose answer has begun."""
    return _body(_noted(scope, error), scope.get(REQUEST_ID, ""))


def _noted(scope: Scope, error: Exception) -> CarrelError:
    """The error that a client hears of. One that nobody expected is logged."""
    request_id: str = scope.get(REQUEST_ID, "")
    known = error if isinstance(error, CarrelError) else CarrelError()
    if known is not error:
        report(error, request_id)
    elif known.status >= 500:
        logs.warning("request-failed", code=known.code, request_id=request_id)
    scope[CODE] = known.code
    # The error has the frames that it came through, and one of those may have the error: they would stay, with the
    # texts in them, until the garbage collector finds them, which keeps everybody waiting while it frees them all.
    clear_frames(error.__traceback__)
    return known


def _body(error: CarrelError, request_id: str) -> Problem:
    return Problem(
        type=f"/api/errors/{error.code}",
        title=HTTPStatus(error.status).phrase,
        status=error.status,
        detail=error.detail,
        code=error.code,
        request_id=request_id,
        errors=[Fault(*fault) for fault in error.errors],
    )


def report(error: BaseException, request_id: str) -> None:
    """Log where an unexpected error happened: its type and places in the code, never its text."""
    logs.error("unexpected-error", kind=type(error).__name__, at=places(error.__traceback__), request_id=request_id)
