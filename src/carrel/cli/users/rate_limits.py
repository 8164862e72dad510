"""`carrel rate-limits`: how fast each provider may be called."""

import rich_click as click
from carrel_sdk.models import RateLimit

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import UserCommand, user_command

_NONE = "none"


@click.group("rate-limits", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """How fast each provider may be called for you."""


@command.command("list")
@user_command
def list_limits(cli: UserCommand) -> None:
    """List the limits of every provider."""
    cli.show_rows(
        cli.workspace.rate_limits.list(),
        {
            "provider": lambda limit: limit.provider,
            "requests/min": lambda limit: _number(limit.requests_per_minute),
            "tokens/min": lambda limit: _number(limit.tokens_per_minute),
            "at once": _at_once,
            "in flight": lambda limit: str(limit.in_flight),
            "set by": lambda limit: "default" if limit.is_default else "you",
        },
    )


@command.command("set")
@click.argument("provider")
@click.option("--requests", metavar="N", help="Requests a minute, or `none` for no limit.")
@click.option("--tokens", metavar="N", help="Tokens a minute, or `none` for no limit.")
@click.option("--at-once", type=int, metavar="N", help="Calls at once.")
@user_command
def set_limits(cli: UserCommand, provider: str, requests: str | None, tokens: str | None, at_once: int | None) -> None:
    """Set a provider's limits, effective immediately; Values that you do not give stay."""
    now = next((limit for limit in cli.workspace.rate_limits.list() if limit.provider == provider), None)
    if now is None:
        terminal.end(terminal.EXIT_NOT_FOUND, "there is no such provider", as_json=cli.as_json)
    saved = cli.workspace.rate_limits.set(
        provider,
        requests_per_minute=_given(cli, requests, now.requests_per_minute),
        tokens_per_minute=_given(cli, tokens, now.tokens_per_minute),
        concurrency=now.concurrency if at_once is None else at_once,
    )
    minute = f"requests {_number(saved.requests_per_minute)}, tokens {_number(saved.tokens_per_minute)}"
    cli.show(saved, f"{saved.provider}: a minute {minute}; at once {saved.concurrency}")


@command.command("reset")
@click.argument("provider")
@user_command
def reset(cli: UserCommand, provider: str) -> None:
    """Go back to the defaults."""
    cli.workspace.rate_limits.reset(provider)
    cli.show_done("reset", provider)


def _given(cli: UserCommand, text: str | None, before: int | None) -> int | None:
    if text is None:
        return before
    if text == _NONE:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        terminal.end(terminal.EXIT_USAGE, "--requests and --tokens take a number or `none`", as_json=cli.as_json)
    return int(text)


def _number(value: int | None) -> str:
    return _NONE if value is None else f"{value:,}"


def _at_once(limit: RateLimit) -> str:
    same = limit.concurrency_now == limit.concurrency
    return str(limit.concurrency) if same else f"{limit.concurrency_now} of {limit.concurrency}"
