"""Documents that belong together: the error of their mean, when only groups of them are independent of each other.

The mean stays that over documents, so a large group weighs as much as its documents do. Its error comes from the sums
of groups (Liang and Zeger 1986), each divided by the part of all documents outside of it, which is what a jackknife
that leaves out one group at a time gives and what holds with few groups of unequal sizes (MacKinnon, Nielsen and Webb
2023).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation.statistics.means import mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Sample(NamedTuple):
    """One value for each document, and the numbers of the documents' groups; no numbers where all stand alone."""

    values: list[float]
    groups: list[int]

    @property
    def independent(self) -> int:
        """How many groups there are; a document that belongs to none is one."""
        return len(set(self.groups)) if self.groups else len(self.values)

    @property
    def by_group(self) -> list[float]:
        """The sum of the values of each group; the values themselves where all documents stand alone."""
        return sums(self.values, self.groups) if matter(self.groups) else list(self.values)

    @property
    def units(self) -> tuple[Floats, Floats]:
        """The sum of the values of each group and their number."""
        import numpy as np

        sizes = sums([1.0] * len(self.values), self.groups) if matter(self.groups) else [1.0] * len(self.values)
        return np.array(self.by_group), np.array(sizes)


def sampled(by_document: Mapping[str, float], groups: Mapping[str, str]) -> Sample:
    """The values with the groups of their documents; a document without a group stands alone."""
    return Sample(list(by_document.values()), numbers(by_document, groups))


def numbers(documents: Iterable[str], groups: Mapping[str, str]) -> list[int]:
    """The number of each document's group, from 0; empty if no two of them belong together."""
    places: dict[tuple[bool, str], int] = {}
    found = [
        places.setdefault((document in groups, groups.get(document, document)), len(places)) for document in documents
    ]
    return found if len(places) < len(found) else []


def matter(groups: Sequence[int]) -> bool:
    """Whether any two documents are of one group."""
    return len(set(groups)) < len(groups)


def sums(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    """The sum of the values of each group, in the order of the groups' numbers."""
    parts: defaultdict[int, list[float]] = defaultdict(list)
    for value, group in zip(values, groups, strict=True):
        parts[group].append(value)
    return [math.fsum(part) for _, part in sorted(parts.items())]


def error(values: Sequence[float], groups: Sequence[int], further: float) -> float:
    """The standard error of the mean, with one further group of the usual size and of this value.

    With groups of one document each, it is that of documents.
    """
    sizes = Counter(groups)
    usual = len(values) / len(sizes)
    middle = (mean(values) * len(values) + further * usual) / (len(values) + usual)
    moved = sums([value - middle for value in values], groups)
    whole = 1.0 - 1.0 / (len(sizes) + 1)
    outside = [1.0 - size / (len(values) + usual) for _, size in sorted(sizes.items())]
    squares = [(one * whole / part) ** 2 for one, part in zip(moved, outside, strict=True)]
    return math.sqrt(math.fsum([*squares, (usual * (further - middle)) ** 2])) / len(values)


def effective(groups: Sequence[int]) -> int:
    """How many groups of equal size tell as much (Kish 1965), rounded down."""
    sizes = Counter(groups).values()
    return math.floor(sum(sizes) ** 2 / sum(size * size for size in sizes) + 1e-9)
