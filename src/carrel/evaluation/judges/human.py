"""A person's blind votes beside the judges: how often they agree, and who leads by the votes alone."""

from collections.abc import Mapping, Sequence

import msgspec

from carrel.evaluation import records
from carrel.evaluation.judges import agreement
from carrel.evaluation.judges.agreement import JudgeAgreement
from carrel.evaluation.ranking import shares
from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.ranking.table import PairTable, tabulate
from carrel.evaluation.records import HUMAN, Side, Verdict, Word
from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.intervals import Estimate, rounded, rounded_or_none

LEAST_VOTES = 10
"""Fewer votes name no leader."""
_EVEN = 1e-9
_WORDS: dict[Side, tuple[Word, Word]] = {"a": ("first", "second"), "b": ("second", "first"), "tie": ("tie", "tie")}


class HumanCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a person's blind votes say.

    Of the `judged` votes on which the judges have an opinion too, `sided` came to the same outcome as they did
    together, by their weights; a judge that flipped has none. `leaders` go by the votes alone, `share` is their win
    share with an interval at 95 % by document. There are none where the votes do not connect the candidates, or are
    fewer than ten or on fewer than five documents. `judges` sets the person against each judge, flips left out.
    """

    votes: int
    voters: int
    documents: int
    ties: int
    sided: int
    judged: int
    leaders: tuple[str, ...]
    judges: tuple[JudgeAgreement, ...]
    share: float | None = None
    low: float | None = None
    high: float | None = None


def vote(document: str, a: str, b: str, repeat: int, side: Side) -> Verdict:
    """A vote as a verdict. A person sees a pair once, in random order, and the one vote stands for both orders."""
    ab, ba = _WORDS[side]
    return Verdict(document=document, judge=HUMAN, a=a, b=b, repeat=repeat, ab=ab, ba=ba)


def check(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    votes: Sequence[Verdict],
    weights: Mapping[str, float],
    voters: int = 1,
) -> HumanCheck | None:
    """Votes of so many voters against verdicts; `None` if nobody voted."""
    if not votes:
        return None
    heard = [
        verdict
        for verdict in verdicts
        if weights.get(verdict.judge, 1.0) > 0 and records.fate(verdict) not in ("flip", "inconsistent")
    ]
    together: dict[tuple[str, str, str, int], list[Verdict]] = {_meeting(one): [] for one in votes}
    for verdict in heard:
        beside = together.get(_meeting(verdict))
        if beside is not None:
            beside.append(verdict)
    place = {candidate: i for i, candidate in enumerate(candidates)}
    # Each table once: whatever the document and the pair, judges and voters say the same few words.
    known: dict[tuple[object, ...], Side | None] = {}

    def outcome(said: Sequence[Verdict], by: Mapping[str, float]) -> Side | None:
        words = (*((one.judge, place[one.a] < place[one.b], one.ab, one.ba, one.by_rule) for one in said), bool(by))
        if words not in known:
            known[words] = _outcome(tabulate(candidates, said, by))
        return known[words]

    outcomes = []
    for one in votes:
        theirs = outcome(together[_meeting(one)], weights)
        if theirs is not None:
            outcomes.append(outcome([one], {}) == theirs)
    leaders, alone = _leaders(candidates, votes, verdicts)
    low, high = (None, None) if alone is None else alone.bounds(intervals.probability(), 0.0, 1.0)
    return HumanCheck(
        votes=len(votes),
        voters=voters,
        documents=len({one.document for one in votes}),
        ties=sum(1 for one in votes if one.ab == "tie"),
        sided=sum(outcomes),
        judged=len(outcomes),
        leaders=leaders,
        judges=agreement.with_each(heard, votes, HUMAN),
        share=None if alone is None else rounded(alone.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
    )


def _leaders(
    candidates: Sequence[str], votes: Sequence[Verdict], heard: Sequence[Verdict]
) -> tuple[tuple[str, ...], Estimate | None]:
    """Few votes, or votes on only a part of the field, make nobody the leader, however clear they are."""
    if len(votes) < LEAST_VOTES or len({one.document for one in votes}) < DECIDES_FROM:
        return (), None
    field = {name for verdict in (*votes, *heard) for name in (verdict.a, verdict.b)}
    table = tabulate(candidates, votes, {})
    leaders = shares.standing(table).leaders
    if not leaders or len(table.members) < len(field):
        return (), None
    return tuple(candidates[i] for i in leaders), shares.estimates(table)[leaders[0]]


def _meeting(verdict: Verdict) -> tuple[str, str, str, int]:
    if verdict.a < verdict.b:
        return verdict.document, verdict.a, verdict.b, verdict.repeat
    return verdict.document, verdict.b, verdict.a, verdict.repeat


def _outcome(table: PairTable) -> Side | None:
    """Who won the one pair of the table; `None` if it is empty."""
    if not table.documents:
        return None
    y = table.documents[0][0].y
    if abs(y - 0.5) < _EVEN:
        return "tie"
    return "a" if y > 0.5 else "b"
