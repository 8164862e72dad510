"""`carrel admin users`: who there are, what they take, and what the operator does about it."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

import rich_click as click
from carrel_sdk import CarrelApiError, NotFound
from carrel_sdk.admin import Admin
from carrel_sdk.models import UserUsage

from carrel.cli.interface import terminal
from carrel.cli.interface.operator_command import AdminCommand, Admins, admin_command, of_all_nodes, show_each
from carrel.evaluation.words import counted

_ELSEWHERE: Final = 421
_MEGABYTE: Final = 1024 * 1024
_KEYS: Final[dict[str, Callable[[UserUsage], Any]]] = {
    "disk": attrgetter("disk_bytes"),
    "spent": lambda one: float(one.credits_spent),
    "credits": lambda one: float(one.credits),
    "created": attrgetter("created_at"),
}


@click.group("users")
def users() -> None:
    """Users: list them, suspend one, end sessions, limit the room."""


@users.command("list")
@click.option("--by", type=click.Choice(list(_KEYS)), default="created", show_default=True, help="The most first.")
@click.option("--suspended", is_flag=True, help="Only those who are suspended.")
@admin_command
@of_all_nodes
def list_users(cli: AdminCommand, admins: Admins, by: str, suspended: bool) -> None:
    """List every user, with disk, credits and runs under way."""
    found = [(name, one) for name, admin in admins.items() for one in admin.users.each()]
    chosen = [row for row in found if row[1].suspended_at or not suspended]
    show_each(
        cli,
        sorted(chosen, key=lambda row: _KEYS[by](row[1]), reverse=True),
        {
            "id": lambda one: one.uuid,
            "plan": lambda one: one.membership,
            "created": lambda one: one.created_at[:10],
            "suspended": lambda one: (one.suspended_at or "")[:10],
            "here": lambda one: "yes" if one.signed_in else "",
            "runs": lambda one: f"{one.active_runs:,}",
            "MB": lambda one: f"{one.disk_bytes / _MEGABYTE:,.1f}",
            "credits": lambda one: one.credits,
            "spent": lambda one: one.credits_spent,
        },
    )


@users.command("show")
@click.argument("uuid")
@admin_command
@of_all_nodes
def show_user(cli: AdminCommand, admins: Admins, uuid: str) -> None:
    """Show one user."""
    _show(cli, _first(admins, lambda admin: admin.users.get(uuid)))


@users.command("suspend")
@click.argument("uuid")
@click.option("--undo", is_flag=True, help="End the suspension.")
@admin_command
@of_all_nodes
def suspend_user(cli: AdminCommand, admins: Admins, uuid: str, undo: bool) -> None:
    """End the user's sessions, pause the runs, and let nobody sign in as this user. Nothing is deleted."""
    _show(cli, _first(admins, lambda admin: (admin.users.reinstate if undo else admin.users.suspend)(uuid)))


@users.command("quota")
@click.argument("uuid")
@click.option("--megabytes", type=click.IntRange(1, 1_000_000), help="How large the workspace may become.")
@click.option("--calls", type=click.IntRange(0, 100_000), help="How many calls of models on one UTC day.")
@click.option(
    "--default", "reset", is_flag=True, help="As everybody: CARREL_MAX_WORKSPACE_MB, and any number of calls."
)
@admin_command
@of_all_nodes
def set_quota(
    cli: AdminCommand, admins: Admins, uuid: str, megabytes: int | None, calls: int | None, reset: bool
) -> None:
    """Limit one user: the calls from now on, the room from the next opening of the workspace on."""
    if (megabytes is None and calls is None) is not reset:
        terminal.end(terminal.EXIT_USAGE, "give --megabytes, --calls or both, or --default", as_json=cli.as_json)
    if not reset:
        now = _first(admins, lambda admin: admin.users.get(uuid))
        megabytes = now.workspace_megabytes if megabytes is None else megabytes
        calls = now.calls_per_day if calls is None else calls
    _show(cli, _first(admins, lambda admin: admin.users.set_quota(uuid, megabytes, calls)))


@users.group("sessions")
def sessions() -> None:
    """Sessions of a user."""


@sessions.command("end")
@click.argument("uuid")
@admin_command
@of_all_nodes
def end_sessions(cli: AdminCommand, admins: Admins, uuid: str) -> None:
    """End every session: the user signs in again, and the key leaves the memory when the runs have ended."""
    _first(admins, lambda admin: admin.users.end_sessions(uuid))
    cli.show_done("signed out", uuid)


def _first(admins: Admins, ask: Callable[[Admin], Any]) -> Any:
    """The answer of the node that has the user."""
    *others, last = admins.values()
    for admin in others:
        try:
            return ask(admin)
        except NotFound:
            continue
        except CarrelApiError as error:
            if error.status != _ELSEWHERE:
                raise
    return ask(last)


def _show(cli: AdminCommand, user: UserUsage) -> None:
    room = "" if user.workspace_megabytes is None else f" of {user.workspace_megabytes:,}"
    state = f"suspended since {user.suspended_at[:10]}" if user.suspended_at else "may sign in"
    here = "signed in" if user.signed_in else "not here"
    words = f"{user.membership}, {state}, {here}, {counted(user.active_runs, 'active run')}"
    size = f"{user.disk_bytes / _MEGABYTE:,.1f}{room} MB"
    calls = "" if user.calls_per_day is None else f", {user.calls_per_day:,} calls a day"
    cli.show(user, f"{user.uuid}: {words}, {size}{calls}, {user.credits} credits left, {user.credits_spent} spent")
