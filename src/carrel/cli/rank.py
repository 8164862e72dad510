"""`carrel rank`: from a table of finished answers to a verdict, without a preset, a key or an account."""

import os
import secrets
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Literal, NamedTuple, get_args
from uuid import uuid4

import msgspec
import rich_click as click
from carrel_sdk import CarrelError, Workspace
from carrel_sdk.models import (
    Candidate,
    Check,
    ColumnRole,
    Comparison,
    Configuration,
    Generation,
    Judge,
    Rows,
    RunSummary,
    Scoring,
)

from carrel.cli.demonstration.own_service import ServiceFailed, own_service
from carrel.cli.interface import terminal, tokens
from carrel.cli.interface.class_tables import class_tables
from carrel.cli.interface.printing import say
from carrel.cli.interface.ranking_table import checks_table, ranking_table, verdict_panel
from carrel.cli.interface.reading import read_text
from carrel.cli.interface.terminal import UserCommand
from carrel.cli.interface.watching import follow, snapshots
from carrel.cli.users.run import show_replacement
from carrel.datasets.result_files.answers import AnswerTable, Unreadable, free_name
from carrel.datasets.result_files.joining import JoinedFile, join
from carrel.datasets.result_files.json_text import MAX_FILE_BYTES
from carrel.datasets.result_files.reading import read_results, read_table
from carrel.datasets.schemas import Source

_BUILT_IN: Final = "local:"
_SHOWN_CODES: Final = 5
_MARGIN: Final = 0.05


class _ColumnNames(NamedTuple):
    """The columns that the command line names, and what does not count of the answers in them."""

    inputs: tuple[str, ...]
    candidates: tuple[str, ...]
    expected: str | None
    group: str | None
    id: str | None
    ignored: frozenset[str] = frozenset()


class _Table(NamedTuple):
    """What is ranked, ready for upload."""

    name: str
    file_name: str
    body: bytes
    roles: dict[str, ColumnRole]
    candidates: list[str]
    tried: tuple[str, ...]
    checks: list[Check]
    headline: Literal["checks", "macro_f1"] | None
    sheet: str | None = None


@click.command("rank", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--with", "others", multiple=True, metavar="[NAME=]FILE[:COLUMN]", help="More answers, with the same ids."
)
@click.option("--sheet", metavar="NAME", help="The sheet of a spreadsheet.  [default: the first one]")
@click.option("--input", "inputs", multiple=True, metavar="COLUMN", help="What was asked. A table needs it.")
@click.option(
    "--candidates",
    multiple=True,
    metavar="COLUMN[,COLUMN]",
    help="The columns with the finished answers. A table needs it; it may be repeated.",
)
@click.option("--judge", "judges", multiple=True, metavar="MODEL", help="Who compares, as local:reader.")
@click.option("--criteria", type=click.Path(path_type=Path), help="A YAML file; judges then also score.")
@click.option(
    "--expected", metavar="COLUMN", help="The expected answer: judges see it; without judges, answers must equal it."
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    type=click.Choice(["case", "space", "prefix", "fence"]),
    help="What does not count where answers must equal the expected one; prefix is a first `Answer:` or the like.",
)
@click.option(
    "--by",
    type=click.Choice(["judges", "checks", "macro-f1"]),
    help="What the verdict is by; macro-f1 is the mean F1 over the classes of --expected.  [default: judges, if any]",
)
@click.option(
    "--try", "tried", multiple=True, metavar="MODEL", help="A model to try in place of the first candidate, today's."
)
@click.option(
    "--prompt", type=click.Path(path_type=Path), help="The instructions of tried models; else they get the input alone."
)
@click.option("--cost", metavar="DOLLARS", help="What one of today's answers costs, beside models that are tried.")
@click.option("--calls", default=1_000, show_default=True, type=click.IntRange(0), metavar="N", help="Calls a month.")
@click.option("--group", metavar="COLUMN", help="Rows with the same value count together.")
@click.option("--id", "row_id", metavar="COLUMN", help="What names a row.")
@click.option(
    "--format", "source", type=click.Choice(get_args(Source)), help="What wrote the file.  [default: guessed]"
)
@click.option("--url", help="A service where you are signed in.  [default: CARREL_URL, or one of its own]")
@click.option("--json", "as_json", is_flag=True, help="Print the ranking as one line of JSON.")
def command(
    file: Path,
    others: tuple[str, ...],
    sheet: str | None,
    inputs: tuple[str, ...],
    candidates: tuple[str, ...],
    judges: tuple[str, ...],
    criteria: Path | None,
    expected: str | None,
    ignored: tuple[str, ...],
    by: str | None,
    tried: tuple[str, ...],
    prompt: Path | None,
    cost: str | None,
    calls: int,
    group: str | None,
    row_id: str | None,
    source: Source | None,
    url: str | None,
    *,
    as_json: bool,
) -> None:
    """Rank the answers in a table (CSV, JSON, XLSX), one row for each question, or in a file of another program.

    Results of promptfoo, logs of Inspect, exports of Langfuse, output items of OpenAI's Evals, samples of
    lm-evaluation-harness and tables of deepeval and ragas say themselves what was asked; their grades come along as
    checks. Without a judge, the verdict is by them, or by how often an answer equals the expected one. Answers in
    further files are joined by the ids of rows; NAME= names them if their column's name is taken.

    Without an address the command starts a service of its own in a temporary folder, and nothing stays of it. A judge
    of a provider then needs the provider's key in the environment, such as OPENAI_API_KEY.
    """
    try:
        chosen = _ColumnNames(inputs, candidates, expected, group, row_id, frozenset(ignored))
        by = by or ("judges" if judges else "checks")
        if by == "judges" and not judges:
            terminal.end(terminal.EXIT_USAGE, "--by judges needs a --judge", as_json=as_json)
        table = _table(file, others, chosen, source, by, tried, sheet, as_json=as_json)
    except Unreadable as error:
        terminal.end(terminal.EXIT_FAILED, str(error), as_json=as_json)
    # Without a handler, SIGTERM would end this process and leave the service running.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with _workspace(url, (*judges, *tried), as_json=as_json) as workspace:
            cli = UserCommand(as_json, terminal.wide_console(), workspace)
            run = _rank(cli, table, judges, criteria, prompt)
            today = table.candidates[0]
            costs = {} if cost is None else {today: cost}
            if run.has_result and as_json and tried:
                # One document, whatever was asked.
                ranking = msgspec.to_builtins(workspace.runs.ranking(run.id))
                replacement = workspace.runs.replacement(
                    run.id, baseline=today, calls_per_month=calls, margin=_MARGIN, costs=costs or None
                )
                terminal.print_json(ranking | {"replacement": replacement})
            elif run.has_result:
                _show(cli, run.id)
                if tried:
                    show_replacement(cli, run.id, today, calls, _MARGIN, costs)
            else:
                words = f"the run is {run.state}: {_reason(workspace, run.id)}"
                terminal.end(terminal.EXIT_RUN_WITHOUT_RESULT, words, as_json=as_json)
    except ServiceFailed as error:
        terminal.end(terminal.EXIT_FAILED, str(error), as_json=as_json)
    except CarrelError as error:
        terminal.fail(error, as_json=as_json)
    except tokens.NoToken as error:
        terminal.end(terminal.EXIT_NO_SESSION, str(error), as_json=as_json)
    except KeyboardInterrupt:
        sys.exit(terminal.EXIT_INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)


def _table(
    file: Path,
    others: tuple[str, ...],
    chosen: _ColumnNames,
    source: Source | None,
    by: str,
    tried: tuple[str, ...],
    sheet: str | None,
    *,
    as_json: bool,
) -> _Table:
    """The files as one table and the roles of its columns. Ends the program if they do not fit.

    Raises:
        Unreadable: naming the file.
    """
    body = _bytes(file, as_json=as_json)
    answers = _answers(file, body, source, named=bool(chosen.inputs))
    if not (others or tried) and answers is not None and len(answers.candidates) == 1:
        raise Unreadable(f"{file.name} has one candidate, {answers.candidates[0]}: join another file with --with")
    table = answers or _rows(file, body, sheet)
    if others:
        parts = [_part(other, named=answers is None, as_json=as_json) for other in others]
        answers = join(JoinedFile(file.name, table), parts, chosen.id)
    labels = _labels(chosen.candidates, (answers or table).columns)
    if answers is not None:
        labels = labels or list(answers.candidates)
        answers = answers.only(labels)
        chosen = _completed(chosen, answers)
    elif by != "judges" and not chosen.inputs and labels:
        answers, chosen = _asked(table, chosen, labels)
    if not chosen.inputs or not labels:
        words = "a table needs --input and --candidates, which name its columns"
        terminal.end(terminal.EXIT_USAGE, words, as_json=as_json)
    single: dict[ColumnRole, str | None] = {"expected": chosen.expected, "group": chosen.group, "id": chosen.id}
    named = [*chosen.inputs, *labels, *filter(None, single.values())]
    if len(set(named)) < len(named):
        terminal.end(terminal.EXIT_USAGE, "a column is named twice", as_json=as_json)
    roles: dict[str, ColumnRole] = dict.fromkeys(chosen.inputs, "variable")
    roles |= dict.fromkeys(labels, "output")
    roles |= {column: role for role, column in single.items() if column is not None}
    if len(labels) > 1 and not any(_answered(row, labels) > 1 for row in (answers or table).rows):
        raise Unreadable(f"{file.name}: no row has the answers of two candidates")
    # A name that nobody gave as an option has no meaning.
    rest: dict[str, ColumnRole] = dict.fromkeys((answers or table).columns, "metadata")
    grades = {} if answers is None else answers.grades
    checks = [Check(kind="grade", name=name, columns=columns) for name, columns in grades.items()]
    if by == "macro-f1" or (by == "checks" and not checks):
        checks.append(_by_label(chosen, as_json=as_json))
    headlines: dict[str, Literal["checks", "macro_f1"]] = {"checks": "checks", "macro-f1": "macro_f1"}
    headline = headlines.get(by)
    if answers is None:
        return _Table(file.name, file.name, body, rest | roles, labels, tried, checks, headline, sheet)
    lines = answers.as_json_lines()
    return _Table(file.name, f"{file.stem}.jsonl", lines, rest | roles, labels, tried, checks, headline)


def _asked(table: AnswerTable, chosen: _ColumnNames, labels: Sequence[str]) -> tuple[AnswerTable, _ColumnNames]:
    """The table with what was asked where nobody says it: all other columns, or the number of the row."""
    named = {*labels, chosen.expected, chosen.group, chosen.id}
    inputs = tuple(name for name in table.columns if name not in named)
    if not inputs or any(not any(row[name] for name in inputs) for row in table.rows):
        inputs = (free_name("row", table.columns),)
        rows = [row | {inputs[0]: f"Row {number}"} for number, row in enumerate(table.rows, 1)]
        table = replace(table, rows=rows)
    return table, chosen._replace(inputs=inputs)


def _by_label(chosen: _ColumnNames, *, as_json: bool) -> Check:
    """The check that stands in for judges."""
    if chosen.expected is None:
        words = "say with --judge who compares, or with --expected which column has the right answers"
        terminal.end(terminal.EXIT_USAGE, words, as_json=as_json)
    return Check(
        kind="equals",
        name=chosen.expected,
        ignore_case="case" in chosen.ignored,
        ignore_space="space" in chosen.ignored,
        ignore_prefix="prefix" in chosen.ignored,
        ignore_fence="fence" in chosen.ignored,
    )


def _answered(row: Mapping[str, str | None], labels: Sequence[str]) -> int:
    return sum(row.get(label, "") is not None for label in labels)


def _labels(given: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The candidates that the options name: each option names one, or several between commas."""
    found: list[str] = []
    for text in given:
        parts = text.split(",")
        while parts:
            # A column's own name may have commas: the longest that begins here is meant.
            ends = range(len(parts), 0, -1)
            end = next((end for end in ends if ",".join(parts[:end]).strip() in columns), 1)
            found.append(",".join(parts[:end]).strip())
            del parts[:end]
    return [label for label in found if label]


def _part(given: str, *, named: bool, as_json: bool) -> JoinedFile:
    """A file of `--with`, as FILE, NAME=FILE or NAME=FILE:COLUMN."""
    label, equals, name = given.partition("=")
    # A file may have the sign in its name.
    labelled = bool(equals) and not Path(given).is_file()
    file, column = Path(name if labelled else given), None
    if labelled and ":" in name and not file.is_file():
        path, _, column = name.rpartition(":")
        file = Path(path)
    body = _bytes(file, as_json=as_json)
    answers = _answers(file, body, named=named) or _rows(file, body)
    return JoinedFile(file.name, answers, label if labelled else None, column)


def _answers(file: Path, body: bytes, source: Source | None = None, *, named: bool) -> AnswerTable | None:
    try:
        return read_results(file.absolute(), body, source, named=named)
    except Unreadable as error:
        raise Unreadable(f"{file.name}: {error}") from None


def _rows(file: Path, body: bytes, sheet: str | None = None) -> AnswerTable:
    try:
        table = read_table(file.name, body, sheet)
    except Unreadable as error:
        raise Unreadable(f"{file.name}: {error}") from None
    for note in table.notes:
        say(f"{file.name}: {note}", stderr=True)
    return table


def _bytes(file: Path, *, as_json: bool) -> bytes:
    try:
        with file.open("rb") as opened:
            body = opened.read(MAX_FILE_BYTES + 1)
    except OSError:
        terminal.end(terminal.EXIT_FAILED, f"{file} cannot be read", as_json=as_json)
    if len(body) > MAX_FILE_BYTES:
        words = f"{file} cannot be read: it holds more than {MAX_FILE_BYTES >> 20} MiB"
        terminal.end(terminal.EXIT_FAILED, words, as_json=as_json)
    return body


def _completed(chosen: _ColumnNames, answers: AnswerTable) -> _ColumnNames:
    """What the file says itself, where the command line names nothing."""
    expected, group = chosen.expected or answers.expected, chosen.group or answers.group
    row_id = answers.id or chosen.id
    taken = {expected, group, row_id}
    inputs = chosen.inputs or tuple(name for name in answers.inputs if name not in taken)
    return _ColumnNames(inputs, chosen.candidates, expected, group, row_id, chosen.ignored)


@contextmanager
def _workspace(url: str | None, models: tuple[str, ...], *, as_json: bool) -> Iterator[Workspace]:
    """The workspace at an address; without one, that of a new user of a service that ends with the block."""
    if url or os.environ.get("CARREL_URL"):
        with terminal.open_workspace(url) as workspace:
            yield workspace
        return
    keys = _keys(models, as_json=as_json)
    with own_service() as service:
        host = service.start()
        uuid = str(uuid4())
        host.sign_up(uuid, membership="paid", password=secrets.token_urlsafe(24))
        with Workspace(service.url, lambda: str(host.session(uuid))) as workspace:
            for provider, key in keys.items():
                workspace.provider_keys.store(provider, key)
            yield workspace
        host.close()


def _keys(models: tuple[str, ...], *, as_json: bool) -> dict[str, str]:
    """The keys of the models' providers, from the environment. Ends the program if one is missing."""
    found = {}
    for provider in {model.partition(":")[0] for model in models if not model.startswith(_BUILT_IN)}:
        name = f"{provider.upper().replace('-', '_')}_API_KEY"
        key = os.environ.get(name)
        if not key:
            words = f"a model of {provider} needs its key in {name}, or a service where you stored it (--url)"
            terminal.end(terminal.EXIT_USAGE, words, as_json=as_json)
        found[provider] = key
    return found


def _rank(
    cli: UserCommand,
    table: _Table,
    judges: tuple[str, ...],
    criteria: Path | None,
    prompt: Path | None,
) -> RunSummary:
    workspace, bench = cli.workspace, [Judge(model=model) for model in judges]
    data_set = workspace.data_sets.upload(
        table.file_name, table.body, name=table.name, columns=table.roles, sheet=table.sheet
    )
    scoring = comparison = None
    if bench:
        finalists = None if criteria is None else len(table.candidates) + len(table.tried)
        comparison = Comparison(judges=bench, finalists=finalists)
    if criteria is not None:
        content = workspace.contents.create(f"Criteria of {table.name}", "criteria", read_text(cli, criteria))
        scoring = Scoring(judges=bench, criteria=content.id)
    instructions = None
    if table.tried:
        text = "{{document}}" if prompt is None else read_text(cli, prompt)
        instructions = workspace.contents.create(f"Prompt of {table.name}", "generation_instructions", text).id
    finished = [Candidate(label=label, column=label) for label in table.candidates]
    configuration = Configuration(
        rows=Rows(data_set=data_set.id),
        generation=Generation(candidates=[*finished, *(Candidate(model=model) for model in table.tried)]),
        instructions=instructions,
        scoring=scoring,
        comparison=comparison,
        checks=table.checks,
        headline=table.headline,
    )
    run = workspace.runs.create(configuration=configuration, name=f"Ranking of {table.name}")
    workspace.runs.start(run.id)
    # Programs read stdout.
    return follow(snapshots(workspace, run.id), terminal.console(stderr=True) if cli.as_json else cli.console)


def _reason(workspace: Workspace, run_id: str) -> str:
    """What failed and how often, and the file where the run's log is: the service may end now."""
    with NamedTemporaryFile("wb", prefix="carrel-rank-", suffix=".jsonl", delete=False) as kept:
        codes: Counter[str] = Counter()
        for entry in workspace.runs.logs(run_id):
            kept.write(msgspec.json.encode(entry) + b"\n")
            if entry.event in ("attempt-failed", "task-failed", "run-paused") and entry.code:
                codes[entry.code] += 1
    found = ", ".join(f"{code} ({count:,}×)" for code, count in codes.most_common(_SHOWN_CODES))
    return f"{found or 'nothing could be compared'}. Its log is in {kept.name}"


def _show(cli: UserCommand, run_id: str) -> None:
    found = cli.workspace.runs.ranking(run_id)
    if cli.as_json:
        terminal.print_json(found)
        return
    cli.console.print(verdict_panel(found.verdict))
    cli.console.print()
    cli.console.print(ranking_table(found.ranking, grey=found.verdict.grey))
    if found.checks is not None:
        cli.console.print()
        cli.console.print(checks_table(found.checks))
        classes = cli.workspace.runs.classes(run_id)
        if classes.rows:
            cli.console.print()
            cli.console.print(class_tables(classes))
