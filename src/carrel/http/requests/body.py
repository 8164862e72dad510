"""Bodies of requests: what is checked before one is read, and how it is decoded, strictly and in one step."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

from carrel.errors import BadInput, FieldError, Malformed, TooLarge, UnsupportedMedia
from carrel.http.answers.response import BINARY
from carrel.http.in_flight import passage_of
from carrel.http.request import Request
from carrel.http.requests import faults as search
from carrel.http.requests.limits import Check, compiled, told
from carrel.http.requests.schema import Hidden, In
from carrel.http.requests.validation import explain
from carrel.kit import json_elements
from carrel.kit.plain_text import names_nul
from carrel.kit.sqlite.database import wipe

MULTIPART: Final = "carrel.multipart"
"""`opt={MULTIPART: schema}`: a route that reads its body itself, as multipart/form-data with these fields."""
TAKES: Final = "carrel.takes"
"""`opt={TAKES: "application/zip"}`: a route that reads its body itself, which is of this media type.

`application/octet-stream` is taken as well: programs that are generated from `openapi.json` send that.
"""
LIMITS: Final = "carrel.limits"
"""The key under which the state holds the settings that limit inputs."""
AS_SET: Final = -1
"""A route takes bodies as long as the setting `max_json_bytes` says."""
_JSON_TYPES: Final = frozenset({"application/json", "application/json;charset=utf-8"})
_NOTHING_BYTES: Final = 64
"""So long may a body be that says nothing, `{}`, where a route takes none."""


class UnexpectedBody(BadInput):
    """A body was sent to a route that takes none."""

    code = "unexpected-body"
    detail = "This route takes no body."

    def __init__(self) -> None:
        super().__init__(errors=(FieldError("", "no body is taken here"),))


async def expect(request: Request, *, takes_json: bool) -> bool:
    """Check the body that a request announces before anything of it is read; whether there may be one.

    Raises:
        TooLarge, UnsupportedMedia, UnexpectedBody, Malformed
    """
    headers = dict(request.scope["headers"])
    length = headers.get(b"content-length")
    if length is None and b"transfer-encoding" not in headers:
        return False
    if length is not None:
        if not (length.isdigit() and len(length) < 20):
            raise Malformed(detail="The Content-Length header is not a number.")
        if request.max_body_bytes is not None and int(length) > request.max_body_bytes:
            raise TooLarge
        if not int(length):
            return False
    if not takes_json and MULTIPART not in request.opt and TAKES not in request.opt:
        await _refuse(request, length)
        return False
    _check_media_type(headers, request.opt, takes_json=takes_json)
    passage = passage_of(request.scope)
    if takes_json and passage is not None:
        # One without a length counts as the longest that may come.
        passage.receive(int(length) if length is not None else request.max_body_bytes or 0)
    return True


async def _refuse(request: Request, length: bytes | None) -> None:
    """Refuse a body that says something."""
    if length is not None and int(length) > _NOTHING_BYTES:
        raise UnexpectedBody
    said = b""
    async for piece in request.stream():
        said += piece
        if len(said) > _NOTHING_BYTES:
            raise UnexpectedBody
    if said.split() not in ([], [b"{}"]):
        raise UnexpectedBody


def _check_media_type(headers: Mapping[bytes, bytes], opt: Mapping[str, Any], *, takes_json: bool) -> None:
    kind = headers.get(b"content-type", b"").decode("latin-1").lower().replace(" ", "").replace('"', "")
    if takes_json:
        if kind not in _JSON_TYPES:
            raise UnsupportedMedia
    elif MULTIPART in opt:
        if not kind.startswith("multipart/form-data;"):
            raise UnsupportedMedia(detail="The body must be multipart/form-data.")
    elif kind not in (opt[TAKES], BINARY):
        raise UnsupportedMedia(detail="The body is not of the media type that this route takes.")


async def read(request: Request, annotation: Any, default: Any, has_body: bool, found: list[FieldError]) -> Any:
    """The body as `annotation`. Without one: `default`, or what `{}` is if no field has to be sent.

    Faults are appended to `found`.

    Raises:
        TooLarge, Malformed
    """
    value = await request.body() if has_body else b""
    if not value:
        if default is None:
            return None
        if any(is_all_optional(member) for member in search.members(annotation)):
            value = b"{}"
        else:
            found += search.of_absence(annotation)
            return None
    try:
        return decode(value, annotation, request.state[LIMITS])
    except BadInput as fault:
        if isinstance(fault, Malformed):
            raise
        found += fault.errors
        return None
    finally:
        if isinstance(annotation, type) and issubclass(annotation, Hidden):
            # No later request may be of that length, and until then it would lie about in free memory.
            wipe(value)


def decode(value: bytes, annotation: Any, limits: object) -> Any:
    """`value` as `annotation`, within `limits`.

    Raises:
        BadInput: it has more elements than its type allows; or naming every fault, up to a bound, or else every limit
            that is exceeded.
    """
    most = _most_elements(annotation)
    if json_elements.are_more_than(most, value):
        raise BadInput.at("", f"must have at most {most:,} elements")
    try:
        data = _decoder(annotation).decode(value)
        if names_nul(value):
            raise BadInput(errors=search.of_characters(data))
    except msgspec.ValidationError as error:
        raise BadInput(errors=search.of_body(value, annotation, limits, explain(str(error)))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # RecursionError: arrays nested a hundred thousand deep.
        raise Malformed(detail="The body is not valid JSON.") from None
    found: list[FieldError] = []
    check = _check(annotation)
    if check is not None:
        check(data, "", limits, found)
    if found:
        raise BadInput(errors=told(found))
    return data


def prepare(annotation: Any) -> None:
    """Make what decodes `annotation` now, so that a type that cannot be decoded fails at start."""
    _decoder(annotation)
    _check(annotation)
    _most_elements(annotation)


def is_all_optional(annotation: Any) -> bool:
    """Whether `annotation` is a struct of which no field has to be sent."""
    is_struct = isinstance(annotation, type) and issubclass(annotation, msgspec.Struct)
    return is_struct and not any(field.required for field in msgspec.structs.fields(annotation))


@cache
def _most_elements(annotation: Any) -> int:
    return max(getattr(member, "MAX_ELEMENTS", In.MAX_ELEMENTS) for member in search.members(annotation))


@cache
def _decoder(annotation: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(annotation)


@cache
def _check(annotation: Any) -> Check | None:
    return compiled(annotation)
