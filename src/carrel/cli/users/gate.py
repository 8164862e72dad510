"""`carrel gate`: whether a change makes things worse, as an exit code for a pipeline."""

from decimal import Decimal
from pathlib import Path
from typing import NoReturn

import rich_click as click
from carrel_sdk.models import Estimate, Preset, RunSummary

from carrel.cli.interface import gate_summary, terminal
from carrel.cli.interface.gate_summary import Summary
from carrel.cli.interface.reading import ROWS_HELP, rows, variables
from carrel.cli.interface.saving import save
from carrel.cli.interface.terminal import CommandOutput, UserCommand, printable, user_command
from carrel.cli.interface.watching import follow, pause_advice, snapshots

_FILE = click.Path(path_type=Path, allow_dash=True)


@click.command("gate", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("preset_id", required=False)
@click.option("--run", "run_id", metavar="RUN_ID", help="Ask about a run that exists, instead of making one.")
@click.option("--baseline", required=True, metavar="LABEL", help="The candidate that is used today.")
@click.option("--candidate", metavar="LABEL", help="The changed one.  [default: the only other one]")
@click.option("--margin", default="5%", show_default=True, help="Being worse by less than this is allowed.")
@click.option("--max-cost", metavar="DOLLARS", help="Make no run that could cost more.")
@click.option("--name", help="The run's name.")
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="The text for an open placeholder.")
@click.option("--rows", "given_rows", metavar="ID", help=ROWS_HELP)
@click.option("--markdown", type=_FILE, metavar="FILE", help="Write a summary as Markdown.")
@click.option("--junit", type=_FILE, metavar="FILE", help="Write the result of each source as JUnit XML.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@user_command
def command(
    cli: UserCommand,
    preset_id: str | None,
    run_id: str | None,
    baseline: str,
    candidate: str | None,
    margin: str,
    max_cost: str | None,
    name: str | None,
    given: tuple[str, ...],
    given_rows: str | None,
    markdown: Path | None,
    junit: Path | None,
    force: bool,
) -> None:
    """Make a run of a preset, wait for it, and say whether the candidate is worse than the baseline.

    Ends with 0 if it is better, or not worse by the margin; with 8 if it is worse, and with 9 if it cannot be told.
    """
    share = gate_summary.require_margin(cli, margin)
    # Before anything is spent.
    for path in (markdown, junit):
        if path is not None and str(path) != "-" and path.exists() and not force:
            terminal.end(terminal.EXIT_FAILED, f"{path} exists already; --force replaces it", as_json=cli.as_json)
    if (preset_id is None) == (run_id is None):
        _usage(cli, "give either a preset or --run")
    if preset_id is None:
        if max_cost or name or given or given_rows:
            _usage(cli, "--max-cost, --name, --set and --rows go with a preset")
        run = _ended(cli, str(run_id))
    else:
        run = _ended(cli, _started(cli, preset_id, (baseline, candidate), name, given, given_rows, max_cost))
    if not run.has_result:
        _end_without_result(cli, run)
    gate = cli.workspace.runs.gate(run.id, baseline=baseline, candidate=candidate, margin=share)
    found = gate_summary.summary(run, gate)
    _write(cli, found, markdown, junit, force=force)
    if cli.as_json:
        terminal.print_json(found)
    else:
        cli.console.print(gate_summary.table(gate))
        cli.console.print(printable(gate.sentence), style="bold", soft_wrap=True)
        cli.console.print(f"run {run.id}, {terminal.dollars(found.cost, found.unknown_calls)}", soft_wrap=True)
    raise SystemExit(gate_summary.exit_code(gate))


def _started(
    cli: UserCommand,
    preset_id: str,
    labels: tuple[str, str | None],
    name: str | None,
    given: tuple[str, ...],
    given_rows: str | None,
    max_cost: str | None,
) -> str:
    """Make a run of the preset and start it, unless the candidates are missing or it could cost too much."""
    presets, texts, chosen = cli.workspace.presets, variables(cli, given), rows(cli, given_rows)
    preset = presets.get(preset_id)
    _check_labels(cli, preset, labels)
    if max_cost is not None:
        most = _dollars(cli, max_cost)
        budget = preset.limits.budget
        found = presets.estimate(preset_id, variables=texts, rows=chosen)
        bounds = [Decimal(bound) for bound in (found.worst_cost, budget) if bound is not None]
        if not bounds or min(bounds) > most:
            cost = terminal.dollars(str(min(bounds))) if bounds else _worst(found)
            words = f"the run could cost {cost}, and --max-cost is {terminal.dollars(max_cost)}: no run was made"
            terminal.end(terminal.EXIT_FAILED, words, as_json=cli.as_json)
    return presets.execute(preset_id, name=name, variables=texts, rows=chosen).id


def _worst(found: Estimate) -> str:
    part = found.known_part
    return "unknown" if part is None else terminal.partly_known(part.worst_cost, part.worst_unknown_calls)


def _check_labels(cli: UserCommand, preset: Preset, labels: tuple[str, str | None]) -> None:
    """End the program before a run is paid for that could not be asked about."""
    if preset.combination is not None:
        return
    known = [one.label or one.model for one in preset.generation.candidates]
    for label in labels:
        if label is not None and label not in known:
            terminal.end(terminal.EXIT_FAILED, f"the preset has no candidate {label!r}", as_json=cli.as_json)
    if labels[1] is None and len(known) != 2:
        _usage(cli, "--candidate is required unless the preset has two candidates")


def _dollars(cli: UserCommand, text: str) -> Decimal:
    if not text.replace(".", "", 1).isdecimal():
        _usage(cli, "--max-cost takes US dollars such as 1.50")
    return Decimal(text)


def _ended(cli: UserCommand, run_id: str) -> RunSummary:
    """The run once it has ended or paused. Its progress goes to stderr where a program reads stdout."""
    run: RunSummary = cli.workspace.runs.get(run_id)
    if run.state == "pending":
        terminal.end(terminal.EXIT_CONFLICT, f"run {run_id} has not been started", as_json=cli.as_json)
    if run.halted:
        return run
    try:
        return follow(snapshots(cli.workspace, run_id), terminal.console(stderr=True) if cli.as_json else cli.console)
    except KeyboardInterrupt:
        words = (
            f"the run continues; `carrel gate --run {run_id}` waits for it again, `carrel run cancel {run_id}` ends it"
        )
        terminal.end(terminal.EXIT_INTERRUPTED, words, as_json=cli.as_json)


def _end_without_result(cli: UserCommand, run: RunSummary) -> NoReturn:
    reason = f" ({run.pause_reason})" if run.pause_reason else ""
    words = ": ".join(filter(None, (f"run {run.id} is {run.state}{reason}", pause_advice(run))))
    terminal.end(terminal.EXIT_RUN_WITHOUT_RESULT, words, as_json=cli.as_json)


def _write(cli: UserCommand, found: Summary, markdown: Path | None, junit: Path | None, *, force: bool) -> None:
    # With `--json`, stdout has the result alone.
    quiet = CommandOutput(False, terminal.console(stderr=True)) if cli.as_json else cli
    for path, text in ((markdown, gate_summary.markdown), (junit, gate_summary.junit)):
        if path is not None:
            save(quiet, path, text(found).encode(), force=force)


def _usage(cli: UserCommand, words: str) -> NoReturn:
    terminal.end(terminal.EXIT_USAGE, words, as_json=cli.as_json)
