"""Whether a candidate is worse than its baseline: the question of a pipeline, by judges and by checks. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from carrel.evaluation.statistics import clusters, noninferiority
from carrel.evaluation.statistics.noninferiority import ERROR, Change, Outcome
from carrel.evaluation.words import counted, listed, percent

SourceKind = Literal["comparisons", "scores", "required", "checks", "check", "macro_f1"]
Lead = Literal["ahead", "behind", "level"]
"""Which of the two the run's verdict puts ahead of the other, from the candidate's side; neither if they are level."""

_WORST: Final[tuple[Outcome, ...]] = ("worse", "undecided", "not_worse", "better")


class Differences(NamedTuple):
    """Where a difference comes from, and its value for each document: candidate minus baseline.

    A source that `decides` has to show that the candidate is not worse. Of the others it is only asked whether they
    show that it is. No difference is further from 0 than `reach`. `lead` is for what the run's verdict is about, too:
    then it says which of the two is better, and the bounds say only whether one is not worse by a margin.
    """

    kind: SourceKind
    name: str
    by_document: Mapping[str, float]
    reach: float
    decides: bool
    lead: Lead | None = None


class GateSource(msgspec.Struct, frozen=True, kw_only=True):
    """What one source says.

    `comparisons`: the win share against the baseline, minus one half. `scores`: the mean score. `required`: the share
    of documents that pass every required check. `checks`: the mean of all checks. `check`: one of them, by its `name`.
    `macro_f1`: the mean F1 over classes.
    `change` is null without documents on which both took part.
    """

    kind: SourceKind
    name: str
    decides: bool
    change: Change | None


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
) -> GateResult:
    """Decide from the differences; `groups` has the groups of documents that belong together.

    Each claim that something is not worse has an error of 5 %, and all of them are needed, so that together they err no
    more often. That something is worse may be claimed by any source, so that they share 5 %.
    """
    worse_error = ERROR / max(1, len(differences))
    sources = tuple(_source(one, margin, groups, worse_error) for one in differences)
    outcome = _outcome(sources)
    needed = _needed(sources) if outcome == "undecided" else None
    return GateResult(
        outcome=outcome,
        sentence=_sentence(outcome, candidate, baseline, margin, sources, needed),
        candidate=candidate,
        baseline=baseline,
        margin=margin,
        sources=sources,
        needed=needed,
    )


def _source(one: Differences, margin: float, groups: Mapping[str, str], worse_error: float) -> GateSource:
    sample = clusters.sampled(one.by_document, groups)
    change = None
    if sample.values:
        change = noninferiority.change(*sample, margin=margin, reach=one.reach, worse_error=worse_error)
        if one.lead is not None:
            change = msgspec.structs.replace(change, outcome=_as_told(change, one.lead, margin))
    return GateSource(kind=one.kind, name=one.name, decides=one.decides, change=change)


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
) -> str:
    told = {
        "better": f"{candidate} is better than {baseline}",
        "not_worse": f"{candidate} is not worse than {baseline} by {_points(margin)} or more",
        "worse": f"{candidate} is worse than {baseline}",
        "undecided": f"Whether {candidate} is worse than {baseline} by {_points(margin)} cannot be told",
    }[outcome]
    shown = [source for source in sources if _is_told(outcome, source)]
    words = f"{told}: {listed(list(map(_words, shown)))}." if shown else f"{told}."
    if outcome != "undecided":
        return words
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


def _words(source: GateSource) -> str:
    if source.kind == "comparisons" and source.change is not None:
        return _pairs_won(source.change)
    what = {
        "comparisons": "the share of pairs that it won against it",
        "scores": "its mean score",
        "required": "the share that passes every required check",
        "checks": "the mean of all checks",
        "macro_f1": "its macro F1",
        "check": f"the check {source.name}",
    }[source.kind]
    change = source.change
    if change is None:
        return f"{what} is not known on any document of both"
    moved = f"differs by {_signed(change.difference)} ({_signed(change.low)} to {_signed(change.high)})"
    return f"{what} {moved} on {counted(change.documents, 'document')}"


def _pairs_won(change: Change) -> str:
    won, low, high = (percent(0.5 + moved) for moved in (change.difference, change.low, change.high))
    on = counted(change.documents, "document")
    return f"it won {won} of its pairs with it (one-sided bounds {low} and {high}) on {on}"


def _points(share: float) -> str:
    return f"{100 * share:g} points"


def _signed(share: float) -> str:
    points = f"{100 * share:+.1f}"
    return "0.0" if float(points) == 0 else points.replace("-", "−")


def marked(candidate: Mapping[str, float], baseline: Mapping[str, float]) -> dict[str, float]:
    """Differences of marks. Where only the candidate has none, it counts as if it had 0: an answer that never came."""
    return {document: candidate.get(document, 0.0) - mark for document, mark in baseline.items()}
