"""The demo website as tests see it: a browser that fills in forms, and a wire to the service that breaks on demand."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx
from argon2 import PasswordHasher
from litestar import Litestar

from carrel_website import users
from carrel_website.app import create_site
from carrel_website.site import Site, SiteConfig
from tests.support.service import Service

ORIGIN = "http://127.0.0.1:8410"
FIRST = "the first pass word"
SECOND = "the second pass word"
THIRD = "the third pass word"
_TOKEN = re.compile(r'name="form_token" value="(\w+)"')
_QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Wire(httpx.BaseTransport):
    """The network between website and service. Faults are planned by path, and each happens once."""

    def __init__(self) -> None:
        # All of it is plain HTTP on this machine; reading the certificates of the world takes longer than most tests.
        self._network = httpx.HTTPTransport(verify=False)
        self._plans: list[tuple[str, str]] = []
        self._lock = threading.Lock()
        self.paths: list[str] = []
        self.down = False
        self.released = threading.Event()
        self.at_loss: Callable[[], None] | None = None
        """Happens in the service between the two: after it has answered, and before the website has noticed."""

    def plan(self, fault: str, path: str) -> None:
        """`lose` delivers and loses the answer; `refuse` does not connect; `garble` answers like a proxy.

        `pass` lets it through, for what is planned after it; `hold` lets it through when `released` is set.
        """
        self._plans.append((path, fault))

    def forget_plans(self) -> None:
        self._plans.clear()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api")
        with self._lock:
            self.paths.append(path)
            fault = next((fault for planned, fault in self._plans if planned == path), None)
            if fault is not None:
                self._plans.remove((path, fault))
        if self.down or fault == "refuse":
            raise httpx.ConnectError("refused", request=request)
        if fault == "garble":
            return httpx.Response(502, text="<h1>Bad gateway</h1>", request=request)
        if fault == "hold":
            self.released.wait(60)
        response = self._network.handle_request(request)
        if fault == "lose":
            response.read()
            if self.at_loss is not None:
                self.at_loss()
            raise httpx.ReadError("broken off", request=request)
        return response

    def close(self) -> None:
        # Every client of the website shares this one; the test ends it.
        pass

    def hang_up(self) -> None:
        self._network.close()


@dataclass
class HostClock:
    """The website's own clock; the service keeps real time."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Website:
    """The website over one folder; `restart` makes a new process's worth of it."""

    folder: Path
    service: Service
    wire: Wire = field(default_factory=Wire)
    clock: HostClock = field(default_factory=HostClock)
    origin: str = ORIGIN

    def __post_init__(self) -> None:
        self.app: Litestar = self._made()

    @property
    def site(self) -> Site:
        site: Site = self.app.state.site
        return site

    def restart(self) -> None:
        """All that stays is what is on the disk."""
        self.site.host.close()
        self.app = self._made()

    def browser(self) -> "Browser":
        return Browser(self)

    def user(self, email: str) -> users.User:
        """What the website knows."""
        with self.site.database.begin() as conn:
            user = users.by_email(conn, email)
        assert user is not None
        return user

    def lock(self, email: str) -> None:
        """The key leaves the service's memory, as at a restart, by a quicker way: a wrong key at the door."""
        refused = httpx.post(
            f"{self.service.url}/api/auth/login",
            json={"uuid": self.user(email).uuid, "db_key_hex": "00" * 32},
            headers={"X-SVC-Plugin-Secret": self.service.plugin_secret},
            verify=False,
            timeout=60,
        )
        assert refused.json()["code"] == "key-rejected"

    def letter(self) -> str:
        """The path in the letter that was sent last."""
        (newest,) = self.site.outbox.folder.iterdir()
        text = newest.read_text()
        newest.unlink()
        (path,) = re.findall(rf"{re.escape(self.origin)}(/reset/\S+)", text)
        return str(path)

    def _made(self) -> Litestar:
        config = SiteConfig(
            origins=(self.origin,),
            service_url=self.service.url,
            plugin_secret=self.service.plugin_secret,
            folder=self.folder,
            app_folder=self.folder / "app",
            hasher=_QUICK,
            http=self.wire,
            clock=self.clock,
            seconds=self.clock,
        )
        return create_site(config)


class Browser:
    """One person's browser: cookies, forms, no redirects unless asked for."""

    def __init__(self, website: Website) -> None:
        self._website = website
        self.email = f"reader-{uuid4().hex[:12]}@example.org"
        self.cookies = httpx.Cookies()
        self.address = "127.0.0.1"

    @property
    def service_url(self) -> str:
        return self._website.service.url

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self._send("GET", path, headers=headers)

    async def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        """As a form, with whatever token the fields hold."""
        return await self._send("POST", path, data=fields, headers=headers)

    async def submit(self, path: str, fields: dict[str, str], at: str | None = None) -> httpx.Response:
        """Open the page with the form (at `at`, if it is another), fill it in and send it."""
        opened = await self.get(at or path)
        token = _TOKEN.search(opened.text)
        assert token is not None, f"{at or path}: {opened.status_code} {opened.headers.get('location')}"
        return await self.post(path, fields | {"form_token": token[1]})

    async def sign_up(self, password: str = FIRST, **fields: str) -> httpx.Response:
        sent = {"email": self.email, "password": password, "repeated": password}
        return await self.submit("/sign-up", sent | fields)

    async def sign_in(self, password: str = FIRST, **fields: str) -> httpx.Response:
        return await self.submit("/sign-in", {"email": self.email, "password": password} | fields)

    async def change(self, old: str, new: str) -> httpx.Response:
        return await self.submit("/account/password", {"old": old, "password": new, "repeated": new})

    async def forgotten(self) -> str:
        """Ask for a letter; the path in it."""
        await self.submit("/forgotten", {"email": self.email})
        return self._website.letter()

    async def token(self) -> str:
        """The session token that the website gives the app."""
        answer = await self.get("/token")
        assert answer.status_code == 200, answer.text
        return str(answer.json()["session_token"])

    async def write_note(self) -> None:
        """Put something in the workspace."""
        note = {"name": "Note", "type": "fragment", "body": "kept through everything"}
        async with httpx.AsyncClient(verify=False, base_url=self.service_url, timeout=60) as service:
            answer = await service.post("/api/contents", json=note, headers={"X-SVC-Session-Token": await self.token()})
        assert answer.status_code == 201, answer.text

    async def uuid(self) -> str:
        """The signed-in user's uuid, from the service."""
        async with httpx.AsyncClient(verify=False, base_url=self._website.service.url, timeout=60) as service:
            me = await service.get("/api/users/me", headers={"X-SVC-Session-Token": await self.token()})
        assert me.status_code == 200, me.text
        return str(me.json()["uuid"])

    async def _send(self, method: str, path: str, **arguments: object) -> httpx.Response:
        # Of the running application, which a restart replaces.
        transport = httpx.ASGITransport(self._website.app, client=(self.address, 50_000))  # type: ignore[arg-type]
        client = httpx.AsyncClient(transport=transport, base_url=self._website.origin, cookies=self.cookies)
        async with client:
            answer = await client.request(method, path, **arguments)  # type: ignore[arg-type]
            self.cookies = client.cookies
        return answer
