"""What commands read: text files, files of any kind, stdin for `-`, and the texts of `--set`."""

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import rich_click as click
from carrel_sdk.models import DocumentGroups, Rows

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import CommandOutput, UserCommand


def read_text(cli: UserCommand, file: Path) -> str:
    """The text in a file, or on stdin for `-`. Ends the program if it is not UTF-8 text."""
    try:
        return read_bytes(cli, file).decode("utf-8-sig")
    except UnicodeDecodeError:
        terminal.end(terminal.EXIT_FAILED, f"{file} is not UTF-8 text", as_json=cli.as_json)


def read_bytes(cli: UserCommand, file: Path) -> bytes:
    """The bytes of a file, or of stdin for `-`. Ends the program if they cannot be read."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError:
        terminal.end(terminal.EXIT_FAILED, f"{file} cannot be read", as_json=cli.as_json)


GROUPS_HELP = "Which documents belong together: by `tag`, by `tag:PREFIX`, or by `name` (folder, or first words)."
GROUPS_FILE_HELP = "The same as a table (CSV) with the columns `document`, an id or a name, and `group`; `-` for stdin."
_FILE = click.Path(path_type=Path, allow_dash=True)

F = TypeVar("F", bound=Callable[..., object])


def groups_options(function: F) -> F:
    """The options of which `groups` reads the values, as `groups_by` and `groups_file`."""
    by_file = click.option("--groups", "groups_file", type=_FILE, metavar="FILE", help=GROUPS_FILE_HELP)
    return click.option("--groups-by", metavar="WHAT", help=GROUPS_HELP)(by_file(function))


TRIAL_HELP = "Every candidate answers the first input alone, and nobody judges; a run with --reuse takes the answers."


def spending_options(function: F) -> F:
    """The options of which `economy` and `reuse` are the values; without them, the preset decides."""
    taken = "Take answers and verdicts of earlier runs where the same was asked in the same way."
    function = click.option("--reuse/--no-reuse", default=None, help=taken)(function)
    text = "Send calls in batches at half the price, which OpenAI and Anthropic answer within a day."
    return click.option("--economy/--no-economy", default=None, help=text)(function)


def groups(
    cli: UserCommand, given: str | None, file: Path | None, preset_id: str, inputs: Sequence[str] = ()
) -> DocumentGroups | None:
    """What `--groups-by` says, or the table of `--groups`; `inputs` stand in for those of the preset."""
    if file is not None:
        if given is not None:
            terminal.end(terminal.EXIT_USAGE, "take either --groups-by or --groups", as_json=cli.as_json)
        of = _of_documents(cli, file, list(inputs or cli.workspace.presets.get(preset_id).inputs))
        return DocumentGroups(by="map", of=of)
    if given is None:
        return None
    by, _, prefix = given.partition(":")
    if by not in ("tag", "name") or (by == "name" and prefix):
        terminal.end(terminal.EXIT_USAGE, "--groups-by takes tag, tag:PREFIX or name", as_json=cli.as_json)
    return DocumentGroups(by="tag", prefix=prefix) if by == "tag" else DocumentGroups(by="name")


def _of_documents(cli: UserCommand, file: Path, inputs: list[str]) -> dict[str, str]:
    """The group of each input that the table names, by its id or by a name that only one input has."""
    rows = csv.DictReader(read_text(cli, file).splitlines())
    if not {"document", "group"} <= set(rows.fieldnames or ()):
        terminal.end(terminal.EXIT_FAILED, f"{file} needs the columns document and group", as_json=cli.as_json)
    given = [(row["document"] or "", row["group"] or "") for row in rows]
    named = all(document in inputs for document, _ in given)
    names = [] if named else [cli.workspace.contents.get(content_id).name for content_id in inputs]
    of = {}
    for document, group in given:
        found = [document] if document in inputs else [inputs[i] for i, name in enumerate(names) if name == document]
        if len(found) != 1:
            reason = "is none of the documents" if not found else f"is the name of {len(found)} documents: give the id"
            terminal.end(terminal.EXIT_FAILED, f"{file}: {document!r} {reason}", as_json=cli.as_json)
        of[found[0]] = group
    return of


ROWS_HELP = "Rows of a data set instead: its ID, or `ID:COLUMN=VALUE` for those with a value."


def rows(cli: UserCommand, given: str | None) -> Rows | None:
    """What `--rows` says."""
    if given is None:
        return None
    data_set_id, _, condition = given.partition(":")
    column, equals, value = condition.partition("=")
    if not data_set_id or bool(condition) != bool(equals):
        terminal.end(terminal.EXIT_USAGE, "--rows takes ID or ID:COLUMN=VALUE", as_json=cli.as_json)
    return Rows(data_set=data_set_id, where={column: value} if equals else {})


def variables(cli: UserCommand, given: tuple[str, ...]) -> dict[str, str]:
    """The texts of `--set NAME=TEXT`."""
    pairs = [text.partition("=") for text in given]
    if not all(equals for _, equals, _ in pairs):
        terminal.end(terminal.EXIT_USAGE, "--set takes NAME=TEXT", as_json=cli.as_json)
    return {name: text for name, _, text in pairs}


def read_secret(cli: CommandOutput, what: str, option: str, *, given: bool) -> str:
    """The first line of stdin. Ends the program if the option was not given, or if stdin is empty."""
    if not given:
        terminal.end(terminal.EXIT_USAGE, f"give the {what} on stdin, with {option}", as_json=cli.as_json)
    secret = sys.stdin.readline().strip()
    if not secret:
        terminal.end(terminal.EXIT_USAGE, f"stdin held no {what}", as_json=cli.as_json)
    return secret
