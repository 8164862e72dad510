"""Which pages may call the API from a browser: the origins that the operator named, with the headers they need."""

from carrel.errors import Forbidden
from carrel.http.answers.response import Header

REQUEST_HEADERS = (
    "X-SVC-Session-Token",
    "Content-Type",
    "If-Match",
    "If-None-Match",
    "Idempotency-Key",
    "Last-Event-ID",
)
"""The headers that a page may send. The plugin secret and the admin secret never belong in a browser."""

EXPOSED_HEADERS = ("ETag", "Retry-After", "X-Request-ID")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
_MAX_AGE_SECONDS = 600

_SIMPLE = frozenset({"accept", "accept-language", "content-language"})
_ALLOWED = frozenset(name.lower() for name in REQUEST_HEADERS) | _SIMPLE


class OriginRefused(Forbidden):
    """A preflight from a page that the operator did not name, or for a header or method that pages may not use."""

    code = "cors-refused"
    detail = "Pages of this origin may not send this request."


class Cors:
    """The headers for `origins`, computed once."""

    def __init__(self, origins: tuple[str, ...]) -> None:
        self._answers = {origin.encode("ascii"): _answer_headers(origin) for origin in origins}
        self.any = bool(origins)

    def answer_headers(self, origin: bytes) -> list[Header]:
        """The headers for answers to this origin; a foreign origin gets none, so its page cannot read the answer."""
        return self._answers.get(origin, [])

    def preflight(self, origin: bytes, method: bytes, headers: bytes) -> list[Header]:
        """The headers that answer a permitted preflight.

        Raises:
            OriginRefused: the origin, the method or a header is not permitted.
        """
        wanted = {name.strip().lower() for name in headers.decode("latin-1").split(",") if name.strip()}
        if origin not in self._answers or method.decode("latin-1") not in METHODS or not wanted <= _ALLOWED:
            raise OriginRefused
        return [
            (b"access-control-allow-methods", ", ".join(METHODS).encode("ascii")),
            (b"access-control-allow-headers", ", ".join(REQUEST_HEADERS).encode("ascii")),
            (b"access-control-max-age", b"%d" % _MAX_AGE_SECONDS),
        ]


def _answer_headers(origin: str) -> list[Header]:
    return [
        (b"access-control-allow-origin", origin.encode("ascii")),
        (b"access-control-expose-headers", ", ".join(EXPOSED_HEADERS).encode("ascii")),
    ]
