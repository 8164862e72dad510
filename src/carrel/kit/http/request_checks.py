"""What is checked between the guards and the reading of a body: query parameters, media type, announced size.

Litestar ignores query parameters that it does not know and takes JSON of any media type. The checks run as the hook
`before_request`, the one place that is after the guards and before any input is read.
"""

from typing import Any, Final
from urllib.parse import parse_qsl

from litestar import Litestar, Request
from litestar.routes import HTTPRoute

from carrel.errors import BadInput, FieldError, TooLarge, UnsupportedMedia
from carrel.kit.http.answer import BINARY
from carrel.kit.http.problem import NAMES, Malformed
from carrel.kit.http.validation import name_of

MULTIPART: Final = "carrel.multipart"
"""`opt={MULTIPART: schema}`: a route that reads its body itself, as multipart/form-data with these fields."""

TAKES: Final = "carrel.takes"
"""`opt={TAKES: "application/zip"}`: a route that reads its body itself, which is of this media type.

`application/octet-stream` is taken as well: programs that are generated from `openapi.json` send that.
"""

_PARAMETERS: Final = "carrel.parameters"
_TAKES_JSON: Final = "carrel.takes_json"
_JSON_TYPES: Final = frozenset({"application/json", "application/json;charset=utf-8"})

_MAX_PARAMETERS: Final = 50


class UnknownParameter(BadInput):
    """A query parameter that the route does not have, or one sent twice."""

    code = "unknown-parameter"
    detail = "There is no such query parameter here, or it was sent twice."


def prepare(app: Litestar) -> None:
    """Note on each route handler what it takes; once, when the application is made."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        for handler, model in route.route_handler_map.values():
            handler.opt[_PARAMETERS] = {
                parameter.field_alias: parameter.is_sequence for parameter in model.expected_query_params
            }
            handler.opt[NAMES] = {
                parameter.field_name: parameter.field_alias
                for parameter in (*model.expected_query_params, *model.expected_header_params)
            }
            handler.opt[_TAKES_JSON] = "data" in handler.parsed_fn_signature.parameters


async def check(request: Request[Any, Any, Any]) -> None:
    """The hook.

    Raises:
        UnknownParameter, UnsupportedMedia, TooLarge, Malformed
    """
    scope = request.scope
    opt = request.route_handler.opt
    if opt[_TAKES_JSON] or MULTIPART in opt or TAKES in opt:
        _check_body(request, multipart=MULTIPART in opt, takes=opt.get(TAKES))
    if scope["query_string"]:
        _check_query(scope["query_string"], opt[_PARAMETERS])


def _check_body(request: Request[Any, Any, Any], *, multipart: bool, takes: str | None) -> None:
    headers = dict(request.scope["headers"])
    length = headers.get(b"content-length")
    if length is not None:
        if not (length.isdigit() and len(length) < 20):
            raise Malformed(detail="The Content-Length header is not a number.")
        limit = request.route_handler.resolve_request_max_body_size()
        if limit is not None and int(length) > limit:
            raise TooLarge
        if length == b"0":
            return
    elif b"transfer-encoding" not in headers:
        return
    kind = headers.get(b"content-type", b"").decode("latin-1").lower().replace(" ", "").replace('"', "")
    if multipart:
        if not kind.startswith("multipart/form-data;"):
            raise UnsupportedMedia(detail="The body must be multipart/form-data.")
    elif takes is not None:
        if kind not in (takes, BINARY):
            raise UnsupportedMedia(detail="The body is not of the media type that this route takes.")
    elif kind not in _JSON_TYPES:
        raise UnsupportedMedia


def _check_query(query: bytes, known: dict[str, bool]) -> None:
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS
        )
    except ValueError:
        raise Malformed(detail="The query string is too long or not valid UTF-8.") from None
    names = [name for name, _ in pairs]
    faults = tuple(
        FieldError(name_of(name), "is not a parameter of this route" if name not in known else "was sent twice")
        for name in dict.fromkeys(names)
        if name not in known or (names.count(name) > 1 and not known[name])
    )
    if faults:
        raise UnknownParameter(errors=faults)
