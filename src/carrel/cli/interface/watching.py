"""Watching a run: a live bar on a terminal, lines where there is none, events as JSON for programs."""

from collections.abc import Callable, Iterator

from carrel_sdk import Workspace
from carrel_sdk.models import RunSummary
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from carrel.cli.interface import terminal
from carrel.cli.interface.terminal import UserCommand
from carrel.evaluation.words import counted

_LINE_STEP_PERCENT = 10
_ADVICE = {
    "credits": "get more credits on the website, then `{resume}` continues it",
    "budget": "a run keeps its budget; to spend more, raise it in the preset and execute that",
    "unknown-costs": "calls were lost whose cost nobody knows, and the service bears no more of them today; `{resume}` "
    "continues it, and what is held for each further lost call is charged to you",
    "membership": "a paid membership is needed, then `{resume}` continues it",
    "key-absent": "it continues by itself when you sign in",
    "service-stopped": "it continues when you sign in, unless your settings say otherwise; or `{resume}`",
    "service-restarted": "it continues when you sign in, unless your settings say otherwise; or `{resume}`",
}
_RESUMING = "`{resume}` continues it"
_PHASES = {"generate": "generating", "score": "scoring", "compare": "comparing", "combine": "combining"}


def snapshots(workspace: Workspace, run_id: str) -> Iterator[RunSummary]:
    """The run after each change, until it has ended or is paused."""
    for event in workspace.runs.events(run_id):
        if event.run is not None:
            yield event.run
            if event.run.halted:
                return


def watch(cli: UserCommand, run_id: str) -> RunSummary:
    """Show a run's progress until it ends or pauses, and return the run as it is then."""
    try:
        return _watched(cli, run_id)
    except KeyboardInterrupt:
        words = f"the run continues; `carrel run watch {run_id}` watches it again, `carrel run cancel {run_id}` ends it"
        terminal.end(terminal.EXIT_INTERRUPTED, words, as_json=cli.as_json)


def _watched(cli: UserCommand, run_id: str) -> RunSummary:
    if not cli.as_json:
        return follow(snapshots(cli.workspace, run_id), cli.console)
    for event in cli.workspace.runs.events(run_id):
        if event.entry is not None:
            terminal.print_json(event.entry)
        elif event.run is not None and event.run.halted:
            return event.run
    return cli.workspace.runs.get(run_id)


def follow(runs: Iterator[RunSummary], console: Console) -> RunSummary:
    """Show each snapshot, and return the last one."""
    return _with_bar(runs, console) if console.is_terminal else _with_lines(runs, console)


def end_with(cli: UserCommand, run: RunSummary, *, decided: bool = False) -> None:
    """Print how the run ended.

    Ends the program with exit code 7 if there is no result, and where it has to be `decided` with 9 if it is not.
    """
    cli.show(run, f"{run.name}: {run.state}" + (f" ({run.pause_reason})" if run.pause_reason else ""))
    if not cli.as_json:
        for line in (run.verdict, savings(run), pause_advice(run)):
            if line:
                cli.console.print(terminal.printable(line), soft_wrap=True)
    if not run.has_result:
        raise SystemExit(terminal.EXIT_RUN_WITHOUT_RESULT)
    if decided and cli.workspace.runs.ranking(run.id).verdict.outcome != "decided":
        raise SystemExit(terminal.EXIT_UNDECIDED)


def savings(run: RunSummary) -> str:
    """What the looks of a run that may stop early have saved, if anything."""
    progress = run.progress
    if not progress.saved:
        return ""
    cost = "" if progress.saved_cost in (None, "0") else f", about ${progress.saved_cost}"
    whole = progress.total + progress.saved
    return f"Looks on the way saved {progress.saved:,} of {counted(whole, 'task')}{cost}."


def pause_advice(run: RunSummary) -> str:
    """What makes a paused run continue; nothing for a run that is not paused."""
    if run.state != "paused":
        return ""
    return _ADVICE.get(run.pause_reason or "", _RESUMING).format(resume=f"carrel run resume {run.id}")


def _with_bar(runs: Iterator[RunSummary], console: Console) -> RunSummary:
    bar = Progress(
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=36),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with bar:
        row = bar.add_task("starting", total=1)
        return _last(runs, lambda run: _update(bar, row, run))


def _update(bar: Progress, row: TaskID, run: RunSummary) -> None:
    progress = run.progress
    bar.update(row, description=f"{words(run):<11}", total=max(progress.total, 1), completed=progress.done)


def _with_lines(runs: Iterator[RunSummary], console: Console) -> RunSummary:
    shown: set[tuple[str, int]] = set()

    def line(run: RunSummary) -> None:
        mark = (words(run), run.progress.percent // _LINE_STEP_PERCENT)
        if mark not in shown:
            shown.add(mark)
            done, total = run.progress.done, run.progress.total
            console.print(f"{mark[0]}: {done:,} of {counted(total, 'task')}, {run.progress.percent} %")

    return _last(runs, line)


def _last(runs: Iterator[RunSummary], show: Callable[[RunSummary], None]) -> RunSummary:
    run = next(runs)
    show(run)
    for run in runs:
        show(run)
    return run


def words(run: RunSummary) -> str:
    """What the run is doing, in one word."""
    return _PHASES.get(run.phase or "", run.state) if run.state == "running" else run.state
