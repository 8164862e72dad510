"""What is checked between the guards and the reading of a body: query parameters, media type, announced size.

Litestar ignores query parameters that it does not know and bodies that a route does not take, reads the text `null` as
null, and takes JSON of any media type. The checks run as the hook `before_request`, the one place that is after the
guards and before any input is read.
"""

from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import msgspec
from litestar import Litestar, Request
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import ReceiveMessage

from carrel.errors import BadInput, FieldError, TooLarge, UnsupportedMedia
from carrel.kit.http.answer import BINARY, Answer
from carrel.kit.http.in_flight import passage_of
from carrel.kit.http.problem import NAMES, Malformed
from carrel.kit.http.validation import name_of

MULTIPART: Final = "carrel.multipart"
"""`opt={MULTIPART: schema}`: a route that reads its body itself, as multipart/form-data with these fields."""

TAKES: Final = "carrel.takes"
"""`opt={TAKES: "application/zip"}`: a route that reads its body itself, which is of this media type.

`application/octet-stream` is taken as well: programs that are generated from `openapi.json` send that.
"""

_PARAMETERS: Final = "carrel.parameters"
_NULLABLE: Final = "carrel.nullable"
_TAKES_JSON: Final = "carrel.takes_json"
_METHODS: Final = "carrel.methods"
_JSON_TYPES: Final = frozenset({"application/json", "application/json;charset=utf-8"})

_MAX_PARAMETERS: Final = 50


class UnknownParameter(BadInput):
    """A query parameter that the route does not have, or one sent twice."""

    code = "unknown-parameter"
    detail = "There is no such query parameter here, or it was sent twice."


class UnexpectedBody(BadInput):
    """A body was sent to a route that takes none."""

    code = "unexpected-body"
    detail = "This route takes no body."

    def __init__(self) -> None:
        super().__init__(errors=(FieldError("", "no body is taken here"),))


def prepare(app: Litestar) -> None:
    """Note on each route handler what it takes; once, when the application is made."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        methods = {*route.route_handler_map, *({"HEAD"} if "GET" in route.route_handler_map else ())}
        for handler, model in route.route_handler_map.values():
            handler.opt[_METHODS] = ", ".join(sorted(methods)).encode("ascii")
            handler.opt[_PARAMETERS] = {
                parameter.field_alias: parameter.is_sequence for parameter in model.expected_query_params
            }
            annotations = _annotations(handler)
            handler.opt[_NULLABLE] = frozenset(
                parameter.field_alias
                for parameter in model.expected_query_params
                if _reads_null(annotations[parameter.field_name])
            )
            handler.opt[NAMES] = {
                parameter.field_name: parameter.field_alias
                for parameter in (*model.expected_query_params, *model.expected_header_params)
            }
            handler.opt[_TAKES_JSON] = "data" in handler.parsed_fn_signature.parameters


async def check(request: Request[Any, Any, Any]) -> Answer[None] | None:
    """The hook. It answers `OPTIONS` itself: the framework's own answer forgets methods.

    Raises:
        UnknownParameter, UnexpectedBody, UnsupportedMedia, TooLarge, Malformed
    """
    scope = request.scope
    opt = request.route_handler.opt
    headers = dict(scope["headers"])
    if _announces_body(request, headers):
        if opt[_TAKES_JSON] or MULTIPART in opt or TAKES in opt:
            _check_media_type(headers, multipart=MULTIPART in opt, takes=opt.get(TAKES))
            if opt[_TAKES_JSON]:
                _count_body(request, headers)
        else:
            await _refuse_body(request, headers)
    if scope["query_string"]:
        scope["query_string"] = _checked_query(scope["query_string"], opt[_PARAMETERS], opt[_NULLABLE])
    if scope["method"] == "OPTIONS":
        return Answer(None, status_code=204, headers=((b"allow", opt[_METHODS]),))
    return None


def _annotations(handler: HTTPRouteHandler) -> dict[str, Any]:
    """The types of the parameters by their names in the functions, those of dependencies included."""
    found: dict[str, Any] = {}
    for provide in handler.resolve_dependencies().values():
        found |= provide.signature_model.__annotations__
    return found | handler.signature_model.__annotations__


def _reads_null(annotation: Any) -> bool:
    """Whether the framework reads the text `null` as a null of this type."""
    try:
        return msgspec.convert("null", annotation, strict=False) is None
    except msgspec.ValidationError:
        return False


def _announces_body(request: Request[Any, Any, Any], headers: dict[bytes, bytes]) -> bool:
    """Whether a body follows, of a size that the route takes; one without a length is counted while it is read."""
    length = headers.get(b"content-length")
    if length is None:
        return b"transfer-encoding" in headers
    if not (length.isdigit() and len(length) < 20):
        raise Malformed(detail="The Content-Length header is not a number.")
    limit = request.route_handler.resolve_request_max_body_size()
    if limit is not None and int(length) > limit:
        raise TooLarge
    return int(length) > 0


def _count_body(request: Request[Any, Any, Any], headers: dict[bytes, bytes]) -> None:
    """Count a body that is read into memory whole; one without a length as the longest that may come."""
    passage = passage_of(request.scope)
    if passage is not None:
        length = headers.get(b"content-length")
        most = request.route_handler.resolve_request_max_body_size() or 0
        passage.receive(most if length is None else int(length))


async def _refuse_body(request: Request[Any, Any, Any], headers: dict[bytes, bytes]) -> None:
    """Refuse a body, unless it is one without a length that turns out to be empty."""
    if b"content-length" in headers:
        raise UnexpectedBody
    more = True
    while more:
        message = await request.receive()
        if message["type"] != "http.request":
            return
        if message["body"]:
            raise UnexpectedBody
        more = message["more_body"]
    # Whoever reads the body finds the end that was taken here, and then what follows it.
    receive, ends = request.receive, [message]

    async def receive_again() -> ReceiveMessage:
        return ends.pop() if ends else await receive()

    request.receive = receive_again


def _check_media_type(headers: dict[bytes, bytes], *, multipart: bool, takes: str | None) -> None:
    kind = headers.get(b"content-type", b"").decode("latin-1").lower().replace(" ", "").replace('"', "")
    if multipart:
        if not kind.startswith("multipart/form-data;"):
            raise UnsupportedMedia(detail="The body must be multipart/form-data.")
    elif takes is not None:
        if kind not in (takes, BINARY):
            raise UnsupportedMedia(detail="The body is not of the media type that this route takes.")
    elif kind not in _JSON_TYPES:
        raise UnsupportedMedia


def _checked_query(query: bytes, known: dict[str, bool], nullable: frozenset[str]) -> bytes:
    """The query string as the framework may read it."""
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
    if not any(name in nullable and value.lower() == "null" for name, value in pairs):
        return query
    # Nobody can send null. An empty value is none either, and the framework refuses that with the faults of the others.
    return urlencode(
        [(name, "" if name in nullable and value.lower() == "null" else value) for name, value in pairs]
    ).encode("ascii")
