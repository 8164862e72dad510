"""What the commands of `carrel admin` share: the operator's client, one node or all of them, and a row for each."""

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

import msgspec
import rich_click as click
from carrel_sdk import CarrelError
from carrel_sdk.admin import Admin

from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import env_file_option, json_option, settings_of
from carrel.cli.interface.terminal import DEFAULT_URL, CommandOutput
from carrel.config import ABSENT, Settings

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class AdminCommand(CommandOutput):
    """The operator's client, and where a command shows its answers."""

    admin: Admin
    secret: str = field(repr=False)
    env_file: Path | None = None
    settings: Settings | None = None
    """Loaded already, if the secret was not in the environment: they can be loaded only once."""


def admin_command(fn: Callable[Concatenate[AdminCommand, P], None]) -> Callable[P, None]:
    """Open the client for a command. If something goes wrong, end with its exit code."""

    @click.option("--url", help=f"Address of the service.  [default: CARREL_URL, or {DEFAULT_URL}]")
    @env_file_option
    @json_option
    @functools.wraps(fn)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        as_json = bool(kwargs.pop("as_json"))
        given, env_file = kwargs.pop("url"), kwargs.pop("env_file")
        address = str(given or os.environ.get("CARREL_URL") or DEFAULT_URL)
        try:
            file = Path(str(env_file)) if env_file else None
            secret, settings = _secret(file, as_json=as_json)
            with Admin(address.rstrip("/").removesuffix("/api"), secret) as admin:
                fn(AdminCommand(as_json, terminal.wide_console(), admin, secret, file, settings), *args, **kwargs)
        except CarrelError as error:
            terminal.fail(error, as_json=as_json)
        except ValueError as error:
            # The address or the secret is wrong. The SDK's message repeats neither.
            terminal.end(terminal.EXIT_USAGE, str(error), as_json=as_json)

    return command


Admins = Mapping[str, Admin]
"""The nodes by their names; the service that the command names has none."""


def of_all_nodes(
    fn: Callable[Concatenate[AdminCommand, Admins, P], None],
) -> Callable[Concatenate[AdminCommand, P], None]:
    """Give a command the service that it names, or with `--all-nodes` each node of a cluster."""

    @click.option("--all-nodes", is_flag=True, help="Of every node of a cluster. Needs CARREL_ETCD.")
    @click.option("--node-ca", type=click.Path(path_type=Path), help="Who signed the nodes' certificates: use HTTPS.")
    @click.option("--allow-http", is_flag=True, help="With --all-nodes: plain HTTP to nodes on other machines.")
    @functools.wraps(fn)
    def command(cli: AdminCommand, /, *args: P.args, **kwargs: P.kwargs) -> None:
        node_ca = cast("Path | None", kwargs.pop("node_ca"))
        allow_http = bool(kwargs.pop("allow_http"))
        if kwargs.pop("all_nodes"):
            # Imported here: without a cluster nothing of it is loaded.
            from carrel.cli.interface import each_node

            settings = settings_with_service_key(cli)
            with each_node.admins(settings, cli.secret, node_ca, allow_http=allow_http, as_json=cli.as_json) as admins:
                fn(cli, admins, *args, **kwargs)
        else:
            require_all_nodes(cli, node_ca, allow_http=allow_http)
            fn(cli, {"": cli.admin}, *args, **kwargs)

    return command


def settings_with_service_key(cli: AdminCommand) -> Settings:
    """The settings with the key that proves where the nodes are."""
    settings = cli.settings or settings_of(cli.env_file)
    if settings.service_key == ABSENT:
        terminal.end(
            terminal.EXIT_USAGE, "CARREL_SERVICE_KEY: is not set, and --all-nodes needs it", as_json=cli.as_json
        )
    return settings


def require_all_nodes(cli: AdminCommand, node_ca: Path | None, *, allow_http: bool) -> None:
    """End the program if something was said about nodes that are not asked."""
    if node_ca is not None or allow_http:
        terminal.end(terminal.EXIT_USAGE, "--node-ca and --allow-http: only with --all-nodes", as_json=cli.as_json)


def show_each(cli: AdminCommand, found: Iterable[tuple[str, T]], columns: dict[str, Callable[[T], str]]) -> None:
    """What nodes answered, a row each; the first column names the node, if there are several."""
    rows = list(found)
    if cli.as_json:
        for name, value in rows:
            terminal.print_json({"node": name} | msgspec.to_builtins(value) if name else value)
        return
    named: dict[str, Callable[[tuple[str, T]], str]] = {"node": itemgetter(0)} if any(name for name, _ in rows) else {}
    cells = {title: partial(_cell, cell) for title, cell in columns.items()}
    cli.show_rows(rows, {**named, **cells})


def _cell(cell: Callable[[T], str], row: tuple[str, T]) -> str:
    return cell(row[1])


def _secret(env_file: Path | None, *, as_json: bool) -> tuple[str, Settings | None]:
    """The admin secret, from the environment if it is set there: then no file with the other secrets is needed."""
    given = None if env_file is not None else os.environ.get("CARREL_ADMIN_SECRET")
    if given:
        return given, None
    settings = settings_of(env_file, needs=())
    secret = settings.admin_secret
    if secret is None:
        terminal.end(terminal.EXIT_USAGE, "CARREL_ADMIN_SECRET: is not set", as_json=as_json)
    return secret.reveal().decode("ascii"), settings
