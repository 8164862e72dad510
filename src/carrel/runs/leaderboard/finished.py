"""Finds finished runs that are comparable with each other, and collects their evidence."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from carrel.errors import NotFound
from carrel.kit.clock import Time
from carrel.kit.sqlite.database import Connection
from carrel.providers.registry import replays
from carrel.runs.judging import evidence, judgement
from carrel.runs.judging.judgement import Packed
from carrel.runs.leaderboard import pooling
from carrel.runs.leaderboard.pooling import Played
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import Candidate, RunId, Setup
from carrel.runs.model.states import FINISHED, in_sql

MOST_RUNS = 50
"""How many of the newest finished runs are read."""
_MOST_RECORDS = 100_000
"""How many comparisons are pooled; a score or a vote counts as the two comparisons of a verdict.

Whole runs beyond that are left out, but never the newest run.
"""


class Member(msgspec.Struct, frozen=True):
    """A run on a leaderboard."""

    id: RunId
    name: str
    finished_at: Time | None


class Finished(NamedTuple):
    """A run in its present round. `documents` are digests; runs of one `ground` can be ranked together."""

    member: Member
    setup: Setup
    documents: tuple[str, ...]
    ground: str


class Together(NamedTuple):
    """Runs that are pooled, the others, and the families of the pooled candidates."""

    packed: Packed
    chosen: list[Finished]
    left: list[Finished]
    families: dict[str, str | None]


def alike(conn: Connection, like: RunId | None) -> Together | None:
    """The runs that share inputs and judges with `like`, or with the newest; `None` if there are none.

    Raises:
        NotFound: there is no such run, or it has no result.
    """
    runs = _finished(conn)
    if like is not None and all(run.member.id != like for run in runs):
        one = conn.one(f"{_RUNS} AND id = ?", like)
        if one is None:
            raise NotFound
        runs = [_run(conn, *one), *runs]
    if not runs:
        return None
    ground = next(run.ground for run in runs if like in (None, run.member.id))
    alike = [run for run in runs if run.ground == ground]
    left = [run for run in runs if run.ground != ground]
    return _together(conn, alike, left)


def newest(conn: Connection) -> Together | None:
    """The newest runs of any kind; `None` if there are none."""
    runs = _finished(conn)
    return _together(conn, runs, []) if runs else None


_RUNS = f"SELECT seq, id, name, finished_at FROM runs WHERE state IN ({in_sql(FINISHED)}) AND trial = 0"


def _finished(conn: Connection) -> list[Finished]:
    """The newest runs that have a result, the newest first."""
    return [_run(conn, *row) for row in conn.all(f"{_RUNS} ORDER BY seq DESC LIMIT ?", MOST_RUNS)]


def _run(conn: Connection, seq: int, run_id: RunId, name: str, finished_at: str | None) -> Finished:
    setup = setups.load(conn, seq)
    if setup is None:
        raise NotFound
    rows = conn.all(
        "SELECT hex(t.digest), coalesce(hex(r.digest), '') FROM run_documents AS d JOIN run_texts AS t ON t.seq = text"
        " LEFT JOIN run_texts AS r ON r.seq = reference WHERE d.run = ? ORDER BY ordinal",
        seq,
    )
    documents = tuple(_digest(*row) for row in rows)
    way = setup.round
    judged = [
        (judge.name, judge.parameters, judge.scoring_weight, judge.comparison_weight, judge.score_repeats)
        for judge in way.judges
    ]
    instructions = [_text_digest(conn, number) for number in (way.scoring_instructions, way.comparison_instructions)]
    ground = _digest(sorted(documents), judged, way.criteria, instructions)
    return Finished(Member(run_id, name, finished_at), setup, documents, ground)


def _together(conn: Connection, runs: Sequence[Finished], left: list[Finished]) -> Together:
    chosen, records = list[Finished](), 0
    for run in runs:
        records += conn.value(
            "SELECT (SELECT coalesce(sum(iif(kind = 'score', 2, 1)), 0) FROM tasks"
            " WHERE run = ?1 AND round = ?2 AND kind IN ('score', 'compare'))"
            " + 2 * (SELECT count(*) FROM run_votes WHERE run = ?1)",
            *(run.setup.seq, run.setup.round.number),
        )
        if chosen and records > _MOST_RECORDS:
            break
        chosen.append(run)
    played = [_played(conn, run) for run in chosen]
    labels = pooling.labels(played)
    families = {
        labels[one.candidates[candidate.label]]: candidate.family
        for run, one in zip(chosen, played, strict=True)
        for candidate in run.setup.candidates
    }
    return Together(pooling.packed(played), chosen, left, families)


def _played(conn: Connection, run: Finished) -> Played:
    setup = run.setup
    fixed = {judge.name for judge in setup.round.judges if replays(judge.model)}
    fixed |= {one.label for one in setup.candidates if one.model is not None and replays(one.model)}
    return Played(
        judgement.once(evidence.collect(conn, setup)),
        {f"d{number}": document for number, document in enumerate(run.documents, start=1)},
        {one.label: _identity(conn, setup, one) for one in setup.candidates},
        frozenset(fixed),
    )


def _identity(conn: Connection, setup: Setup, candidate: Candidate) -> str:
    """What identifies a candidate: model, parameters and prompt.

    Existing texts and combinations belong to their run alone.
    """
    if candidate.model is None or candidate.combines:
        return f"{setup.id}:{candidate.ordinal}"
    criteria = setup.round.criteria if setup.show_criteria else ()
    return _digest(candidate.model, candidate.parameters, _text_digest(conn, candidate.instructions), criteria)


def _text_digest(conn: Connection, number: int | None) -> str | None:
    if number is None:
        return None
    digest: str | None = conn.value("SELECT hex(digest) FROM run_texts WHERE seq = ?", number)
    return digest


def _digest(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
