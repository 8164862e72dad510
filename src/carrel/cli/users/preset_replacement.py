"""`carrel preset replacement`: models that could replace today's, a run that tries some, and today's last answers."""

from pathlib import Path
from typing import Final

import msgspec
import rich_click as click
from carrel_sdk.models import (
    Alternative,
    Alternatives,
    Candidate,
    Configuration,
    Output,
    Preset,
    RunSummary,
    TrendPoint,
)
from msgspec.structs import replace
from rich.table import Table

from carrel.cli.interface import terminal
from carrel.cli.interface.gate_summary import require_margin
from carrel.cli.interface.reading import read_text
from carrel.cli.interface.terminal import UserCommand, printable, user_command
from carrel.cli.interface.watching import end_with, watch
from carrel.cli.users.run import show_replacement
from carrel.evaluation.words import counted
from carrel.kit.money import brief, micros_of

_SHOWN: Final = 20


@click.command("replacement")
@click.argument("preset_id")
@click.option("--baseline", required=True, metavar="LABEL", help="The candidate that is used today.")
@click.option("--try", "tried", multiple=True, metavar="MODEL", help="Try this model in its place: makes one run.")
@click.option("--prompt", type=click.Path(path_type=Path), help="Its instructions; else they are those of today's.")
@click.option("--record", is_flag=True, help="Keep its answers, so that it competes after the end of its model.")
@click.option("--calls", default=1_000, show_default=True, type=click.IntRange(0), metavar="N", help="Calls a month.")
@click.option("--margin", default="5%", show_default=True, help="Being worse by less than this is allowed.")
@click.option("--max-cost", metavar="DOLLARS", help="The run pauses before it spends more.")
@user_command
def command(
    cli: UserCommand,
    preset_id: str,
    baseline: str,
    tried: tuple[str, ...],
    prompt: Path | None,
    calls: int,
    margin: str,
    max_cost: str | None,
    *,
    record: bool,
) -> None:
    """List models that could replace today's, try some of them, or record today's answers.

    A run takes answers that exist, recorded ones too, and names the cheapest candidate that is not worse.
    """
    share = require_margin(cli, margin)
    preset = cli.workspace.presets.get(preset_id)
    today = next((one for one in preset.generation.candidates if (one.label or one.model) == baseline), None)
    if today is None:
        terminal.end(terminal.EXIT_FAILED, f"the preset has no candidate {baseline!r}", as_json=cli.as_json)
    made = msgspec.convert(preset, Configuration, from_attributes=True)
    made = replace(made, reuse=True, limits=replace(made.limits, budget=max_cost or made.limits.budget))
    if record:
        _record(cli, made, today, baseline)
    elif tried:
        like = replace(today, label="", existing={}, column=None)
        if prompt is not None:
            text = read_text(cli, prompt)
            name = f"Prompt in place of {baseline}"
            like = replace(like, instructions=cli.workspace.contents.create(name, "generation_instructions", text).id)
        others = [replace(like, model=model) for model in tried]
        run = _ended(cli, _with(made, [*preset.generation.candidates, *others]), f"In place of {baseline}")
        show_replacement(cli, run.id, baseline, calls, share)
    else:
        _show(cli, preset, cli.workspace.presets.alternatives(preset_id, baseline=baseline), calls)


def _with(made: Configuration, candidates: list[Candidate]) -> Configuration:
    return replace(made, generation=replace(made.generation, candidates=candidates))


def _ended(cli: UserCommand, made: Configuration, name: str) -> RunSummary:
    """A run of it with a result. Ends the program if it pauses or has none."""
    run = cli.workspace.runs.create(configuration=made, name=name)
    cli.workspace.runs.start(run.id)
    ended = watch(cli, run.id)
    if not ended.has_result:
        end_with(cli, ended)
    return ended


def _record(cli: UserCommand, made: Configuration, today: Candidate, baseline: str) -> None:
    """Let the candidate answer everything and keep the run, whose answers later runs take as if they asked again."""
    if today.model is None:
        terminal.end(terminal.EXIT_FAILED, f"the answers of {baseline!r} are kept already", as_json=cli.as_json)
    alone = replace(_with(made, [today]), scoring=None, comparison=None, combination=None, checks=[], headline=None)
    run = _ended(cli, replace(alone, output=Output()), f"Last recording of {baseline}")
    cli.workspace.runs.replace(run.id, name=run.name, pinned=True)
    words = f"{run.id}  {counted(run.progress.succeeded, 'answer')} of {baseline} kept, for every run with --reuse"
    cli.show(run, words)


def _show(cli: UserCommand, preset: Preset, found: Alternatives, calls: int) -> None:
    point = _newest(cli, preset.id, found.baseline)
    if cli.as_json:
        terminal.print_json(found)
        return
    if point is not None:
        kind, rate = ("passes", point.passes) if point.passes is not None else ("preferred", point.preferred)
        words = (
            f"{found.baseline} in {point.name}: {kind} {terminal.rate(rate)}, {terminal.dollars(point.cost_per_answer)}"
        )
        cli.console.print(printable(f"{words} an answer"), soft_wrap=True)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("model", "about, an answer", counted(calls, "call"), "context", "fits", "switched off"):
        table.add_column(name, overflow="fold")
    for one in (*([found.today] if found.today else []), *found.items[:_SHOWN]):
        table.add_row(*map(printable, _cells(one, calls)))
    cli.console.print(table)
    left = len(found.items) - _SHOWN
    if left > 0:
        cli.console.print(f"not shown, because dearer: {left:,}; --json has all")


def _newest(cli: UserCommand, preset_id: str, label: str) -> TrendPoint | None:
    """How good the candidate was in the newest run that says so."""
    presets = cli.workspace.presets
    known = presets.trends(preset_id)
    if label not in known.candidates:
        return None
    points = presets.trends(preset_id, candidate=label).points
    return next((one for one in points if one.passes is not None or one.preferred is not None), None)


def _cells(one: Alternative, calls: int) -> tuple[str, ...]:
    fits = {True: "yes", False: "no", None: "unknown"}[one.fits]
    month = "unknown" if one.likely_cost is None else brief(calls * micros_of(one.likely_cost))
    context = "unknown" if one.context_tokens is None else f"{one.context_tokens:,}"
    name = terminal.model_at(one.model, one.host)
    return name, terminal.dollars(one.likely_cost), month, context, fits, one.ends_on or ""
