"""What a route says about itself beyond its signature, for `openapi.json`: `@post("/runs", opt=raises(RunState))`."""

from typing import Any, Final

from carrel.errors import CarrelError

ERRORS: Final = "carrel.errors"
MEDIA_TYPES: Final = "carrel.media_types"


def raises(*errors: type[CarrelError]) -> dict[str, Any]:
    """The route's `opt`: errors of its own, beside those that follow from its guards, parameters and body."""
    return {ERRORS: errors}


def produces(*media_types: str) -> dict[str, Any]:
    """The route's `opt`: the media types it can answer with, chosen by `Accept`; anything else is 406.

    With other entries: `opt=raises(NotReady) | produces("application/zip")`.
    """
    return {MEDIA_TYPES: media_types}
