"""What the rule about missing verdicts costs where they go missing by chance: leads found by it, and without it.

    python -m tests.evaluation.lost 2000

prints the tables of `docs/coverage` for so many tournaments a row; the second is about runs that only
score, by half as many.
"""

import sys
from itertools import product
from warnings import catch_warnings, simplefilter

import numpy as np

from carrel.evaluation.ranking.ranking import Ranking, rank
from carrel.evaluation.records import Score
from tests.evaluation import missing_arrays, vectorised, worlds
from tests.evaluation.coverage import Rate
from tests.evaluation.missing_arrays import Heard
from tests.evaluation.told import CRITERIA, score
from tests.evaluation.vectorised import Array
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


LEADS = {10: 1.2, 20: 0.8, 50: 0.5}
"""By how much A is better, in points, where scores are missing by chance alone; else all are level."""
NEAR = 1.5
WAYS = (("low", 0.2), ("low", 0.4), ("low", 1.0), ("high", 0.4), ("both", 0.4))
"""A's scores up to 2, others' from 4, or A's up to 2 and a tenth of all are missing, as to this part."""


def scored(way: str, part: float, shape: tuple[int, int, int], random: np.random.Generator) -> Array:
    """Scores from 1 to 5 by document, judge and candidate, NaN where one is missing.

    Answers have a normal quality, and judges err by three fifths of a point.
    """
    quality = random.normal(3.0, 0.8, (shape[0], 1, shape[2]))
    quality[:, :, 0] += LEADS[shape[0]] if way == "chance" else 0.0
    marks = np.clip(np.rint(quality + random.normal(0.0, 0.6, shape)), 1, 5)
    hides = {"low": marks <= 2, "high": marks >= 4, "both": marks <= 2, "chance": marks > 0}[way]
    hides[:, :, 1:] &= way in ("high", "chance")
    hides[:, :, 0] &= way != "high"
    gone = hides & (random.random(shape) < part)
    gone |= random.random(shape) < (0.1 if way == "both" else 0.0)
    return np.where(gone, np.nan, marks)


def ranked(marks: Array) -> Ranking | None:
    """A run that only scores; `None` where no lead is near to what is told, which takes less time to see."""
    gaps = marks[..., :, None] - marks[..., None, :]
    with catch_warnings():
        simplefilter("ignore", RuntimeWarning)
        by_document = np.nanmean(gaps, axis=1)
        spread = np.nanstd(by_document, axis=0) / np.sqrt((~np.isnan(by_document)).sum(axis=0))
        t = np.nanmean(by_document, axis=0) / np.maximum(spread, 1e-9)
    np.fill_diagonal(t, np.inf)
    if not (t.min(axis=1) > NEAR).any():
        return None
    told = [
        Score(document=f"d{d}", judge=f"j{j}", candidate="ABC"[c], fate="missing")
        if np.isnan(mark)
        else score(f"d{d}", "ABC"[c], float(mark), f"j{j}")
        for (d, j, c), mark in np.ndenumerate(marks)
    ]
    return rank("ABC"[: marks.shape[2]], [], scored=told, criteria=CRITERIA)


def best(way: str, part: float, candidates: int, judges: int, documents: int, count: int) -> tuple[Rate, Rate]:
    """How often A, or anybody where all are level, is best: by the rule, and without it."""
    random = np.random.default_rng([2030, candidates, judges, documents])
    ours = without = 0
    for _ in range(count):
        found = ranked(scored(way, part, (documents, judges, candidates), random))
        if found is not None and len(found.leaders) == 1 and (way != "chance" or found.leaders == ("A",)):
            ours += found.best is not None
            without += all(one.ahead or one.held_back for one in found.contrasts)
    return Rate(ours, count), Rate(without, count)


def scores_table(count: int) -> str:
    """The same of runs that only score, each rate beside that without the rule."""
    ways = (*WAYS, *(("chance", part) for part in (0.0, *PARTS)))
    heads = ["candidates", "judges", "documents", *(f"{way} {100 * part:.0f} %" for way, part in ways)]
    lines = [f"| {' | '.join(heads)} |", f"|{'---:|' * len(heads)}"]
    for size in product((2, 3), (1, 3), LEADS):
        # Leads are often there, so fewer runs tell.
        rates = (best(way, part, *size, count // 4 if way == "chance" else count) for way, part in ways)
        lines.append(f"| {' | '.join([*map(str, size), *(f'**{ours}** ({without})' for ours, without in rates)])} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    print(f"{table(times)}\n\n{scores_table(times // 2)}")
