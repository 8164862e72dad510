"""Chooses the answers that are combined: those of the best candidates over all documents. Lots decide between equals.

The choice is made once, from the judgements of the run until then, and stored in rows. The prompt for combining shows
neither names nor ranks, and the order of the answers is random for each document.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from carrel.evaluation.ranking import scores, shares
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.ranking.table import tabulate
from carrel.evaluation.records import HUMAN
from carrel.evaluation.verdict import Statement
from carrel.kit.sqlite.database import Connection
from carrel.runs.model.setup import Setup
from carrel.runs.verdicts import evidence
from carrel.runs.verdicts.judgement import Evidence

SELECTION = (
    "The judges that chose the sources also judged the combined answers, on the same documents. That favours sources "
    "and combined answers alike: a narrow lead may be only the luck of the choice. A run over other documents would "
    "show whether it is."
)

FEWEST = 2
"""With fewer answers to a document, a candidate combines nothing."""


def best_first(found: Evidence, candidates: Sequence[str], seed: str) -> tuple[str, ...]:
    """Order `candidates` by win share, then those that were not compared by score, then the rest. Lots break ties.

    Only the run's own judges count: a person's votes may come at any time, and the choice must not depend on when.
    What judges said of other candidates does not count either: a retried run has judged combined answers before.
    """
    drawn = sorted(candidates, key=lambda label: _lot(f"{seed}:source:{label}"))
    among = set(drawn)
    verdicts = [one for one in found.verdicts if one.judge != HUMAN and {one.a, one.b} <= among]
    table = tabulate(drawn, verdicts, found.comparison_weights)
    scored = scores.standing(
        drawn, [one for one in found.scores if one.candidate in among], found.criteria, found.scoring_weights
    )
    # Both sorts keep the order of equals.
    places = (*shares.standing(table).order, *scored.order, *range(len(drawn)))
    return tuple(drawn[place] for place in dict.fromkeys(places))


def chosen(order: Sequence[int], brought: Mapping[int, int], count: int, seed: str, document: int) -> tuple[int, ...]:
    """The candidates whose answers to a document are combined, in the order in which the prompt shows them.

    They are the first `count` candidates of `order` with an answer in `brought`; none if fewer than two have one.
    """
    best = [candidate for candidate in order if candidate in brought][:count]
    if len(best) < FEWEST:
        return ()
    return tuple(sorted(best, key=lambda candidate: _lot(f"{seed}:shown:{document}:{candidate}")))


def rank_sources(conn: Connection, setup: Setup) -> tuple[int, ...]:
    """The numbers of the candidates that answered by themselves, best first. Unbounded: to be scanned."""
    by_label = {setup.candidate(ordinal).label: ordinal for ordinal in setup.shape.field(1)}
    return tuple(by_label[label] for label in best_first(evidence.collect(conn, setup), list(by_label), setup.seed))


def keep_sources(conn: Connection, setup: Setup, order: Sequence[int]) -> None:
    """Record which answers are combined for each document. If a candidate has several answers, its first one counts.

    Documents for which that was recorded before keep their answers.
    """
    before = set(conn.column("SELECT DISTINCT document FROM run_sources WHERE run = ?", setup.seq))
    brought: dict[int, dict[int, int]] = {}
    for document, candidate, repeat in conn.execute(
        "SELECT document, candidate, min(repeat) FROM generated WHERE run = ? AND delivered"
        " GROUP BY document, candidate",
        (setup.seq,),
    ):
        brought.setdefault(document, {})[candidate] = repeat
    conn.executemany(
        f"INSERT INTO run_sources (run, document, place, candidate, repeat) VALUES ({setup.seq}, ?, ?, ?, ?)",
        (
            (document, place, candidate, answers[candidate])
            for document, answers in sorted(brought.items())
            if document not in before
            for place, candidate in enumerate(chosen(order, answers, setup.sources, setup.seed, document), start=1)
        ),
    )


def remove_unused_sources(conn: Connection, run: int) -> None:
    """Forget the choice of answers for every document that has no combined answer yet."""
    conn.run(
        "DELETE FROM run_sources WHERE run = ?1 AND document NOT IN"
        " (SELECT document FROM tasks WHERE run = ?1 AND kind = 'combine' AND state = 'succeeded')",
        run,
    )


def sources(conn: Connection, run: int, document: int) -> list[str]:
    """The answers that are combined, in the order in which the prompt shows them; none if there were too few."""
    return conn.column(
        "SELECT body FROM run_sources JOIN generated USING (run, document, candidate, repeat)"
        " WHERE run = ? AND document = ? ORDER BY place",
        *(run, document),
    )


def order(conn: Connection, run: int) -> tuple[int, ...]:
    """The candidates that answered by themselves, best first; empty before anything is combined."""
    stored = conn.value("SELECT sources FROM run_rounds WHERE run = ? AND number = 1", run)
    return () if stored is None else msgspec.json.decode(stored, type=tuple[int, ...])


def kept(conn: Connection, run: int, only: int | None = None) -> dict[int, tuple[tuple[int, int], ...]]:
    """The candidates and repeats whose answers are combined, by document: of all documents or `only` one."""
    found: dict[int, tuple[tuple[int, int], ...]] = {}
    for document, candidate, repeat in conn.all(
        "SELECT document, candidate, repeat FROM run_sources WHERE run = ?1 AND document = coalesce(?2, document)"
        " ORDER BY document, place",
        *(run, only),
    ):
        found[document] = (*found.get(document, ()), (candidate, repeat))
    return found


def _lot(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def labels(conn: Connection, run: int) -> tuple[str, ...]:
    """The candidates that make their answers from those of others."""
    rows = conn.all("SELECT label FROM run_candidates WHERE run = ? AND combines ORDER BY ordinal", run)
    return tuple(label for (label,) in rows)


def cautioned(statement: Statement, ranking: Ranking, made: Collection[str]) -> Statement:
    """Add the selection to the doubts of a verdict that favours one of the candidates in `made`, which combine."""
    if not set(ranking.leaders) & set(made):
        return statement
    return replace(statement, notes=(*statement.notes, SELECTION))
