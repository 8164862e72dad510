"""`/app/`: the built files of the browser app, sent as they are. They hold no data, so they are open to everybody.

A host's page loads `/app/carrel.js` with a script tag, and that loads the rest. `/app/` itself is a page for users
without a host: it asks for a session token.
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from carrel.http.answers import accept
from carrel.http.answers.response import Header, Response
from carrel.http.request import Request
from carrel.http.requests.routing import Router, RouteUnknown, get

ENTRY: Final = "carrel.js"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_PAGE: Final = "index.html"
_TYPES: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".woff2": "font/woff2",
}
_HASHED: Final = "assets/"
_FOREVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")
_ASK_AGAIN: Final = (b"cache-control", b"no-cache")
_PAGE_HEADERS: Final[tuple[Header, ...]] = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
)
# Other origins load the files too; a page that isolates itself could not without this.
_SHARED: Final = (b"cross-origin-resource-policy", b"cross-origin")


class _File(NamedTuple):
    body: bytes
    media_type: str
    digest: str
    headers: tuple[Header, ...]


def browser_routes(folder: Path | None) -> list[Router]:
    """The route, if a folder is named and the files are there."""
    if folder is None or not (folder / ENTRY).is_file():
        return []
    return [BrowserFiles(folder).router()]


class BrowserFiles:
    """The files in `folder`, by name, so that no request can ask for another file.

    All files are read at once: a later build replaces them, and pages of this build would miss their parts.
    """

    def __init__(self, folder: Path) -> None:
        paths = [path for path in folder.rglob("*") if path.suffix in _TYPES]
        self._files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        self._file = cache(self._described)
        self._packed = cache(self._compressed)

    def router(self) -> Router:
        """`/app/` and everything beneath it."""

        @get("/", include_in_schema=False)
        async def read_page(request: Request) -> Response[bytes]:
            return self._answer(_PAGE, request)

        @get("/{name:path}", include_in_schema=False)
        async def read_file(request: Request, name: str) -> Response[bytes]:
            return self._answer(name, request)

        return Router("/app", route_handlers=[read_page, read_file])

    def _answer(self, name: str, request: Request) -> Response[bytes]:
        if name not in self._files:
            raise RouteUnknown
        file = self._file(name)
        if accept.takes_gzip(request.header(b"accept-encoding")):
            headers = (*file.headers, (b"content-encoding", b"gzip"))
            tag = f'"{file.digest}.gzip"'
            return Response(self._packed(name), media_type=file.media_type, etag=tag, headers=headers)
        return Response(file.body, media_type=file.media_type, etag=f'"{file.digest}"', headers=file.headers)

    def _described(self, name: str) -> _File:
        body = self._files[name]
        suffix = Path(name).suffix
        caching = _FOREVER if name.startswith(_HASHED) else _ASK_AGAIN
        headers: tuple[Header, ...] = (caching, _SHARED, (b"vary", b"Accept-Encoding"))
        if suffix == ".html":
            headers += _PAGE_HEADERS
        return _File(body, _TYPES[suffix], hashlib.sha256(body).hexdigest()[:32], headers)

    def _compressed(self, name: str) -> bytes:
        return gzip.compress(self._files[name], mtime=0)
