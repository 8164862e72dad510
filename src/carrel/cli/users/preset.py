"""`carrel preset`: which candidates are compared, by which judges, on which documents."""

from pathlib import Path

import msgspec
import rich_click as click
import yaml
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, KnownPart, Preset, PresetDraft, Scoring

from carrel.cli.interface import terminal
from carrel.cli.interface.gate_summary import require_margin
from carrel.cli.interface.reading import (
    ROWS_HELP,
    TRIAL_HELP,
    groups,
    groups_options,
    read_text,
    rows,
    spending_options,
    variables,
)
from carrel.cli.interface.suite_files import beside
from carrel.cli.interface.terminal import UserCommand, printable, user_command
from carrel.cli.interface.trends_table import trends_table
from carrel.cli.interface.watching import end_with, watch
from carrel.cli.users import preset_replacement
from carrel.evaluation.words import counted
from carrel.kit import yaml_values
from carrel.kit.yaml_values import YamlUnreadable

_MOST_VALUES = 100_000
_NAME_CHARACTERS = 100


@click.group("preset", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """What is compared: documents, candidates, judges."""


command.add_command(preset_replacement.command)


@command.command("create")
@click.option("--file", type=click.Path(path_type=Path, allow_dash=True), help="The whole preset as YAML or JSON.")
@click.option("--name", help="Its name.")
@click.option("--input", "inputs", multiple=True, metavar="ID", help="A document that candidates work on.")
@click.option("--tagged", metavar="TAG", help="All input documents with this tag.")
@click.option("--candidate", "candidates", multiple=True, metavar="MODEL", help="A model that takes part.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="MODEL",
    help="A model that judges; without one, a run only makes answers.",
)
@click.option("--instructions", metavar="ID", help="The prompt.")
@click.option("--criteria", metavar="ID", help="The criteria for scores; without them, answers are only compared.")
@click.option("--finalists", type=int, help="How many candidates are compared.")
@click.option("--scores-only", is_flag=True, help="Judges score each answer by the criteria, and compare nothing.")
@user_command
def create(
    cli: UserCommand,
    file: Path | None,
    name: str | None,
    inputs: tuple[str, ...],
    tagged: str | None,
    candidates: tuple[str, ...],
    judges: tuple[str, ...],
    instructions: str | None,
    criteria: str | None,
    finalists: int | None,
    scores_only: bool,
) -> None:
    """Make a preset from a file, or a simple one from options."""
    if file is not None:
        made = cli.workspace.presets.create(_from_file(cli, file))
        cli.show(made, f"{made.id}  {made.name}")
        return
    documents = list(inputs)
    if tagged is not None:
        found = cli.workspace.contents.find(type="input_document", tag=tagged)
        documents += [item.id for item in found if item.id not in inputs]
    if not (name and documents and candidates):
        words = "give --file, or --name, --input or --tagged, and --candidate"
        terminal.end(terminal.EXIT_USAGE, words, as_json=cli.as_json)
    if not judges and (criteria or finalists is not None or scores_only):
        terminal.end(terminal.EXIT_USAGE, "--criteria, --finalists and --scores-only need --judge", as_json=cli.as_json)
    if scores_only and (criteria is None or finalists is not None):
        words = "--scores-only needs --criteria, and does not go with --finalists"
        terminal.end(terminal.EXIT_USAGE, words, as_json=cli.as_json)
    heard = [Judge(model=model) for model in judges]
    made = cli.workspace.presets.create(
        PresetDraft(
            name=name,
            inputs=documents,
            instructions=instructions,
            generation=Generation(candidates=[Candidate(model=model) for model in candidates]),
            scoring=None if criteria is None else Scoring(judges=heard, criteria=criteria),
            comparison=Comparison(judges=heard, finalists=finalists) if heard and not scores_only else None,
        )
    )
    cli.show(made, f"{made.id}  {made.name}")


@command.command("list")
@user_command
def list_presets(cli: UserCommand) -> None:
    """List presets, newest first."""
    cli.show_rows(
        cli.workspace.presets.each(),
        {
            "id": lambda item: item.id,
            "name": lambda item: item.name,
            "documents": lambda item: str(item.input_count),
            "candidates": lambda item: ", ".join(item.candidate_labels),
            "updated": lambda item: item.updated_at[:16].replace("T", " "),
        },
    )


@command.command("show")
@click.argument("preset_id")
@user_command
def show(cli: UserCommand, preset_id: str) -> None:
    """Print a preset as YAML, as `create --file` takes it; with `--json`, everything about it."""
    preset = cli.workspace.presets.get(preset_id)
    cli.show(preset, _as_yaml(preset))


@command.command("replace")
@click.argument("preset_id")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@user_command
def replace(cli: UserCommand, preset_id: str, file: Path) -> None:
    """Replace a preset with a file, as `show` prints it. Runs of the preset stay as they are."""
    draft = _from_file(cli, file)
    before = cli.workspace.presets.get(preset_id)
    saved = cli.workspace.presets.replace(preset_id, draft, if_match=before.etag or None)
    cli.show(saved, f"{saved.id}  version {saved.version}")


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", help="What data set and preset are called; the file's name otherwise.")
@click.option(
    "--model", "models", multiple=True, metavar="PROVIDER=MODEL", help="What to call instead of a provider in the file."
)
@user_command
def import_suite(cli: UserCommand, file: Path, name: str | None, models: tuple[str, ...]) -> None:
    """Make a data set and a preset of a promptfooconfig.yaml. It executes nothing and counts what it leaves out."""
    pairs = [text.rpartition("=") for text in models]
    if not all(provider and model for provider, _, model in pairs):
        terminal.end(terminal.EXIT_USAGE, "--model takes PROVIDER=MODEL", as_json=cli.as_json)
    text = read_text(cli, file)
    made = cli.workspace.presets.import_suite(
        text,
        name=name or file.absolute().parent.name[:_NAME_CHARACTERS] or None,
        files=beside(file, text),
        models={provider: model for provider, _, model in pairs},
    )
    kept = made.preset or made.draft
    lines = [f"{made.data_set.id}  data set: {counted(made.data_set.row_count, 'test')}"]
    if made.preset is not None:
        names = ", ".join(check.name for check in made.preset.checks) or "none"
        lines.append(f"{made.preset.id}  preset: checks {names}")
    elif kept is not None:
        lines.append(f"{kept.id}  unfinished set-up: Carrel can call none of its providers; see --model")
    if made.criteria is not None:
        lines.append(f"{made.criteria}  criteria: what a model was to grade")
    lines += [f"left out: {part.kind} ({part.count:,})" for part in made.dropped]
    cli.show(made, "\n".join(lines))


@command.command("export")
@click.argument("preset_id")
@user_command
def export_suite(cli: UserCommand, preset_id: str) -> None:
    """Print a preset as a promptfooconfig.yaml, with its tests; what promptfoo has no word for goes to stderr."""
    made = cli.workspace.presets.export_suite(preset_id)
    cli.show(made, made.config)
    for part in () if cli.as_json else made.dropped:
        terminal.console(stderr=True).print(printable(f"left out: {part.kind} ({part.count:,})"))


@command.command("estimate")
@click.argument("preset_id")
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="The text for an open placeholder.")
@user_command
def estimate(cli: UserCommand, preset_id: str, given: tuple[str, ...]) -> None:
    """Show what a run of a preset would cost and what it could decide. Nothing is spent."""
    found = cli.workspace.presets.estimate(preset_id, variables=variables(cli, given))
    calls = found.calls
    phases = f"{calls.generate:,} to generate, {calls.score:,} to score, {calls.compare:,} to compare"
    if calls.combine:
        phases += f", {calls.combine:,} to combine"
    lines = [f"calls     {calls.total:,} ({phases})", f"cost      {_cost(found.likely_cost, found.worst_cost)}"]
    if found.known_part is not None:
        lines[1:] = _known(found.known_part)
    elif found.economy is not None:
        both = found.economy
        lines[1] = f"cost      {_cost(both.likely_cost_at_once, both.worst_cost_at_once)}"
        lines.append(f"economy   {_cost(both.likely_cost, both.worst_cost)}")
    if found.over_budget:
        lines.append(found.over_budget)
    lines += [found.power.sentence, *(one.sentence for one in found.endings)]
    cli.show(found, "\n".join(lines))


def _known(part: KnownPart) -> list[str]:
    likely = terminal.partly_known(part.likely_cost, part.likely_unknown_calls)
    worst = terminal.partly_known(part.worst_cost, part.worst_unknown_calls)
    lines = [f"cost      about {likely}, at most {worst}"]
    if part.unpriced_models:
        lines.append(f"unpriced  {', '.join(part.unpriced_models)}; `carrel models set-price` says what a model costs")
    return lines


def _cost(likely_cost: str | None, worst_cost: str | None) -> str:
    likely, worst = terminal.dollars(likely_cost), terminal.dollars(worst_cost)
    return "unknown" if likely == worst == "unknown" else f"about {likely}, at most {worst}"


@command.command("execute")
@click.argument("preset_id")
@click.option("--name", help="The run's name.")
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="The text for an open placeholder.")
@click.option("--rows", "given_rows", metavar="ID", help=ROWS_HELP)
@groups_options
@spending_options
@click.option("--trial", is_flag=True, help=TRIAL_HELP)
@click.option("--watch", "watched", is_flag=True, help="Stay until the run has ended.")
@user_command
def execute(
    cli: UserCommand,
    preset_id: str,
    name: str | None,
    given: tuple[str, ...],
    given_rows: str | None,
    groups_by: str | None,
    groups_file: Path | None,
    economy: bool | None,
    reuse: bool | None,
    trial: bool,
    watched: bool,
) -> None:
    """Make a run of a preset and start it."""
    run = cli.workspace.presets.execute(
        preset_id,
        name=name,
        variables=variables(cli, given),
        rows=rows(cli, given_rows),
        groups=groups(cli, groups_by, groups_file, preset_id),
        economy=economy,
        reuse=reuse,
        trial=trial,
    )
    if watched:
        end_with(cli, watch(cli, run.id))
    else:
        cli.show(run, run.id)


@command.command("duplicate")
@click.argument("preset_id")
@user_command
def duplicate(cli: UserCommand, preset_id: str) -> None:
    """Copy a preset."""
    made = cli.workspace.presets.duplicate(preset_id)
    cli.show(made, f"{made.id}  {made.name}")


@command.command("trends")
@click.argument("preset_id")
@click.option("--candidate", metavar="LABEL", help="The candidate to follow.  [default: the first of the newest run]")
@click.option("--baseline", metavar="LABEL", help="The candidate to compare it with in each run.")
@click.option("--margin", default="5%", show_default=True, help="Being worse than the baseline by less is allowed.")
@user_command
def trends(cli: UserCommand, preset_id: str, candidate: str | None, baseline: str | None, margin: str) -> None:
    """Follow one candidate over the runs of a preset, and name the last good run."""
    share = require_margin(cli, margin)
    found = cli.workspace.presets.trends(preset_id, candidate=candidate, baseline=baseline, margin=share)
    if cli.as_json:
        terminal.print_json(found)
    else:
        cli.console.print(trends_table(found))


@command.command("delete")
@click.argument("preset_ids", nargs=-1, required=True)
@user_command
def delete(cli: UserCommand, preset_ids: tuple[str, ...]) -> None:
    """Delete presets; their runs stay."""
    for preset_id in preset_ids:
        cli.workspace.presets.delete(preset_id)
        cli.show_done("deleted", preset_id)


def _from_file(cli: UserCommand, file: Path) -> dict[str, object]:
    try:
        written = yaml_values.read(read_text(cli, file), _MOST_VALUES)
    except YamlUnreadable as error:
        terminal.end(terminal.EXIT_FAILED, f"{file} {error}", as_json=cli.as_json)
    if not isinstance(written, dict):
        terminal.end(terminal.EXIT_FAILED, f"{file} does not hold a preset", as_json=cli.as_json)
    return written


def _as_yaml(preset: Preset) -> str:
    draft = msgspec.to_builtins(msgspec.convert(preset, PresetDraft, from_attributes=True))
    return str(yaml.safe_dump(draft, sort_keys=False, allow_unicode=True))
