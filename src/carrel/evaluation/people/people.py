"""What people would say about the candidates, beside what the judges say: shares, intervals and words.

The judges' verdict and this one never mix: no vote moves the ranking, and where judges and people differ, this one goes
by the people.
"""

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec

from carrel.evaluation.judges import agreement
from carrel.evaluation.judges.agreement import Alpha
from carrel.evaluation.people import corrections, fields, stand_in
from carrel.evaluation.people.corrections import LEAST_DOCUMENTS, CorrectedShare, MeanEstimates
from carrel.evaluation.people.fields import Field, Pair
from carrel.evaluation.people.stand_in import StandIn
from carrel.evaluation.records import HumanVote, Verdict
from carrel.evaluation.statistics.intervals import rounded
from carrel.evaluation.statistics.quantiles import normal
from carrel.evaluation.words import counted, listed, percent

CHOSEN = (
    "The votes were not drawn by lot: the judges say other things of their documents than of the others, so the votes"
    " do not stand for all documents."
)
_LEVEL = 1e-9


class PeopleShare(msgspec.Struct, frozen=True, kw_only=True):
    """The share of comparisons that people would give to a candidate, with a 95 % interval.

    `alone` is the same from the votes alone, and `judges` what the judges say on all documents. `reliance` is the part
    of the judges' word that the estimate uses: 0 leaves them out. There is no share with votes on fewer than ten of its
    `documents`, or of their groups.
    """

    candidate: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    alone: float | None = None
    alone_low: float | None = None
    alone_high: float | None = None
    judges: float | None = None
    reliance: float | None = None
    documents: int = 0
    is_best: bool = False


class PeoplePair(msgspec.Struct, frozen=True, kw_only=True):
    """The share of `first` against `second` that people would give, as in `PeopleShare`."""

    first: str
    second: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    judges: float | None = None
    documents: int = 0


class PeopleVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What people would say about `documents`, in words and figures, best first. They voted on `voted` of these.

    `best` beats every other candidate at 95 %. `agreement` is that of several voters with each other; `stand_ins` says,
    from three voters on, which judge may stand in for one of them.
    """

    sentence: str
    notes: tuple[str, ...]
    best: str | None
    leaders: tuple[str, ...]
    voted: int
    documents: int
    votes: int
    voters: int
    rows: tuple[PeopleShare, ...]
    pairs: tuple[PeoplePair, ...]
    agreement: Alpha | None
    stand_ins: tuple[StandIn, ...]


def say(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    votes: Sequence[HumanVote],
    weights: Mapping[str, float],
    groups: Mapping[str, str] | None = None,
) -> PeopleVerdict | None:
    """What people would say, from all verdicts and the votes in the order of their draw; `None` if nobody voted.

    The judges count together, by their weights. `groups` are those of documents that belong together.
    """
    if not votes:
        return None
    heard = [verdict for verdict in verdicts if weights.get(verdict.judge, 1.0) > 0]
    field = fields.gathered(candidates, heard, votes, weights, groups or {})
    shares = {
        member: measured for member in field.members if (measured := fields.of_candidate(field, member)) is not None
    }
    found = {member: corrections.correct(measured, 0.0, 1.0) for member, measured in shares.items()}
    estimates = {member: estimate for member, estimate in found.items() if estimate is not None}
    leaders = _leaders(estimates, field.members)
    rivals = _not_beaten(leaders[0], shares, field.members) if len(leaders) == 1 else ()
    chosen = any(vote.chance is None for vote in votes) and _chosen(shares.values())
    best = leaders[0] if len(leaders) == 1 and not rivals and not chosen and len(field.members) > 1 else None
    voters = sorted({vote.voter for vote in votes})
    order = sorted(field.members, key=lambda i: (-round(estimates[i].mean, 9) if i in estimates else 1.0, i))
    seen = {i: field.voted(pair for pair in field.said if i in pair) for i in field.members}
    rows = tuple(_row(candidates[i], shares.get(i), estimates.get(i), seen[i], is_best=i == best) for i in order)
    voted = len({vote.verdict.document for vote in votes})
    return PeopleVerdict(
        sentence=_sentence(
            voted,
            rows,
            [candidates[i] for i in leaders],
            [candidates[i] for i in rivals],
            f"{LEAST_DOCUMENTS} groups of documents" if field.come_in_groups else f"{LEAST_DOCUMENTS}",
            chosen=chosen,
        ),
        notes=(*((CHOSEN,) if chosen else ()), *_notes(candidates, shares, leaders)),
        best=None if best is None else candidates[best],
        leaders=tuple(candidates[i] for i in leaders),
        voted=voted,
        documents=len({document for document, _ in field.pairs_on}),
        votes=len(votes),
        voters=len(voters),
        rows=rows,
        pairs=tuple(_pair(field, candidates, pair) for pair in sorted(field.said)),
        agreement=_among(votes) if len(voters) > 1 else None,
        stand_ins=stand_in.test(heard, votes),
    )


def _chosen(shares: Collection[MeanEstimates]) -> bool:
    """Whether the judges say other things of the documents with votes than of all, more than a draw by lot explains."""
    most = normal(1.0 - 0.025 / max(1, len(shares)))
    for one in shares:
        error = math.sqrt(math.fsum(moved**2 for moved in one.of_gap.values()))
        if abs(one.judges - one.everywhere) > max(most * error, _LEVEL):
            return True
    return False


def _leaders(estimates: Mapping[int, CorrectedShare], members: Sequence[int]) -> tuple[int, ...]:
    """Nobody leads while a candidate has votes on too few documents."""
    if not members or len(estimates) < len(members):
        return ()
    greatest = max(estimate.mean for estimate in estimates.values())
    return tuple(member for member in members if greatest - estimates[member].mean < _LEVEL)


def _not_beaten(leader: int, shares: Mapping[int, MeanEstimates], members: Sequence[int]) -> tuple[int, ...]:
    """The rivals that could be as good as the leader.

    To beat one, the interval of the lead must exclude 0. The votes alone must show a lead, too: no judge makes a
    candidate best that people do not prefer.
    """
    open_rivals = []
    for rival in members:
        if rival != leader:
            lead = corrections.correct(shares[leader].minus(shares[rival]), -1.0, 1.0)
            if lead is None or lead.low <= 0 or lead.alone <= 0:
                open_rivals.append(rival)
    return tuple(open_rivals)


def _row(
    candidate: str, measured: MeanEstimates | None, found: CorrectedShare | None, documents: int, *, is_best: bool
) -> PeopleShare:
    judges = None if measured is None else rounded(measured.everywhere)
    if found is None:
        return PeopleShare(candidate=candidate, judges=judges, documents=documents)
    return PeopleShare(
        candidate=candidate,
        share=rounded(found.mean),
        low=rounded(found.low),
        high=rounded(found.high),
        alone=rounded(found.alone),
        alone_low=rounded(found.alone_low),
        alone_high=rounded(found.alone_high),
        judges=judges,
        reliance=rounded(found.reliance),
        documents=documents,
        is_best=is_best,
    )


def _pair(field: Field, candidates: Sequence[str], pair: Pair) -> PeoplePair:
    measured = fields.of_pair(field, pair)
    found = None if measured is None else corrections.correct(measured, 0.0, 1.0)
    return PeoplePair(
        first=candidates[pair[0]],
        second=candidates[pair[1]],
        share=None if found is None else rounded(found.mean),
        low=None if found is None else rounded(found.low),
        high=None if found is None else rounded(found.high),
        judges=None if measured is None else rounded(measured.everywhere),
        documents=field.voted([pair]),
    )


def _among(votes: Sequence[HumanVote]) -> Alpha:
    """How far the voters agree with each other, each as if a judge."""
    return agreement.agreement([stand_in.by_voter(vote) for vote in votes], [], []).verdicts


def _sentence(
    voted: int,
    rows: Sequence[PeopleShare],
    leaders: Sequence[str],
    rivals: Sequence[str],
    needed: str,
    *,
    chosen: bool,
) -> str:
    if not leaders:
        return (
            f"People voted on {counted(voted, 'document')}: too few to say what people would say."
            f" Every candidate needs votes on {needed}."
        )
    basis = f"By votes on {counted(voted, 'document')},"
    if any(row.reliance for row in rows):
        basis = f"{basis} corrected by the judges on all,"
    if len(leaders) > 1:
        return f"{basis} people would call {listed(leaders)} level."
    if rivals:
        return f"{basis} people would put {leaders[0]} first, but {listed(rivals)} cannot be ruled out."
    if chosen:
        return f"{basis} people would put {leaders[0]} first on documents like those, but they are unlike the others."
    row = rows[0]
    if row.share is None or row.low is None or row.high is None or len(rows) == 1:
        return f"{basis} people would put {leaders[0]} first."
    return (
        f"{basis} people would call {leaders[0]} best: they would prefer it in {percent(row.share)} of its pairs"
        f" (95 % interval {percent(row.low)} to {percent(row.high)})."
    )


def _notes(candidates: Sequence[str], shares: Mapping[int, MeanEstimates], leaders: Sequence[int]) -> tuple[str, ...]:
    """A note where the judges put somebody else first than people would."""
    if not leaders:
        return ()
    greatest = max(measured.everywhere for measured in shares.values())
    first = [member for member in shares if greatest - shares[member].everywhere < _LEVEL]
    if set(first) & set(leaders):
        return ()
    return (f"The judges alone put {listed([candidates[i] for i in first])} first.",)
