"""`carrel admin`: manage a running service with the admin secret. The exit codes are those of `terminal`."""

from contextlib import suppress
from pathlib import Path

import rich_click as click
from carrel_sdk import NotFound

from carrel.cli.interface import terminal
from carrel.cli.interface.operator_command import (
    AdminCommand,
    Admins,
    admin_command,
    of_all_nodes,
    require_all_nodes,
    settings_with_service_key,
    show_each,
)
from carrel.cli.interface.printing import say
from carrel.cli.interface.reading import read_secret
from carrel.cli.interface.saving import saving
from carrel.cli.operators import admin_users
from carrel.evaluation.words import counted


@click.group("admin", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Manage a running service, as its operator. Needs CARREL_ADMIN_SECRET."""


@command.group("keys")
def keys() -> None:
    """The operator's own keys, for runs that credits pay for."""


@keys.command("list")
@admin_command
def list_keys(cli: AdminCommand) -> None:
    """List the providers that have a key, newest first."""
    cli.show_rows(
        cli.admin.system_keys.each(),
        {
            "provider": lambda key: key.provider,
            "key": lambda key: f"…{key.hint}",
            "base_url": lambda key: key.base_url or "",
            "changed": lambda key: key.updated_at[:10],
        },
    )


@keys.command("set")
@click.argument("provider")
@click.option("--key-stdin", is_flag=True, help="Read the key from stdin.")
@click.option("--base-url", help="The provider's address, if it is not the usual one.")
@admin_command
def set_key(cli: AdminCommand, provider: str, key_stdin: bool, base_url: str | None) -> None:
    """Store a key, replacing an earlier one of the same provider."""
    key = read_secret(cli, "key", "--key-stdin", given=key_stdin)
    made = cli.admin.system_keys.store(provider, key, base_url=base_url)
    cli.show(made, f"{made.provider}  …{made.hint}")


@keys.command("delete")
@click.argument("providers", nargs=-1, required=True)
@admin_command
def delete_keys(cli: AdminCommand, providers: tuple[str, ...]) -> None:
    """Remove keys. Runs that need them pause."""
    for provider in providers:
        cli.admin.system_keys.delete(provider)
        cli.show_done("deleted", provider)


@command.group("logs")
def logs() -> None:
    """Logs of runs that users have shared: times, states, codes and numbers, no text."""


@logs.command("list")
@admin_command
@of_all_nodes
def list_logs(cli: AdminCommand, admins: Admins) -> None:
    """List the shared logs, newest first."""
    found = [(name, log) for name, admin in admins.items() for log in admin.shared_logs.each()]
    show_each(
        cli,
        sorted(found, key=lambda one: one[1].created_at, reverse=True),
        {
            "id": lambda log: log.share_id,
            "shared": lambda log: log.created_at[:19].replace("T", " "),
            "until": lambda log: log.expires_at[:10],
            "rows": lambda log: f"{log.entry_count:,}",
        },
    )


@logs.command("show")
@click.argument("share_id")
@admin_command
@of_all_nodes
def show_log(cli: AdminCommand, admins: Admins, share_id: str) -> None:
    """Print one log, oldest row first."""
    *others, last = admins.values()
    for admin in others:
        with suppress(NotFound):
            log = admin.shared_logs.get(share_id)
            break
    else:
        log = last.shared_logs.get(share_id)
    cli.show_rows(
        log.entries,
        {
            "at": lambda entry: entry.at,
            "level": lambda entry: entry.level,
            "event": lambda entry: entry.event,
            "task": lambda entry: entry.task_key or "",
            "code": lambda entry: entry.code or "",
            "model": lambda entry: entry.model or "",
        },
    )


@command.command("write-offs")
@click.option("--from", "since", help="The first day, such as 2026-11-21 (UTC).")
@click.option("--to", "until", help="The day after the last one.")
@click.option("--user", "uuid", help="Only of this user.")
@admin_command
def write_offs(cli: AdminCommand, since: str | None, until: str | None, uuid: str | None) -> None:
    """Show what you bore where credits were to pay: calls of unknown cost, and costs above their holds."""
    found = cli.admin.write_offs(since=since, until=until, uuid=uuid)
    cli.show_rows(
        found.items,
        {"day": lambda one: one.day, "calls": lambda one: f"{one.calls:,}", "credits": lambda one: one.credits},
    )
    cli.show(found.total, f"in all {found.total.credits} credits for {counted(found.total.calls, 'call')}")


@command.command("safe-to-restart")
@admin_command
@of_all_nodes
def safe_to_restart(cli: AdminCommand, admins: Admins) -> None:
    """Tell whether a restart would interrupt a run, and how many users would have to sign in again."""
    if "" not in admins:
        show_each(
            cli,
            ((name, admin.safe_to_restart()) for name, admin in admins.items()),
            {
                "safe": lambda state: "yes" if state.safe else "no",
                "active runs": lambda state: f"{state.active_runs:,}",
                "keys in memory": lambda state: f"{state.cached_keys:,}",
            },
        )
        return
    state = cli.admin.safe_to_restart()
    safe = "safe" if state.safe else "not safe"
    cli.show(
        state, f"{safe}: {counted(state.active_runs, 'active run')}, {counted(state.cached_keys, 'key')} in memory"
    )


@command.command("metrics")
@admin_command
def metrics(cli: AdminCommand) -> None:
    """Print the service's metrics in Prometheus's text format."""
    say(cli.admin.metrics(), end="")


@command.command("backup")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--all-nodes", is_flag=True, help="Of every node of a cluster: FILE is then a folder. Needs CARREL_ETCD.")
@click.option("--node-ca", type=click.Path(path_type=Path), help="Who signed the nodes' certificates, PEM: use HTTPS.")
@click.option("--allow-http", is_flag=True, help="With --all-nodes: plain HTTP to nodes on other machines.")
@admin_command
def backup(cli: AdminCommand, file: Path, all_nodes: bool, node_ca: Path | None, allow_http: bool) -> None:
    """Copy everything that a running service keeps into one FILE, which must not exist yet; `-` is stdout.

    The file is encrypted like the originals. `carrel verify` checks whether it is complete. With `--all-nodes`, an
    interrupted command goes on when it is given again.
    """
    if all_nodes:
        # Imported here: without a cluster nothing of it is loaded.
        from carrel.cli.operators import cluster_backup

        settings = settings_with_service_key(cli)
        cluster_backup.back_up(file, settings, cli.secret, node_ca, allow_http=allow_http, as_json=cli.as_json)
        return
    require_all_nodes(cli, node_ca, allow_http=allow_http)
    with saving(cli, file, force=False) as out:
        cli.admin.backup(out)


@command.command("delete-user")
@click.argument("uuid")
@click.option("--yes", is_flag=True, help="Delete the user's workspace and account, for good.")
@admin_command
def delete_user(cli: AdminCommand, uuid: str, yes: bool) -> None:
    """Delete a user with everything, for good. Needs `--yes`."""
    if not yes:
        terminal.end(terminal.EXIT_USAGE, "this cannot be undone: say --yes", as_json=cli.as_json)
    if not cli.admin.delete_user(uuid):
        terminal.end(terminal.EXIT_NOT_FOUND, "there is no such user", as_json=cli.as_json)
    cli.show_done("deleted", uuid)


command.add_command(admin_users.users)
