"""`carrel run vote`: a person judges pairs of answers without seeing the candidates."""

from typing import get_args

import rich_click as click
from carrel_sdk.models import Ballot, Choice, Voted
from rich.panel import Panel
from rich.rule import Rule

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import UserCommand, printable, user_command
from carrel.evaluation.words import counted

_BOTH_BAD, _UNDO, _PASS, _QUIT = "b", "u", "p", "q"
_PASSED = "pass"
_KEYS = {"1": "first", "2": "second", "=": "tie", _BOTH_BAD: "both_bad", _PASS: _PASSED}
_QUESTION = "Which one is better?  1, 2, = (equally good), b (both bad), u (undo the last vote), p (skip), q (quit)"
_DOCUMENT_CHARACTERS = 1_500
"""How much of a document is shown without `--whole`. Answers are always shown whole."""


@click.command("vote")
@click.argument("run_id")
@click.option("--pair", metavar="ID", help="Vote on this pair, whose id `--json` has shown, without questions.")
@click.option(
    "--verdict", type=click.Choice([*get_args(Choice), "both_bad", _PASSED]), help="Your verdict on the pair."
)
@click.option("--reason", metavar="TEXT", help="Why, in up to 500 characters; with `--verdict`.")
@click.option("--why", is_flag=True, help="Ask after each vote why; Enter gives no reason.")
@click.option("--voter", metavar="NAME", help="Who votes, if several people do: each sees every pair.")
@click.option("--whole", is_flag=True, help="Show documents whole, also long ones.")
@user_command
def command(
    cli: UserCommand,
    run_id: str,
    pair: str | None,
    verdict: str | None,
    reason: str | None,
    why: bool,
    voter: str | None,
    whole: bool,
) -> None:
    """Judge pairs of answers blind: without names, and in random order.

    With `--json`, only print the next pair, or `{"votes": …, "left": 0}` when every pair was shown.
    """
    if (pair is None) != (verdict is None):
        raise click.UsageError("--pair and --verdict belong together")
    if reason is not None and verdict in (None, _PASSED):
        raise click.UsageError("--reason belongs to a vote")
    if pair is not None and verdict is not None:
        voted = _cast(cli, run_id, pair, verdict, reason or "")
        if voted is None:
            cli.show_done("passed", pair)
        else:
            cli.show(voted, f"voted {verdict} on {pair}")
    elif cli.as_json:
        votes = cli.workspace.votes
        terminal.print_json(votes.next(run_id, voter=voter) or votes.count(run_id, voter=voter))
    else:
        _ask(cli, run_id, voter, whole=whole, why=why)


def _ask(cli: UserCommand, run_id: str, voter: str | None, *, whole: bool, why: bool) -> None:
    """Show one pair after the other, until there is none left or the person quits."""
    last = None
    while (ballot := cli.workspace.votes.next(run_id, voter=voter)) is not None:
        _show(cli, ballot, whole=whole)
        word = _word(can_undo=last is not None)
        if word == _QUIT:
            break
        if word == _UNDO and last is not None:
            cli.workspace.votes.undo(run_id, last)
            last = None
        else:
            _cast(cli, run_id, ballot.pair, _KEYS[word], _reason() if why and word != _PASS else "")
            last = None if word == _PASS else ballot.pair
    count = cli.workspace.votes.count(run_id, voter=voter)
    bad = f", {count.both_bad:,} of them on two bad answers" if count.both_bad else ""
    cli.show(count, f"{counted(count.votes, 'vote')}{bad}, {count.left:,} not shown yet")


def _word(*, can_undo: bool) -> str:
    words = [*_KEYS, _QUIT, *([_UNDO] if can_undo else [])]
    try:
        return str(click.prompt(_QUESTION, type=click.Choice(words), show_choices=False))
    except click.Abort:
        # The end of the input, or Ctrl-C: the votes so far count.
        return _QUIT


def _reason() -> str:
    try:
        return str(click.prompt("Why? (Enter for no reason)", default="", show_default=False))
    except click.Abort:
        # The vote counts without a reason.
        return ""


def _cast(cli: UserCommand, run_id: str, pair: str, verdict: str, reason: str) -> Voted | None:
    """Cast the vote. `pass` skips the pair for good, and there is no vote."""
    if verdict == _PASSED:
        cli.workspace.votes.withdraw(run_id, pair)
        return None
    choice: Choice = next((choice for choice in get_args(Choice) if choice == verdict), "tie")
    return cli.workspace.votes.cast(run_id, pair, choice, both_bad=verdict == "both_bad", reason=reason)


def _show(cli: UserCommand, ballot: Ballot, *, whole: bool) -> None:
    document = ballot.document
    if not whole and len(document) > _DOCUMENT_CHARACTERS:
        document = document[:_DOCUMENT_CHARACTERS] + "\n… (--whole shows all of it)"
    console = cli.console
    console.print(Rule(printable(ballot.document_name)))
    console.print(printable(document), style="dim")
    if ballot.reference is not None:
        console.print(Panel(printable(ballot.reference), title="Reference", title_align="left"))
    if ballot.instructions is not None:
        console.print(Panel(printable(ballot.instructions), title="Instructions to the judges", title_align="left"))
    if ballot.criteria:
        console.print(printable("Criteria: " + ", ".join(ballot.criteria)))
    console.print(Panel(printable(ballot.first), title="1", title_align="left", border_style="cyan"))
    console.print(Panel(printable(ballot.second), title="2", title_align="left", border_style="magenta"))
