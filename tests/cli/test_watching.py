"""Watching a run: one look at a time, an end that is noticed, and output that suits where it goes."""

from io import StringIO
from types import SimpleNamespace
from typing import cast

import msgspec
import pytest
from carrel_sdk import Workspace
from carrel_sdk.models import Progress, RunState, RunSummary, Spend
from carrel_sdk.run_events import RunEvent
from rich.console import Console

from carrel.cli.interface import watching
from carrel.cli.interface.terminal import EXIT_RUN_WITHOUT_RESULT, UserCommand


def run(state: RunState, percent: int = 0, phase: str | None = "generate") -> RunSummary:
    return RunSummary(
        id="r",
        name="n",
        state=state,
        phase=phase,
        round=1,
        progress=Progress(total=200, percent=percent, succeeded=2 * percent),
        spend=Spend(cost="0"),
        created_at="t",
    )


def looks(*states: RunState) -> list[RunState]:
    """What is seen of a run whose events tell of these states."""
    events = [
        event
        for state in states
        for event in (RunEvent("1", "task-succeeded"), RunEvent("1", "progress", run=run(state)))
    ]
    workspace = SimpleNamespace(runs=SimpleNamespace(events=lambda _: iter(events)))
    return [seen.state for seen in watching.snapshots(cast(Workspace, workspace), "r")]


def test_the_look_ends_with_the_run_or_its_pause() -> None:
    assert looks("running", "running", "completed", "running") == ["running", "running", "completed"]
    assert looks("running", "paused", "running") == ["running", "paused"]


def shown(*, terminal: bool) -> str:
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=100)
    states = [run("running", percent) for percent in range(0, 60, 2)]
    states += [run("running", 60, "compare"), run("completed", 100, None)]
    assert watching.follow(iter(states), console).state == "completed"
    return out.getvalue()


def test_a_terminal_gets_a_bar_and_a_file_gets_a_line_for_every_tenth() -> None:
    assert "━" in shown(terminal=True)
    lines = shown(terminal=False).splitlines()
    assert lines[0] == "generating: 0 of 200 tasks, 0 %"
    assert lines[-2:] == ["comparing: 120 of 200 tasks, 60 %", "completed: 200 of 200 tasks, 100 %"]
    assert len(lines) == 8


def test_what_looks_have_saved_is_said_once_there_is_something() -> None:
    made = run("completed", 100, None)
    assert watching.savings(made) == ""
    saved = msgspec.structs.replace(made.progress, saved=50, saved_cost="0.25")
    told = watching.savings(msgspec.structs.replace(made, progress=saved))
    assert told == "Looks on the way saved 50 of 250 tasks, about $0.25."


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("credits", "get more credits on the website, then `carrel run resume r`"),
        ("budget", "a run keeps its budget"),
        ("key-absent", "it continues by itself when you sign in"),
        ("user", "`carrel run resume r` continues it"),
        ("a reason that a newer service may give", "`carrel run resume r` continues it"),
    ],
)
def test_a_paused_run_says_what_continues_it(reason: str, advice: str) -> None:
    out = StringIO()
    command = UserCommand(False, Console(file=out, width=200), cast(Workspace, None))
    with pytest.raises(SystemExit) as ended:
        watching.end_with(command, msgspec.structs.replace(run("paused"), pause_reason=reason))
    assert ended.value.code == EXIT_RUN_WITHOUT_RESULT
    assert out.getvalue().startswith(f"n: paused ({reason})\n")
    assert advice in out.getvalue()


@pytest.mark.parametrize(("outcome", "code"), [("decided", 0), ("undecided", 9), ("level", 9), ("too_few", 9)])
def test_a_run_that_has_to_be_decided_ends_with_another_code_if_it_is_not(outcome: str, code: int) -> None:
    ranking = SimpleNamespace(verdict=SimpleNamespace(outcome=outcome))
    workspace = cast(Workspace, SimpleNamespace(runs=SimpleNamespace(ranking=lambda _: ranking)))
    command = UserCommand(False, Console(file=StringIO()), workspace)
    watching.end_with(command, run("completed", 100, None))
    if code == 0:
        watching.end_with(command, run("completed", 100, None), decided=True)
    else:
        with pytest.raises(SystemExit) as ended:
            watching.end_with(command, run("completed", 100, None), decided=True)
        assert ended.value.code == code
