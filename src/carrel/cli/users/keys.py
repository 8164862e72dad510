"""`carrel keys`: the user's own keys for model providers. No command shows a stored key."""

import rich_click as click

from carrel.cli.interface import terminal
from carrel.cli.interface.reading import read_secret
from carrel.cli.interface.terminal import UserCommand, user_command
from carrel.evaluation.words import counted


@click.group("keys", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Your keys for model providers. No command shows a stored key."""


@command.command("list")
@user_command
def list_keys(cli: UserCommand) -> None:
    """List the providers that have a key, newest first."""
    cli.show_rows(
        cli.workspace.provider_keys.each(),
        {
            "provider": lambda key: key.provider,
            "key": lambda key: f"…{key.hint}",
            "base_url": lambda key: key.base_url or "",
            "last test": lambda one: terminal.tested(one.last_test),
        },
    )


@command.command("set")
@click.argument("provider")
@click.option("--key-stdin", is_flag=True, help="Read the key from stdin.")
@click.option("--base-url", help="The provider's address, if it is not the usual one.")
@user_command
def set_key(cli: UserCommand, provider: str, key_stdin: bool, base_url: str | None) -> None:
    """Store a key, replacing an earlier one of the same provider.

    With --base-url, PROVIDER may be any name for an OpenAI-compatible server of your own.
    """
    key = read_secret(cli, "key", "--key-stdin", given=key_stdin)
    made = cli.workspace.provider_keys.store(provider, key, base_url=base_url)
    cli.show(made, f"{made.provider}  …{made.hint}")


@command.command("test")
@click.argument("provider")
@user_command
def test(cli: UserCommand, provider: str) -> None:
    """Make one real, free call with the key; exit code 1 if the provider rejects it."""
    found = cli.workspace.provider_keys.test(provider)
    if found.ok:
        took = "" if found.latency_ms is None else f", {found.latency_ms:,} ms"
        cli.show(found, f"good: {counted(len(found.models), 'model')}{took}")
    else:
        cli.show(found, f"refused: {found.code}")
        raise SystemExit(terminal.EXIT_FAILED)


@command.command("delete")
@click.argument("providers", nargs=-1, required=True)
@user_command
def delete(cli: UserCommand, providers: tuple[str, ...]) -> None:
    """Remove keys."""
    for provider in providers:
        cli.workspace.provider_keys.delete(provider)
        cli.show_done("deleted", provider)
