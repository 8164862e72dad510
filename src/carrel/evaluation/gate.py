"""Whether a candidate is worse than its baseline: the question of a pipeline, by judges and by checks. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from carrel.evaluation.statistics import clusters, noninferiority
from carrel.evaluation.statistics.means import weighted_mean
from carrel.evaluation.statistics.noninferiority import ERROR, Change, Extreme, Outcome
from carrel.evaluation.words import counted, listed, percent

SourceKind = Literal["comparisons", "scores", "required", "checks", "check", "macro_f1"]
Lead = Literal["ahead", "behind", "level"]
"""Which of the two the run's verdict puts ahead of the other, from the candidate's side; neither if they are level."""

_WORST: Final[tuple[Outcome, ...]] = ("worse", "undecided", "not_worse", "better")


class ToldGap(NamedTuple):
    """A difference on a document by one judge, with the judge's weight, and what it could be.

    `value` is from what was said, and `None` if nothing was. With what is missing at its worst for the candidate it is
    `worst`, and `best` likewise.
    """

    weight: float
    value: float | None
    worst: float
    best: float


Weighed = Mapping[str, tuple[float, float]]
"""The difference on each document, and how much of the document counts."""


class Differences(NamedTuple):
    """Where a difference comes from, and its value for each document: candidate minus baseline.

    A source that `decides` has to show that the candidate is not worse. Of the others it is only asked whether they
    show that it is. No difference is further from 0 than `reach`. `lead` is for what the run's verdict is about, too:
    then it says which of the two is better, and the bounds say only whether one is not worse by a margin; were nothing
    missing, it would say `lead_of_whole`. `missing` counts verdicts, scores or documents of which marks are missing;
    with them, the differences could be the `worst` or the `best`. On `unanswered` documents, the candidate gave no
    answer.
    """

    kind: SourceKind
    name: str
    by_document: Mapping[str, float]
    reach: float
    decides: bool
    lead: Lead | None = None
    lead_of_whole: Lead | None = None
    missing: int = 0
    worst: Weighed | None = None
    best: Weighed | None = None
    unanswered: int = 0

    def at_worst(self, groups: Mapping[str, str]) -> Extreme:
        """With all that is missing lost, as far as others do not explain it."""
        return _extreme(self.by_document, self.worst, groups)

    def at_best(self, groups: Mapping[str, str]) -> Extreme:
        """With all of that won."""
        return _extreme(self.by_document, self.best, groups)


class GateSource(msgspec.Struct, frozen=True, kw_only=True):
    """What one source says.

    `comparisons`: the win share against the baseline, minus one half. `scores`: the mean score. `required`: the share
    of documents that pass every required check. `checks`: the mean of all checks. `check`: one of them, by its `name`.
    `macro_f1`: the mean F1 over classes.
    `change` is null without documents on which both took part. So many verdicts or scores are `missing`, or
    documents of which marks are; what others do not explain of them counts against the candidate in `low`, and for
    it in `high`. On `unanswered` documents only the baseline gave an answer, which counts against the candidate.
    """

    kind: SourceKind
    name: str
    decides: bool
    change: Change | None
    missing: int = 0
    unanswered: int = 0


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the candidate is worse than the baseline.

    `not_worse`, or even `better`: every source that decides shows that it is not worse by `margin` or more, and no
    source shows that it is worse. `worse`: some source shows that. `undecided`: neither; about `needed` documents would
    tell.
    """

    outcome: Outcome
    sentence: str
    candidate: str
    baseline: str
    margin: float
    sources: tuple[GateSource, ...]
    needed: int | None


def decide(
    candidate: str,
    baseline: str,
    margin: float,
    differences: Sequence[Differences],
    groups: Mapping[str, str],
    caution: str = "",
) -> GateResult:
    """Decide from the differences; `groups` has the groups of documents that belong together.

    `caution` is said beside "not worse": what speaks against the judges.

    Each claim that something is not worse has an error of 5 %, and all of them are needed, so that together they err no
    more often. That something is worse may be claimed by any source, so that they share 5 %.
    """
    worse_error = ERROR / max(1, len(differences))
    sources = tuple(_source(one, margin, groups, worse_error) for one in differences)
    outcome = _outcome(sources)
    held = [
        source
        for one, source in zip(differences, sources, strict=True)
        if outcome == "undecided" and _is_held(one, source, margin, groups, worse_error)
    ]
    needed = _needed(sources) if outcome == "undecided" and not held else None
    return GateResult(
        outcome=outcome,
        sentence=_sentence(outcome, candidate, baseline, margin, sources, needed, held, caution),
        candidate=candidate,
        baseline=baseline,
        margin=margin,
        sources=sources,
        needed=needed,
    )


def settled(
    found: Differences, said: Mapping[str, Sequence[ToldGap]], missing: int, unexplained: float = 1.0
) -> Differences:
    """The same with the differences by document, as they were told and as what is missing could have made them.

    So great a part of it counts as others do not explain.
    """
    told = {
        document: weighted_mean([(one.weight, one.value) for one in by_judge if one.value is not None])
        for document, by_judge in said.items()
        if any(one.value is not None for one in by_judge)
    }

    def ended(*, best: bool) -> Weighed:
        weighed = {}
        for document, by_judge in said.items():
            parts = []
            for one in by_judge:
                end = one.best if best else one.worst
                if one.value is not None:
                    parts.append((one.weight, (1.0 - unexplained) * one.value + unexplained * end))
                elif unexplained:
                    parts.append((one.weight * unexplained, end))
            if parts:
                weighed[document] = weighted_mean(parts), 1.0 if document in told else unexplained
        return weighed

    if not missing:
        return found._replace(by_document=told)
    return found._replace(by_document=told, missing=missing, worst=ended(best=False), best=ended(best=True))


def _extreme(by_document: Mapping[str, float], weighed: Weighed | None, groups: Mapping[str, str]) -> Extreme:
    if weighed is None:
        weighed = {document: (value, 1.0) for document, value in by_document.items()}
    values, sizes = ([*column] for column in zip(*weighed.values(), strict=True)) if weighed else ([], [])
    return Extreme(values, sizes, clusters.numbers(weighed, groups))


def _source(one: Differences, margin: float, groups: Mapping[str, str], worse_error: float) -> GateSource:
    sample = clusters.sampled(one.by_document, groups)
    change = None
    if sample.values:
        change = noninferiority.change(
            *sample,
            margin=margin,
            reach=one.reach,
            worse_error=worse_error,
            worst=one.at_worst(groups) if one.missing else None,
            best=one.at_best(groups) if one.missing else None,
        )
        if one.lead is not None:
            change = replace(change, outcome=_as_told(change, one.lead, margin))
    return GateSource(
        kind=one.kind,
        name=one.name,
        decides=one.decides,
        change=change,
        missing=one.missing,
        unanswered=one.unanswered,
    )


def _is_held(
    one: Differences, source: GateSource, margin: float, groups: Mapping[str, str], worse_error: float
) -> bool:
    """Whether a source that decides, or more documents of it, would tell, were nothing missing."""
    if not one.missing or not one.decides or (source.change is not None and source.change.outcome != "undecided"):
        return False
    whole = one._replace(missing=0, lead=one.lead_of_whole)
    told, without = source.change, _source(whole, margin, groups, worse_error).change
    if told is None or without is None or without.outcome != "undecided":
        return True
    return told.needed is None and without.needed is not None


def _as_told(change: Change, lead: Lead, margin: float) -> Outcome:
    """The outcome, as strong as the verdict."""
    if lead == "ahead":
        return "better"
    if change.low > -margin:
        return "not_worse"
    return "worse" if lead == "behind" else "undecided"


def _outcome(sources: Sequence[GateSource]) -> Outcome:
    deciding = [source for source in sources if source.decides]
    if any(source.change is not None and source.change.outcome == "worse" for source in sources):
        return "worse"
    found = ["undecided" if source.change is None else source.change.outcome for source in deciding]
    return min(found, key=_WORST.index) if found else "undecided"


def _needed(sources: Sequence[GateSource]) -> int | None:
    """How many documents would decide every source that is open; `None` if that is not known of one."""
    deciding = [source.change for source in sources if source.decides]
    needed = [None if one is None else one.needed for one in deciding if one is None or one.outcome == "undecided"]
    known = [number for number in needed if number is not None]
    return max(known) if known and len(known) == len(needed) else None


def _sentence(
    outcome: Outcome,
    candidate: str,
    baseline: str,
    margin: float,
    sources: Sequence[GateSource],
    needed: int | None,
    held: Sequence[GateSource],
    caution: str,
) -> str:
    told = {
        "better": f"{candidate} is better than {baseline}",
        "not_worse": f"{candidate} is not worse than {baseline} by {_points(margin)} or more",
        "worse": f"{candidate} is worse than {baseline}",
        "undecided": f"Whether {candidate} is worse than {baseline} by {_points(margin)} cannot be told",
    }[outcome]
    shown = [source for source in sources if _is_told(outcome, source)]
    # The first source has the measure of the verdict, which may find less than another one.
    by = _by_checks(shown) if outcome == "worse" and sources[0] not in shown else ""
    words = f"{by}{told}: {listed(list(map(_words, shown)))}." if shown else f"{told}."
    if outcome != "undecided":
        return f"{words} {caution}" if caution and outcome == "not_worse" else words
    if held:
        return f"{words} {_what_to_do(held)}"
    more = (
        "How many documents would tell is not known yet."
        if needed is None
        else f"About {needed:,} documents would tell."
    )
    return f"{words} {more}"


def _is_told(outcome: Outcome, source: GateSource) -> bool:
    if outcome == "worse":
        return source.change is not None and source.change.outcome == "worse"
    return source.decides and (outcome != "undecided" or source.change is None or source.change.outcome == "undecided")


def _by_checks(shown: Sequence[GateSource]) -> str:
    if any(source.kind != "check" for source in shown):
        return "By its checks, "
    return "By a single check, " if len(shown) == 1 else "By single checks, "


def _what_to_do(held: Sequence[GateSource]) -> str:
    judged = [source for source in held if source.kind in ("comparisons", "scores")]
    what = (
        "Retry the calls that failed; where replies stayed malformed, have the answers judged again by another judge."
        if judged
        else "Give the grades that are missing, or leave out the checks that took too long."
    )
    return f"What is missing decides this. {what}"


def _words(source: GateSource) -> str:
    change = source.change
    what = {
        "comparisons": "the share of pairs that it won against it",
        "scores": "its mean score",
        "required": "the share that passes every required check",
        "checks": "the mean of all checks",
        "macro_f1": "its macro F1",
        "check": f"the check {source.name}",
    }[source.kind]
    if change is None:
        return f"{what} is not known on any document of both{_without(source)}"
    if source.kind == "comparisons":
        won, low, high = (percent(0.5 + moved) for moved in (change.difference, change.low, change.high))
        moved = f"it won {won} of its pairs with it (one-sided bounds {low} and {high})"
    else:
        moved = f"{what} differs by {_signed(change.difference)} ({_signed(change.low)} to {_signed(change.high)})"
    return f"{moved} on {counted(change.documents, 'document')}{_without(source)}"


def _without(source: GateSource) -> str:
    parts = [f"{source.unanswered:,} without an answer of it"] if source.unanswered else []
    if source.missing and source.kind in ("comparisons", "scores"):
        noun = "verdict" if source.kind == "comparisons" else "score"
        parts.append(f"{counted(source.missing, noun)} {'is' if source.missing == 1 else 'are'} missing")
    elif source.missing:
        parts.append(f"marks are missing on {counted(source.missing, 'document')}")
    return f" ({'; '.join(parts)})" if parts else ""


def _points(share: float) -> str:
    return f"{100 * share:g} points"


def _signed(share: float) -> str:
    points = f"{100 * share:+.1f}"
    return "0.0" if float(points) == 0 else points.replace("-", "−")
