"""`output: library`: answers that become contents of the user, in the transaction that ends the run."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from carrel.contents import store as contents
from carrel.evaluation.ranking.ranking import Ranking
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.model.setup import Setup
from carrel.runs.verdicts.judgement import Ending

TAG = "output"
"""The tag of every such content, besides the tags of its run."""

_MAX_TAGS = 20
_MAX_DESCRIPTION_CHARACTERS = 2_000


class Library(msgspec.Struct, frozen=True):
    """Which answers are written, and how long the name of a content may be."""

    answers: Literal["best", "all"]
    name_characters: int


class _Run(NamedTuple):
    """The run's parts that name the contents, and the wanted output."""

    name: str
    tags: tuple[str, ...]
    output: Library | None


_runs = Select(_Run)


def put(conn: Connection, setup: Setup, ending: Ending) -> None:
    """Write the answers for which the run's output asks.

    An answer that an earlier round wrote is not written again, even if its content was deleted.
    """
    run = _runs.one(conn, "FROM runs JOIN run_snapshots ON run = seq WHERE seq = ?", setup.seq)
    if run is None or run.output is None:
        return
    for candidate in wanted(ending.ranking, run.output.answers, [one.label for one in setup.candidates]):
        for generated in _unwritten(conn, setup.seq, candidate):
            _put(conn, setup, run, run.output, ending.verdict, generated)


def wanted(ranking: Ranking, answers: Literal["best", "all"], labels: Sequence[str]) -> list[int]:
    """The numbers of the candidates whose answers are written.

    The best is the leading candidate, whether or not the verdict calls it best. If several are level, it is the first
    one of the ranking, so that there is one answer to each document. If no candidate leads there is none.
    """
    if answers == "all":
        return list(range(1, len(labels) + 1))
    leaders = ranking.leaders or ranking.score_leaders
    return [labels.index(leaders[0]) + 1] if leaders else []


def kept(conn: Connection, run: int) -> dict[str, str]:
    """The contents that still exist, by the task key of the answer from which each was made."""
    return dict(
        conn.all(
            "SELECT key, content_id FROM run_outputs JOIN generated ON generated.seq = run_outputs.generated"
            " JOIN tasks ON tasks.seq = task JOIN contents ON contents.id = content_id WHERE run_outputs.run = ?",
            run,
        )
    )


def _unwritten(conn: Connection, run: int, candidate: int) -> Iterator[int]:
    """The first delivered answer to each document, except texts that existed already: those are contents anyway."""
    rows = conn.all(
        "SELECT g.seq, min(g.repeat) FROM generated AS g WHERE run = ? AND candidate = ? AND delivered"
        " AND NOT EXISTS (SELECT 1 FROM run_existing AS e"
        " WHERE e.run = g.run AND e.candidate = g.candidate AND e.document = g.document)"
        " GROUP BY document ORDER BY document",
        *(run, candidate),
    )
    written = set(conn.column("SELECT generated FROM run_outputs WHERE run = ?", run))
    return (generated for generated, _ in rows if generated not in written)


def _put(conn: Connection, setup: Setup, run: _Run, library: Library, verdict: str, generated: int) -> None:
    row = conn.one(
        "SELECT name, candidate, body FROM generated JOIN run_documents ON run_documents.run = generated.run"
        " AND ordinal = document WHERE generated.seq = ?",
        generated,
    )
    if row is None:
        return
    document, candidate, body = row
    label = setup.candidate(candidate).label
    content_id = contents.put_output(
        conn,
        name=f"{document} · {label}"[: library.name_characters],
        description=(
            f"The answer of the candidate {label} to {document}, from the run {run.name} ({setup.id}), round"
            f" {setup.round.number}. {verdict}"
        )[:_MAX_DESCRIPTION_CHARACTERS],
        tags=[*run.tags[: _MAX_TAGS - 1], *([TAG] if TAG not in run.tags[: _MAX_TAGS - 1] else [])],
        body=body,
    )
    conn.run("INSERT INTO run_outputs (run, generated, content_id) VALUES (?, ?, ?)", setup.seq, generated, content_id)
