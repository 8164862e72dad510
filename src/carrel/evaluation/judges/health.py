"""The health of each judge: flips, inconsistent and invalid verdicts, and whether it favours its own family."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Literal

import msgspec

from carrel.evaluation import records
from carrel.evaluation.ranking import shares
from carrel.evaluation.ranking.table import tabulate
from carrel.evaluation.records import Score, Verdict
from carrel.evaluation.statistics import intervals
from carrel.evaluation.statistics.intervals import rounded, rounded_or_none
from carrel.evaluation.statistics.means import mean

INVALID_LIMIT = 0.1
"""A judge with a greater share of invalid answers is flagged."""


class OwnFamilyLift(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a judge puts its own family over the others than judges of other families do, in win share.

    By document, with a t-interval at 95 %; `reason` says why there is no number.
    """

    lift: float | None
    low: float | None
    high: float | None
    documents: int
    reason: Literal["cannot be told", "no candidate of its family", "every candidate is of its family"] | None


class JudgeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One judge. `flips_to_first` are the flips in which the text shown first won both times.

    `invalid_share` is of the verdicts and scores that came back at all; `flagged` when it is above 10 %.
    """

    judge: str
    agreed: int
    flips: int
    flips_to_first: int
    inconsistent: int
    invalid: int
    missing: int
    scores_given: int
    scores_invalid: int
    scores_missing: int
    invalid_share: float | None
    flagged: bool
    own_family_lift: OwnFamilyLift


def health(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    scores: Sequence[Score],
    families: Mapping[str, str | None],
    judge_families: Mapping[str, str | None],
) -> tuple[JudgeHealth, ...]:
    """Every judge with a verdict or score, by name. Existing texts have no family and count as another family's."""
    judges = sorted({verdict.judge for verdict in verdicts} | {score.judge for score in scores})
    return tuple(
        _judge(
            judge,
            [verdict for verdict in verdicts if verdict.judge == judge],
            [score for score in scores if score.judge == judge],
            own_family_lift(judge, candidates, verdicts, families, judge_families),
        )
        for judge in judges
    )


def malformed(verdicts: Iterable[Verdict], scores: Iterable[Score]) -> dict[str, float]:
    """The judges whose share of malformed answers is above the limit, with that share, by name."""
    came: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    found: Counter[tuple[str, records.Fate]] = Counter()
    for (judge, rule, ab, ba), times in Counter(map(attrgetter("judge", "by_rule", "ab", "ba"), verdicts)).items():
        found[judge, records.outcome(rule, ab, ba)[0]] += times
    given = Counter((score.judge, score.fate) for score in scores)
    for (judge, fate), times in (*found.items(), *given.items()):
        came[judge] += 0 if fate in ("by_rule", "missing") else times
        bad[judge] += times if fate == "invalid" else 0
    return {judge: bad[judge] / came[judge] for judge in sorted(came) if bad[judge] > INVALID_LIMIT * came[judge]}


def own_family_lift(
    judge: str,
    candidates: Sequence[str],
    verdicts: Iterable[Verdict],
    families: Mapping[str, str | None],
    judge_families: Mapping[str, str | None],
) -> OwnFamilyLift:
    """(own family − others) by this judge, minus the same by judges of other families, document by document."""
    family = judge_families.get(judge)
    own = {i for i, candidate in enumerate(candidates) if family is not None and families.get(candidate) == family}
    if not own:
        return _no_lift("no candidate of its family")
    if len(own) == len(candidates):
        return _no_lift("every candidate is of its family")
    here: defaultdict[str, list[Verdict]] = defaultdict(list)
    outside: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.judge == judge:
            here[verdict.document].append(verdict)
        elif judge_families.get(verdict.judge) != family:
            outside[verdict.document].append(verdict)
    lifts = []
    for document in sorted(here.keys() & outside.keys()):
        by_judge = _lead_of(own, candidates, here[document])
        by_others = _lead_of(own, candidates, outside[document])
        if by_judge is not None and by_others is not None:
            lifts.append(by_judge - by_others)
    if not lifts:
        return _no_lift("cannot be told")
    found = intervals.difference(lifts)
    low, high = found.bounds(0.975, -2.0, 2.0)
    return OwnFamilyLift(
        lift=rounded(found.mean),
        low=rounded_or_none(low),
        high=rounded_or_none(high),
        documents=found.documents,
        reason=None,
    )


def _lead_of(own: set[int], candidates: Sequence[str], verdicts: Sequence[Verdict]) -> float | None:
    """The own family's mean win share on one document minus the others'; all judges that are present count equally."""
    judged = [verdict for verdict in verdicts if verdict.by_rule is None]
    table = tabulate(candidates, judged, {})
    if not table.documents:
        return None
    won = shares.on_document(table.documents[0])
    ours = [share for candidate, share in won.items() if candidate in own]
    theirs = [share for candidate, share in won.items() if candidate not in own]
    return mean(ours) - mean(theirs) if ours and theirs else None


def _no_lift(
    reason: Literal["cannot be told", "no candidate of its family", "every candidate is of its family"],
) -> OwnFamilyLift:
    return OwnFamilyLift(lift=None, low=None, high=None, documents=0, reason=reason)


def _judge(judge: str, verdicts: Sequence[Verdict], scores: Sequence[Score], lift: OwnFamilyLift) -> JudgeHealth:
    fates = Counter(records.fate(verdict) for verdict in verdicts)
    scored = Counter(score.fate for score in scores)
    invalid = fates["invalid"] + scored["invalid"]
    answered = invalid + fates["agreed"] + fates["flip"] + fates["inconsistent"] + scored["given"]
    return JudgeHealth(
        judge=judge,
        agreed=fates["agreed"],
        flips=fates["flip"],
        flips_to_first=sum(1 for v in verdicts if records.fate(v) == "flip" and v.ab == "first"),
        inconsistent=fates["inconsistent"],
        invalid=fates["invalid"],
        missing=fates["missing"],
        scores_given=scored["given"],
        scores_invalid=scored["invalid"],
        scores_missing=scored["missing"],
        invalid_share=rounded(invalid / answered) if answered else None,
        flagged=invalid > INVALID_LIMIT * answered,
        own_family_lift=lift,
    )
