"""`carrel votes`: votes that people gave elsewhere, and the criteria that people's reasons ask for."""

import json
from collections.abc import Iterator
from pathlib import Path

import rich_click as click
from carrel_sdk.models import CriteriaProposal, Opinion, ProposedCriterion

from carrel.cli.interface.reading import read_text
from carrel.cli.interface.terminal import UserCommand, user_command
from carrel.evaluation.words import counted


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

    Columns: document (number or name), first, second (labels), verdict (first, second or tie), and perhaps repeat,
    voter, both_bad and reason. The `votes.csv` of an export is such a file.
    """
    found = cli.workspace.votes.import_csv(run_id, read_text(cli, file), voter=voter)
    cli.show(
        found, f"{found.imported:,} imported, {found.known:,} known already, {counted(found.votes, 'vote')} in all"
    )


@command.command("criteria")
@click.argument("run_id")
@click.option("--half", is_flag=True, help="Read half of the documents; votes on the others test what a round gains.")
@user_command
def criteria(cli: UserCommand, run_id: str, half: bool) -> None:
    """Propose criteria from the reasons of the votes and the notes on the answers, by a table of English words.

    It prints YAML, with the reasons as comments, which `carrel content add --type criteria` takes once you changed what
    you like. No model is called.
    """
    found = cli.workspace.votes.criteria_proposal(run_id, half=half)
    cli.show(found, "\n".join(_lines(found, half=half)))


def _lines(found: CriteriaProposal, *, half: bool) -> Iterator[str]:
    read = found.votes + found.notes
    where = " about half of the documents" if half else ""
    yield f"# From {counted(found.votes, 'reason')} of votes and {counted(found.notes, 'note')} on answers{where}."
    if found.unrecognised:
        yield f"# Of these {read:,}, without a word that is known: {found.unrecognised:,}"
        yield from map(_quoted, found.unrecognised_quotes)
    if found.rare:
        yield f"# Said by fewer than {found.least}, and not proposed: {', '.join(found.rare)}."
    if not found.proposals:
        yield f"# Nothing is proposed: no criterion is named by {found.least} of them."
    for one in found.proposals:
        yield from _entry(one)


def _entry(one: ProposedCriterion) -> Iterator[str]:
    row = one.criterion
    yield f"- name: {row.name}"
    yield f"  description: {json.dumps(row.description, ensure_ascii=False)}"
    yield f"  weight: {row.weight}"
    yield f"  scale: {{min: {row.minimum}, max: {row.maximum}}}"
    yield f"  # {one.votes:,} of the votes and {one.notes:,} of the notes, such as:"
    yield from map(_quoted, one.quotes)


def _quoted(said: Opinion) -> str:
    """The text on one line: nothing of it can be taken for YAML."""
    return "  #   " + " ".join(said.text.split())
