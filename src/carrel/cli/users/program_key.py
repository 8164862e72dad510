"""`carrel program-key`: keys with which programs sign in as the user. A key is printed once, when it is made."""

from typing import Final, cast

import rich_click as click
from carrel_sdk.models import Scope

from carrel.cli.interface.printing import say
from carrel.cli.interface.terminal import UserCommand, user_command

_SCOPES: Final = ("read", "run", "write")


@click.group("program-key", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Keys with which programs sign in as you, for CI and scripts.

    A program passes its key in CARREL_PROGRAM_KEY. You need a session of your own to make or revoke one.
    """


@command.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(_SCOPES),
    multiple=True,
    required=True,
    help="What the program may do; several are allowed. `read` shows what is there, `run` starts what spends money, "
    "`write` changes and deletes. None includes another.",
)
@click.option("--days", type=click.IntRange(1, 365), default=90, show_default=True, help="How long the key is good.")
@user_command
def create(cli: UserCommand, name: str, scopes: tuple[str, ...], days: int) -> None:
    """Make a key. It is printed on a line of its own, and nobody can show it again."""
    made = cli.workspace.program_keys.create(name, *cast(tuple[Scope, ...], scopes), days=days)
    if not cli.as_json:
        say(f"{made.id}  {', '.join(made.scopes)}, until {made.expires_at[:10]}. Shown this once:", stderr=True)
        say(made.program_key)
        return
    cli.show(made, "")


@command.command("list")
@user_command
def list_keys(cli: UserCommand) -> None:
    """List your keys with their last use; one that has ended stays in the list for 30 days."""
    found = cli.workspace.program_keys.list()
    cli.show_rows(
        found.items,
        {
            "id": lambda key: key.id,
            "name": lambda key: key.name,
            "scopes": lambda key: ",".join(key.scopes),
            "state": lambda key: key.state,
            "made": lambda key: key.created_at[:10],
            "until": lambda key: (key.ended_at or key.expires_at)[:10],
            "last used": lambda key: (key.last_used_at or "never")[:16],
        },
    )
    if not found.allowed and not cli.as_json:
        say("The operator of this service allows no program keys.", stderr=True)


@command.command("revoke")
@click.argument("ids", nargs=-1, required=True)
@user_command
def revoke(cli: UserCommand, ids: tuple[str, ...]) -> None:
    """End keys. Their programs' sessions end at once; runs that they have started go on."""
    for key_id in ids:
        cli.workspace.program_keys.revoke(key_id)
        cli.show_done("revoked", key_id)
