"""Watching a run: one look at a time, an end that is noticed, and output that suits where it goes."""

from collections.abc import Iterator
from io import StringIO
from typing import Any, cast

from carrel_sdk import Workspace
from carrel_sdk.configuration import Configuration, Generation
from carrel_sdk.event_stream import ServerEvent
from carrel_sdk.run_models import Progress, Run, RunState, Spend
from rich.console import Console

from carrel.cli import watch


def run(state: RunState, percent: int = 0, phase: str | None = "generate") -> Run:
    return Run(
        id="r",
        name="n",
        state=state,
        phase=phase,
        round=1,
        progress=Progress(total=200, percent=percent, succeeded=2 * percent),
        spend=Spend(cost="0"),
        created_at="t",
        configuration=Configuration(inputs=[], generation=Generation(candidates=[])),
    )


class Runs:
    """Runs that are as told, one after another, and events in between."""

    def __init__(self, *states: Run, events: int = 100) -> None:
        self.states = list(states)
        self.gets = 0
        self._events = events

    def get(self, _: str) -> Run:
        self.gets += 1
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def events(self, _: str) -> Iterator[ServerEvent]:
        return (ServerEvent(str(number), "log", "{}") for number in range(self._events))


class Desk:
    def __init__(self, runs: Runs) -> None:
        self.runs = runs


def looks(runs: Runs, seconds_between: float) -> list[RunState]:
    ticks = iter(range(10_000))
    found = watch.snapshots(cast(Workspace, cast(Any, Desk(runs))), "r", lambda: next(ticks) * seconds_between)
    return [seen.state for seen in found]


def test_a_run_that_has_ended_is_looked_at_once() -> None:
    runs = Runs(run("completed"))
    assert looks(runs, 1) == ["completed"]
    assert runs.gets == 1


def test_the_look_ends_with_the_run_or_its_pause() -> None:
    assert looks(Runs(run("running"), run("running"), run("paused"), run("running")), 1) == [
        "running",
        "running",
        "paused",
    ]


def test_many_events_at_once_are_one_look_and_the_last_look_is_after_all_of_them() -> None:
    runs = Runs(run("running"), run("completed"))
    assert looks(runs, 0.0001) == ["running", "completed"]
    assert runs.gets == 2


def shown(*, terminal: bool) -> str:
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=100)
    states = [run("running", percent) for percent in range(0, 60, 2)]
    states += [run("running", 60, "compare"), run("completed", 100, None)]
    assert watch.follow(iter(states), console).state == "completed"
    return out.getvalue()


def test_a_terminal_gets_a_bar_and_a_file_gets_a_line_for_every_tenth() -> None:
    assert "━" in shown(terminal=True)
    lines = shown(terminal=False).splitlines()
    assert lines[0] == "generating: 0 of 200 tasks, 0 %"
    assert lines[-2:] == ["comparing: 120 of 200 tasks, 60 %", "completed: 200 of 200 tasks, 100 %"]
    assert len(lines) == 8
