"""`/api/openapi.json`, `/api/docs`, a page that shows it without a script and without other servers, and `/`."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from carrel.app import openapi
from carrel.config import Settings
from carrel.http.answers.response import Response
from carrel.http.request import Request
from carrel.http.requests.routing import Router, Routes, get

DESCRIBED: Final = "carrel.described"
"""The key under which the state holds what makes a `ApiDescription`, once."""
STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
code, pre { font: 13px/1.45 ui-monospace, monospace } pre { background: #f4f4f2; padding: .6rem; overflow-x: auto }
summary { cursor: pointer; padding: .3rem 0 } details { border-top: 1px solid #ddd }
details > :not(summary) { margin-left: 1rem } .verb { display: inline-block; width: 4.5rem; font-weight: 600 }
table { border-collapse: collapse } td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0 }
.dim { color: #666 } @media (prefers-color-scheme: dark) {
body { background: #191919; color: #ddd } pre { background: #252525 } details { border-color: #444 }
.dim { color: #999 } a { color: #8bf } }
"""


_FRONT: Final = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Carrel</title>
<style>{STYLE}</style>
<h1>Carrel</h1>
<p>This is a service behind a website. It keeps a private, encrypted workspace for every user, which finds out which
language model and which prompt does a job best.</p>
<p>To use it, sign in on the website that sent you here. With a session token from there, <a href="/app/">the app</a>
opens here as well. Programs: <a href="/api/docs">the interface</a>.</p>
"""


class ApiDescription(NamedTuple):
    """The description of every route, and the page that shows it."""

    document: bytes
    page: bytes


def describe(routes: Routes, settings: Settings) -> ApiDescription:
    """Takes a tenth of a second."""
    return ApiDescription(openapi.text(routes, settings).encode(), _page(openapi.document(routes, settings)).encode())


@get("/openapi.json", include_in_schema=False)
async def read_openapi(request: Request) -> Response[bytes]:
    """The description of every route."""
    return Response(request.state[DESCRIBED]().document)


@get("/docs", include_in_schema=False)
async def read_docs(request: Request) -> Response[bytes]:
    """The same description as a page."""
    return page_of(request.state[DESCRIBED]().page)


@get("/", include_in_schema=False)
async def read_front_page(request: Request) -> Response[bytes]:
    """What this is, for somebody who has only the address."""
    return page_of(_FRONT.encode())


def page_of(body: bytes, more: str = "") -> Response[bytes]:
    """A page in `STYLE`. `more` is what its policy allows besides."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; {more}base-uri 'none'; frame-ancestors 'none'"
    headers = ((b"content-security-policy", policy.encode()), (b"referrer-policy", b"no-referrer"))
    return Response(body, media_type="text/html", headers=headers)


def _page(document: dict[str, Any]) -> str:
    # Imported here, because most services never show this page and start faster without templates.
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(Path(__file__).with_name("docs.html").read_text(encoding="utf-8"))
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in sorted(document["paths"].items()):
        for method, operation in methods.items():
            entry = {"method": method.upper(), "path": path, **operation}
            groups.setdefault((operation["tags"] or ["other"])[0], []).append(entry)
    return template.render(
        info=document["info"],
        style=STYLE,
        groups=sorted(groups.items()),
        schemas=sorted(document["components"]["schemas"].items()),
        schemes=document["components"]["securitySchemes"],
        pretty=lambda value: json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False),
    )


router = Router("/", route_handlers=[read_openapi, read_docs])
front_router = Router("/", route_handlers=[read_front_page])
