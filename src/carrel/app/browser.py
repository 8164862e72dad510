"""`/app/`: the built files of the browser app, handed out as they are. Open to everybody, for they hold nothing.

A host's page loads `/app/carrel.js` by a script tag, and that loads the rest. `/app/` itself is a page for whoever has
no host: it asks for a session token.
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from litestar import Request, Router, get
from litestar.datastructures import State
from litestar.params import FromPath

from carrel.kit.answer import Answer, Header
from carrel.kit.problem import RouteUnknown

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
    packed: bytes
    media_type: str
    digest: str
    headers: tuple[Header, ...]


def browser_routers(folder: Path | None) -> list[Router]:
    """The route, if a folder is named and the files are there."""
    files = BrowserFiles(folder) if folder is not None else None
    return [files.router()] if files is not None and files.names else []


class BrowserFiles:
    """What is in `folder` now, by name, so that no request can ask for anything else.

    A file is read when it is first sent.
    """

    def __init__(self, folder: Path) -> None:
        there = folder.rglob("*") if (folder / ENTRY).is_file() else ()
        self.names = {path.relative_to(folder).as_posix(): path for path in there if path.suffix in _TYPES}
        self._read = cache(_read)

    def router(self) -> Router:
        """`/app/` and everything beneath it."""

        @get("/", include_in_schema=False)
        async def read_page(request: Request[None, None, State]) -> Answer[bytes]:
            return self._answer(_PAGE, request)

        @get("/{name:path}", include_in_schema=False)
        async def read_file(request: Request[None, None, State], name: FromPath[str]) -> Answer[bytes]:
            return self._answer(name.strip("/"), request)

        return Router("/app", route_handlers=[read_page, read_file])

    def _answer(self, name: str, request: Request[None, None, State]) -> Answer[bytes]:
        path = self.names.get(name)
        if path is None:
            raise RouteUnknown
        file = self._read(path, name)
        headers = dict(request.scope["headers"])
        if b"gzip" in headers.get(b"accept-encoding", b""):
            packed = (*file.headers, (b"content-encoding", b"gzip"))
            return Answer(file.packed, media_type=file.media_type, etag=f'"{file.digest}.gzip"', headers=packed)
        return Answer(file.body, media_type=file.media_type, etag=f'"{file.digest}"', headers=file.headers)


def _read(path: Path, name: str) -> _File:
    body = path.read_bytes()
    headers: tuple[Header, ...] = (
        _FOREVER if name.startswith(_HASHED) else _ASK_AGAIN,
        _SHARED,
        (b"vary", b"Accept-Encoding"),
    )
    if path.suffix == ".html":
        headers += _PAGE_HEADERS
    digest = hashlib.sha256(body).hexdigest()[:32]
    return _File(body, gzip.compress(body, mtime=0), _TYPES[path.suffix], digest, headers)
