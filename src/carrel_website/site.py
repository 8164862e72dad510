"""The parts of a running website."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from argon2 import PasswordHasher
from carrel_sdk import Host

from carrel_website.built_app import BuiltApp
from carrel_website.database import Database
from carrel_website.links import Outbox
from carrel_website.throttle import Throttle
from carrel_website.workspaces import Workspaces


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """Where the website is, where the service is, and where the website keeps what it knows."""

    origins: tuple[str, ...]
    """The website's own addresses, as browsers name them; the first is the one in mails."""
    service_url: str
    plugin_secret: str = field(repr=False)
    folder: Path
    app_folder: Path
    """Where the browser app is built to."""
    hasher: PasswordHasher = field(default_factory=PasswordHasher)
    http: httpx.BaseTransport | None = None
    """Replaces the network to the service in tests."""
    clock: Callable[[], float] = time.time
    seconds: Callable[[], float] = time.monotonic
    """Measures waits, which must not change when somebody sets the clock."""


@dataclass(frozen=True, slots=True)
class Site:
    """The parts that the pages work with."""

    config: SiteConfig
    database: Database
    host: Host
    workspaces: Workspaces
    throttle: Throttle
    outbox: Outbox
    built_app: BuiltApp
    threads: ThreadPoolExecutor

    @property
    def https(self) -> bool:
        """Whether cookies may require HTTPS."""
        return self.config.origins[0].startswith("https://")

    def now(self) -> int:
        """Epoch seconds."""
        return int(self.config.clock())
