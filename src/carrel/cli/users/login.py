"""`carrel login`: read a session token from stdin and store it for the other commands."""

import sys

import rich_click as click
from carrel_sdk import CarrelError, Workspace
from carrel_sdk.program_keys import PREFIX

from carrel.cli.interface import terminal, tokens
from carrel.cli.interface.printing import say
from carrel.cli.interface.tokens import Login
from carrel.cli.users.workspace import holdings


@click.command("login")
@click.option("--url", help="Address of the service.  [default: CARREL_URL]", metavar="URL")
@click.option("--token-stdin", is_flag=True, help="Read the session token from stdin.")
@click.option("--forget", is_flag=True, help="Delete the stored token.")
def command(url: str | None, token_stdin: bool, forget: bool) -> None:
    """Store a session token, which the host website gives you, for the other commands.

    The token is checked first. It is valid for an hour. For longer work, set CARREL_TOKEN_COMMAND to a command that
    prints one.
    """
    if forget:
        tokens.login_file().unlink(missing_ok=True)
        say("forgotten")
        return
    if not token_stdin:
        # Never as an argument: everybody on the machine can see arguments, and the shell keeps them in its history.
        terminal.end(terminal.EXIT_USAGE, "give the session token on stdin, with --token-stdin", as_json=False)
    address = terminal.address_of(url)
    token = sys.stdin.readline().strip()
    if token.startswith(PREFIX):
        # It is good for months, and this file is no place for it.
        terminal.end(
            terminal.EXIT_USAGE,
            "a program key is not stored: put it into CARREL_PROGRAM_KEY",
            as_json=False,
        )
    try:
        with Workspace(address, token) as workspace:
            me = workspace.me()
    except CarrelError as error:
        terminal.fail(error, as_json=False)
    except ValueError as error:
        terminal.end(terminal.EXIT_USAGE, str(error), as_json=False)
    tokens.keep(Login(address, token), tokens.login_file())
    say(f"Signed in at {address}: {me.membership} membership, {me.credits} credits, {holdings(me.counts)}.")
