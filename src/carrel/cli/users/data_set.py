"""`carrel data-set`: tables whose rows are the inputs of runs."""

from itertools import islice
from pathlib import Path
from typing import cast, get_args

import rich_click as click
from carrel_sdk.models import ColumnRole

from carrel.cli.interface import terminal
from carrel.cli.interface.reading import read_bytes
from carrel.cli.interface.terminal import UserCommand, printable, user_command
from carrel.evaluation.words import counted


@click.group("data-set", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Tables whose rows are the inputs of runs."""


@command.command("add")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", help="Its name; the file's otherwise.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="COLUMN=ROLE",
    help=f"What a column is: {', '.join(get_args(ColumnRole))}. Names suggest the others.",
)
@click.option("--sheet", help="Which sheet of a spreadsheet; the first one otherwise.")
@click.option("--to", "data_set_id", metavar="ID", help="Add it as the next version of this data set.")
@user_command
def add(
    cli: UserCommand,
    file: Path,
    name: str | None,
    roles: tuple[str, ...],
    sheet: str | None,
    data_set_id: str | None,
) -> None:
    """Add a CSV, TSV, JSONL, JSON, XLSX, XLS or ODS file: all of its rows, or none if one breaks a rule."""
    if name is not None and data_set_id is not None:
        terminal.end(terminal.EXIT_USAGE, "--name goes without --to", as_json=cli.as_json)
    body, chosen = read_bytes(cli, file), _roles(cli, roles)
    data_sets = cli.workspace.data_sets
    if data_set_id is None:
        made = data_sets.upload(file.name, body, name=name, columns=chosen, sheet=sheet)
    else:
        made = data_sets.add_version(data_set_id, file.name, body, columns=chosen, sheet=sheet)
    columns = ", ".join(f"{column.name} ({column.role})" for column in made.columns)
    cli.show(made, f"{made.id}  {made.name}  version {made.version}: {counted(made.row_count, 'row')} of {columns}")
    for note in () if cli.as_json else made.notes:
        cli.console.print(printable(note), soft_wrap=True)


@command.command("list")
@user_command
def list_data_sets(cli: UserCommand) -> None:
    """List the data sets, newest first."""
    cli.show_rows(
        cli.workspace.data_sets.each(),
        {
            "id": lambda item: item.id,
            "rows": lambda item: f"{item.row_count:,}",
            "columns": lambda item: str(len(item.columns)),
            "version": lambda item: str(item.version),
            "name": lambda item: item.name,
        },
    )


@command.command("show")
@click.argument("data_set_id")
@click.option("--version", type=int, metavar="N", help="As it was saved as this version.")
@click.option("--rows", "most", type=click.IntRange(min=1), default=20, show_default=True, help="How many rows.")
@user_command
def show(cli: UserCommand, data_set_id: str, version: int | None, most: int) -> None:
    """Print the first rows of a data set."""
    rows = islice(cli.workspace.data_sets.rows(data_set_id, version=version), most)
    cli.show_rows(
        rows,
        {
            "row": lambda row: str(row.number),
            "id": lambda row: row.id,
            "values": lambda row: "  ".join(f"{name}: {_short(value)}" for name, value in row.values.items()),
        },
    )


@command.command("delete")
@click.argument("data_set_ids", nargs=-1, required=True)
@user_command
def delete(cli: UserCommand, data_set_ids: tuple[str, ...]) -> None:
    """Delete data sets, unless a preset uses them."""
    for data_set_id in data_set_ids:
        cli.workspace.data_sets.delete(data_set_id)
        cli.show_done("deleted", data_set_id)


def _roles(cli: UserCommand, given: tuple[str, ...]) -> dict[str, ColumnRole]:
    pairs = [text.rpartition("=") for text in given]
    if not all(equals and role in get_args(ColumnRole) for _, equals, role in pairs):
        known = ", ".join(get_args(ColumnRole))
        terminal.end(terminal.EXIT_USAGE, f"--role takes COLUMN=ROLE, with one of {known}", as_json=cli.as_json)
    return {name: cast(ColumnRole, role) for name, _, role in pairs}


def _short(value: str | None) -> str:
    if value is None:
        return "-"
    line = " ".join(value.split())
    return line if len(line) <= 40 else f"{line[:39]}…"
