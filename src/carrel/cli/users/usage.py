"""`carrel usage`: tokens and costs of model calls, and the credits."""

from typing import NamedTuple

import rich_click as click
from carrel_sdk.models import CallRow, Totals, UsageItem

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import UserCommand, dollars, user_command

_BY = ("day", "model", "provider", "run", "phase")


class _Line(NamedTuple):
    group: str
    totals: Totals


@click.group("usage", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Tokens and costs of model calls, and your credits."""


@command.command("show")
@click.option("--from", "since", metavar="DAY", help="From this day, such as 2026-11-01.")
@click.option("--to", "until", metavar="DAY", help="Before this day.")
@click.option("--by", "group_by", multiple=True, type=click.Choice(_BY), help="A row for each of these.")
@user_command
def show(cli: UserCommand, since: str | None, until: str | None, group_by: tuple[str, ...]) -> None:
    """Sum up calls, tokens and costs; with `--json`, the groups and the total in one object."""
    usage = cli.workspace.metering.usage(since=since, until=until, group_by=group_by)
    if cli.as_json:
        cli.show(usage, "")
        return
    lines = [_Line(_group(item), item.totals) for item in usage.items] if group_by else []
    cli.show_rows(
        [*lines, _Line("in all", usage.total)],
        {
            "": lambda line: line.group,
            "calls": lambda line: f"{line.totals.calls:,}",
            "tokens in": lambda line: f"{_read(line.totals):,}",
            "tokens out": lambda line: f"{line.totals.output_tokens:,}",
            "cost": lambda line: _cost(line.totals),
            "of unknown cost": lambda line: f"{line.totals.unknown_calls:,}" if line.totals.unknown_calls else "",
            "credits": lambda line: line.totals.charged,
        },
    )


def _cost(totals: Totals) -> str:
    """The known cost; `unknown` rather than nothing where no call has a known one."""
    return "unknown" if totals.unknown_calls and totals.cost == "0" else dollars(totals.cost)


@command.command("calls")
@click.option("--run", "run_id", metavar="ID", help="Only those of this run.")
@click.option("--model", help="Only those of this model.")
@user_command
def calls(cli: UserCommand, run_id: str | None, model: str | None) -> None:
    """List every attempt to call a model, newest first."""
    cli.show_rows(
        cli.workspace.metering.calls(run_id=run_id, model=model),
        {
            "started": lambda call: call.started_at[:19].replace("T", " "),
            "model": lambda call: terminal.model_at(call.model, call.host),
            "task": lambda call: call.task_key or "",
            "outcome": _outcome,
            "tokens": lambda call: f"{_known(call.input_tokens)} → {_known(call.output_tokens)}",
            "cost": lambda call: dollars(call.cost),
        },
    )


@command.command("credits")
@user_command
def credits_(cli: UserCommand) -> None:
    """Show the balance."""
    found = cli.workspace.credits()
    cli.show(found, f"{found.balance} credits, {found.reserved} of them held back for calls in flight")


@command.command("ledger")
@user_command
def ledger(cli: UserCommand) -> None:
    """List every change of the balance, newest first."""
    cli.show_rows(
        cli.workspace.ledger(),
        {
            "at": lambda entry: entry.created_at[:19].replace("T", " "),
            "kind": lambda entry: entry.kind,
            "amount": lambda entry: entry.amount,
            "balance": lambda entry: entry.balance,
            "reason": lambda entry: entry.reason or entry.reference or "",
        },
    )


def _group(item: UsageItem) -> str:
    model = item.provider if item.model is None else terminal.model_at(item.model, item.host)
    parts = (item.day, model, item.run_id, item.phase)
    return " · ".join(part for part in parts if part) or "no run"


def _read(totals: Totals) -> int:
    return totals.input_tokens + totals.cached_read_tokens + totals.cached_write_tokens


def _known(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _outcome(call: CallRow) -> str:
    return f"{call.outcome} ({call.code})" if call.code else call.outcome
