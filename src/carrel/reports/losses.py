"""The documents on which one candidate is worse than another, the worst first: what a decision costs. Pure."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from carrel.evaluation.statistics.means import mean
from carrel.reports.by_document import Voices
from carrel.reports.document_input import PlannedAnswer

LISTED: Final = 5


class Losses(NamedTuple):
    """How many documents they are, and the numbers of the worst."""

    total: int
    worst: tuple[int, ...]


class LossCounter:
    """Compares two candidates on each document that passes by: by their win shares, their scores or their checks."""

    def __init__(self, first: str, beside: str, checks: dict[str, dict[int, float]]) -> None:
        """`checks` are the means of the marks of each candidate's answers, by the numbers of the documents."""
        self._first = first
        self._beside = beside
        self._checks = checks
        self._lost: list[tuple[float, int]] = []

    def watch(self, heard: Iterable[Voices]) -> Iterator[Voices]:
        """The same documents, in the order of the inputs."""
        for number, one in enumerate(heard, start=1):
            own, other = self._figure(one, number, self._beside), self._figure(one, number, self._first)
            if own is not None and other is not None and own < other:
                self._lost.append((own - other, number))
            yield one

    def _figure(self, heard: Voices, number: int, candidate: str) -> float | None:
        cell = next((one for one in heard.standing if one.candidate == candidate), None)
        if cell is not None and cell.win_share is not None:
            return cell.win_share
        if cell is not None and cell.score is not None:
            return cell.score
        return self._checks.get(candidate, {}).get(number)

    def losses(self) -> Losses:
        """Those of the documents that have passed by."""
        return Losses(len(self._lost), tuple(number for _, number in heapq.nsmallest(LISTED, self._lost)))


def check_means(answers: Iterable[PlannedAnswer], labels: Mapping[int, str]) -> dict[str, dict[int, float]]:
    """The mean of the marks of a candidate's first answer to each document, for the candidates with these numbers."""
    found: dict[str, dict[int, float]] = {label: {} for label in labels.values()}
    for answer in answers:
        if answer.repeat != 1 or (label := labels.get(answer.candidate)) is None:
            continue
        if known := [mark for mark in answer.checks or () if mark is not None]:
            found[label][answer.document] = mean(known)
    return found
