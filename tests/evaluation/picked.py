"""What a ranking says of the others once its leader was picked: whom it rules out wrongly, and how far leads hold.

    python -m tests.evaluation.picked 1000

prints the table of `docs/coverage` for so many tournaments a row, each through `rank` as in a run. One judge decides
both orders anew.
"""

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from carrel.evaluation.ranking.ranking import rank
from tests.evaluation import simulated
from tests.evaluation.coverage import Rate
from tests.evaluation.simulated import Cell

SIZES = tuple((k, d) for k in (3, 5, 10, 20) for d in (12, 30))
FIELDS = ("level", "0.2 logits")


class Row(NamedTuple):
    """In how many runs somebody as good as the leader was ruled out, how many leads' intervals held, and all of one."""

    ruled_out: Rate
    held: Rate
    all_held: Rate


def run(field: str, candidates: int, documents: int, count: int, seed: int) -> Row:
    """So many tournaments of one kind."""
    random = np.random.default_rng([seed, candidates, documents])
    truth = np.round(simulated.target(field, candidates).shares, 3)
    wrong = every = held = told = 0
    for _ in range(count):
        names, verdicts = simulated.told(
            simulated.tournaments(Cell(documents, candidates, 1, 0.0), field, 1, random), 0
        )
        ranking = rank(names, verdicts)
        first = truth[names.index(ranking.rows[0].candidate)]
        within = []
        out = False
        for one in ranking.contrasts:
            lead = first - truth[names.index(one.candidate)]
            out |= one.excludes_zero and lead <= 0
            if one.low is not None and one.high is not None:
                within.append(one.low <= lead <= one.high)
        wrong += out
        held += sum(within)
        told += len(within)
        every += all(within)
    return Row(Rate(wrong, count), Rate(held, told), Rate(every, count))


def table(rows: Sequence[tuple[str, int, int, Row]]) -> str:
    """As Markdown, in per cent."""
    lines = [
        "| field | candidates | documents | somebody as good ruled out | a lead's interval held | all of a run held |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {field} | {k} | {d} | **{row.ruled_out}** | {row.held} | {row.all_held} |" for field, k, d, row in rows
    ]
    return "\n".join(lines)


def main(count: int) -> None:
    print(table([(field, k, d, run(field, k, d, count, 2026)) for field in FIELDS for k, d in SIZES]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
