"""What stopping early does: how often the wrong one wins, and what is saved, beside looking without any care.

    python -m tests.evaluation.early 2000

prints the tables of `docs/coverage` for so many tournaments a cell; what was drawn is `kept`. `make soak` runs it
and holds it to its bounds.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from carrel.evaluation.ranking.stopping import Look, looks
from tests.evaluation import kept, simulated, vectorised, worlds
from tests.evaluation.coverage import Rate
from tests.evaluation.missing_arrays import Heard
from tests.evaluation.simulated import FIELDS, LEADS, Cell, pairs
from tests.evaluation.vectorised import Array, Intervals, Places

CELLS = tuple(Cell(*cell) for cell in product((13, 20, 30, 60), (2, 3, 5, 10), (1, 3), (0.0, 0.2)))
SURE_CELLS = tuple(Cell(documents, candidates, 1, 0.0) for documents in (13, 20, 30, 60) for candidates in (2, 5))
SAVING_CELLS = tuple(
    (Cell(documents, candidates, 1, 0.0), field)
    for documents in (13, 20, 30, 60)
    for candidates, field in (*((3, field) for field in LEADS), (5, "led"), (10, "led"))
)
GROUPED_CELLS = tuple(
    (Cell(documents, candidates, 1, 0.0), world)
    for world in ("topics", "uneven topics", "near duplicates")
    for documents in (30, 60, 200)
    for candidates in (2, 3, 5)
)
_AT_ONCE = 250

R = TypeVar("R")


class Ends(NamedTuple):
    """Where tournaments ended: who was called best (-1: nobody), and how many documents, answers and comparisons it
    took; the shares are those of the report."""

    best: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    answers: npt.NDArray[np.int64]
    comparisons: npt.NDArray[np.int64]
    shares: Intervals


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
    """How often the leader was found, ours and by one look at the end, and the part of the calls not made.

    `wrong` is how often another one was called best.
    """

    cell: Cell
    field: str
    found: Rate
    once: Rate
    wrong: Rate
    saved: float


def played(
    y: Array,
    cell: Cell,
    planned: Sequence[Look],
    said: Heard | None = None,
    groups: Places | None = None,
    *,
    careful: bool = True,
    intervals: bool = False,
) -> Ends:
    """Play tournaments as a run does: at each look, those that the leader has beaten leave, until one is left.

    A call is an answer or one order of a comparison. `groups` are the documents' numbers, `said` as in `vectorised`.
    Without care, each look is as strict as a single one. Without `intervals`, they are Student's alone.
    """
    first, second = np.array(pairs(cell.candidates)).T
    count = len(y)
    y = y.copy()
    asked = np.zeros(y.shape, dtype=bool)
    alive = np.ones((count, cell.candidates), dtype=bool)
    best = np.full(count, -1)
    documents, answers, comparisons = np.zeros((3, count), dtype=int)
    low, high = np.full(alive.shape, np.nan), np.full(alive.shape, np.nan)
    going = np.arange(count)
    for look in planned:
        met_pairs = alive[going][:, first] & alive[going][:, second]
        block = slice(look.before, look.documents)
        y[going, block] = np.where(met_pairs[:, None], y[going, block], np.nan)
        asked[going, block] = met_pairs[:, None]
        documents[going] = look.documents
        answers[going] += (look.documents - look.before) * alive[going].sum(axis=1)
        comparisons[going] += (look.documents - look.before) * 2 * cell.judges * met_pairs.sum(axis=1)
        met, won = vectorised.by_documents(y[going, : look.documents], cell.candidates)
        gaps = None
        if said is not None or np.isnan(y[going, : look.documents][asked[going, : look.documents]]).any():
            gaps = np.zeros(met.shape, dtype=bool)
            gaps[:, :, first, second] = gaps[:, :, second, first] = asked[going, : look.documents]
        here = None if said is None else said._replace(part=said.part[going, : look.documents])
        together = None if groups is None else groups[: look.documents]
        part = look.part if careful else 1.0
        told = vectorised.tell(
            met, won, alive[going], part, gaps, here, together, last=look.is_last, intervals=intervals
        )
        low[going], high[going] = told.shares
        alive[going] &= ~told.beaten
        decided = alive[going].sum(axis=1) == 1
        best[going[decided]] = told.first[decided]
        going = going[~decided]
        if not len(going):
            break
    return Ends(best, documents, answers, comparisons, Intervals(low, high))


def claims(cell: Cell, count: int, seed: int, fields: Sequence[str] = tuple(FIELDS), sureness: float = 1.0) -> Claims:
    """`count` tournaments, dealt out to the fields in turn."""
    found = Claims(cell, {}, {}, {}, Rate(), Rate())
    for place, field in enumerate(fields):
        target = simulated.target(field, cell.candidates)
        ours = peeking = once = Rate()
        for y, said in _tournaments(cell, field, len(range(place, count, len(fields))), seed, sureness):
            strict = played(y, cell, looks(cell.documents), said, intervals=True)
            careless = played(y, cell, looks(cell.documents), said, careful=False)
            ours = ours.plus(_false(strict.best, target.best))
            peeking = peeking.plus(_false(careless.best, target.best))
            once = once.plus(_false(_at_the_end(y, cell, said), target.best))
            found = found._replace(
                held=found.held.plus(strict.shares.hold(target.shares)),
                plain=found.plain.plus(careless.shares.hold(target.shares)),
            )
        found.ours[field], found.peeking[field], found.once[field] = ours, peeking, once
    return found


def sure(cell: Cell, count: int, seed: int) -> Claims:
    """The same with judges so sure of themselves that every document names a winner."""
    return claims(cell, count, seed, ("level", "twins"), sureness=20.0)


class Grouped(NamedTuple):
    """Runs over documents that belong together, and know it: twins called best, ours and by one look at the end, and a
    leader that was found; `saved` is the part of the calls not made."""

    cell: Cell
    world: str
    ours: Rate
    once: Rate
    found: Rate
    found_once: Rate
    saved: float


def grouped(cell: Cell, name: str, count: int, seed: int) -> Grouped:
    """`count` tournaments of twins and as many with a leader. Documents come in a random order, as in a run."""
    world = worlds.WORLDS[name]
    rates: dict[str, tuple[Rate, Rate]] = {}
    calls = 0.0
    for field in worlds.STRENGTHS:
        random = np.random.default_rng([seed, cell.documents, cell.candidates, field == "led"])
        ours = once = Rate()
        for size in _sizes(count):
            order = random.permutation(cell.documents)
            y = worlds.draw(world, field, cell.candidates, cell.documents, size, random)[:, order]
            groups = world.topics(cell.documents)[order]
            ends = played(y, cell, looks(cell.documents), None, groups)
            right = field == "led"
            end = _at_the_end(y, cell, None, groups)
            ours = ours.plus((int((ends.best == 0 if right else ends.best >= 0).sum()), size))
            once = once.plus((int((end == 0 if right else end >= 0).sum()), size))
            calls += float((ends.answers + ends.comparisons).sum()) * right
        rates[field] = ours, once
    whole = cell.documents * (cell.candidates + 2 * cell.judges * len(pairs(cell.candidates)))
    (ours, once), (found, found_once) = rates["twins"], rates["led"]
    return Grouped(cell, name, ours, once, found, found_once, 1.0 - calls / (count * whole))


def saving(cell: Cell, field: str, count: int, seed: int) -> Saving:
    """`count` tournaments in which one is truly ahead."""
    found = once = wrong = Rate()
    calls = 0.0
    for y, said in _tournaments(cell, field, count, seed):
        ends = played(y, cell, looks(cell.documents), said)
        found = found.plus((int((ends.best == 0).sum()), len(y)))
        wrong = wrong.plus((int((ends.best > 0).sum()), len(y)))
        once = once.plus((int((_at_the_end(y, cell, said) == 0).sum()), len(y)))
        calls += float((ends.answers + ends.comparisons).sum())
    whole = cell.documents * (cell.candidates + 2 * cell.judges * len(pairs(cell.candidates)))
    return Saving(cell, field, found, once, wrong, 1.0 - calls / (count * whole))


def _at_the_end(y: Array, cell: Cell, said: Heard | None = None, groups: Places | None = None) -> npt.NDArray[np.int64]:
    return vectorised.claims(*vectorised.by_documents(y, cell.candidates), groups, said)[1]


def _tournaments(
    cell: Cell, field: str, count: int, seed: int, sureness: float = 1.0
) -> Iterator[tuple[Array, Heard | None]]:
    place = list(FIELDS | LEADS).index(field)
    random = np.random.default_rng([seed, place, cell.documents, cell.candidates, cell.judges, cell.missing > 0])
    for size in _sizes(count):
        made = simulated.tournaments(cell, field, size, random, sureness)
        yield made.shares(), made.said()


def _sizes(count: int) -> Iterator[int]:
    for begin in range(0, count, _AT_ONCE):
        yield min(_AT_ONCE, count - begin)


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


def alike(results: Sequence[Claims]) -> dict[tuple[float, int, int], list[Claims]]:
    """By what is missing and numbers of documents and candidates: what differs in the number of judges alone."""
    found: dict[tuple[float, int, int], list[Claims]] = {}
    for one in sorted(results, key=lambda result: result.cell.missing):
        found.setdefault((one.cell.missing, one.cell.documents, one.cell.candidates), []).append(one)
    return found


def summary(results: Sequence[Claims]) -> str:
    """By what is missing and numbers of documents and candidates, over judges; in per cent."""
    lines = [
        "| missing | documents | looks | candidates | ours | peeking | one look | repeated interval | plain interval |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (missing, documents, candidates), here in alike(results).items():
        rates = [worst(here, kind) for kind in ("ours", "peeking", "once")]
        rates.append(added(result.held for result in here))
        rates.append(added(result.plain for result in here))
        when = ", ".join(str(look.documents) for look in looks(documents))
        cells = [f"{100 * missing:.0f} %", documents, when, candidates, f"**{rates[0]}**", *rates[1:]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def of_sure_judges(results: Sequence[Claims]) -> str:
    """By number of documents and candidates; in per cent."""
    lines = ["| documents | candidates | ours | peeking | one look |", "|---:|---:|---:|---:|---:|"]
    for one in results:
        rates = [worst([one], kind) for kind in ("ours", "peeking", "once")]
        lines.append(f"| {one.cell.documents} | {one.cell.candidates} | **{rates[0]}** | {rates[1]} | {rates[2]} |")
    return "\n".join(lines)


def of_groups(results: Sequence[Grouped]) -> str:
    """Documents that belong together; in per cent."""
    lines = [
        "| world | documents | candidates | ours | one look | found | found by one look | calls saved |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {one.world} | {one.cell.documents} | {one.cell.candidates} | **{one.ours}** | {one.once} | {one.found} |"
        f" {one.found_once} | {100 * one.saved:.1f} |"
        for one in results
    ]
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
        "| documents | candidates | true lead | calls used | calls saved | found | found by one look | another one |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {one.cell.documents} | {one.cell.candidates} | {one.field} | {100 * (1 - one.saved):.1f} |"
        f" **{100 * one.saved:.1f}** | {one.found} | {one.once} | {one.wrong} |"
        for one in results
    ]
    return "\n".join(lines)


class Draw(NamedTuple):
    """So many tournaments of a cell: of sure judges, of documents in groups, or of a field with a leader."""

    cell: Cell
    tournaments: int
    kind: Literal["claims", "sure", "saving", "grouped"]
    field: str = ""
    seed: int = 2026


def made(draw: Draw) -> Claims | Saving | Grouped:
    """What comes out of them."""
    match draw.kind:
        case "claims":
            return claims(draw.cell, draw.tournaments, draw.seed)
        case "sure":
            return sure(draw.cell, draw.tournaments, draw.seed)
        case "saving":
            return saving(draw.cell, draw.field, draw.tournaments, draw.seed)
        case "grouped":
            return grouped(draw.cell, draw.field, draw.tournaments, draw.seed)


def trial(draw: Draw) -> object:
    """A few of them, with the rule's constants."""
    return vectorised.CONSTANTS, made(draw._replace(tournaments=8, seed=5))


class Drawn(NamedTuple):
    """Every kind of run that looks on its way."""

    found: list[Claims]
    certain: list[Claims]
    saved: list[Saving]
    grouped: list[Grouped]


def drawn(count: int) -> Drawn:
    """Every cell."""

    def every(draws: Sequence[Draw], kind: type[R]) -> list[R]:
        return list(kept.drawn("early", draws, cast(Callable[[Draw], R], made), trial, kind).values())

    return Drawn(
        every([Draw(cell, count, "claims") for cell in CELLS], Claims),
        every([Draw(cell, count, "sure") for cell in SURE_CELLS], Claims),
        every([Draw(cell, count // 2, "saving", field) for cell, field in SAVING_CELLS], Saving),
        every([Draw(cell, count, "grouped", world) for cell, world in GROUPED_CELLS], Grouped),
    )


def tables(all_of_it: Drawn) -> str:
    """The four tables."""
    found, certain, saved, together = all_of_it
    return f"{summary(found)}\n\n{of_sure_judges(certain)}\n\n{of_groups(together)}\n\n{table(saved)}"


def main(count: int) -> None:
    print(tables(drawn(count)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
