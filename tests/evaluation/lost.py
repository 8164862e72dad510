"""What the rule about missing verdicts costs where they go missing by chance: leads found by it, and without it.

    python -m tests.evaluation.lost 2000

prints the tables of `docs/coverage` for so many tournaments a row.
"""

import sys

import numpy as np

from tests.evaluation import missing_arrays, vectorised, worlds
from tests.evaluation.coverage import Rate
from tests.evaluation.missing_arrays import Heard
from tests.evaluation.worlds import World

SIZES = tuple((candidates, documents) for candidates in (2, 3) for documents in (20, 50))
PARTS = (0.02, 0.05, 0.1, 0.2)


def found(part: float, candidates: int, documents: int, count: int) -> tuple[Rate, Rate, Rate]:
    """How often the leader is found if this part is missing: by the rule, without it, and with nothing missing."""
    random = np.random.default_rng([2029, candidates, documents])
    y = worlds.draw(World(), "led", candidates, documents, count, random)
    gone = np.where(random.random(y.shape) < part, np.nan, y)
    met, won = vectorised.by_documents(gone, candidates)
    nothing_missing = Heard(missing_arrays.everybody(met).astype(float), 1)
    ways = (
        vectorised.claims(met, won),
        vectorised.claims(met, won, None, nothing_missing),
        vectorised.claims(*vectorised.by_documents(y, candidates)),
    )
    ours, without, whole = (Rate(int((best == 0).sum()), count) for _, best in ways)
    return ours, without, whole


def table(count: int) -> str:
    """As Markdown, in per cent."""
    lines = [
        "| candidates | documents | missing | found | without the rule | nothing missing |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for candidates, documents in SIZES:
        for part in PARTS:
            ours, without, whole = found(part, candidates, documents, count)
            lines.append(f"| {candidates} | {documents} | {100 * part:.0f} % | **{ours}** | {without} | {whole} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000))
