"""What could overturn a ranking: missing verdicts, a single judge, a preference for longer texts."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from carrel.evaluation.ranking import cells, score_grid, scores, shares
from carrel.evaluation.ranking.cells import VerdictColumns
from carrel.evaluation.records import Score
from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.providers.base import Criterion


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's win share with every verdict that is missing or invalid against it, and for it (Manski 1990).

    Where scores are all there is, it is the leader's mean score, and open scores stand in the place of verdicts.
    `overturned_by` are the candidates that could be level or ahead if all of them had gone the wrong way, and
    `overturning` the number of the leader's and those candidates' verdicts that are open.
    """

    open_verdicts: int
    share_worst: float
    share_best: float
    overturned_by: tuple[str, ...]
    overturning: int


class WithoutJudge(msgspec.Struct, frozen=True, kw_only=True):
    """Who leads when one judge is left out; several if they are level, nobody if the rest does not connect them."""

    judge: str
    leaders: tuple[str, ...]


class Distrust(msgspec.Struct, frozen=True, kw_only=True):
    """A reason not to trust the judges; a `decisive` one takes the word *best* away.

    `check`: judges are built in, or failed the check of judges. `chance`: a judge is no better than a coin. `unproven`:
    it cannot yet be told from one. `flips`: it often decides by the order of the answers. `opposed`: the judges
    contradict each other. `family`: all are of the leader's family. `length`: the leader may lead by its length.
    `missing`: verdicts, scores or marks are missing that others do not explain, and a lead could be chance if they had
    gone against the leader. `malformed`: a judge's replies often cannot be used.
    """

    kind: Literal["check", "chance", "unproven", "flips", "opposed", "family", "length", "missing", "malformed"]
    sentence: str
    decisive: bool


class LongerText(msgspec.Struct, frozen=True, kw_only=True):
    """How often the longer text won, where one won and one was longer; `share` gives each document one voice."""

    won: int
    of: int
    documents: int
    share: float | None
    low: float | None
    high: float | None


NO_LENGTHS = LongerText(won=0, of=0, documents=0, share=None, low=None, high=None)


def bounds(heard: VerdictColumns, leader: int, *, by_opponent: bool = False) -> Bounds:
    """Average again with the open verdicts at their worst and best for the leader, and so as to favour each rival.

    `by_opponent` as in `shares.estimates`.
    """
    import numpy as np

    still_open = ~heard.said()

    def settled(loser: int | None, winner: int | None) -> list[float]:
        # Between others, an open verdict stays open.
        y = np.where(still_open & ((heard.a == winner) | (heard.b == loser)), 1.0, heard.y)
        y = np.where(still_open & ((heard.b == winner) | (heard.a == loser)), 0.0, y)
        found: list[float] = cells.shares_of(cells.averaged(heard, y), by_opponent=by_opponent).tolist()
        return found

    overturned_by = []
    for rival in range(len(heard.candidates)):
        if rival != leader and still_open.any():
            found = settled(leader, rival)
            if found[leader] - found[rival] <= shares.LEVEL:
                overturned_by.append(rival)
    worst = settled(leader, None)[leader]
    best = settled(None, leader)[leader] if still_open.any() else worst
    involved = [leader, *overturned_by]
    concerned = np.isin(heard.a, involved) | np.isin(heard.b, involved)
    return Bounds(
        open_verdicts=int(still_open.sum()),
        share_worst=rounded(worst),
        share_best=rounded(best),
        overturned_by=tuple(heard.candidates[rival] for rival in overturned_by),
        overturning=int((still_open & concerned).sum()) if overturned_by else 0,
    )


def without_each_judge(heard: VerdictColumns, beaten: Collection[int] = ()) -> tuple[WithoutJudge, ...]:
    """The leader without each judge in turn; empty when there is only one judge, because nothing is left without it.

    Candidates that were `beaten` at a look stay behind the others, as in the ranking: they met the others on the first
    documents only.
    """
    if len(heard.judges) < 2:
        return ()
    found = []
    for place, judge in enumerate(heard.judges):
        y = cells.averaged(heard, without=place)
        leaders: tuple[str, ...] = ()
        if cells.is_connected(y):
            won = cells.shares_of(y, by_opponent=bool(beaten)).tolist()
            known = {i: share for i, share in enumerate(won) if share == share and i not in beaten}
            leaders = tuple(
                heard.candidates[i] for i, share in known.items() if max(known.values()) - share <= shares.LEVEL
            )
        found.append(WithoutJudge(judge=judge, leaders=leaders))
    return tuple(found)


def score_bounds(
    candidates: Sequence[str],
    scored: Sequence[Score],
    known: scores.Cells,
    criteria: Sequence[Criterion],
    weights: Mapping[str, float],
    leader: str,
) -> Bounds:
    """The same for scores: open scores get the least or the greatest value that the scales allow.

    `known` are the cells of those that are not open.
    """
    heard = [score for score in scored if weights.get(score.judge, 1.0) > 0]
    still_open = [score for score in heard if scores.normalised(score, criteria) is None]
    judges = sorted({score.judge for score in heard})
    by_candidate = defaultdict[str, list[Score]](list)
    for score in still_open:
        by_candidate[score.candidate].append(score)
    # Of a judge's several scores for one answer, some may be open: then all of them have to be averaged again.
    partly_open = {(score.document, score.judge, score.candidate) for score in still_open}
    beside = defaultdict[tuple[str, str, str], list[Score]](list)
    for score in heard if still_open else ():
        key = score.document, score.judge, score.candidate
        if key in partly_open and scores.normalised(score, criteria) is not None:
            beside[key].append(score)

    def filled(low: str | None, high: str | None) -> scores.Cells:
        opened = [score for name in (low, high) if name is not None for score in by_candidate[name]]
        again = {(score.document, score.judge, score.candidate): score for score in opened}
        fresh = [*(_settled(score, criteria, low) for score in opened), *(one for key in again for one in beside[key])]
        found = {document: dict(by_judge) for document, by_judge in known.items()}
        for document, by_judge in scores.tabulate(fresh, criteria, weights).items():
            there = found.setdefault(document, {})
            for judge, cell in by_judge.items():
                there[judge] = there.get(judge, {}) | cell
        return found

    def places(low: str | None, high: str | None) -> dict[int, int]:
        return score_grid.order(score_grid.grid(filled(low, high), candidates, judges, weights)).places

    def share(low: str | None, high: str | None) -> float:
        by_document = scores.on_documents(filled(low, high), leader, weights)
        return rounded(mean(list(by_document.values())) if by_document else 0.0)

    first = candidates.index(leader)
    overturned_by = []
    as_it_is = None if still_open else places(None, None)
    for place, rival in enumerate(candidates):
        if rival != leader:
            found = as_it_is or places(leader, rival)
            if found.get(place, len(candidates)) <= found[first]:
                overturned_by.append(rival)
    involved = {leader, *overturned_by}
    return Bounds(
        open_verdicts=len(still_open),
        share_worst=share(leader, None),
        share_best=share(None, leader),
        overturned_by=tuple(overturned_by),
        overturning=sum(1 for score in still_open if score.candidate in involved) if overturned_by else 0,
    )


def without_each_scorer(
    candidates: Sequence[str], cells_by_score: scores.Cells, weights: Mapping[str, float]
) -> tuple[WithoutJudge, ...]:
    """The leader by scores without each scoring judge in turn."""
    judges = scores.judges_of(cells_by_score)
    if len(judges) < 2:
        return ()
    whole = score_grid.grid(cells_by_score, candidates, judges, weights)
    found = []
    for column, judge in enumerate(judges):
        left = {
            document: {name: cell for name, cell in by_judge.items() if name != judge}
            for document, by_judge in cells_by_score.items()
        }
        connected = len(scores.groups(left, candidates)) == 1
        leaders = score_grid.order(whole.without(column)).leaders if connected else ()
        found.append(WithoutJudge(judge=judge, leaders=tuple(candidates[i] for i in leaders)))
    return tuple(found)


def longer_text(heard: VerdictColumns) -> LongerText:
    """The longer text won x of y, by the judges' own clear verdicts; the document is the unit, or its group."""
    import numpy as np

    clear = ~heard.by_rule & ((heard.y == 0.0) | (heard.y == 1.0)) & (np.abs(heard.longer) > 0)
    if not clear.any():
        return NO_LENGTHS
    won = (heard.y[clear] == 1.0) == (heard.longer[clear] > 0)
    of = np.bincount(heard.document[clear])
    shared = np.bincount(heard.document[clear], won)[of > 0] / of[of > 0]
    found = intervals.share(shared.tolist(), heard.groups_of(np.flatnonzero(of > 0).tolist()))
    low, high = found.bounds(0.975, 0.0, 1.0)
    return LongerText(
        won=int(won.sum()),
        of=len(won),
        documents=found.documents,
        share=rounded(found.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
    )


def _settled(score: Score, criteria: Sequence[Criterion], low: str | None) -> Score:
    """An open score, settled as if the candidate `low` had got the least, and any other the most."""
    if score.candidate == low:
        return msgspec.structs.replace(score, fate="by_rule")
    greatest = {criterion.name: criterion.maximum for criterion in criteria}
    return msgspec.structs.replace(score, fate="given", values=greatest)
