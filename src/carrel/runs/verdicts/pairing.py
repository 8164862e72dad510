"""Draws the pair of answers that a person sees next, and its order, by lot. Pairs that can decide are likelier. Pure.

Documents come by equal lots. Each pair of a document has a known probability above 0, so estimates stay unbiased
although votes are asked where they are worth most. The lots follow from the run's secret. So the choice is the same on
a second request, and a person who sees the run's seed cannot work out which answer comes first.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from carrel.evaluation.ranking.ranking import Ranking
from carrel.runs.model.plan import Presented, answer_repeat

_BY_EQUAL_LOTS = 0.2


class Meeting(NamedTuple):
    """Two candidates' answers to one document; `candidate` < `opponent`, and repeat i meets repeat i."""

    document: int
    candidate: int
    opponent: int
    repeat: int


def meetings(
    delivered: Mapping[tuple[int, int, int], bytes], documents: int, repeats: Mapping[int, int]
) -> list[Meeting]:
    """Every pair of answers that were both delivered and have different texts.

    `delivered` are the texts' digests by document, candidate and repeat; `repeats` is how often each candidate answers.
    """
    found = []
    for document in range(1, documents + 1):
        for a, b in combinations(sorted(repeats), 2):
            for repeat in range(1, max(repeats[a], repeats[b]) + 1):
                first = delivered.get((document, a, answer_repeat(repeats[a], repeat)))
                second = delivered.get((document, b, answer_repeat(repeats[b], repeat)))
                if first is not None and second is not None and first != second:
                    found.append(Meeting(document, a, b, repeat))
    return found


class PairDraw(NamedTuple):
    """A pair that was drawn from `among` pairs of its document with probability `chance`."""

    meeting: Meeting
    chance: float
    among: int


def choose(
    possible: Iterable[Meeting],
    shown: Collection[Meeting],
    urgent: Collection[frozenset[int]],
    secret: str,
    voter: str = "",
) -> PairDraw | None:
    """Draw the next pair: from a document of which the voter has seen least, by worth for the `urgent` contrasts.

    It is `None` when all pairs were shown.
    """
    left = [meeting for meeting in possible if meeting not in shown]
    if not left:
        return None
    seen = Counter(meeting.document for meeting in shown)
    least = min(seen[meeting.document] for meeting in left)
    documents = {meeting.document for meeting in left if seen[meeting.document] == least}
    document = min(documents, key=lambda one: _lot(secret, f"document:{voter}:{least}", (one,)))
    drawn_from = [meeting for meeting in left if meeting.document == document]
    chances = _chances(drawn_from, urgent)
    # The least of exponential variables with these rates is each of them with just these probabilities.
    at = min(
        range(len(drawn_from)), key=lambda i: -math.log(_part(secret, f"pair:{voter}", drawn_from[i])) / chances[i]
    )
    return PairDraw(drawn_from[at], chances[at], len(drawn_from))


def _chances(meetings: Sequence[Meeting], urgent: Collection[frozenset[int]]) -> list[float]:
    """Four fifths by worth, one fifth by equal lots, so that no pair has a chance near 0.

    A lead is the difference of two means over opponents: the pair of a contrast enters it twice, and a pair of one of
    the two with somebody else once.
    """
    worth = [sum(len(_pair(meeting) & contrast) for contrast in urgent) for meeting in meetings]
    whole = sum(worth)
    if not whole:
        return [1 / len(meetings)] * len(meetings)
    return [(1 - _BY_EQUAL_LOTS) * (one / whole) + _BY_EQUAL_LOTS / len(meetings) for one in worth]


def order(meeting: Meeting, secret: str, voter: str = "") -> Presented:
    """Which of the two answers comes first."""
    return "ab" if _lot(secret, f"order:{voter}", meeting)[0] % 2 else "ba"


def undecided(ranking: Ranking, labels: Mapping[str, int]) -> frozenset[frozenset[int]]:
    """The pairs that can change the verdict: the leader with each possible rival, or the candidates that are level."""
    if len(ranking.leaders) > 1:
        return frozenset(frozenset((labels[a], labels[b])) for a, b in combinations(ranking.leaders, 2))
    return frozenset(
        frozenset((labels[leader], labels[contrast.candidate]))
        for leader in ranking.leaders
        for contrast in ranking.contrasts
        if not contrast.excludes_zero
    )


def _pair(meeting: Meeting) -> frozenset[int]:
    return frozenset((meeting.candidate, meeting.opponent))


def _part(secret: str, purpose: str, meeting: Meeting) -> float:
    """A number between 0 and 1, by lot."""
    return (int.from_bytes(_lot(secret, purpose, meeting)[:6]) + 0.5) / 2**48


def _lot(secret: str, purpose: str, meeting: Sequence[int]) -> bytes:
    return hashlib.sha256(f"{secret}:vote:{purpose}:{':'.join(map(str, meeting))}".encode()).digest()
