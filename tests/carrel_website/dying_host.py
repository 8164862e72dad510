"""A website that kills itself, without a farewell, at one line of a change of the password. Run by test_killed.py."""

import os
import signal
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import uvicorn
from argon2 import PasswordHasher

from carrel_website import users
from carrel_website.app import create_site
from carrel_website.site import Site, SiteConfig


def main(folder: str, service_url: str, port: str, line: str) -> None:
    app = create_site(
        SiteConfig(
            origins=(f"http://127.0.0.1:{port}",),
            service_url=service_url,
            plugin_secret=os.environ["PLUGIN_SECRET"],
            folder=Path(folder),
            app_folder=Path(folder) / "app",
            hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
        )
    )
    site: Site = app.state.site
    if line == "before-rekey":
        patch.object(site.host, "change_password", die).start()
    else:
        real = users.settle

        def settle(conn: Any, uuid: str, password_id: int) -> None:
            real(conn, uuid, password_id)
            user = users.by_uuid(conn, uuid)
            # Written, and not committed; the sign-up settles as well, and is let through.
            if user is not None and password_id > 1:
                die()

        patch.object(users, "settle", settle).start()
    uvicorn.run(app, port=int(port), log_level="critical")


def die(*arguments: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
