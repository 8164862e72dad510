"""A host's page with the app in it, a real service behind it, and Debian's Chromium in front."""

import json
import shutil
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ
from pathlib import Path

from carrel_sdk import LOCKED, CarrelError, Host, Workspace
from playwright.async_api import Browser, Playwright

from tests.support.service import Service, free_port

WEB = Path(__file__).parents[2] / "web"
DIST = WEB / "dist"
PASSWORD = "correct horse battery staple"
USER = "ada"


def chromium() -> str | None:
    """The browser: `CHROMIUM` if it is set, else what the system has; none is ever downloaded."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
    return environ.get("CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


def why_not() -> str | None:
    """Why the app cannot be tried in a browser here; None if it can."""
    if chromium() is None:
        return "there is no Chromium: apt-get install chromium-headless-shell, or name one in CHROMIUM"
    if shutil.which("npm") is None and not (DIST / "carrel.js").is_file():
        return "the app is not built and there is no Node to build it: install Node 20.19 or later"
    return None


@asynccontextmanager
async def launched(playwright: Playwright, downloads: Path) -> AsyncIterator[Browser]:
    """The system's Chromium, without a window."""
    browser = await playwright.chromium.launch(
        executable_path=chromium(),
        # Without a graphics card, drawing as if there were one costs a fifth of the time.
        args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
        downloads_path=downloads,
    )
    yield browser
    await browser.close()


class HostSite:
    """A website of one user who is signed in there. Its policy is as strict as the app allows: nothing is inline."""

    def __init__(self, service: Service, host: Host, port: int) -> None:
        self.service = service
        self.host = host
        self.url = f"http://127.0.0.1:{port}"

    @property
    def policy(self) -> str:
        service = self.service.url
        return (
            f"default-src 'none'; script-src 'nonce-once' {service}; style-src {service}; img-src 'self' data:; "
            f"connect-src 'self' {service}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    def page(self) -> bytes:
        carrel = {
            "baseUrl": self.service.url,
            "sessionToken": str(self.host.session(USER)),
            "tokenUrl": "/token",
            "unlockUrl": "/unlock",
            "upgradeUrl": "/upgrade",
        }
        return (
            "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Host</title>"
            "<meta name='viewport' content='width=device-width, initial-scale=1'></head><body><div id='carrel'></div>"
            f"<script nonce='once'>window.carrel = {json.dumps(carrel)}</script>"
            f"<script type='module' src='{self.service.url}/app/carrel.js'></script></body></html>"
        ).encode()

    def token(self, fresh: bool) -> tuple[int, bytes]:
        """Status and JSON: a token, or why there is none."""
        if fresh:
            self.host.forget(USER)
        try:
            token = self.host.session(USER)
        except CarrelError:
            return 503, json.dumps({"code": "service-away"}).encode()
        if token is LOCKED:
            return 401, json.dumps({"code": "key-not-cached"}).encode()
        return 200, json.dumps({"session_token": str(token)}).encode()

    def unlock(self) -> bytes:
        self.host.sign_in(USER, PASSWORD)
        return b"<!doctype html><title>Unlocked</title>Welcome back."


class Deployment:
    """Everything that a test needs: the service, the website, and the user's workspace without a browser."""

    def __init__(self, folder: Path, settings: Mapping[str, str], program: Sequence[str] | None) -> None:
        port = free_port()
        origin = f"http://127.0.0.1:{port}"
        own = {"CARREL_CORS_ORIGINS": origin, "CARREL_APP_DIR": str(DIST)}
        self.service = Service(folder, settings={**own, **settings})
        if program is not None:
            self.service.program = list(program)
        self.port = port

    @cached_property
    def host(self) -> Host:
        return Host(self.service.url, self.service.plugin_secret)

    @cached_property
    def site(self) -> HostSite:
        return HostSite(self.service, self.host, self.port)

    @cached_property
    def workspace(self) -> Workspace:
        return Workspace(self.service.url, lambda: str(self.host.session(USER)))


@contextmanager
def open_deployment(
    folder: Path, settings: Mapping[str, str] | None = None, program: Sequence[str] | None = None
) -> Iterator[Deployment]:
    """Started, with a user who is signed in. Further settings, or another program, are those of `Service`."""
    deployment = Deployment(folder, settings or {}, program)
    deployment.service.start()
    try:
        deployment.host.sign_up(USER, membership="paid")
        deployment.host.sign_in(USER, PASSWORD)
        with _serving(deployment.site):
            yield deployment
        deployment.workspace.close()
        deployment.host.close()
    finally:
        deployment.service.kill()


@contextmanager
def _serving(site: HostSite) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/token":
                self._give_token(fresh=False)
            elif self.path == "/unlock":
                self._answer(site.unlock(), "text/html")
            elif self.path.startswith("/desk"):
                self._answer(site.page(), "text/html", policy=site.policy)
            else:
                self._answer(b"", "text/plain", status=404)

        def do_POST(self) -> None:
            self._give_token(fresh=True)

        def _give_token(self, *, fresh: bool) -> None:
            status, body = site.token(fresh)
            self._answer(body, "application/json", status=status)

        def _answer(self, body: bytes, kind: str, *, status: int = 200, policy: str = "") -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Cache-Control", "no-store")
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", int(site.url.rpartition(":")[2])), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
