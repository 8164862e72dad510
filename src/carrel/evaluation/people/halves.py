"""Halves of a run's documents: what people say of the one may write the judges' question, and the other tests it."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

import msgspec

from carrel.evaluation.ranking import differences
from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.ranking.differences import PairedDifference
from carrel.evaluation.statistics import clusters
from carrel.evaluation.statistics.intervals import rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.evaluation.words import counted, percent

Changed = Literal["criteria", "instructions", "judges"]


class SinceRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round beside the latest earlier one (`round`) whose judges compared, on the documents kept for the test.

    These are half of the run's; `criteria-proposal` with `half` reads the others alone. A vote counts if judges of both
    rounds were asked about its pair and answered: 1 where they came to its outcome, ½ where they have no opinion, as
    after a flip, so that a question does not gain by making judges flip on what is hard. `agreement` and `before` are
    the means of that by document in this round and in the earlier one, null without such votes. `changed` is what
    differs in how the rounds compare, and `sentence` says what follows.
    """

    round: int
    changed: tuple[Changed, ...]
    votes: int
    agreement: float | None
    before: float | None
    difference: PairedDifference | None
    sentence: str


class Halves(NamedTuple):
    """Criteria may be written from votes on the documents of `writing`; those of `testing` are kept for the test."""

    writing: frozenset[str]
    testing: frozenset[str]


def halve(seed: str, documents: int, groups: Mapping[str, str]) -> Halves:
    """Both halves of the documents `d1`, `d2`, … of a run, by lots that follow from its seed, whatever votes come.

    A group is in one half. In the order of their sizes, each two groups come into different halves, the larger one into
    the half with fewer documents.
    """
    names = [f"d{number}" for number in range(1, documents + 1)]
    members: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        members[groups.get(name, name)].append(name)
    ordered = sorted(members.values(), key=lambda group: (-len(group), _lot(f"{seed}:half:{group[0]}")))
    writing: list[str] = []
    nothing: list[str] = []
    behind = 0
    for larger, smaller in zip_longest(ordered[::2], ordered[1::2], fillvalue=nothing):
        takes = larger if behind > 0 else smaller
        writing += takes
        behind += len(larger) + len(smaller) - 2 * len(takes)
    return Halves(frozenset(writing), frozenset(names).difference(writing))


def compare(
    rounds: tuple[int, int],
    changed: tuple[Changed, ...],
    votes: Mapping[str, Sequence[tuple[float, float]]],
    kept: Collection[str],
    groups: Mapping[str, str],
) -> SinceRound:
    """The first of two rounds beside the second one.

    `votes` has the agreement of either with each vote, by document of those that are `kept` for the test.
    """
    here, there = ({name: mean([vote[i] for vote in given]) for name, given in votes.items()} for i in (0, 1))
    agreement, before = (mean(list(values.values())) if values else None for values in (here, there))
    by_document = {name: here[name] - there[name] for name in votes}
    found = differences.paired(clusters.sampled(by_document, groups)) if votes else None
    kept_apart = len({groups.get(name, name) for name in kept})
    return SinceRound(
        round=rounds[1],
        changed=changed,
        votes=sum(map(len, votes.values())),
        agreement=rounded_or_none(agreement),
        before=rounded_or_none(before),
        difference=found,
        sentence=_sentence(rounds, (agreement or 0.0, before or 0.0), found, kept_apart),
    )


def _sentence(rounds: tuple[int, int], shares: tuple[float, float], found: PairedDifference | None, kept: int) -> str:
    (now, earlier), (here, there) = (f"round {number}" for number in rounds), map(percent, shares)
    if kept < DECIDES_FROM:
        return (
            f"Too few documents to test {now} against {earlier}: half of them are kept for that, and these have to be "
            f"{DECIDES_FROM} or more that do not belong together."
        )
    if found is None or found.independent < DECIDES_FROM:
        missing = counted(DECIDES_FROM - (0 if found is None else found.independent), "more document")
        return f"Testing {now} against {earlier} takes votes on {missing} of the half that is kept for the test."
    told = (
        f"On the {found.documents:,} documents that were kept for the test, the agreement with people is {here} in"
        f" {now} and {there} in {earlier} (the mean by document; no opinion is half): "
    )
    low, high = found.low or 0.0, found.high or 0.0
    if found.outcome == "undecided":
        return f"{told}no gain shown ({_points(low)} to {_points(high)} points)."
    if found.outcome == "worse":
        return f"{told}{_points(-found.difference)} points less ({_points(-high)} to {_points(-low)})."
    more = f"{_points(found.difference)} points more ({_points(low)} to {_points(high)})"
    return f"{told}{more}. That holds if {now} was made without looking at votes on these documents."


def _points(share: float) -> str:
    return f"{round(100 * share)}".replace("-", "−")


def _lot(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
