"""Precision, recall and F1 over classes, and how far they hold.

The F1 of a class is 2j/(1 + j), where j is the share of hits among the documents that belong to the class or were put
into it: so an interval of j, by the arc sine (Anscombe 1948), gives one of F1 that holds with few documents, too. That
of the mean over classes comes from these by the method of Zou and Donner (2008): the distances of the ends are added
like errors, with the correlations that the documents show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from carrel.evaluation.statistics import clusters
from carrel.evaluation.statistics.quantiles import normal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_P: Final = 0.975
_UNMET: Final = 0.1
"""So far the upper end goes towards that of the spread alone: by simulation."""


class Classified(NamedTuple):
    """The answers of one candidate: on which document, which class it has and which it was given, by numbers.

    `given` is −1 for an answer that names no class. Several answers to one document count as one together.
    """

    documents: Sequence[int]
    expected: Sequence[int]
    given: Sequence[int]


class FScores(NamedTuple):
    """What is known of each class: of how many documents it is, and of how many it was said, rightly or not.

    `each` has a row for each document, in the order of their numbers, and a column for each class, whose mean is the
    class's F1: what the document adds to it. `weights` are how much it counts there beside the usual document, and
    `without` is the mean F1 over classes without each document.
    """

    hits: Floats
    expected: Floats
    given: Floats
    each: Floats
    weights: Floats
    without: Floats

    def around(self, f1: Floats) -> Floats:
        """What each document adds to the mean F1, if the classes had this F1 before it.

        The mean is the same. By its own F1, a class of one document that is right adds as much to all documents, so
        that no document could tell of it.
        """
        values: Floats = (self.each + (f1 - self.f1) * (1.0 - self.weights)).mean(axis=1)
        return values

    @property
    def f1(self) -> Floats:
        """The F1 of each class; 0 for one that neither is nor was said."""
        return _part(2.0 * self.hits, self.expected + self.given)

    @property
    def precision(self) -> Floats:
        """The share of hits among what was said; 0 where it never was."""
        return _part(self.hits, self.given)

    @property
    def recall(self) -> Floats:
        """The share of hits among what is."""
        return _part(self.hits, self.expected)

    @property
    def micro_f1(self) -> float:
        """F1 of all classes together."""
        return float(2.0 * self.hits.sum() / (self.expected.sum() + self.given.sum()))

    @property
    def weighted_f1(self) -> float:
        """The mean F1 of documents' own classes."""
        return float(self.f1 @ self.expected / self.expected.sum())


def scores(found: Classified, classes: int) -> FScores:
    """Counts; each document weighs 1."""
    import numpy as np

    places = {document: place for place, document in enumerate(sorted(set(found.documents)))}
    rows = np.array([places[document] for document in found.documents])
    weights = 1.0 / np.bincount(rows)[rows]
    expected, given = np.array(found.expected), np.array(found.given)
    named = given >= 0
    said, hit = np.zeros((len(places), classes)), np.zeros((len(places), classes))
    np.add.at(said, (rows, expected), weights)
    np.add.at(said, (rows[named], given[named]), weights[named])
    right = expected == given
    np.add.at(hit, (rows[right], expected[right]), weights[right])
    hits, of = hit.sum(axis=0), np.bincount(expected, weights, classes).astype(float)
    f1 = _part(2.0 * hits, said.sum(axis=0))
    usual = np.broadcast_to(said.mean(axis=0), said.shape)
    each = f1 + _part(2.0 * hit - f1 * said, usual)
    weights = np.where(usual > 0, _part(said, usual), 1.0)
    left = said.sum(axis=0) - said
    without = np.where(left > 0.0, _part(2.0 * (hits - hit), left), f1).mean(axis=1)
    return FScores(hits, of, said.sum(axis=0) - of, each, weights, without)


def class_interval(found: FScores, place: int, spread: float = 1.0) -> tuple[float, float]:
    """The 95 % interval of the F1 of a class. `spread` is how many times as many documents tell as much."""
    of = float(found.expected[place] + found.given[place] - found.hits[place]) / spread
    if not of:
        return 0.0, 1.0
    middle = math.asin(math.sqrt((float(found.hits[place]) / spread + 0.375) / (of + 0.75)))
    reach = normal(_P) / math.sqrt(4.0 * of + 4.0)
    low, high = (math.sin(min(max(0.0, end), math.pi / 2.0)) ** 2 for end in (middle - reach, middle + reach))
    return 2.0 * low / (1.0 + low), 2.0 * high / (1.0 + high)


def macro_interval(found: FScores, groups: Sequence[int] = ()) -> tuple[float, float]:
    """The 95 % interval of the mean F1 over classes; `groups` has the number of each document's group.

    It lies around the mean without its bias (Quenouille 1956), which few documents of a class leave in it. A lower end
    rises by only half of that.
    """
    import numpy as np

    spread = clustering(found.each.mean(axis=1).tolist(), groups)
    ends = np.array([class_interval(found, place, spread) for place in range(len(found.f1))])
    moved = found.each - found.f1
    products = moved.T @ moved
    sizes = np.sqrt(np.diag(products))
    both = np.outer(sizes, sizes)
    # A fault concerns two classes: where none was met, any two.
    alike = _part(products, both) + (both == 0.0) / max(1, len(both) - 1)
    np.fill_diagonal(alike, 1.0)
    below, above = found.f1 - ends[:, 0], ends[:, 1] - found.f1
    documents, classes = found.each.shape
    down, up = (math.sqrt(max(0.0, float(one @ alike @ one))) / classes for one in (below, above))
    # The upper ends of classes without a fault have no reach, and of many classes a few have faults that nobody met.
    up += _UNMET * max(0.0, normal(_P) * math.sqrt(spread * float(moved.mean(axis=1).var()) / documents) - up)
    middle = float(found.f1.mean())
    bias = (documents - 1) * (float(found.without.mean()) - middle)
    return max(0.0, min(middle, middle - max(bias, bias / 2.0) - down)), min(1.0, max(middle, middle - bias + up))


def clustering(values: Sequence[float], groups: Sequence[int]) -> float:
    """How many times as many documents tell as much where some belong together: at least 1."""
    if not clusters.matter(groups):
        return 1.0
    middle = math.fsum(values) / len(values)
    alone = math.fsum((value - middle) ** 2 for value in values)
    together = math.fsum(one * one for one in clusters.sums([value - middle for value in values], groups))
    return max(1.0, together / alone) if alone else len(values) / clusters.effective(groups)


def furthest(expected: Floats) -> float:
    """How far what a document adds may lie from what it adds for another candidate, with so many of each class."""
    least = float(expected.min())
    # Without any document of a class nobody knows how far.
    return max(1.0, float(expected.sum()) / (len(expected) * least)) if least else math.inf


def _part(hits: Floats, of: Floats) -> Floats:
    import numpy as np

    found: Floats = np.divide(hits, of, out=np.zeros_like(hits), where=of > 0)
    return found
