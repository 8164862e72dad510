"""`carrel run`: make, start, watch and control runs; their ranking, report and export."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

import rich_click as click
from carrel_sdk.models import Figures, Judge, PeopleVerdict, Run, RunState, Statement, TaskState
from msgspec.structs import replace
from rich.text import Text

from carrel.cli.interface import terminal
from carrel.cli.interface.board_table import board_table
from carrel.cli.interface.class_tables import class_tables
from carrel.cli.interface.gate_summary import replacement_table, require_margin
from carrel.cli.interface.ranking_table import (
    checks_table,
    decision_panel,
    looks_table,
    people_panel,
    ranking_table,
    verdict_panel,
)
from carrel.cli.interface.reading import (
    ROWS_HELP,
    TRIAL_HELP,
    groups,
    groups_options,
    rows,
    spending_options,
    variables,
)
from carrel.cli.interface.saving import out_options, save
from carrel.cli.interface.split_table import split_table
from carrel.cli.interface.terminal import UserCommand, user_command
from carrel.cli.interface.watching import end_with, pause_advice, savings
from carrel.cli.interface.watching import watch as watch_run
from carrel.cli.users import run_vote
from carrel.evaluation.words import counted

_STATES = click.Choice(get_args(RunState))
_TASK_STATES = click.Choice(get_args(TaskState))


@click.group("run", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Make, start, watch and control runs, and read their results."""


command.add_command(run_vote.command)


@command.command("create")
@click.argument("preset_id")
@click.option("--name", help="The run's name.")
@click.option("--input", "inputs", multiple=True, metavar="ID", help="Documents that replace the preset's.")
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="The text for an open placeholder.")
@click.option("--rows", "given_rows", metavar="ID", help=ROWS_HELP)
@groups_options
@spending_options
@click.option("--trial", is_flag=True, help=TRIAL_HELP)
@user_command
def create(
    cli: UserCommand,
    preset_id: str,
    name: str | None,
    inputs: tuple[str, ...],
    given: tuple[str, ...],
    given_rows: str | None,
    groups_by: str | None,
    groups_file: Path | None,
    economy: bool | None,
    reuse: bool | None,
    trial: bool,
) -> None:
    """Make a run of a preset, with a snapshot of every text, without starting it."""
    run = cli.workspace.runs.create(
        preset_id=preset_id,
        name=name,
        inputs=inputs or None,
        variables=variables(cli, given),
        rows=rows(cli, given_rows),
        groups=groups(cli, groups_by, groups_file, preset_id, inputs),
        economy=economy,
        reuse=reuse,
        trial=trial,
    )
    cli.show(run, run.id)


@command.command("start")
@click.argument("run_id")
@click.option("--watch", "watched", is_flag=True, help="Stay until the run has ended.")
@user_command
def start(cli: UserCommand, run_id: str, watched: bool) -> None:
    """Start a run."""
    _began(cli, cli.workspace.runs.start(run_id), watched=watched)


@command.command("list")
@click.option("--state", type=_STATES)
@click.option("--trials", is_flag=True, help="The trials on one input, in place of the other runs.")
@user_command
def list_runs(cli: UserCommand, state: str | None, trials: bool) -> None:
    """List runs, newest first."""
    cli.show_rows(
        cli.workspace.runs.find(state=cast(RunState | None, state), trial=trials),
        {
            "id": lambda run: run.id,
            "name": lambda run: run.name,
            "state": _state,
            "done": lambda run: f"{run.progress.percent} %",
            "cost": lambda run: terminal.dollars(run.spend.cost, run.spend.unknown_calls),
            "created": lambda run: run.created_at[:16].replace("T", " "),
        },
    )


@command.command("show")
@click.argument("run_id")
@user_command
def show(cli: UserCommand, run_id: str) -> None:
    """Show a run's state and progress."""
    _show(cli, cli.workspace.runs.get(run_id))


@command.command("label")
@click.argument("run_id")
@click.option("--name", help="A new name.")
@click.option("--tag", "tags", multiple=True, help="New tags, which replace the old ones.")
@click.option("--no-tags", is_flag=True, help="Remove all tags.")
@click.option("--pin/--unpin", "pinned", default=None, help="Keep it, or do not, when old runs are deleted.")
@user_command
def label(
    cli: UserCommand, run_id: str, name: str | None, tags: tuple[str, ...], no_tags: bool, pinned: bool | None
) -> None:
    """Change a run's name, tags or pin. Values that you do not give stay."""
    runs, before = cli.workspace.runs, cli.workspace.runs.get(run_id)
    _show(
        cli,
        runs.replace(
            run_id,
            name=name or before.name,
            tags=() if no_tags else tags or before.tags,
            pinned=before.pinned if pinned is None else pinned,
        ),
    )


@command.command("watch")
@click.argument("run_id")
@click.option("--decided", is_flag=True, help="End with exit code 9 unless one candidate is best.")
@user_command
def watch(cli: UserCommand, run_id: str, decided: bool) -> None:
    """Follow a run to its end, with a live bar; with `--json`, one line for each event."""
    end_with(cli, watch_run(cli, run_id), decided=decided)


@command.command("pause")
@click.argument("run_id")
@user_command
def pause(cli: UserCommand, run_id: str) -> None:
    """Pause a run. No further task begins; calls in flight end, and their results are kept."""
    _show(cli, cli.workspace.runs.pause(run_id))


@command.command("resume")
@click.argument("run_id")
@user_command
def resume(cli: UserCommand, run_id: str) -> None:
    """Continue a paused run."""
    _show(cli, cli.workspace.runs.resume(run_id))


@command.command("cancel")
@click.argument("run_id")
@user_command
def cancel(cli: UserCommand, run_id: str) -> None:
    """End a run for good. Results so far stay."""
    _show(cli, cli.workspace.runs.cancel(run_id))


@command.command("tasks")
@click.argument("run_id")
@click.option("--state", type=_TASK_STATES)
@click.option("--kind", type=click.Choice(["generate", "score", "compare", "combine"]))
@user_command
def tasks(cli: UserCommand, run_id: str, state: str | None, kind: str | None) -> None:
    """List a run's tasks."""
    cli.show_rows(
        cli.workspace.runs.tasks(run_id, state=state, kind=kind),
        {
            "key": lambda task: task.key,
            "state": lambda task: task.state,
            "document": lambda task: task.document_name,
            "candidate": lambda task: f"{task.candidate} – {task.opponent}" if task.opponent else task.candidate,
            "judge": lambda task: task.judge or "",
            "error": lambda task: task.error.code if task.error else "",
        },
    )


@command.command("skip")
@click.argument("run_id")
@click.argument("task_keys", nargs=-1, required=True)
@user_command
def skip(cli: UserCommand, run_id: str, task_keys: tuple[str, ...]) -> None:
    """Skip tasks. Later phases do without them."""
    for key in task_keys:
        task = cli.workspace.runs.skip(run_id, key)
        cli.show(task, f"{task.key}: {task.state}")


@command.command("ranking")
@click.argument("run_id")
@click.option("--without-judge", metavar="MODEL", help="Show the ranking without this judge.")
@click.option("--round", "number", type=click.IntRange(1), metavar="N", help="The ranking of this round, not the last.")
@click.option("--split", "column", metavar="COLUMN", help="Instead, the results by the values of a column of the rows.")
@user_command
def ranking(cli: UserCommand, run_id: str, without_judge: str | None, number: int | None, column: str | None) -> None:
    """Print verdict and ranking."""
    if column is not None:
        if without_judge is not None or number is not None:
            terminal.end(terminal.EXIT_USAGE, "--split goes with no other option", as_json=cli.as_json)
        split = cli.workspace.runs.split(run_id, column)
        if cli.as_json:
            terminal.print_json(split)
        else:
            cli.console.print(split_table(split))
        return
    found = cli.workspace.runs.ranking(run_id, round=number, without_judge=without_judge)
    if cli.as_json:
        terminal.print_json(found)
        return
    if without_judge is None:
        cli.console.print(decision_panel(cli.workspace.runs.decision(run_id, round=number)))
    _print_ranking(cli, found.verdict, found.ranking, found.people)
    for table in (checks_table(found.checks), looks_table(found.looks)):
        if table is not None:
            cli.console.print(table)
    cli.console.print(Text("How far each judge can be trusted: carrel judge list", style="dim"))


@command.command("classes")
@click.argument("run_id")
@user_command
def classes(cli: UserCommand, run_id: str) -> None:
    """Print precision, recall, F1 and confusion, where the expected answers are classes."""
    found = cli.workspace.runs.classes(run_id)
    if cli.as_json:
        terminal.print_json(found)
    else:
        cli.console.print(class_tables(found))


@command.command("replacement")
@click.argument("run_id")
@click.option("--baseline", required=True, metavar="LABEL", help="The candidate that is used today.")
@click.option("--calls", required=True, type=click.IntRange(0), metavar="N", help="How often it is called in a month.")
@click.option("--margin", default="5%", show_default=True, help="Being worse by less than this is allowed.")
@click.option(
    "--cost", "costs", multiple=True, metavar="LABEL=DOLLARS", help="What an answer costs, if calls do not say."
)
@user_command
def replacement(cli: UserCommand, run_id: str, baseline: str, calls: int, margin: str, costs: tuple[str, ...]) -> None:
    """Name the cheapest candidate that is not worse than today's, and what it saves."""
    given = [cost.rpartition("=") for cost in costs]
    share = require_margin(cli, margin)
    show_replacement(cli, run_id, baseline, calls, share, {label: dollars for label, _, dollars in given})


def show_replacement(
    cli: UserCommand, run_id: str, baseline: str, calls: int, margin: float, costs: Mapping[str, str] | None = None
) -> None:
    """Print which candidate of the run takes the place of the baseline; `costs` are those of answers in dollars."""
    found = cli.workspace.runs.replacement(
        run_id, baseline=baseline, calls_per_month=calls, margin=margin, costs=costs or None
    )
    if cli.as_json:
        terminal.print_json(found)
        return
    cli.console.print(replacement_table(found))
    cli.console.print(terminal.printable(found.sentence), style="bold", soft_wrap=True)


@command.command("leaderboard")
@click.option("--like", metavar="RUN_ID", help="The runs with the documents and judges of this one, not of the newest.")
@user_command
def leaderboard(cli: UserCommand, like: str | None) -> None:
    """Rank all finished runs that share documents and judges as if they were one, with what people would say."""
    found = cli.workspace.evaluation.leaderboard(like=like)
    if cli.as_json:
        terminal.print_json(found)
        return
    if found.verdict is None or found.ranking is None:
        cli.console.print("no run has finished")
        return
    cli.console.print(counted(len(found.runs), "run") + " on " + counted(found.documents, "document"))
    notes = [*found.verdict.notes, *([found.note] if found.note else [])]
    _print_ranking(cli, replace(found.verdict, notes=notes), found.ranking, found.people)
    cli.console.print(board_table(found.candidates))
    if found.left_out:
        cli.console.print(Text(f"{counted(found.left_out, 'older run')} left out.", style="dim"))


def _print_ranking(cli: UserCommand, verdict: Statement, ranking: Figures, people: PeopleVerdict | None) -> None:
    cli.console.print(verdict_panel(verdict))
    cli.console.print(ranking_table(ranking, grey=verdict.grey, width=cli.console.width))
    if people is not None:
        cli.console.print(people_panel(people))


@command.command("report")
@click.argument("run_id")
@out_options(None)
@click.option("--against", metavar="RUN_ID", help="Compare with another run.")
@click.option("--split", "column", metavar="COLUMN", help="With the results by the values of a column of the rows.")
@click.option("--memo", is_flag=True, help="On one or two sides, for somebody who was not there.")
@user_command
def report(
    cli: UserCommand, run_id: str, output: Path, force: bool, against: str | None, column: str | None, memo: bool
) -> None:
    """Write the report as one page of HTML; with `--json`, as JSON."""
    if memo:
        if cli.as_json or against is not None or column is not None:
            terminal.end(terminal.EXIT_USAGE, "--memo goes with no other form", as_json=cli.as_json)
        page = cli.workspace.runs.report_memo(run_id).encode()
    elif cli.as_json:
        page = cli.workspace.runs.report_json(run_id, against=against, split=column)
    else:
        page = cli.workspace.runs.report_html(run_id, against=against, split=column).encode()
    save(cli, output, page, force=force)


@command.command("export")
@click.argument("run_id")
@out_options("export.zip")
@user_command
def export(cli: UserCommand, run_id: str, output: Path, force: bool) -> None:
    """Write a zip of everything: report, documents, scores, comparisons, calls, logs, configuration."""
    save(cli, output, cli.workspace.runs.export(run_id), force=force)


@command.command("receipt")
@click.argument("run_id")
@click.option("--text", metavar="NAME", help="Instead, disclose one text that the receipt names, such as `d1`.")
@out_options("receipt.json")
@user_command
def receipt(cli: UserCommand, run_id: str, text: str | None, output: Path, force: bool) -> None:
    """Write the signed receipt, which anybody can check with `carrel verify-receipt`."""
    runs = cli.workspace.runs
    save(cli, output, runs.receipt(run_id) if text is None else runs.receipt_text(run_id, text), force=force)


@command.command("logs")
@click.argument("run_id")
@click.option("--level", type=click.Choice(["info", "warning", "error"]))
@click.option("--task", "task_key", metavar="KEY", help="Only about this task.")
@click.option("--follow", is_flag=True, help="Oldest first, and continue until the run has ended.")
@user_command
def logs(cli: UserCommand, run_id: str, level: str | None, task_key: str | None, follow: bool) -> None:
    """List the entries of a run's log, newest first."""
    if follow:
        for entry in cli.workspace.runs.logs_tail(run_id, level=level, task_key=task_key):
            cli.show(
                entry, f"{entry.at}  {entry.level:<7}  {entry.event:<15}  {entry.task_key or ''} {entry.code or ''}"
            )
        return
    cli.show_rows(
        cli.workspace.runs.logs(run_id, level=level, task_key=task_key),
        {
            "at": lambda entry: entry.at,
            "level": lambda entry: entry.level,
            "event": lambda entry: entry.event,
            "task": lambda entry: entry.task_key or "",
            "code": lambda entry: entry.code or "",
        },
    )


@command.command("share-logs")
@click.argument("run_id")
@user_command
def share_logs(cli: UserCommand, run_id: str) -> None:
    """Let the operator read a copy of the log for 14 days: times, states, codes and numbers, but no text."""
    shared = cli.workspace.runs.share_logs(run_id)
    cli.show(shared, f"{shared.share_id}  until {shared.expires_at}")


@command.command("retry")
@click.argument("run_id")
@click.option("--watch", "watched", is_flag=True, help="Stay until the run has ended.")
@user_command
def retry(cli: UserCommand, run_id: str, watched: bool) -> None:
    """Try the failed tasks of a run that has ended again. What succeeded is kept, and nothing is paid twice."""
    _began(cli, cli.workspace.runs.retry(run_id), watched=watched)


@command.command("reevaluate")
@click.argument("run_id")
@click.option("--judge", "judges", multiple=True, metavar="MODEL", help="Judges that replace the run's judges.")
@click.option("--criteria", metavar="ID", help="Criteria that replace the run's criteria.")
@click.option("--instructions", metavar="ID", help="Instructions to the judges that replace the run's.")
@click.option("--watch", "watched", is_flag=True, help="Stay until the run has ended.")
@user_command
def reevaluate(
    cli: UserCommand,
    run_id: str,
    judges: tuple[str, ...],
    criteria: str | None,
    instructions: str | None,
    watched: bool,
) -> None:
    """Judge the same answers again, in a new round, or for the first time. Earlier rounds stay readable."""
    heard = [Judge(model=model) for model in judges] or None
    run = cli.workspace.runs.reevaluate(run_id, judges=heard, criteria=criteria, instructions=instructions)
    _began(cli, run, watched=watched)


@command.command("delete")
@click.argument("run_ids", nargs=-1, required=True)
@user_command
def delete(cli: UserCommand, run_ids: tuple[str, ...]) -> None:
    """Delete runs with all their results."""
    for run_id in run_ids:
        cli.workspace.runs.delete(run_id)
        cli.show_done("deleted", run_id)


def _began(cli: UserCommand, run: Run, *, watched: bool) -> None:
    if watched:
        end_with(cli, watch_run(cli, run.id))
    else:
        _show(cli, run)


def _show(cli: UserCommand, run: Run) -> None:
    progress, cost = run.progress, terminal.dollars(run.spend.cost, run.spend.unknown_calls)
    lines = [f"{run.name}: {_state(run)}, {progress.done:,} of {counted(progress.total, 'task')}, {cost}"]
    if run.spend.reused:
        lines.append(f"{counted(run.spend.reused, 'result')} of earlier runs taken.")
    lines += [line for line in (run.verdict, savings(run), pause_advice(run)) if line]
    cli.show(run, "\n".join(lines))


def _state(run: Run) -> str:
    return f"{run.state} ({run.pause_reason})" if run.pause_reason else run.state
