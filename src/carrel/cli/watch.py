"""Watching a run: a live bar on a terminal, lines where there is none, events as JSON for programs."""

import time
from collections.abc import Callable, Iterator

from carrel_sdk import Workspace
from carrel_sdk.run_models import Run
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from carrel.cli import desk
from carrel.cli.desk import Desk

REFRESH_SECONDS = 0.1
_LINE_STEP_PERCENT = 10
_PHASES = {"generate": "generating", "score": "scoring", "compare": "comparing", "combine": "combining"}


def snapshots(workspace: Workspace, run_id: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Run]:
    """The run as it is now, and again whenever something has happened, until it has ended or is paused."""
    run = workspace.runs.get(run_id)
    yield run
    if halted(run):
        return
    read_at = clock()
    for _ in workspace.runs.events(run_id):
        # Many tasks end in a tenth of a second, and nobody can read faster.
        if clock() - read_at < REFRESH_SECONDS:
            continue
        run, read_at = workspace.runs.get(run_id), clock()
        yield run
        if halted(run):
            return
    yield workspace.runs.get(run_id)


def halted(run: Run) -> bool:
    """Whether nothing more happens by itself."""
    return run.ended or run.state == "paused"


def watch(at: Desk, run_id: str) -> Run:
    """Follow a run to its end or pause, and show how it goes on; the run as it is then."""
    if at.as_json:
        for event in at.workspace.runs.events(run_id):
            print(event.data, flush=True)
        return at.workspace.runs.get(run_id)
    return follow(snapshots(at.workspace, run_id), at.console)


def follow(runs: Iterator[Run], console: Console) -> Run:
    """Show each snapshot; the last one."""
    return _with_bar(runs, console) if console.is_terminal else _with_lines(runs, console)


def end_with(at: Desk, run: Run) -> None:
    """Tell how the run ended; ends the program with a code of its own if there is no result."""
    at.show(run, f"{run.name}: {run.state}" + (f" ({run.pause_reason})" if run.pause_reason else ""))
    if run.verdict and not at.as_json:
        at.console.print(desk.printable(run.verdict))
    if run.state not in ("completed", "completed_with_errors"):
        raise SystemExit(desk.EXIT_RUN_WITHOUT_RESULT)


def _with_bar(runs: Iterator[Run], console: Console) -> Run:
    bar = Progress(
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("{task.description}", table_column=None),
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


def _update(bar: Progress, row: TaskID, run: Run) -> None:
    progress = run.progress
    bar.update(row, description=f"{words(run):<11}", total=max(progress.total, 1), completed=progress.done)


def _with_lines(runs: Iterator[Run], console: Console) -> Run:
    shown: set[tuple[str, int]] = set()

    def line(run: Run) -> None:
        mark = (words(run), run.progress.percent // _LINE_STEP_PERCENT)
        if mark not in shown:
            shown.add(mark)
            done, total = run.progress.done, run.progress.total
            console.print(f"{mark[0]}: {done:,} of {total:,} tasks, {run.progress.percent} %", highlight=False)

    return _last(runs, line)


def _last(runs: Iterator[Run], show: Callable[[Run], None]) -> Run:
    run = next(runs)
    show(run)
    for run in runs:
        show(run)
    return run


def words(run: Run) -> str:
    """What the run is doing, in a word."""
    return _PHASES.get(run.phase or "", run.state) if run.state == "running" else run.state
