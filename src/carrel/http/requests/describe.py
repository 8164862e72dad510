"""What a route says about itself beyond its signature, for `openapi.json`: `@post("/runs", opt=raises(NotFound))`."""

from typing import Any, Final

from carrel.errors import CarrelError

ERRORS: Final = "carrel.errors"
MEDIA_TYPES: Final = "carrel.media_types"
VERSIONED: Final = "carrel.versioned"
ALSO: Final = "carrel.also"


def raises(*errors: type[CarrelError]) -> dict[str, Any]:
    """The route's `opt`: errors of its own, beside those that follow from its guards, parameters and body."""
    return {ERRORS: errors}


def produces(*media_types: str) -> dict[str, Any]:
    """The route's `opt`: the media types it can answer with, chosen by `Accept`; anything else is 406.

    With other entries: `opt=raises(NotReady) | produces("application/zip")`.
    """
    return {MEDIA_TYPES: media_types}


def versioned() -> dict[str, Any]:
    """The route's `opt`: its answer carries an ETag, though its body names no version."""
    return {VERSIONED: True}


def also(status: int, answer: type) -> dict[str, Any]:
    """The route's `opt`: the status under which it answers with this one of the types that it returns."""
    return {ALSO: (status, answer)}
