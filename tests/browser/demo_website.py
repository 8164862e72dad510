"""The demo website as a person meets it: served for a real browser, before a service and models of its own."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from carrel_website.app import create_site
from carrel_website.site import SiteConfig
from tests.browser.browser import DIST
from tests.browser.pages import TIMEOUT_SECONDS
from tests.support.model_server import MODELS, Running, model_server
from tests.support.service import Service

PRICED = ("gpt-5", "gpt-5-mini", "gpt-5-nano")
"""Models whose price is known."""


@dataclass(frozen=True)
class DemoWebsite:
    """The website's address, the service behind it, and the models that its users' keys lead to."""

    url: str
    service: Service
    models: Running
    folder: Path

    async def link_in_letter(self) -> str:
        """The address in the letter of a reset, which the website writes after its answer."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                for letter in (self.folder / "website" / "outbox").iterdir():
                    # Whole, for a letter ends with a line of its own.
                    if (text := letter.read_text()).endswith("\n"):
                        return next(word for word in text.split() if word.startswith("http"))
                await asyncio.sleep(0.02)


@contextmanager
def open_website(folder: Path) -> Iterator[DemoWebsite]:
    """All three started, with nobody signed up."""
    with socket.socket() as listener, model_server(models=(*MODELS, *PRICED)) as models:
        listener.bind(("127.0.0.1", 0))
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        service = Service(folder, settings={"CARREL_CORS_ORIGINS": origin, "CARREL_PROVIDER_HOSTS": models.host})
        service.start()
        config = SiteConfig(
            origins=(origin,),
            service_url=service.url,
            plugin_secret=service.plugin_secret,
            folder=folder / "website",
            app_folder=DIST,
        )
        try:
            with _served(uvicorn.Config(create_site(config), log_level="critical", access_log=False), listener):
                yield DemoWebsite(origin, service, models, folder)
        finally:
            service.kill()


@contextmanager
def _served(config: uvicorn.Config, listener: socket.socket) -> Iterator[None]:
    server = uvicorn.Server(config)
    listener.listen(128)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield
    finally:
        # Connections that a browser keeps open are not waited for.
        server.should_exit = server.force_exit = True
        thread.join()
