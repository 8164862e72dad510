"""Worlds in which a verdict may go wrong: how often is "best" said wrongly, how often rightly, and what do peers say?

    python -m tests.evaluation.worlds 2000

prints the tables of `docs/coverage` for so many tournaments a cell; names of worlds behind the number print the rows
of these alone. What was drawn is kept (`kept`), so that this goes on where it was broken off. In each world the first
two candidates are level and at the top ("twins"), so that whoever is called best is called so wrongly; or the first
leads ("led"), so that it should be found. Peers judge the same draws: the percentile bootstrap over single comparisons
and over documents, the clustered standard error of Inspect with a normal quantile, and plain majority.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tests.evaluation import kept, missing_arrays, peers, vectorised
from tests.evaluation.coverage import Rate
from tests.evaluation.peers import PEERS
from tests.evaluation.vectorised import Array, logistic

Field = Literal["twins", "led"]
STRENGTHS: dict[Field, tuple[float, ...]] = {"twins": (0.8, 0.8), "led": (0.8, 0.0)}
REST = -0.4
TOPIC = 5
"""Documents of one topic."""
MOST = 0.055
"""No world may have more false claims."""
_TARGET = 60_000
_AT_ONCE = 4_000_000


class World(NamedTuple):
    """How candidates, documents and judges behave. `judges` is how many there are.

    `sureness` multiplies the judges' preferences, `lean` is for what is shown first, `first` the part of pairs on which
    a judge only sees the place. `shared` documents have the same text or topic; `own` is what a document of a topic
    adds. If `uneven`, a third of all documents has one topic. If `grouped`, the run knows the topics. `tail` is the
    degrees of freedom of documents' deviations, `lost` the part of documents on which the first candidate fails
    altogether. `hidden` is the part of the first candidate's defeats that never come back, for whatever reason.
    """

    judges: int = 1
    deviation: float = 0.7
    judge_deviation: float = 0.4
    lean: float = 0.3
    sureness: float = 1.0
    first: float = 0.0
    ties: float = 0.0
    family: float = 0.0
    length: float = 0.0
    tail: float = np.inf
    lost: float = 0.0
    shared: int = 1
    own: float = 1.0
    missing: float = 0.0
    hidden: float = 0.0
    grouped: bool = False
    uneven: bool = False

    def topics(self, documents: int) -> npt.NDArray[np.int64]:
        """The number of each document's topic."""
        found = np.arange(documents) // self.shared
        return np.maximum(found - documents // 3 // self.shared, 0) if self.uneven else found

    def groups(self, documents: int) -> npt.NDArray[np.int64] | None:
        """The numbers of the documents' groups, where the run knows them."""
        return self.topics(documents) if self.grouped else None


WORLDS: dict[str, World] = {
    "plain": World(),
    "three judges": World(judges=3),
    "consistent judge": World(sureness=30.0, lean=0.0),
    "nearly consistent judge": World(sureness=6.0, lean=0.1),
    "noisy judge": World(sureness=0.4, lean=0.8),
    "20 % by position": World(first=0.2),
    "families": World(judges=2, family=0.8),
    "length": World(length=0.8),
    "heavy tails": World(tail=2.0),
    "rare total loss": World(lost=0.05),
    "60 % ties": World(ties=0.6),
    "random judge": World(sureness=0.0),
    "20 % missing": World(missing=0.2),
    "near duplicates": World(shared=2, own=0.1, grouped=True),
    "topics": World(shared=TOPIC, own=0.5, grouped=True),
    "uneven topics": World(shared=TOPIC, own=0.5, grouped=True, uneven=True),
    "missing not at random": World(hidden=0.4),
    "missing by chance and not": World(missing=0.1, hidden=0.4),
    "missing not at random, three judges": World(judges=3, hidden=0.4),
}
BEYOND: dict[str, World] = {
    "near duplicates, not seen": World(shared=2, own=0.1),
    "topics, no groups given": World(shared=TOPIC, own=0.5),
}
"""Worlds that break an assumption: that documents are independent."""


class Cell(NamedTuple):
    """A world with a number of candidates and documents."""

    world: str
    candidates: int
    documents: int


NUMBERS = (3, 5, 8, 12, 20, 50, 200)
CELLS = tuple(Cell(world, k, d) for world in WORLDS for k in (2, 3, 5, 12) for d in NUMBERS)
PEER_CELLS = tuple(Cell(world, k, d) for world in (*WORLDS, *BEYOND) for k in (2, 3, 5) for d in (8, 20, 50))


class Outcome(NamedTuple):
    """Wrong and right claims, and how many intervals of a win share held their target."""

    false: Rate = Rate()
    found: Rate = Rate()
    held: Rate = Rate()

    def plus(self, more: "Outcome") -> "Outcome":
        return Outcome(*(mine.plus((theirs.hits, theirs.of)) for mine, theirs in zip(self, more, strict=True)))


def draw(
    world: World,
    field: Field,
    candidates: int,
    documents: int,
    count: int,
    random: np.random.Generator,
    strengths: Array | None = None,
) -> Array:
    """y by tournament, document and pair, NaN where nobody said anything; `strengths` stand in for the field's."""
    return averaged(spoken(world, field, candidates, documents, count, random, strengths))


def averaged(said: Array) -> Array:
    """Over the judges present."""
    voices = (~np.isnan(said)).sum(axis=1)
    return np.where(voices > 0, np.nansum(said, axis=1) / np.maximum(voices, 1), np.nan)


def spoken(
    world: World,
    field: Field,
    candidates: int,
    documents: int,
    count: int,
    random: np.random.Generator,
    strengths: Array | None = None,
) -> Array:
    """The same by judge: by tournament, judge, document and pair."""
    a, b = np.triu_indices(candidates, 1)
    shape = count, 1, documents, candidates
    strengths = np.array([*STRENGTHS[field], *[REST] * (candidates - 2)]) if strengths is None else strengths
    by_document = _normal(random, shape, world.tail) * world.deviation
    if world.shared > 1:
        topics = world.topics(documents)
        shared = _normal(random, (count, 1, int(topics.max()) + 1, candidates), world.tail) * world.deviation
        by_document = by_document * world.own + shared[:, :, topics]
    by_judge = random.normal(0.0, world.judge_deviation, (count, world.judges, documents, candidates))
    moved = strengths + by_document + by_judge
    if world.family:
        for judge in range(world.judges):
            moved[:, judge, :, judge] += world.family
    if world.length:
        moved += world.length * random.normal(0.0, 1.0, shape)
    if world.lost:
        moved[..., 0] += _compensation(world, field, candidates)
        moved[..., 0] -= 20.0 * (random.random((count, 1, documents)) < world.lost)
    # A logistic function of more than this is 0 or 1 anyway.
    ahead = np.clip((moved[..., a] - moved[..., b]) * world.sureness, -500.0, 500.0)
    wins = (random.random(ahead.shape) < logistic(ahead + world.lean)).astype(float)
    wins += random.random(ahead.shape) < logistic(ahead - world.lean)
    y = wins / 2
    if world.first:
        y[random.random(y.shape) < world.first] = 0.5
    if world.ties:
        y[random.random(y.shape) < world.ties] = 0.5
    if world.missing:
        y[random.random(y.shape) < world.missing] = np.nan
    if world.hidden:
        y[(y < 0.5) & (a == 0) & (random.random(y.shape) < world.hidden)] = np.nan
    return y


def _normal(random: np.random.Generator, shape: tuple[int, ...], tail: float) -> Array:
    return random.normal(0.0, 1.0, shape) if np.isinf(tail) else random.standard_t(tail, shape)


@cache
def _compensation(world: World, field: Field, candidates: int) -> float:
    """What the first candidate must be better by, where it does not fail, so that twins are level all the same."""
    if field == "led":
        return 0.0
    low, high = 0.0, 2.0
    for _ in range(24):
        middle = (low + high) / 2
        spread = (2 * (world.deviation**2 + world.judge_deviation**2)) ** 0.5
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        weights = weights / weights.sum()

        def wins(gap: float, spread: float = spread, nodes: Array = nodes, weights: Array = weights) -> float:
            ahead = gap + spread * nodes
            return float((weights * (logistic(ahead + world.lean) + logistic(ahead - world.lean)) / 2).sum())

        rest = STRENGTHS[field][0] - REST
        ours = (1 - world.lost) * (2 * wins(middle) - 1 + (candidates - 2) * (wins(rest + middle) - wins(rest)))
        ours -= world.lost * (1 + (candidates - 2) * wins(rest))
        low, high = (middle, high) if ours < 0 else (low, middle)
    return (low + high) / 2


@cache
def target(world: World, field: Field, candidates: int) -> Array:
    """Win shares over very many documents, nothing missing."""
    everything = world._replace(missing=0.0, hidden=0.0)
    y = draw(everything, field, candidates, 1, _TARGET, np.random.default_rng([3, candidates, len(field)]))
    _, won = vectorised.by_documents(y, candidates)
    return np.asarray((won.sum(axis=3) / (candidates - 1)).mean(axis=(0, 1)))


def _parts(count: int, candidates: int, documents: int) -> Iterator[int]:
    most = max(1, _AT_ONCE // (documents * candidates**2))
    while count > 0:
        yield min(count, most)
        count -= most


def run(cell: Cell, count: int, seed: int, peer: str | None = None) -> Outcome:
    """`count` tournaments of twins and as many with a leader, judged by Carrel or by a peer."""
    world = (WORLDS | BEYOND)[cell.world]
    found = Outcome()
    for field in STRENGTHS:
        name = list(WORLDS | BEYOND).index(cell.world)
        random = np.random.default_rng([seed, name, cell.candidates, cell.documents, field == "led"])
        for size in _parts(count, cell.candidates, cell.documents):
            said = spoken(world, field, cell.candidates, cell.documents, size, random)
            met, won = vectorised.by_documents(averaged(said), cell.candidates)
            if peer is None:
                heard = (
                    missing_arrays.heard(said, cell.candidates) if world.judges > 1 and np.isnan(said).any() else None
                )
                shares, best = vectorised.claims(
                    met, won, world.groups(cell.documents), heard, intervals=field == "twins"
                )
            else:
                shares, best = peers.judged(peer, met, won, np.random.default_rng([seed, size]))
            hits = shares.hold(target(world, field, cell.candidates)) if field == "twins" else (0, 0)
            claimed = Rate(int((best >= 0).sum()) if field == "twins" else int((best == 0).sum()), size)
            none = Rate()
            outcome = (claimed, none) if field == "twins" else (none, claimed)
            found = found.plus(Outcome(*outcome, Rate(*hits)))
    return found


def by_world(results: dict[Cell, Outcome]) -> str:
    """As Markdown, in per cent: the worst cell of each world, and all of them together."""
    lines = [
        "| world | false “is best”, all | worst kind | of K, D | win share held | found, K = 3, D = 20 | K = 5 |"
        " K = 12 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for world in dict.fromkeys(cell.world for cell in results):
        here = {cell: outcome for cell, outcome in results.items() if cell.world == world}
        total = Outcome()
        for outcome in here.values():
            total = total.plus(outcome)
        worst = max(here, key=lambda cell: here[cell].false.share)
        found = [here[Cell(world, k, 20)].found if Cell(world, k, 20) in here else "–" for k in (3, 5, 12)]
        cells = [world, total.false, f"**{here[worst].false}**", f"{worst.candidates}, {worst.documents}"]
        lines.append(f"| {' | '.join(map(str, [*cells, total.held, *found]))} |")
    return "\n".join(lines)


def by_size(results: dict[Cell, Outcome]) -> str:
    """As Markdown, in per cent: false claims in the worst world by numbers of candidates and documents."""
    lines = [f"| candidates | {' | '.join(f'D = {d}' for d in NUMBERS)} |", "|---:|" + "---:|" * len(NUMBERS)]
    for k in sorted({cell.candidates for cell in results}):
        worst = [
            max((one.false for cell, one in results.items() if cell[1:] == (k, d)), key=lambda rate: rate.share)
            for d in NUMBERS
        ]
        lines.append(f"| {k} | {' | '.join(map(str, worst))} |")
    return "\n".join(lines)


def drawn_afresh(results: Mapping[Cell, Outcome], again: Mapping[Cell, Outcome]) -> str:
    """As Markdown, in per cent: cells with too many false claims, and what five times as many tournaments say."""
    lines = ["| world | candidates | documents | first draw | afresh |", "|---|---:|---:|---:|---:|"]
    lines += [
        f"| {cell.world} | {cell.candidates} | {cell.documents} | {results[cell].false} | **{one.false}** |"
        for cell, one in again.items()
    ]
    return "\n".join(lines)


def beside_peers(results: dict[tuple[str, str], Outcome]) -> str:
    """As Markdown, in per cent: false claims and found leads of each, by world; then coverage."""
    names = ("Carrel", *PEERS)
    lines = [
        "| world | " + " | ".join(f"{name}: false / found / held" for name in names) + " |",
        "|---|" + "---:|" * len(names),
    ]
    for world in dict.fromkeys(world for world, _ in results):
        cells = []
        for name in names:
            one = results[world, name]
            held = str(one.held) if one.held.of else "–"
            cells.append(f"{one.false} / {one.found} / {held}")
        lines.append(f"| {world} | {' | '.join(cells)} |")
    return "\n".join(lines)


class Draw(NamedTuple):
    """So many tournaments of each field of a cell, judged by Carrel or by a peer."""

    cell: Cell
    tournaments: int
    seed: int
    peer: str | None = None


def made(draw: Draw) -> Outcome:
    """What comes out of it."""
    return run(*draw)


@cache
def _trial(world: str) -> tuple[Outcome, ...]:
    return tuple(run(Cell(world, k, d), 20, seed=5) for k, d in ((2, 12), (3, 20), (5, 8)))


def trial(draw: Draw) -> object:
    """A few tournaments of the world, what makes it another one than the plain one, and the rule's constants."""
    own, plain = (WORLDS | BEYOND)[draw.cell.world]._asdict(), World()._asdict()
    unlike = {name: value for name, value in own.items() if value != plain[name]}
    return vectorised.CONSTANTS, unlike, _trial(draw.cell.world)


def drawn(draws: Sequence[Draw]) -> dict[Draw, Outcome]:
    """What comes out of each of them."""
    return kept.drawn("worlds", draws, made, trial, Outcome)


def cells(count: int, names: Sequence[str]) -> dict[Cell, Outcome]:
    """Every cell of these worlds."""
    found = drawn([Draw(cell, count, 2026) for cell in CELLS if cell.world in names])
    return {draw.cell: outcome for draw, outcome in found.items()}


def afresh(results: Mapping[Cell, Outcome], count: int) -> dict[Cell, Outcome]:
    """Every cell with too many false claims, five times as often: the greatest of many figures is high by chance."""
    suspects = sorted(results, key=lambda cell: -results[cell].false.share)
    suspects = [cell for cell in suspects if results[cell].false.share > MOST]
    return {draw.cell: one for draw, one in drawn([Draw(cell, 5 * count, 2027) for cell in suspects]).items()}


def beside(count: int, names: Sequence[str]) -> dict[tuple[str, str], Outcome]:
    """Carrel and all peers on the same draws, by world and name."""
    sizes = {name: max(1, count // (12 if name == "comparisons" else 6)) for name in ("Carrel", *PEERS)}
    draws = [
        Draw(cell, size, 2028, None if name == "Carrel" else name)
        for cell in PEER_CELLS
        if cell.world in names
        for name, size in sizes.items()
    ]
    found: dict[tuple[str, str], Outcome] = {}
    for draw, outcome in drawn(draws).items():
        place = draw.cell.world, draw.peer or "Carrel"
        found[place] = found.get(place, Outcome()).plus(outcome)
    return found


def main(count: int, names: Sequence[str]) -> None:
    """All worlds, or those with these names."""
    results = cells(count, names)
    if results:
        again = afresh(results, count)
        print(f"{by_world(results)}\n\n{by_size(results)}\n\n{drawn_afresh(results, again)}\n", flush=True)
    print(beside_peers(beside(count, names)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000, sys.argv[2:] or [*WORLDS, *BEYOND])
