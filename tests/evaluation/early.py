"""What stopping early does: how often the wrong one wins, and what is saved, beside looking without any care.

    python -m tests.evaluation.early 2000

prints the tables of `docs/coverage.md` for so many tournaments a cell. `make soak` runs it and holds it to its bounds.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carrel.evaluation.ranking.stopping import looks
from tests.evaluation import simulated, vectorised
from tests.evaluation.coverage import Rate
from tests.evaluation.simulated import FIELDS, LEADS, Cell
from tests.evaluation.vectorised import Array, Found

CELLS = tuple(Cell(*cell) for cell in product((13, 20, 30, 60), (2, 3, 5), (1, 3), (0.0, 0.2)))
SURE_CELLS = tuple(Cell(documents, 2, 1, 0.0) for documents in (13, 20, 30, 60))
SAVING_CELLS = tuple(Cell(documents, 3, 1, 0.0) for documents in (13, 20, 30, 60))
_AT_ONCE = 250


class Ends(NamedTuple):
    """Where tournaments ended: who was called best (-1: nobody), and how many documents it took."""

    best: npt.NDArray[np.floating | np.integer]
    documents: npt.NDArray[np.int_]


class Claims(NamedTuple):
    """How often somebody was called best who was not, by field: ours, peeking without care, one look at the end.

    `held` is how often the repeated interval of a win share held its target where the run ended, `plain` an ordinary
    one at the same place.
    """

    cell: Cell
    ours: dict[str, Rate]
    peeking: dict[str, Rate]
    once: dict[str, Rate]
    held: Rate
    plain: Rate


class Saving(NamedTuple):
    """How often the leader was found, ours and by one look at the end, and the part of the comparisons not made."""

    cell: Cell
    field: str
    found: Rate
    once: Rate
    saved: float


def claims(cell: Cell, count: int, seed: int) -> Claims:
    """`count` tournaments, dealt out to the fields in turn."""
    found = Claims(cell, {}, {}, {}, Rate(), Rate())
    for place, field in enumerate(FIELDS):
        target = simulated.target(field, cell.candidates)
        ours = peeking = once = Rate()
        for y in _tournaments(cell, field, len(range(place, count, len(FIELDS))), seed):
            strict, careless = _looked(y, cell), _looked(y, cell, careful=False)
            ours = ours.plus(_false(_ended(strict, cell).best, target.best))
            peeking = peeking.plus(_false(_ended(careless, cell).best, target.best))
            once = once.plus(_false(careless[-1].best, target.best))
            end = _end(strict)
            held = found.held.plus(_held(strict, end, target.shares))
            found = found._replace(held=held, plain=found.plain.plus(_held(careless, end, target.shares)))
        found.ours[field], found.peeking[field], found.once[field] = ours, peeking, once
    return found


def sure(cell: Cell, count: int, seed: int) -> Claims:
    """The same with candidates that are level and judges so sure of themselves that every document names a winner."""
    random = np.random.default_rng([seed, cell.documents, cell.candidates])
    ours = peeking = once = Rate()
    for size in _sizes(count):
        y = simulated.tournaments(cell, "level", size, random, sureness=20.0).shares()
        strict, careless = _looked(y, cell), _looked(y, cell, careful=False)
        ours = ours.plus(_false(_ended(strict, cell).best, None))
        peeking = peeking.plus(_false(_ended(careless, cell).best, None))
        once = once.plus(_false(careless[-1].best, None))
    return Claims(cell, {"level": ours}, {"level": peeking}, {"level": once}, Rate(), Rate())


def saving(cell: Cell, field: str, count: int, seed: int) -> Saving:
    """`count` tournaments in which one is truly ahead."""
    found = once = Rate()
    documents = 0.0
    for y in _tournaments(cell, field, count, seed):
        strict = _looked(y, cell)
        ends = _ended(strict, cell)
        found = found.plus((int((ends.best == 0).sum()), len(y)))
        at_the_end = vectorised.find(y, cell.candidates).best
        once = once.plus((int((at_the_end == 0).sum()), len(y)))
        documents += float(ends.documents.sum())
    return Saving(cell, field, found, once, 1.0 - documents / (count * cell.documents))


def _tournaments(cell: Cell, field: str, count: int, seed: int) -> Iterator[Array]:
    place = list(FIELDS | LEADS).index(field)
    random = np.random.default_rng([seed, place, cell.documents, cell.candidates, cell.judges, cell.missing > 0])
    for size in _sizes(count):
        yield simulated.tournaments(cell, field, size, random).shares()


def _sizes(count: int) -> Iterator[int]:
    for begin in range(0, count, _AT_ONCE):
        yield min(_AT_ONCE, count - begin)


def _looked(y: Array, cell: Cell, *, careful: bool = True) -> list[Found]:
    return [
        vectorised.find(y[:, : look.documents], cell.candidates, look.part if careful else None)
        for look in looks(cell.documents)
    ]


def _end(found: Sequence[Found]) -> npt.NDArray[np.intp]:
    """The look, from 0, at which each tournament ended: the first that called somebody best, or the last."""
    named = np.stack([one.best >= 0 for one in found])
    named[-1] = True
    return np.asarray(np.argmax(named, axis=0), dtype=np.intp)


def _ended(found: Sequence[Found], cell: Cell) -> Ends:
    end = _end(found)
    places = np.array([look.documents for look in looks(cell.documents)])
    return Ends(np.stack([one.best for one in found])[end, np.arange(len(end))], places[end])


def _held(found: Sequence[Found], end: npt.NDArray[np.intp], target: Array) -> tuple[int, int]:
    every = np.arange(len(end))
    low = np.stack([one.shares.low for one in found])[end, every]
    high = np.stack([one.shares.high for one in found])[end, every]
    return vectorised.Intervals(low, high).hold(target)


def _false(best: npt.NDArray[np.floating | np.integer], truly: int | None) -> tuple[int, int]:
    wrong = (best >= 0) & (best != truly if truly is not None else True)
    return int(wrong.sum()), len(best)


def worst(results: Sequence[Claims], kind: str) -> Rate:
    """The field in which there were most false claims, over all of these cells."""
    pooled: dict[str, Rate] = {}
    for result in results:
        for field, rate in getattr(result, kind).items():
            pooled[field] = pooled.get(field, Rate()).plus(rate)
    return max(pooled.values(), key=lambda rate: rate.share)


def summary(results: Sequence[Claims]) -> str:
    """By numbers of documents and candidates, over judges and what is missing; in per cent."""
    lines = [
        "| documents | looks | candidates | ours | peeking | one look | repeated interval | plain interval |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for documents, candidates in dict.fromkeys(result.cell[:2] for result in results):
        here = [result for result in results if result.cell[:2] == (documents, candidates)]
        rates = [worst(here, kind) for kind in ("ours", "peeking", "once")]
        rates.append(added(result.held for result in here))
        rates.append(added(result.plain for result in here))
        when = ", ".join(str(look.documents) for look in looks(documents))
        cells = [documents, when, candidates, f"**{rates[0]}**", *rates[1:]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def of_sure_judges(results: Sequence[Claims]) -> str:
    """By number of documents; in per cent."""
    lines = ["| documents | ours | peeking | one look |", "|---:|---:|---:|---:|"]
    for one in results:
        rates = [worst([one], kind) for kind in ("ours", "peeking", "once")]
        lines.append(f"| {one.cell.documents} | **{rates[0]}** | {rates[1]} | {rates[2]} |")
    return "\n".join(lines)


def added(rates: Iterable[Rate]) -> Rate:
    """All of them together."""
    total = Rate()
    for rate in rates:
        total = total.plus(rate)
    return total


def table(results: Sequence[Saving]) -> str:
    """Every field in which one leads; in per cent."""
    lines = [
        "| documents | true lead | comparisons saved | found | found by one look at the end |",
        "|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {one.cell.documents} | {one.field} | **{100 * one.saved:.0f}** | {one.found} | {one.once} |"
        for one in results
    ]
    return "\n".join(lines)


def main(count: int) -> None:
    began = time.process_time()
    found = []
    for cell in CELLS:
        found.append(claims(cell, count, seed=2026))
        print(cell, f"{time.process_time() - began:.0f} s", file=sys.stderr, flush=True)
    certain = [sure(cell, count, seed=2026) for cell in SURE_CELLS]
    saved = [saving(cell, field, count // 4, seed=2026) for cell in SAVING_CELLS for field in LEADS]
    print(f"{count:,} tournaments a kind, {time.process_time() - began:.0f} s of one core\n")
    print(summary(found), "\n")
    print(of_sure_judges(certain), "\n")
    print(table(saved))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
