"""Simulated tournaments: fields of candidates, documents that suit them unequally, judges who lean to the first place.

A document moves every candidate's strength by a normal deviation, a judge's taste moves it once more on that document,
and whatever is shown first has `LEAN` logits of advantage, so that flips happen. Verdicts go missing at random. Fields
in which two candidates are equally best are where a claim of "is best" must be false.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carrel.evaluation.records import Verdict, Word
from tests.evaluation import missing_arrays, vectorised
from tests.evaluation.vectorised import Array

DOCUMENT_DEVIATION = 0.7
JUDGE_DEVIATION = 0.4
LEAN = 0.3
TARGET_DOCUMENTS = 400_000

FIELDS: dict[str, tuple[float, ...]] = {
    "led": (0.8, 0.0, -0.4, -0.4, -0.4),
    "level": (0.0, 0.0, 0.0, 0.0, 0.0),
    "twins": (0.8, 0.8, -0.4, -0.4, -0.4),
    "runaway": (2.0, 0.0, -0.4, -0.4, -0.8),
}
"""Strengths in logits; with K candidates the first K of them, and the last one again where K is greater."""

LEADS: dict[str, tuple[float, ...]] = {
    "0.2 logits": (0.2, 0.0, 0.0, 0.0, 0.0),
    "1 logit": (1.0, 0.0, 0.0, 0.0, 0.0),
    "2 logits": (2.0, 0.0, 0.0, 0.0, 0.0),
}
"""Fields in which one is ahead of all others, for what stopping early saves."""

Flags = npt.NDArray[np.bool_]


class Cell(NamedTuple):
    """One kind of tournament."""

    documents: int
    candidates: int
    judges: int
    missing: float


class Tournaments(NamedTuple):
    """What judges said: `ab` and `ba` tell whether the first-named won in either order, `heard` whether it came back.

    All three by tournament, judge, document and pair, pairs in the order of `combinations`.
    """

    ab: Flags
    ba: Flags
    heard: Flags

    def shares(self) -> Array:
        """y_dab by tournament, document and pair: the mean over the judges present, NaN where none was."""
        y = np.where(self.heard, (self.ab.astype(float) + self.ba) / 2, 0.0)
        voices = self.heard.sum(axis=1)
        return np.where(voices > 0, y.sum(axis=1) / np.maximum(voices, 1), np.nan)

    def said(self) -> missing_arrays.Heard | None:
        """Which part of the judges said something; `None` if all did about everything."""
        if self.heard.all():
            return None
        candidates = round((1 + (1 + 8 * self.ab.shape[3]) ** 0.5) / 2)
        return missing_arrays.heard(np.where(self.heard, 0.0, np.nan), candidates)


class Target(NamedTuple):
    """The estimators' values over very many documents, and which candidates are truly best."""

    shares: Array
    ratings: Array
    best: int | None


def pairs(candidates: int) -> list[tuple[int, int]]:
    return list(combinations(range(candidates), 2))


def tournaments(cell: Cell, field: str, count: int, random: np.random.Generator, sureness: float = 1.0) -> Tournaments:
    """`count` independent tournaments of one cell. A judge of great sureness says the same in both orders."""
    first, second = np.array(pairs(cell.candidates)).T
    strengths = np.array(_strengths(field, cell.candidates))
    by_document = random.normal(0.0, DOCUMENT_DEVIATION, (count, 1, cell.documents, cell.candidates))
    by_judge = random.normal(0.0, JUDGE_DEVIATION, (count, cell.judges, cell.documents, cell.candidates))
    moved = strengths + by_document + by_judge
    ahead = (moved[..., first] - moved[..., second]) * sureness
    return Tournaments(
        ab=random.random(ahead.shape) < vectorised.logistic(ahead + LEAN),
        ba=random.random(ahead.shape) < vectorised.logistic(ahead - LEAN),
        heard=random.random(ahead.shape) >= cell.missing,
    )


def _strengths(field: str, candidates: int) -> tuple[float, ...]:
    found = (FIELDS | LEADS)[field]
    return (*found, *found[-1:] * candidates)[:candidates]


@cache
def target(field: str, candidates: int) -> Target:
    """By simulation. The number of judges does not matter, nor do verdicts that are missing at random."""
    random = np.random.default_rng([2026, candidates, *(FIELDS | LEADS)[field].__repr__().encode()])
    first, second = np.array(pairs(candidates)).T
    spread = (DOCUMENT_DEVIATION**2 + JUDGE_DEVIATION**2) ** 0.5
    moved = np.array(_strengths(field, candidates)) + random.normal(0.0, spread, (TARGET_DOCUMENTS, candidates))
    ahead = moved[:, first] - moved[:, second]
    expected = (vectorised.logistic(ahead + LEAN) + vectorised.logistic(ahead - LEAN)).mean(axis=0) / 2
    won = np.zeros((1, candidates, candidates))
    won[0, first, second], won[0, second, first] = expected, 1.0 - expected
    met = 1.0 - np.eye(candidates)[None]
    strengths = _strengths(field, candidates)
    alone = strengths.count(max(strengths)) == 1
    return Target(won[0].sum(axis=1) / (candidates - 1), vectorised.fit(met, won, 1e-9)[0], 0 if alone else None)


def told(made: Tournaments, tournament: int) -> tuple[str, list[Verdict]]:
    """One of the tournaments as the records that `carrel.evaluation` reads."""
    _, judges, documents, width = made.ab.shape
    candidates = ascii_uppercase[: round((1 + (1 + 8 * width) ** 0.5) / 2)]
    return candidates, list(_told(made, tournament, candidates, judges, documents))


def _told(made: Tournaments, tournament: int, candidates: str, judges: int, documents: int) -> Iterator[Verdict]:
    for judge in range(judges):
        for document in range(documents):
            for place, (a, b) in enumerate(combinations(candidates, 2)):
                where = tournament, judge, document, place
                ab: Word = "first" if made.ab[where] else "second"
                ba: Word = "second" if made.ba[where] else "first"
                if not made.heard[where]:
                    ab = ba = "missing"
                yield Verdict(document=f"d{document}", judge=f"j{judge}", a=a, b=b, ab=ab, ba=ba)
