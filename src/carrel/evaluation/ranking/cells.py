"""Verdicts as arrays: read once, then averaged again and again, as they are and as they could have been.

Only ranking needs numpy, so the service imports it in functions and starts without it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from carrel.evaluation import records
from carrel.evaluation.ranking.table import PairTable, PairTally, check_weights, parted
from carrel.evaluation.records import Fate, Side, Verdict, Word
from carrel.evaluation.statistics import clusters

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


class VerdictColumns(NamedTuple):
    """Every verdict of a judge with a weight, told from the side of the candidate that the plan names first.

    `document`, `a`, `b` and `judge` are places in the sorted names; `y` is NaN where the verdict is open. `longer` is
    by how much a's answer was longer, NaN where that is not known. `weights` are by judge, and `groups` the numbers of
    the documents' groups, empty where every document stands alone. `absent` is the candidate without an answer where
    that is why a verdict is missing, else -1. `fates` is how often each was met.
    """

    candidates: tuple[str, ...]
    documents: tuple[str, ...]
    judges: tuple[str, ...]
    weights: Array
    document: Places
    a: Places
    b: Places
    judge: Places
    y: Array
    by_rule: Flags
    longer: Array
    absent: Places
    groups: tuple[int, ...] = ()
    fates: Mapping[Fate, int] = {}

    def groups_of(self, documents: Sequence[int]) -> list[int]:
        """The groups of documents at these places; empty where every document stands alone."""
        return [self.groups[document] for document in documents] if self.groups else []

    def said(self) -> Flags:
        """Which verdicts are not open."""
        flags: Flags = self.y == self.y
        return flags


def gathered(
    candidates: Sequence[str],
    verdicts: Sequence[Verdict],
    weights: Mapping[str, float],
    groups: Mapping[str, str] | None = None,
) -> VerdictColumns:
    """Read the verdicts; a judge without a weight has 1, one of weight 0 is not heard.

    `groups` are those of documents that belong together; a document without one stands alone.

    Raises:
        ValueError: a verdict names a candidate that is not in the plan, or one candidate twice; a weight is not a
            finite number ≥ 0.
    """
    import numpy as np

    check_weights(weights)
    place = {candidate: i for i, candidate in enumerate(candidates)}
    a, b = (_places(place, map(attrgetter(side), verdicts)) for side in ("a", "b"))
    if (a < 0).any() or (b < 0).any() or (a == b).any():
        raise ValueError("a verdict must name two different candidates of the plan")
    if 0 in weights.values():
        has_weight = [weights.get(verdict.judge, 1.0) > 0 for verdict in verdicts]
        verdicts, a, b = list(compress(verdicts, has_weight)), a[has_weight], b[has_weight]
    # Words are few and verdicts many, so each is a number at first.
    words: defaultdict[tuple[Side | None, Word, Word], int] = defaultdict(lambda: len(words))
    said = np.fromiter(map(words.__getitem__, map(attrgetter("by_rule", "ab", "ba"), verdicts)), np.int64)
    outcomes = [records.outcome(*one) for one in words]
    fates: Counter[Fate] = Counter()
    for (fate, _), times in zip(outcomes, np.bincount(said, minlength=len(words)).tolist(), strict=True):
        fates[fate] += times
    # `None` becomes NaN.
    y = np.array([value for _, value in outcomes], dtype=float)[said]
    a_length, b_length = (np.array([*map(attrgetter(f"{side}_length"), verdicts)], dtype=float) for side in "ab")
    longer = a_length - b_length
    is_missing = np.array([fate == "missing" for fate, _ in outcomes], dtype=bool)[said]
    one_absent = is_missing & (np.isnan(a_length) != np.isnan(b_length))
    absent = np.where(one_absent, np.where(np.isnan(a_length), a, b), -1)
    turned = a > b
    documents, document = _sorted_places(map(attrgetter("document"), verdicts))
    judges, judge = _sorted_places(map(attrgetter("judge"), verdicts))
    return VerdictColumns(
        tuple(candidates),
        documents,
        judges,
        np.array([weights.get(judge, 1.0) for judge in judges], dtype=float),
        document,
        np.where(turned, b, a),
        np.where(turned, a, b),
        judge,
        np.where(turned, 1.0 - y, y),
        np.array([fate == "by_rule" for fate, _ in outcomes], dtype=bool)[said],
        np.where(turned, -longer, longer),
        absent,
        tuple(clusters.numbers(documents, groups or {})),
        fates,
    )


def _places(places: Mapping[str, int], names: Iterable[str]) -> Places:
    """The place of each name, and −1 of one that has none."""
    import numpy as np

    return np.fromiter(map(places.get, names, repeat(-1)), np.int64)


def _sorted_places(column: Iterable[str]) -> tuple[tuple[str, ...], Places]:
    """The names in order, and the place among them of each in the column."""
    import numpy as np

    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    found = np.fromiter(map(numbers.__getitem__, column), np.int64)
    names = sorted(numbers)
    places = np.empty(len(names), dtype=np.int64)
    places[[numbers[name] for name in names]] = np.arange(len(names))
    return tuple(names), places[found]


def averaged(heard: VerdictColumns, y: Array | None = None, *, without: int | None = None) -> Array:
    """y_dab by document and both candidates, NaN where they did not meet: over repeats, then over the judges present.

    `y` stands in for what was said, such as open verdicts at their worst. A judge can be left out.
    """
    import numpy as np

    counts, means = by_judge(heard, y)
    if without is not None:
        counts[..., without] = 0.0
    voices = np.where(counts > 0, heard.weights, 0.0)
    # The greatest weight of a cell is its unit, which keeps huge and tiny weights finite.
    greatest = voices.max(axis=2, initial=0.0)
    voices = voices / np.where(greatest > 0, greatest, 1.0)[..., None]
    total = voices.sum(axis=2)
    usual = (voices * means).sum(axis=2) / np.where(total > 0, total, 1.0)
    return both_sides(heard, np.where(total > 0, usual, np.nan))


def by_judge(heard: VerdictColumns, y: Array | None = None) -> tuple[Array, Array]:
    """How often each judge judged each pair of candidates (a < b) on each document, and the mean of what it said."""
    import numpy as np

    said = heard.y if y is None else y
    k, j = len(heard.candidates), len(heard.judges)
    pairs = k * (k - 1) // 2
    place = heard.a * (2 * k - heard.a - 1) // 2 + heard.b - heard.a - 1
    cells = (heard.document * pairs + place) * j + heard.judge
    keep = ~np.isnan(said)
    shape = len(heard.documents), pairs, j
    size = shape[0] * pairs * j
    # Sums of halves are exact, so the order of the verdicts cannot change them.
    sums = np.bincount(cells[keep], said[keep], size).reshape(shape)
    counts = np.bincount(cells[keep], minlength=size).reshape(shape).astype(np.float64)
    return counts, sums / np.maximum(counts, 1)


def both_sides(heard: VerdictColumns, y: Array) -> Array:
    """What is told of pairs, by document and both candidates."""
    import numpy as np

    k = len(heard.candidates)
    a, b = np.triu_indices(k, 1)
    found = np.full((len(heard.documents), k, k), np.nan)
    found[:, a, b], found[:, b, a] = y, 1.0 - y
    return found


def table_of(heard: VerdictColumns, y: Array) -> PairTable:
    """The same as the table that `tabulate` makes; `y` as `averaged` gives it."""
    import numpy as np

    upper = np.triu(np.ones(y.shape[1:], dtype=bool), 1) & ~np.isnan(y)
    documents, a, b = np.nonzero(upper)
    rows: list[list[PairTally]] = [[] for _ in heard.documents]
    for document, pair in zip(
        documents.tolist(), map(PairTally, a.tolist(), b.tolist(), y[upper].tolist()), strict=True
    ):
        rows[document].append(pair)
    members = tuple(np.flatnonzero((~np.isnan(y)).any(axis=(0, 2))).tolist())
    groups = heard.groups_of([document for document, pairs in enumerate(rows) if pairs])
    return PairTable(heard.candidates, members, tuple(tuple(pairs) for pairs in rows if pairs), tuple(groups))


def on_documents(y: Array) -> Array:
    """Each candidate's win share over the opponents that it met, by document; NaN where it met nobody."""
    import numpy as np

    met = ~np.isnan(y)
    rivals = met.sum(axis=2)
    found: Array = np.where(rivals > 0, np.where(met, y, 0.0).sum(axis=2) / np.maximum(rivals, 1), np.nan)
    return found


def shares_of(y: Array, *, by_opponent: bool = False) -> Array:
    """Each candidate's win share over documents, NaN for those that met nobody.

    With `by_opponent`, every opponent weighs the same, as `shares.estimates` says.
    """
    import numpy as np

    if by_opponent:
        met = (~np.isnan(y)).sum(axis=0)
        y = np.where(met > 0, np.nansum(y, axis=0) / np.maximum(met, 1), np.nan)[None]
    by_document = on_documents(y)
    documents = (~np.isnan(by_document)).sum(axis=0)
    found: Array = np.where(documents > 0, np.nansum(by_document, axis=0) / np.maximum(documents, 1), np.nan)
    return found


def is_connected(y: Array) -> bool:
    """Whether all candidates that met anyone are connected, directly or through others."""
    import numpy as np

    return len(parted(np.argwhere((~np.isnan(y)).any(axis=0)).tolist())) == 1
