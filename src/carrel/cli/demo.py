"""`carrel demo`: the main job, from an empty folder to a verdict, with built-in models only."""

import secrets
import shlex
import signal
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import rich_click as click
from carrel_sdk import CarrelError, Host, Workspace
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, Preset, PresetDraft, Ranking, Scoring
from rich.console import Console
from rich.table import Table
from rich.text import Text

from carrel.cli.demonstration.at_rest import look, telling_sentences
from carrel.cli.demonstration.own_service import OwnService, ServiceFailed, own_service
from carrel.cli.interface import terminal
from carrel.cli.interface.ranking_table import ranking_table, verdict_panel
from carrel.cli.interface.terminal import dollars, printable
from carrel.cli.interface.watching import follow, snapshots

GENERATORS: Final = ("lead", "random", "lexrank", "mmr", "submodular", "outline")
JUDGES: Final = ("reader", "statistician")
ENOUGH_DOCUMENTS: Final = 10
EXPORTED: Final = ("report", "documents", "scores", "comparisons", "calls", "logs", "configuration")

_NAME_WIDTH: Final = 22
_GUIDES: Final = (Path(__file__).parents[1] / "guides", Path(__file__).parents[3])
"""Where the project's guides are: in an installed package, or in the repository."""

INSTRUCTIONS: Final = """\
Summarise the document for a colleague who has to decide whether to read it.
Say what it is about, what it decides or recommends, and why.
"""
CRITERIA: Final = """\
- name: coverage
  description: The summary holds the main points of the document.
  weight: 2
- name: clarity
  description: The summary can be read and understood without the document.
- name: concision
  description: The summary says nothing twice.
"""


class DemoFailed(Exception):
    """A step of the demonstration failed. The text is one line."""


class DemoDocument(NamedTuple):
    """A text that the candidates work on."""

    name: str
    body: str


@click.command("demo")
@click.option("--docs", help="Your own text files in place of the project's guides, with spaces between; globs work.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=Path("demo-out"), show_default=True)
def command(docs: str | None, out: Path) -> None:
    """Run the main job from end to end on this machine: sign up, compare, verdict, report, export.

    The exit code is 0 only if every step succeeded. The service, its secrets and its databases are deleted afterwards.
    """
    console = terminal.console()
    # Without a handler, SIGTERM would end this process and leave the service running.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        _demonstrate(console, documents_of(docs), out)
    except (DemoFailed, ServiceFailed, CarrelError) as error:
        console.print(Text.assemble(("✗ ", "red"), printable(str(error))))
        raise SystemExit(1) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _demonstrate(console: Console, documents: list[DemoDocument], out: Path) -> None:
    began = time.monotonic()
    console.print()
    task = "which candidate does the job best, in a workspace that only its user can open"
    console.print(Text.assemble(("Carrel", "bold"), "  ", (task, "dim")))
    console.print()
    with own_service() as service:
        host = service.start()
        step(
            console,
            "service",
            f"at {service.url.removeprefix('http://')}, with fresh secrets and an empty folder",
            began,
        )
        password = secrets.token_urlsafe(12)
        with signed_in(console, service, host, password) as workspace:
            preset = _fill(console, workspace, documents)
            run_id, ranking = _execute(console, workspace, preset)
            _show(console, ranking)
            _write(console, workspace, run_id, out)
        host.close()
        service.stop()
        step(console, "stopped", "by SIGTERM, with exit code 0")
        _look_at_the_disk(console, service, documents, password)
    console.print()
    ended = f"{time.monotonic() - began:.0f} seconds in all. Open {out / 'report.html'} in a browser."
    console.print(ended, style="dim")


@contextmanager
def signed_in(console: Console, service: OwnService, host: Host, password: str) -> Iterator[Workspace]:
    """Sign up a new user, sign in, and open the workspace."""
    uuid, began = str(uuid4()), time.monotonic()
    host.sign_up(uuid, membership="paid")
    host.sign_in(uuid, password)
    step(console, "signed up and in", "the key from the password opened a new encrypted workspace", began)
    with Workspace(service.url, lambda: str(host.session(uuid))) as workspace:
        yield workspace


def _fill(console: Console, workspace: Workspace, documents: list[DemoDocument]) -> Preset:
    contents = workspace.contents
    inputs = [contents.create(document.name, "input_document", document.body) for document in documents]
    words = sum(len(document.body.split()) for document in documents)
    few = "" if len(documents) >= ENOUGH_DOCUMENTS else f"; {ENOUGH_DOCUMENTS} or more can decide more"
    step(console, f"{len(inputs)} documents", f"{words:,} words, {documents[0].name} to {documents[-1].name}{few}")
    judges = [Judge(model=f"local:{name}") for name in JUDGES]
    preset = workspace.presets.create(
        PresetDraft(
            name="Which summary?",
            inputs=[content.id for content in inputs],
            instructions=contents.create("Summarise", "generation_instructions", INSTRUCTIONS).id,
            generation=Generation(candidates=[Candidate(label=name, model=f"local:{name}") for name in GENERATORS]),
            scoring=Scoring(judges=judges, criteria=contents.create("Criteria", "criteria", CRITERIA).id),
            comparison=Comparison(judges=judges, finalists=len(GENERATORS)),
        )
    )
    estimate = workspace.presets.estimate(preset.id)
    cost = "at no cost" if estimate.worst_cost == "0" else f"at most {dollars(estimate.worst_cost)}"
    sizes = f"{len(GENERATORS)} candidates, {len(JUDGES)} judges: {estimate.calls.total:,} calls, {cost}"
    step(console, "preset", sizes)
    step(console, "what it can decide", estimate.power.sentence)
    return preset


def _execute(console: Console, workspace: Workspace, preset: Preset) -> tuple[str, Ranking]:
    began = time.monotonic()
    run_id = workspace.presets.execute(preset.id, name="Demonstration").id
    run = follow(snapshots(workspace, run_id), console)
    if run.state != "completed":
        raise DemoFailed(f"the run ended as {run.state}, with {run.progress.failed} failed tasks")
    step(console, "run completed", f"{run.progress.succeeded:,} tasks for {dollars(run.spend.cost)}", began)
    ranking = workspace.runs.ranking(run.id)
    ranked = {row.candidate for row in ranking.ranking.rows if row.place is not None}
    if not run.verdict or ranked != set(GENERATORS):
        raise DemoFailed("the run has no verdict about all candidates")
    return run.id, ranking


def _show(console: Console, ranking: Ranking) -> None:
    console.print()
    console.print(verdict_panel(ranking.verdict))
    console.print()
    console.print(ranking_table(ranking.ranking, grey=ranking.verdict.grey))
    console.print()
    console.print("The built-in models choose and count sentences. They are not language models.", style="dim")
    console.print()


def _write(console: Console, workspace: Workspace, run_id: str, out: Path) -> None:
    report, export = workspace.runs.report_html(run_id).encode(), workspace.runs.export(run_id)
    with zipfile.ZipFile(BytesIO(export)) as archive:
        names = archive.namelist()
        missing = [part for part in EXPORTED if not any(part in name for name in names)]
        if missing or archive.testzip() is not None:
            raise DemoFailed(f"the export lacks {', '.join(missing) or 'whole entries'}")
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "report.html").write_bytes(report)
        (out / "export.zip").write_bytes(export)
    except OSError:
        raise DemoFailed(f"{out} cannot be written to") from None
    step(console, "report", f"{out / 'report.html'}, {len(report) / 1024:,.0f} kB")
    step(console, "export", f"{out / 'export.zip'}, {len(export) / 1024:,.0f} kB, {len(names)} files")


def _look_at_the_disk(console: Console, service: OwnService, documents: list[DemoDocument], password: str) -> None:
    sought = [*telling_sentences(document.body for document in documents), password.encode()]
    seen = look(service.folder, sought, service.folder)
    if seen.readable or not seen.databases:
        raise DemoFailed(f"readable without the key: {', '.join(seen.readable) or 'no database was found'}")
    step(
        console,
        "unreadable at rest",
        f"{seen.databases} databases cannot be opened without their keys; {seen.sought} sentences and secrets are in"
        f" none of the {seen.files} files ({seen.size_bytes / 1024:,.0f} kB)",
    )


def step(console: Console, name: str, words: str, began: float | None = None) -> None:
    """Print a step that succeeded, with the time since `began`."""
    row = Table.grid(padding=(0, 1))
    row.add_column(width=1)
    row.add_column(width=_NAME_WIDTH, overflow="fold")
    row.add_column()
    took = "" if began is None else f"  {time.monotonic() - began:.1f} s"
    row.add_row(Text("✓", "green"), Text(name, "bold"), Text.assemble(printable(words), (took, "dim")))
    console.print(row)


def documents_of(given: str | None) -> list[DemoDocument]:
    """The texts of the files in `--docs`, or of the project's guides.

    Raises:
        DemoFailed: there are no files, or one cannot be read.
    """
    if given is None:
        project = next(filter(Path.is_dir, _GUIDES))
        documents = [DemoDocument(str(path.relative_to(project)), _text(path)) for path in _guides(project)]
    else:
        paths = [path for word in shlex.split(given) for path in _matching(word)]
        documents = [DemoDocument(path.name, _text(path)) for path in dict.fromkeys(paths)]
    if given is None and len(documents) < ENOUGH_DOCUMENTS:
        raise DemoFailed("the project's guides are not here; give --docs with ten text files or more")
    if not documents:
        raise DemoFailed("--docs names no file")
    return documents


def _guides(project: Path) -> list[Path]:
    """The decisions are too short to summarise."""
    guides = [project / "README.md", project / "CONTRIBUTING.md", *sorted((project / "docs").rglob("*.md"))]
    return [path for path in guides if path.is_file() and path.parent.name != "adr"]


def _matching(word: str) -> list[Path]:
    path = Path(word).expanduser()
    if path.is_file() or not any(character in word for character in "*?["):
        return [path]
    return sorted(found for found in path.parent.glob(path.name) if found.is_file())


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError:
        raise DemoFailed(f"{path} cannot be read") from None
    except UnicodeDecodeError:
        raise DemoFailed(f"{path} is not UTF-8 text") from None
    if not text.strip():
        raise DemoFailed(f"{path} is empty")
    return text
