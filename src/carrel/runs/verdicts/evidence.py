"""Reads what the judges of a round said for the statistics: one pass over the rows, in the order of the plan."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Literal, NamedTuple

from msgspec.structs import replace

from carrel.evaluation.ranking import scores
from carrel.evaluation.records import Mark, Score, Side, Verdict, Word
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.providers.registry import replays
from carrel.runs.checking import results
from carrel.runs.model import plan, units
from carrel.runs.model.plan import Kind, Presented, answer_repeat
from carrel.runs.model.setup import Round, Setup
from carrel.runs.verdicts import judgement, votes
from carrel.runs.verdicts.judgement import Evidence, PackedEvidence

_Weights = tuple[float | None, float | None]
"""A judge's weights in scoring and in comparing."""


class _Score(NamedTuple):
    document: int
    candidate: int
    repeat: int
    judge: int
    judge_repeat: int
    fate: Literal["given", "by_rule", "invalid"] | None
    marks: dict[str, float] | None


class _Comparison(NamedTuple):
    document: int
    candidate: int
    opponent: int
    repeat: int
    judge: int
    presented: Presented
    word: Word | None
    by_rule: Side | None


_scores = Select(_Score)
_comparisons = Select(_Comparison)


def collect(conn: Connection, setup: Setup) -> Evidence:
    """Collect all scores and verdicts of the setup's round, missing ones included. Unbounded: to be scanned."""
    found = rest(conn, setup)
    return replace(
        found,
        verdicts=list(compared(conn, setup)),
        scores=list(scored(conn, setup)),
        marks=list(_marks(conn, setup, found)),
    )


def packed(conn: Connection, setup: Setup, *, has_marks: bool = True) -> PackedEvidence:
    """The same, packed row by row on its way to a worker: unpacked, it takes five times as much memory.

    What checks say is left out unless it `has_marks`: only a ranking that is not kept yet, and a gate, follow from it.
    """
    found = rest(conn, setup)
    marks = _marks(conn, setup, found) if has_marks else ()
    return judgement.pack_each(found, compared(conn, setup), scored(conn, setup), marks)


def _marks(conn: Connection, setup: Setup, found: Evidence) -> Iterator[Mark]:
    """What the checks say, where the verdict is by them."""
    return iter(()) if found.measure is None else results.marked(conn, setup, found.measure)


def on_document(conn: Connection, setup: Setup, document: int) -> Evidence:
    """The scores and verdicts on one document, without anything that statistics over documents need."""
    return replace(
        _asked(setup),
        verdicts=list(compared(conn, setup, document)),
        scores=list(scored(conn, setup, document)),
    )


def rest(conn: Connection, setup: Setup) -> Evidence:
    """The evidence without verdicts and scores."""
    documents = units.of(conn, setup.seq)
    return replace(
        _asked(setup),
        votes=votes.said(conn, setup),
        exploratory=reweighted(conn, setup),
        look=setup.look,
        families={candidate.label: candidate.family for candidate in setup.candidates},
        # Built-in judges measure texts; they cannot like their own family.
        judge_families={judge.name: judge.family for judge in setup.round.judges if not replays(judge.model)},
        same=documents.same,
        groups=documents.groups,
        checked=setup.checks > 0,
        built_in=tuple(judge.name for judge in setup.round.judges if replays(judge.model)),
        failed=_failed(conn, setup),
        measure=results.measure(conn, setup),
    )


def _failed(conn: Connection, setup: Setup) -> tuple[str, ...]:
    """The judges whose newest check at their host says that they judge badly."""
    newest = conn.all(
        "SELECT model, host, passed FROM judge_checks WHERE seq IN"
        " (SELECT max(seq) FROM judge_checks WHERE finished_at NOT NULL GROUP BY model, host)"
    )
    bad = {(model, host) for model, host, passed in newest if not passed}
    return tuple(judge.name for judge in setup.round.judges if (judge.model, judge.host) in bad)


def _asked(setup: Setup) -> Evidence:
    """Who answers, who judges and by which criteria."""
    judges = setup.round.judges
    return Evidence(
        candidates=tuple(candidate.label for candidate in setup.candidates),
        verdicts=[],
        scores=[],
        criteria=setup.round.criteria,
        comparison_weights={j.name: j.comparison_weight for j in judges if j.comparison_weight is not None},
        scoring_weights={j.name: j.scoring_weight for j in judges if j.scoring_weight is not None},
    )


def finalists(conn: Connection, setup: Setup) -> tuple[int, ...]:
    """The numbers of the candidates that are compared first, chosen by all scores. Unbounded: to be scanned."""
    labels = [setup.candidate(ordinal).label for ordinal in setup.shape.field(setup.round.number)]
    weights = {j.name: j.scoring_weight for j in setup.round.judges if j.scoring_weight is not None}
    chosen = scores.finalists(labels, scored(conn, setup), setup.round.criteria, weights, setup.round.finalists)
    return tuple(labels.index(label) + 1 for label in chosen)


def reweighted(conn: Connection, setup: Setup) -> bool:
    """Whether the round only changes the weights of judges whose results an earlier round showed.

    This is so if two judges of both rounds have another ratio of weights, or if the round leaves judges out and adds
    none.
    """
    rows = conn.all(
        "SELECT round, name, parameters, scoring_weight, comparison_weight FROM run_judges"
        " WHERE run = ? AND round <= ?",
        *(setup.seq, setup.round.number),
    )
    rounds: dict[int, dict[tuple[str, str], _Weights]] = {}
    for number, name, parameters, scoring, comparison in rows:
        rounds.setdefault(number, {})[name, parameters] = (scoring, comparison)
    now = rounds.pop(setup.round.number, {})
    return any(_moved(before, now) for before in rounds.values())


def _moved(before: Mapping[tuple[str, str], _Weights], now: Mapping[tuple[str, str], _Weights]) -> bool:
    if now.keys() < before.keys():
        return True
    for phase in (0, 1):
        common = [(before[judge][phase], now[judge][phase]) for judge in sorted(before.keys() & now.keys())]
        known = [(old, new) for old, new in common if old is not None and new is not None]
        if any(a * d != b * c for (a, b), (c, d) in combinations(known, 2)):
            return True
    return False


def finalist_count(candidates: int, planned: Round) -> int:
    """How many of the candidates will be compared. This is known before anything is scored."""
    if all(judge.scoring_weight is None for judge in planned.judges):
        # Without scores, all candidates are compared.
        return candidates
    return min(candidates, scores.COMPARE_ALL_UP_TO if planned.finalists is None else planned.finalists)


def scored(conn: Connection, setup: Setup, only: int | None = None) -> Iterator[Score]:
    """The scores of the setup's round, on all documents or `only` one."""
    tasks, values = _tasks(setup, "score", only)
    for row in _scores.each(conn, f"FROM tasks LEFT JOIN scores ON task = seq WHERE {tasks} ORDER BY seq", *values):
        judge = setup.judge(row.judge)
        yield Score(
            document=f"d{row.document}",
            judge=judge.name,
            candidate=setup.candidate(row.candidate).label,
            repeat=(row.repeat - 1) * judge.score_repeats + row.judge_repeat,
            values=row.marks or {},
            fate=row.fate or "missing",
        )


def compared(conn: Connection, setup: Setup, only: int | None = None) -> Iterator[Verdict]:
    """The verdicts of the setup's round. Both orders of a meeting stand side by side in the plan and become one."""
    words: dict[tuple[int, int, int], int] = {}
    tasks, values = _tasks(setup, "compare", only)
    labels = [candidate.label for candidate in setup.candidates]
    repeats = [candidate.repeats for candidate in setup.candidates]
    judges = [judge.name for judge in setup.round.judges]

    def told(meeting: tuple[int, int, int, int, int], said: Mapping[Presented, Word], side: Side | None) -> Verdict:
        document, first, second, repeat, judge = meeting
        return Verdict(
            document=f"d{document}",
            judge=judges[judge - 1],
            a=labels[first - 1],
            b=labels[second - 1],
            repeat=repeat,
            ab=said.get("ab", "missing"),
            ba=said.get("ba", "missing"),
            by_rule=side,
            a_length=words.get((document, first, answer_repeat(repeats[first - 1], repeat))),
            b_length=words.get((document, second, answer_repeat(repeats[second - 1], repeat))),
        )

    meeting: tuple[int, int, int, int, int] | None = None
    said: dict[Presented, Word] = {}
    side: Side | None = None
    for document, candidate, opponent, repeat, judge, presented, word, by_rule in _comparisons.each(
        conn, f"FROM tasks LEFT JOIN comparisons ON task = seq WHERE {tasks} ORDER BY seq", *values
    ):
        found = (document, candidate, opponent, repeat, judge)
        if meeting is None:
            # Where nothing is compared, nobody needs the lengths of all answers.
            words = _words(conn, setup.seq, only)
        elif found != meeting:
            yield told(meeting, said, side)
            said, side = {}, None
        meeting = found
        said[presented] = word or "missing"
        side = by_rule or side
    if meeting is not None:
        yield told(meeting, said, side)


def _tasks(setup: Setup, kind: Kind, only: int | None) -> tuple[str, tuple[int | str, ...]]:
    """The condition for the tasks of the round, and its values. Those of one document are found by their keys."""
    if only is None:
        return "run = ? AND round = ? AND kind = ?", (setup.seq, setup.round.number, kind)
    return "run = ? AND key BETWEEN ? AND ?", (setup.seq, *plan.keys(setup.round.number, kind, only))


def _words(conn: Connection, run: int, only: int | None) -> dict[tuple[int, int, int], int]:
    sql = "SELECT document, candidate, repeat, words FROM generated WHERE run = ?"
    rows = conn.execute(sql, (run,)) if only is None else conn.execute(f"{sql} AND document = ?", (run, only))
    return {(document, candidate, repeat): words for document, candidate, repeat, words in rows}
