"""A member who attacks the service, over HTTP."""

import itertools
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

if TYPE_CHECKING:
    from tests.campaigns.shared import Shared

Json = dict[str, Any]
_numbers = itertools.count(1)


class Request(NamedTuple):
    """A request of a signed-in user. `path` is without `/api`."""

    method: str
    path: str
    json: object = None
    content: bytes | None = None
    headers: Mapping[str, str] = {}
    until: str | None = None
    """Asked for again and again after the answer, until it is no longer 409."""

    @property
    def is_foreign(self) -> bool:
        """Whether somebody else than the user sends it, with a secret."""
        return any(name.endswith("-Secret") for name in self.headers)


class User:
    """One user, signed in."""

    def __init__(self, client: httpx.Client, session: dict[str, str]) -> None:
        self.client = client
        self.session = session
        self.last_code = ""
        self.shared: Shared | None = None
        """What this user's cases have in common with others'."""
        self.uuid = self.key = ""
        self.plugin: dict[str, str] = {}
        self.admin: dict[str, str] = {}

    @classmethod
    def new(cls, client: httpx.Client, plugin_secret: str, name: str = "attacker", admin_secret: str = "") -> "User":
        """Create a user with paid membership and sign in."""
        uuid = f"{name}-{next(_numbers)}"
        plugin = {"X-SVC-Plugin-Secret": plugin_secret}
        made = client.post("/api/users", json={"uuid": uuid, "membership": "paid"}, headers=plugin)
        assert made.status_code == 201, made.text
        user = cls(client, {})
        user.uuid, user.key = uuid, secrets.token_hex(32)
        user.plugin, user.admin = plugin, {"X-SVC-Admin-Secret": admin_secret}
        user.sign_in()
        return user

    def sign_in(self) -> None:
        """Begin a session, as the host website does."""
        login = {"uuid": self.uuid, "db_key_hex": self.key}
        answer = self.client.post("/api/auth/login", json=login, headers=self.plugin)
        assert answer.status_code == 200, answer.text
        self.session = {"X-SVC-Session-Token": answer.json()["session_token"]}

    def is_signed_in(self) -> bool:
        """Whether the session goes on: some requests end it, or the user."""
        return self.status("/users/me") == 200

    @contextmanager
    def open(self, request: Request) -> Iterator[httpx.Response]:
        """Send the request; the answer's body is still to be read."""
        body: Json = {"content": request.content} if request.content is not None else {}
        if request.json is not None:
            body = {"json": request.json}
        # The host's and the operator's requests are not the user's.
        headers = request.headers if request.is_foreign else {**self.session, **request.headers}
        with self.client.stream(request.method, f"/api{request.path}", headers=headers, **body) as answer:
            if answer.status_code >= 400:
                answer.read()
                self.last_code = answer.json()["code"]
            yield answer

    def get(self, path: str) -> Any:
        """What a GET returns."""
        return self._good(self.client.get(f"/api{path}", headers=self.session))

    def status(self, path: str) -> int:
        """The status that a GET returns."""
        return self.client.get(f"/api{path}", headers=self.session).status_code

    def post(self, path: str, body: object) -> Any:
        """What a POST returns."""
        body_of: Json = {} if body is None else {"json": body}
        return self._good(self.client.post(f"/api{path}", headers=self.session, **body_of))

    def content(self, kind: str, body: str, variables: Mapping[str, str | None] | None = None, **more: object) -> str:
        """Save a content; its id."""
        made = self.post("/contents", {"name": kind, "type": kind, "body": body, "variables": variables or {}, **more})
        return str(made["id"])

    def _good(self, answer: httpx.Response) -> Any:
        assert answer.status_code < 300, answer.text
        return answer.json()
