"""`carrel init`: a configuration with fresh secrets that only its owner can read."""

import os
import secrets
from pathlib import Path

import rich_click as click

from carrel.cli.interface.printing import say
from carrel.cli.interface.refusal import refuse

_COMMON = """\
# Made by `carrel init`. Keep it secret: anybody who reads it can act as the host website.
# The website's server needs CARREL_PLUGIN_SECRET; nobody else needs any of these.
CARREL_PLUGIN_SECRET={plugin}
CARREL_ADMIN_SECRET={admin}
# Encrypts the users' accounts. If you lose it, no account can be opened again.
CARREL_SERVICE_KEY={service}
CARREL_DATA_DIR={data_dir}
"""
_PERSONAL = """\
# For your own machine: every user may do everything.
CARREL_FREE_PLAN=full
"""


@click.command("init")
@click.option("--file", "path", type=click.Path(path_type=Path), default=Path(".env"), show_default=True)
@click.option("--data-dir", default="data", show_default=True, help="Where the databases will be.")
@click.option("--personal", is_flag=True, help="For your own machine: every user has the full plan.")
def command(path: Path, data_dir: str, personal: bool) -> None:
    """Make a configuration with fresh secrets. An existing file is never changed."""
    text = (_COMMON + (_PERSONAL if personal else "")).format(
        plugin=secrets.token_urlsafe(36),
        admin=secrets.token_urlsafe(36),
        service=secrets.token_hex(32),
        data_dir=data_dir,
    )
    try:
        # Exclusive, and 0600 from the start: nobody else can open it, and no file is overwritten.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        refuse(f"{path} exists already and was not changed")
    except OSError:
        refuse(f"{path} cannot be written")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    say(f"{path} holds fresh secrets; `carrel serve` reads it.")
