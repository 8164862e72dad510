"""The application: pages and protection around one `Site`. All parts are put together here."""

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from carrel_sdk import Host
from litestar import Litestar
from litestar.config.allowed_hosts import AllowedHostsConfig
from litestar.datastructures import MutableScopeHeaders
from litestar.exceptions import HTTPException
from litestar.static_files import create_static_files_router
from litestar.types import Message, Scope

from carrel_website import account, entry, forgotten, threads, workspace_page
from carrel_website.built_app import BuiltApp
from carrel_website.database import Database
from carrel_website.links import Outbox
from carrel_website.pages import NotSignedIn, failed, not_found_or_refused, refused, to_sign_in
from carrel_website.passwords import Passwords
from carrel_website.protection import check_form
from carrel_website.refusals import Refusal
from carrel_website.site import Site, SiteConfig
from carrel_website.throttle import Throttle
from carrel_website.workspaces import Workspaces

_LONGEST_FORM_BYTES: Final = 16 * 1024
_STATIC: Final = Path(__file__).parent / "static"


def create_site(config: SiteConfig) -> Litestar:
    """The application; `app.state.site` is the `Site` behind it."""
    config.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = Database(config.folder / "website.db")
    host = Host(config.service_url, config.plugin_secret, http=config.http, clock=config.clock)
    site = Site(
        config=config,
        database=database,
        host=host,
        workspaces=Workspaces(database, Passwords(config.hasher), host),
        throttle=Throttle(config.seconds),
        outbox=Outbox(config.folder / "outbox"),
        built_app=BuiltApp(config.app_folder),
        threads=ThreadPoolExecutor(threads.AT_ONCE, thread_name_prefix="page"),
    )

    def begin() -> None:
        # Nothing waits for it: the service may be away.
        site.threads.submit(site.workspaces.finish_deletions)

    def close() -> None:
        site.threads.shutdown()
        host.close()

    # The page that is shown instead explains the fault; nothing from a request gets into the log.
    logging.getLogger("litestar").setLevel(logging.CRITICAL)
    app = Litestar(
        route_handlers=[
            *entry.ROUTES,
            *workspace_page.ROUTES,
            *account.ROUTES,
            *forgotten.ROUTES,
            create_static_files_router("/static", [_STATIC], name="static"),
            *site.built_app.routes(),
        ],
        before_request=check_form,
        exception_handlers={
            NotSignedIn: to_sign_in,
            Refusal: refused,
            HTTPException: not_found_or_refused,
            Exception: failed,
        },
        allowed_hosts=AllowedHostsConfig(allowed_hosts=[urlsplit(origin).netloc for origin in config.origins]),
        request_max_body_size=_LONGEST_FORM_BYTES,
        on_startup=[begin],
        on_shutdown=[close],
        before_send=[_keep_to_this_website],
        openapi_config=None,
        logging_config=None,
    )
    app.state.site = site
    return app


async def _keep_to_this_website(message: Message, _: Scope) -> None:
    """Let no browser guess a content type, and no other website embed an answer: also files and the framework's own."""
    if message["type"] == "http.response.start":
        headers = MutableScopeHeaders.from_message(message)
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Cross-Origin-Resource-Policy"] = "same-origin"
