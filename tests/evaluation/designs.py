"""What a right verdict costs in calls: runs that look on their way, beside runs of fixed size, one order, and Elo.

    python -m tests.evaluation.designs 2000

prints the table of `docs/coverage`: five candidates and one judge; half of the runs have a leader, half have two that
are equally best. A call is an answer or one order of a comparison.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from carrel.evaluation.ranking.stopping import looks
from tests.evaluation import early, peers, simulated, vectorised
from tests.evaluation.coverage import Rate
from tests.evaluation.simulated import Cell, Tournaments, pairs

CANDIDATES: Final = 5
SIZES: Final = (30, 60)
_STEP: Final = 32.0
"""Of Elo, as in most leaderboards."""

Best = npt.NDArray[np.int64]


class Judged(NamedTuple):
    """Whom a design calls best in each tournament (-1: nobody), and how many calls it made for that."""

    best: Best
    calls: npt.NDArray[np.int64]


class Row(NamedTuple):
    """How often the leader was called best, and one of two equals; and the calls of a run, on average."""

    right: Rate
    wrong: Rate
    calls: float

    @property
    def price(self) -> float:
        """Calls for one right verdict, where every second run has a leader."""
        return 2 * self.calls / self.right.share if self.right.hits else np.inf


def _looking(made: Tournaments, cell: Cell, _random: np.random.Generator) -> Judged:
    ends = early.played(made.shares(), cell, looks(cell.documents))
    return Judged(ends.best, ends.answers + ends.comparisons)


def _fixed(made: Tournaments, cell: Cell, _random: np.random.Generator) -> Judged:
    best = vectorised.claims(*vectorised.by_documents(made.shares(), cell.candidates))[1]
    return _all_calls(best, cell, orders=2)


def _majority(made: Tournaments, cell: Cell, random: np.random.Generator) -> Judged:
    best = peers.judged("majority", *vectorised.by_documents(made.shares(), cell.candidates), random)[1]
    return _all_calls(best, cell, orders=2)


def _one_order(made: Tournaments, cell: Cell, random: np.random.Generator) -> Judged:
    met, won = vectorised.by_documents(_in_one_order(made, random), cell.candidates)
    return _all_calls(peers.judged("comparisons", met, won, random)[1], cell, orders=1)


def _elo(made: Tournaments, cell: Cell, random: np.random.Generator) -> Judged:
    """One game of two candidates drawn by lot on each document; whoever has the highest rating at the end."""
    y = _in_one_order(made, random)
    every = np.arange(len(y))
    first, second = np.array(pairs(cell.candidates)).T
    ratings = np.zeros((len(y), cell.candidates))
    for document in range(cell.documents):
        pair = random.integers(0, len(first), len(y))
        a, b = first[pair], second[pair]
        expected = 1 / (1 + 10 ** ((ratings[every, b] - ratings[every, a]) / 400))
        moved = _STEP * (y[every, document, pair] - expected)
        ratings[every, a] += moved
        ratings[every, b] -= moved
    return Judged(ratings.argmax(axis=1), np.full(len(y), 3 * cell.documents))


def _in_one_order(made: Tournaments, random: np.random.Generator) -> vectorised.Array:
    ab, ba = made.ab[:, 0], made.ba[:, 0]
    return np.where(random.random(ab.shape) < 0.5, ab, ba).astype(float)


def _all_calls(best: Best, cell: Cell, orders: int) -> Judged:
    calls = cell.documents * (cell.candidates + orders * len(pairs(cell.candidates)))
    return Judged(best, np.full(len(best), calls))


DESIGNS: Mapping[str, Callable[[Tournaments, Cell, np.random.Generator], Judged]] = {
    "Carrel, stopping when decided": _looking,
    "Carrel, all documents": _fixed,
    "every pair in one order, bootstrap over comparisons": _one_order,
    "every pair in both orders, who has most": _majority,
    "Elo from a single game a document": _elo,
}


def run(documents: int, count: int, seed: int) -> dict[str, Row]:
    """Every design on the same draws: `count` tournaments with a leader, and as many of two equals."""
    cell = Cell(documents, CANDIDATES, 1, 0.0)
    found = {}
    for name, judge in DESIGNS.items():
        random = np.random.default_rng([seed, documents])
        right, wrong, calls = Rate(), Rate(), 0.0
        for _ in range(count // 250):
            for field in ("led", "twins"):
                judged = judge(simulated.tournaments(cell, field, 250, random), cell, random)
                calls += float(judged.calls.mean()) / (2 * (count // 250))
                if field == "led":
                    right = right.plus((int((judged.best == 0).sum()), 250))
                else:
                    wrong = wrong.plus((int((judged.best >= 0).sum()), 250))
        found[name] = Row(right, wrong, calls)
    return found


def table(rows: Mapping[int, Mapping[str, Row]]) -> str:
    """As Markdown; per cent and calls."""
    lines = [
        "| documents | design | leader found | an equal called best | calls of a run | calls for a right verdict |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {documents} | {name} | {row.right} | **{row.wrong}** | {row.calls:,.0f} | {row.price:,.0f} |"
        for documents, by_name in rows.items()
        for name, row in by_name.items()
    ]
    return "\n".join(lines)


def main(count: int) -> None:
    print(table({documents: run(documents, count, 2026) for documents in SIZES}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
