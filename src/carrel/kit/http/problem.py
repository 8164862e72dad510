"""Every error has one shape: RFC 9457 `application/problem+json` with a stable code and constant words."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from traceback import clear_frames
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import HTTPException, ValidationException

from carrel.errors import BadInput, CarrelError, FieldError, NotFound, TooLarge
from carrel.kit import logs
from carrel.kit.http import faults
from carrel.kit.http.answer import Answer, Header
from carrel.kit.http.validation import explain, name_of
from carrel.kit.logs import places

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "carrel.request_id"
"""The key of the request's id in its ASGI scope."""
CODE = "carrel.code"
"""The key under which the scope gets the code of the error that the request was answered with, for the access log."""
NAMES = "carrel.names"
"""The key in a route's `opt` of what its parameters are called outside, by their names in the function."""

_MISSING = re.compile(r"^Missing required \w+ parameter '([^']*)'")


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


class RouteUnknown(NotFound):
    """No route has this path."""

    code = "route-unknown"
    detail = "There is no such route."


class MethodNotAllowed(CarrelError):
    """The route exists, but not with this method."""

    status = 405
    code = "method-not-allowed"
    detail = "This route does not take this method; see the Allow header."


class NotAcceptable(CarrelError):
    """The resource has no representation that `Accept` names."""

    status = 406
    code = "not-acceptable"
    detail = "There is no representation of this resource that the Accept header allows."


class Malformed(BadInput):
    """The request cannot be read at all."""

    code = "malformed"
    detail = "The request is malformed."


def answer(error: CarrelError, request_id: str, headers: tuple[Header, ...] = ()) -> Answer[Problem]:
    """The answer that tells a caller of `error`."""
    problem = Problem(
        type=f"/api/errors/{error.code}",
        title=HTTPStatus(error.status).phrase,
        status=error.status,
        detail=error.detail,
        code=error.code,
        request_id=request_id,
        errors=[Fault(*fault) for fault in error.errors],
    )
    headers = (*headers, *error.headers)
    if error.retry_after_seconds is not None:
        headers = (*headers, (b"retry-after", b"%d" % error.retry_after_seconds))
    return Answer(problem, status_code=error.status, media_type=MEDIA_TYPE, headers=headers)


def respond(request: Request[Any, Any, Any], error: Exception) -> Answer[Problem]:
    """The framework's handler for everything that is raised while a request is answered."""
    scope: dict[str, Any] = request.scope  # type: ignore[assignment]  # ASGI lets an application add keys
    request_id: str = scope.get(REQUEST_ID, "")
    told, headers = _told(request, error, request_id)
    scope[CODE] = told.code
    # The error has the frames that it came through, and one of those may have the error: they would stay, with the
    # texts in them, until the garbage collector finds them, which keeps everybody waiting while it frees them all.
    clear_frames(error.__traceback__)
    return answer(told, request_id, headers)


def _told(request: Request[Any, Any, Any], error: Exception, request_id: str) -> tuple[CarrelError, tuple[Header, ...]]:
    if isinstance(error, CarrelError):
        if error.status >= 500:
            logs.warning("request-failed", code=error.code, request_id=request_id)
        return error, ()
    if isinstance(error, HTTPException) and error.status_code < 500:
        return _translated(error, request), _allow(error)
    if isinstance(error, HTTPException) and error.detail == "client disconnected prematurely":
        return Malformed(), ()
    report(error, request_id)
    return CarrelError(), ()


def report(error: BaseException, request_id: str) -> None:
    """Log where an unexpected error happened: its type and places in the code, never its text."""
    logs.error("unexpected-error", kind=type(error).__name__, at=places(error.__traceback__), request_id=request_id)


def _translated(error: HTTPException, request: Request[Any, Any, Any]) -> CarrelError:
    if error.status_code == 404:
        return RouteUnknown()
    if error.status_code == 405:
        return MethodNotAllowed()
    if error.status_code == 413:
        return TooLarge()
    if isinstance(error, ValidationException):
        return BadInput(errors=_faults(error, request))
    return Malformed()


def _faults(error: ValidationException, request: Request[Any, Any, Any]) -> tuple[FieldError, ...]:
    names: Mapping[str, str] = request.route_handler.opt.get(NAMES, {})
    missing = _MISSING.match(error.detail)
    if missing:
        return (FieldError(missing[1], "is required"),)
    found: list[FieldError] = []
    for entry in error.extra if isinstance(error.extra, list) else []:
        # The framework knows a parameter by the name that it has in the function. `data` is the body, whose faults
        # the decoder tells: what arrives here is a request that has none.
        key = str(entry.get("key", ""))
        if key == "data":
            field = request.route_handler.parsed_data_field
            if field is None or not field.is_optional:
                found += faults.of_absence(field.annotation if field is not None else None)
            continue
        # A parameter that is not sent is null; nobody can send null.
        message = str(entry.get("message", "")).replace(" | null`", "`")
        found.append(explain(message, name_of(names.get(key, key))))
    return tuple(found)


def _allow(error: HTTPException) -> tuple[Header, ...]:
    if error.status_code != 405 or not error.headers:
        return ()
    methods = {method.strip() for method in error.headers.get("allow", "").split(",")}
    if "GET" in methods:
        methods.add("HEAD")
    return ((b"allow", ", ".join(sorted(methods)).encode("ascii")),)
