"""Requests of several users while a service is replaced: over old connections and new ones, reads and writes."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import httpx

from tests.support.host import key_of
from tests.support.tls import trusting

_EACH = 12
"""Requests over one connection, before the next one is opened."""


class Asked(Protocol):
    """Whom to ask, as `Service` and `Front` are."""

    @property
    def url(self) -> str: ...
    @property
    def plugin_secret(self) -> str: ...
    @property
    def certificate(self) -> Path | None: ...


class Front(NamedTuple):
    """A proxy in front of services."""

    url: str
    plugin_secret: str
    certificate: Path | None = None


@dataclass
class SteadyLoad:
    """What was asked and answered so far. `failures` is what nobody should notice, and stays empty."""

    service: Asked
    sessions: dict[str, dict[str, str]]
    answered: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    longest_seconds: float = 0.0
    """The longest time between a request and its answer."""
    over: threading.Event = field(default_factory=threading.Event)

    def work(self, uuid: str) -> None:
        """Read, write, and ask for a fresh token as the host does, until it is over."""
        session = self.sessions[uuid]
        plugin = {"X-SVC-Plugin-Secret": self.service.plugin_secret}
        while not self.over.is_set():
            with httpx.Client(base_url=f"{self.service.url}/api", timeout=60) as client:
                for number in range(_EACH):
                    if self.over.is_set():
                        break
                    self._ask(uuid, client, "GET", "/users/me", 200, headers=session)
                    text = {"name": f"{self.written[uuid]}", "type": "fragment", "body": "A text."}
                    if self._ask(uuid, client, "POST", "/contents", 201, headers=session, json=text):
                        self.written[uuid] += 1
                    if number == 0:
                        self._ask(uuid, client, "POST", "/auth/refresh", 200, headers=plugin, json={"uuid": uuid})

    def _ask(
        self, uuid: str, client: httpx.Client, method: str, path: str, status: int, **request: dict[str, str]
    ) -> bool:
        began = time.monotonic()
        try:
            answer = client.request(method, path, **request)  # type: ignore[arg-type]  # headers and a body
            said = "" if answer.status_code == status else f"{answer.status_code} {answer.text}"
        except httpx.HTTPError as error:
            said = repr(error)
        self.longest_seconds = max(self.longest_seconds, time.monotonic() - began)
        self.answered[uuid] += 1
        if said:
            self.failures.append(f"{uuid}: {method} {path}: {said}")
        return not said

    def go_on(self, requests: int = 10) -> None:
        """Return when each user has had so many more answers."""
        goal = {uuid: self.answered[uuid] + requests for uuid in self.sessions}
        deadline = time.monotonic() + 60
        while any(self.answered[uuid] < goal[uuid] for uuid in goal):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def all_written(self) -> bool:
        """Whether every text whose writing was acknowledged is there, once."""
        with httpx.Client(base_url=f"{self.service.url}/api", timeout=60) as client:
            for uuid, session in self.sessions.items():
                names, cursor = [], ""
                while True:
                    page = client.get(f"/contents?limit=200&type=fragment{cursor}", headers=session).json()
                    names += [item["name"] for item in page["items"]]
                    if page["next_cursor"] is None:
                        break
                    cursor = f"&cursor={page['next_cursor']}"
                if sorted(map(int, names)) != list(range(self.written[uuid])):
                    return False
        return True


def sign_in(service: Asked, uuid: str) -> dict[str, str]:
    """A paying user, created if need be; the header of the session."""
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    verify = trusting() if service.certificate else True
    with httpx.Client(base_url=f"{service.url}/api", timeout=60, headers=plugin, verify=verify) as client:
        client.post("/users", json={"uuid": uuid, "membership": "paid"})
        answer = client.post("/auth/login", json={"uuid": uuid, "db_key_hex": key_of(uuid)})
        assert answer.status_code == 200, answer.text
        return {"X-SVC-Session-Token": answer.json()["session_token"]}


@contextmanager
def at_work(work: Callable[[str], None], users: Iterable[str], over: threading.Event) -> Iterator[None]:
    """Each user's work goes on in a thread during the block; `over` ends it."""
    threads = [threading.Thread(target=work, args=(uuid,)) for uuid in users]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@contextmanager
def steady_load(service: Asked, *users: str) -> Iterator[SteadyLoad]:
    """The users sign in once, and ask during the block."""
    load = SteadyLoad(service, {uuid: sign_in(service, uuid) for uuid in users})
    with at_work(load.work, users, load.over):
        yield load
