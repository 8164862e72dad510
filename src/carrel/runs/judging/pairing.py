"""Chooses the pair of answers that a person sees next, and its order, by lot. Pairs that can decide come first. Pure.

The lots follow from the run's secret. So the choice is the same on a second request, and a person who sees the run's
seed cannot work out which answer comes first.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from carrel.evaluation.ranking.ranking import Ranking
from carrel.runs.model.plan import Presented, answer_repeat


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


def choose(
    possible: Iterable[Meeting], shown: Collection[Meeting], urgent: Collection[frozenset[int]], secret: str
) -> Meeting | None:
    """The next pair, from candidates whose order is undecided and from the documents and pairs that were shown least.

    It is `None` when all pairs were shown.
    """
    left = [meeting for meeting in possible if meeting not in shown]
    on_document = Counter(meeting.document for meeting in shown)
    of_pair = Counter(_pair(meeting) for meeting in shown)

    def rank(meeting: Meeting) -> tuple[bool, int, int, int, bytes]:
        pair = _pair(meeting)
        lot = _lot(secret, "pair", meeting)
        return pair not in urgent, on_document[meeting.document], of_pair[pair], meeting.repeat, lot

    return min(left, key=rank, default=None)


def order(meeting: Meeting, secret: str) -> Presented:
    """Which of the two answers comes first."""
    return "ab" if _lot(secret, "order", meeting)[0] % 2 else "ba"


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


def _lot(secret: str, purpose: str, meeting: Meeting) -> bytes:
    return hashlib.sha256(f"{secret}:vote:{purpose}:{':'.join(map(str, meeting))}".encode()).digest()
