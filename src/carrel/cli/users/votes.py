"""`carrel votes`: votes that people gave elsewhere."""

from pathlib import Path

import rich_click as click

from carrel.cli.interface.reading import read_text
from carrel.cli.interface.terminal import UserCommand, user_command


@click.group("votes", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """People's votes on the answers of a run; `carrel run vote` asks for them."""


@command.command("import")
@click.argument("run_id")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--voter", metavar="NAME", help="Who voted, on lines that do not say it.")
@user_command
def bring_in(cli: UserCommand, run_id: str, file: Path, voter: str | None) -> None:
    """Count votes from a CSV file; `-` is stdin. All lines count or none; a line that is known changes nothing.

    Columns: document (number or name), first, second (labels), verdict (first, second or tie), and perhaps repeat and
    voter. The `votes.csv` of an export is such a file.
    """
    found = cli.workspace.votes.import_csv(run_id, read_text(cli, file), voter=voter)
    cli.show(found, f"{found.imported:,} imported, {found.known:,} known already, {found.votes:,} votes in all")
