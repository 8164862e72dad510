"""Finds finished runs that are comparable with each other, and collects their evidence."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from carrel.errors import NotFound
from carrel.kit.clock import Time
from carrel.kit.sqlite.database import Connection
from carrel.providers.hosts import UNKNOWN, ModelAt
from carrel.providers.registry import replays
from carrel.runs.findings import pooling
from carrel.runs.findings.pooling import RunEvidence
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunCandidate, RunId, Setup
from carrel.runs.model.states import FINISHED, in_sql
from carrel.runs.verdicts import evidence, judgement
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.ids import PresetId

MOST_RUNS = 200
"""How many of the newest finished runs are read to find those that are alike."""
MOST_POOLED = 50
"""How many runs of any kind are pooled."""
MOST_CANDIDATES = 60
"""How many candidates the pooled runs have together; a further run is left out, but never the newest."""
MOST_DOCUMENTS = 50_000
"""How many documents the runs that are read have together; a further run is left out, but never the newest."""
_MOST_RECORDS = 100_000
"""How many comparisons and answers are pooled; a score or a vote counts as the two comparisons of a verdict.

Whole runs beyond that are left out, but never the newest run.
"""


class BoardRun(msgspec.Struct, frozen=True):
    """A run on a leaderboard. `preset_id` is null if the run has no preset, or none any more."""

    id: RunId
    name: str
    finished_at: Time | None
    preset_id: PresetId | None


class FinishedRun(NamedTuple):
    """A run in its present round. `documents` are digests; runs of one `ground` can be ranked together."""

    member: BoardRun
    setup: Setup
    documents: tuple[str, ...]
    ground: str


class Together(NamedTuple):
    """Runs that are pooled, the others, and the families of the pooled candidates.

    `names` has, for each pooled run, the pooled label of each of its candidates. `left_out` older runs are neither
    pooled nor among the others.
    """

    packed: PackedEvidence
    chosen: list[FinishedRun]
    left: list[FinishedRun]
    families: dict[str, str | None]
    names: list[dict[str, str]]
    left_out: int


def alike(conn: Connection, like: RunId | None) -> Together | None:
    """The runs that share inputs and judges with `like`, or with the newest; `None` if there are none.

    Raises:
        NotFound: there is no such run, or it has no result.
    """
    runs = _finished(conn, MOST_RUNS)
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
    runs = _finished(conn, MOST_POOLED)
    return _together(conn, runs, []) if runs else None


_WITH_RESULT = f"FROM runs WHERE state IN ({in_sql(FINISHED)}) AND trial = 0"
_RUNS = (
    "SELECT seq, id, name, finished_at, (SELECT id FROM presets WHERE presets.id = preset_id),"
    f" (SELECT count(*) FROM run_documents WHERE run = seq) {_WITH_RESULT}"
)


def _finished(conn: Connection, most: int) -> list[FinishedRun]:
    """The newest runs that have a result, the newest first."""
    found = list[FinishedRun]()
    documents = 0
    for row in conn.all(f"{_RUNS} ORDER BY seq DESC LIMIT ?", most):
        documents += row[-1]
        if found and documents > MOST_DOCUMENTS:
            break
        found.append(_run(conn, *row))
    return found


def _run(
    conn: Connection, seq: int, run_id: RunId, name: str, finished_at: str | None, preset: PresetId | None, _: int
) -> FinishedRun:
    found = setups.load(conn, seq)
    if found is None:
        raise NotFound
    setup = _by_host(found)
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
    return FinishedRun(BoardRun(run_id, name, finished_at, preset), setup, documents, ground)


def _by_host(setup: Setup) -> Setup:
    """Judges of runs from before hosts were recorded are not taken for those who answer at the provider's own host."""
    judges = tuple(
        replace(one, name=f"{one.name} at {one.host}") if one.host == UNKNOWN and UNKNOWN not in one.name else one
        for one in setup.round.judges
    )
    return replace(setup, round=replace(setup.round, judges=judges))


def _together(conn: Connection, runs: Sequence[FinishedRun], left: list[FinishedRun]) -> Together:
    chosen, played, records = list[FinishedRun](), list[RunEvidence](), 0
    identities = set[str]()
    for run in runs:
        records += conn.value(
            "SELECT (SELECT coalesce(sum(iif(kind = 'score', 2, 1)), 0) FROM tasks"
            " WHERE run = ?1 AND round = ?2 AND kind IN ('score', 'compare'))"
            " + (SELECT count(*) FROM tasks"
            " WHERE run = ?1 AND state = 'succeeded' AND kind IN ('generate', 'combine'))"
            " + 2 * (SELECT count(*) FROM run_votes WHERE run = ?1)",
            *(run.setup.seq, run.setup.round.number),
        )
        if chosen and records > _MOST_RECORDS:
            break
        candidates = {one.label: _identity(conn, run, one) for one in run.setup.candidates}
        identities |= set(candidates.values())
        if chosen and len(identities) > MOST_CANDIDATES:
            break
        chosen.append(run)
        played.append(_played(conn, run, candidates))
    labels = pooling.labels(played)
    families = {
        labels[one.candidates[candidate.label]]: candidate.family
        for run, one in zip(chosen, played, strict=True)
        for candidate in run.setup.candidates
    }
    names = [{label: labels[what] for label, what in one.candidates.items()} for one in played]
    left_out = conn.value(f"SELECT count(*) {_WITH_RESULT}") - len(chosen) - len(left)
    return Together(pooling.packed(played), chosen, left, families, names, left_out)


def _played(conn: Connection, run: FinishedRun, candidates: dict[str, str]) -> RunEvidence:
    setup = run.setup
    fixed = {judge.name for judge in setup.round.judges if replays(judge.model)}
    fixed |= {one.label for one in setup.candidates if one.model is None or replays(one.model)}
    return RunEvidence(
        judgement.once(evidence.collect(conn, setup)),
        {f"d{number}": document for number, document in enumerate(run.documents, start=1)},
        candidates,
        frozenset(fixed),
    )


def _identity(conn: Connection, run: FinishedRun, candidate: RunCandidate) -> str:
    """What identifies a candidate: model, parameters and prompt, or its texts on the documents if they existed before.

    Combinations belong to their run alone.
    """
    setup = run.setup
    if candidate.combines:
        return f"{setup.id}:{candidate.ordinal}"
    texts = conn.all(
        "SELECT document, hex(digest) FROM run_existing JOIN run_texts ON run_texts.seq = text"
        " WHERE run_existing.run = ? AND candidate = ? ORDER BY document",
        *(setup.seq, candidate.ordinal),
    )
    existing = sorted((run.documents[document - 1], digest) for document, digest in texts)
    if candidate.model is None:
        return _digest(existing)
    criteria = setup.round.criteria if setup.show_criteria else ()
    texts_asked = [_text_digest(conn, number) for number in (candidate.instructions, candidate.response_schema)]
    model = ModelAt(candidate.model, candidate.host)
    return _digest(model, candidate.parameters, candidate.grounding, texts_asked, criteria, *existing)


def _text_digest(conn: Connection, number: int | None) -> str | None:
    if number is None:
        return None
    digest: str | None = conn.value("SELECT hex(digest) FROM run_texts WHERE seq = ?", number)
    return digest


def _digest(*parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
