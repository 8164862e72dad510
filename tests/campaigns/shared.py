"""Workspaces of the largest data, made once for all cases that read them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import httpx

from tests.campaigns.user import User
from tests.support.service import Service


class Shared:
    """What cases have in common while one service runs: the service, and users with what they have stored."""

    def __init__(self, running: Service, clients: ExitStack) -> None:
        self.running = running
        self._clients = clients
        self._made: dict[str, tuple[User, str]] = {}

    def new_user(self) -> User:
        """A user of their own, signed in."""
        client = self._clients.enter_context(httpx.Client(base_url=self.running.url, timeout=600))
        return User.new(client, self.running.plugin_secret, admin_secret=self.running.admin_secret)

    def once(self, name: str, make: Callable[["Shared", User], str]) -> tuple[User, str]:
        """The user whose data `make` has stored, and what it returned, such as the id of a run."""
        if name not in self._made:
            user = self.new_user()
            self._made[name] = (user, make(self, user))
        return self._made[name]


@contextmanager
def sharing(running: Service) -> Iterator[Shared]:
    """For as long as the service runs."""
    with ExitStack() as clients:
        yield Shared(running, clients)
