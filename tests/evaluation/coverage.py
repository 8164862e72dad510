"""How often the intervals hold: the campaign over all cells, and the table that it prints.

    python -m tests.evaluation.coverage 2000

prints the tables of `docs/coverage` for so many tournaments a cell; what was drawn is `kept`. `make soak` runs it
and holds it to its bounds.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from tests.evaluation import bootstraps, kept, simulated, vectorised
from tests.evaluation.simulated import FIELDS, Cell
from tests.evaluation.vectorised import Array, Intervals

FEW = (3, 4)
MANY = (5, 8, 12, 20, 50)
MISSING = (0.0, 0.2)
CELLS = tuple(Cell(*cell) for cell in product((*FEW, *MANY), (3, 5), (1, 3), MISSING))
BOOTSTRAPPED = 0.25
"""The part of the tournaments that the bootstraps, 400 fits each, are tried on."""
_AT_ONCE = 250


class Rate(NamedTuple):
    """So many of so many."""

    hits: int = 0
    of: int = 0

    def plus(self, more: tuple[int, int]) -> "Rate":
        return Rate(self.hits + more[0], self.of + more[1])

    @property
    def share(self) -> float:
        return self.hits / self.of if self.of else float("nan")

    def __str__(self) -> str:
        return f"{100 * self.share:.1f}"


class Result(NamedTuple):
    """Coverage of the 95 % intervals of win share and rating, ours and the bootstraps', and false claims by field."""

    cell: Cell
    shares: Rate
    shares_by_document: Rate
    shares_by_comparison: Rate
    ratings: Rate
    ratings_by_document: Rate
    ratings_by_comparison: Rate
    claims: dict[str, Rate]

    @property
    def worst_claim(self) -> Rate:
        return max(self.claims.values(), key=lambda rate: rate.share)


def run(cell: Cell, count: int, seed: int, bootstrapped: float = BOOTSTRAPPED) -> Result:
    """`count` tournaments, dealt out to the fields in turn."""
    rates = [Rate()] * 6
    claims = {}
    for place, field in enumerate(FIELDS):
        random = np.random.default_rng([seed, place, cell.documents, cell.candidates, cell.judges, cell.missing > 0])
        target = simulated.target(field, cell.candidates)
        claims[field] = Rate()
        for size in _parts(len(range(place, count, len(FIELDS)))):
            tournaments = simulated.tournaments(cell, field, size, random)
            y = tournaments.shares()
            found = vectorised.find(y, cell.candidates, said=tournaments.said())
            false = (found.best >= 0) & (found.best != target.best if target.best is not None else True)
            claims[field] = claims[field].plus((int(false.sum()), size))
            few = y[: round(size * bootstrapped)]
            kinds = [(found.shares, found.ratings)]
            if len(few):
                kinds.append(bootstraps.by_document(few, cell.candidates, random))
                kinds.append(bootstraps.by_comparison(few, cell.candidates, random))
            rates = list(_added(rates, kinds, target.shares, target.ratings))
    shares, shares_by_document, shares_by_comparison, ratings, ratings_by_document, ratings_by_comparison = rates
    return Result(
        cell,
        shares,
        shares_by_document,
        shares_by_comparison,
        ratings,
        ratings_by_document,
        ratings_by_comparison,
        claims,
    )


def _added(
    rates: Sequence[Rate], kinds: Sequence[tuple[Intervals, Intervals]], shares: Array, ratings: Array
) -> Iterator[Rate]:
    """In the order of `Result`: three kinds of win shares, then three of ratings."""
    for offset, value in ((0, shares), (3, ratings)):
        for kind in range(3):
            rate = rates[offset + kind]
            yield rate.plus(kinds[kind][offset // 3].hold(value)) if kind < len(kinds) else rate


def _parts(count: int) -> Iterator[int]:
    while count > 0:
        yield min(count, _AT_ONCE)
        count -= _AT_ONCE


def pooled(results: Iterable[Result], which: str) -> Rate:
    """One kind of coverage over several cells."""
    total = Rate()
    for result in results:
        total = total.plus(getattr(result, which))
    return total


def worst_field(results: Sequence[Result]) -> Rate:
    """The field with most false claims, over all of these cells: one cell alone has much chance in it."""
    fields = {field for result in results for field in result.claims}
    rates = [_together(result.claims[field] for result in results) for field in sorted(fields)]
    return max(rates, key=lambda rate: rate.share)


def _together(rates: Iterable[Rate]) -> Rate:
    total = Rate()
    for rate in rates:
        total = total.plus(rate)
    return total


def table(results: Sequence[Result]) -> str:
    """As Markdown, in per cent."""
    lines = [
        "| documents | candidates | judges | missing | win share | by document | naive | rating | by document | naive |"
        " false “is best” |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for result in results:
        documents, candidates, judges, missing = result.cell
        cells = [documents, candidates, judges, f"{100 * missing:.0f} %", f"**{result.shares}**"]
        cells += [result.shares_by_document, result.shares_by_comparison, f"**{result.ratings}**"]
        cells += [result.ratings_by_document, result.ratings_by_comparison, result.worst_claim]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def summary(results: Sequence[Result]) -> str:
    """The same by what is missing and by number of documents."""
    lines = [
        "| missing | documents | win share | by document | naive | rating | by document | naive | false “is best” |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    kinds = [field for field in Result._fields if field not in ("cell", "claims")]
    for missing, documents in product(MISSING, (*FEW, *MANY)):
        here = [one for one in results if (one.cell.missing, one.cell.documents) == (missing, documents)]
        rates = [str(pooled(here, kind)) for kind in kinds]
        rates[0], rates[3] = f"**{rates[0]}**", f"**{rates[3]}**"
        worst = worst_field(here)
        lines.append(f"| {100 * missing:.0f} % | {documents} | {' | '.join(rates)} | {worst} |")
    return "\n".join(lines)


class Draw(NamedTuple):
    """So many tournaments of a cell."""

    cell: Cell
    tournaments: int
    seed: int = 2026


def made(draw: Draw) -> Result:
    """What comes out of them."""
    return run(*draw)


def trial(draw: Draw) -> object:
    """A few of them, with the rule's constants."""
    return vectorised.CONSTANTS, run(draw.cell, 8, seed=5)


def drawn(count: int) -> list[Result]:
    """Every cell."""
    return list(kept.drawn("coverage", [Draw(cell, count) for cell in CELLS], made, trial, Result).values())


def main(count: int) -> None:
    results = drawn(count)
    print(f"{summary(results)}\n\n{table(results)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
