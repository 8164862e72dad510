"""How often the people's intervals hold, and what the judges are worth: the tables of `docs/coverage`.

    python -m tests.evaluation.people.campaign 2000

draws so many times who voted on what; what was drawn is `kept`. `make soak` runs it and holds it to its bounds.
"""

import random
import sys
from typing import NamedTuple

from carrel.evaluation.judges.human import vote
from carrel.evaluation.people import people
from carrel.evaluation.records import HumanVote, Side, Verdict, Word
from tests.evaluation import kept
from tests.evaluation.people import pandalm

VOTED = (20, 35, 50)
BALLOTS = (50, 100)
OPPOSED = (10, 20, 50)
_SIDES: tuple[Side, Side] = ("a", "b")


class Held(NamedTuple):
    """One row: coverage of candidates, of pairs and of the votes alone, and the mean width beside the votes alone."""

    judge: str
    votes: str
    candidates: float
    pairs: float
    alone: float
    width: float
    wrong: float

    def __str__(self) -> str:
        shares = (self.candidates, self.pairs, self.alone)
        cells = [self.judge, self.votes, *(f"{100 * share:.1f}" for share in shares), f"{self.width:.2f}"]
        return f"| {' | '.join([*cells, f'{100 * self.wrong:.1f}'])} |"


def hold(judge: str, voted: int, draws: int, seed: int, *, by_ballot: bool = False) -> Held:
    """Against the shares that all people give on all documents.

    One person votes on all pairs of so many documents, or `by_ballot` on so many pairs as a run would draw them.
    """
    truth, lots = pandalm.truth(), random.Random(f"{judge} {voted} {seed}")
    drawn = pandalm.drawn if by_ballot else pandalm.draw
    best = max(pandalm.table().candidates, key=lambda candidate: truth[candidate])
    candidates, pairs, alone, widths, wrong = [], [], [], [], 0
    for _ in range(draws):
        found = drawn(judge, voted, lots)
        wrong += found.best not in (None, best)
        for row in found.rows:
            if row.low is None or row.high is None or row.alone_low is None or row.alone_high is None:
                continue
            candidates.append(row.low <= truth[row.candidate] <= row.high)
            alone.append(row.alone_low <= truth[row.candidate] <= row.alone_high)
            widths.append((row.high - row.low) / (row.alone_high - row.alone_low))
        pairs += [
            pair.low <= truth[f"{pair.first} over {pair.second}"] <= pair.high
            for pair in found.pairs
            if pair.low is not None and pair.high is not None
        ]
    votes = f"{voted} ballots" if by_ballot else f"{voted} documents"
    return Held(judge, votes, _mean(candidates), _mean(pairs), _mean(alone), _mean(widths), wrong / draws)


class Opposed(NamedTuple):
    """How often the one that only judges prefer was called best: by people's verdict, and how often people's was."""

    documents: int
    voted: int
    wrong: float
    right: float

    def __str__(self) -> str:
        return f"| {self.documents} | {self.voted} | {100 * self.wrong:.1f} | {100 * self.right:.1f} |"


def oppose(documents: int, voted: int, draws: int, seed: int) -> Opposed:
    """People prefer B on 60 % of documents, and two judges A on 70 %, whatever people prefer."""
    lots = random.Random(f"opposed {documents} {voted} {seed}")
    bests = []
    for _ in range(draws):
        told = [
            _verdict(f"d{d}", judge, is_for_a=lots.random() < 0.7) for d in range(documents) for judge in ("x", "y")
        ]
        chosen = lots.sample(range(documents), voted)
        votes = [HumanVote(verdict=vote(f"d{d}", "A", "B", 1, _SIDES[lots.random() < 0.6])) for d in chosen]
        found = people.say(("A", "B"), told, votes, {})
        bests.append(None if found is None else found.best)
    return Opposed(documents, voted, bests.count("A") / draws, bests.count("B") / draws)


def _verdict(document: str, judge: str, *, is_for_a: bool) -> Verdict:
    winner: Word = "first" if is_for_a else "second"
    loser: Word = "second" if is_for_a else "first"
    return Verdict(document=document, judge=judge, a="A", b="B", ab=winner, ba=loser)


def _mean(values: list[float] | list[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


def tables(held: list[Held], opposed: list[Opposed]) -> str:
    """Both tables in Markdown."""
    return "\n".join(
        (
            "| judge | votes on | candidates | pairs | votes alone | width | false “best” |",
            "|---|---|---:|---:|---:|---:|---:|",
            *map(str, held),
            "",
            "| documents | voted on | “A is best” | “B is best” |",
            "|---:|---:|---:|---:|",
            *map(str, opposed),
        )
    )


class Draw(NamedTuple):
    """What `hold` takes."""

    judge: str
    voted: int
    draws: int
    seed: int
    by_ballot: bool


def made(draw: Draw) -> Held:
    """What comes out of it."""
    return hold(*draw[:4], by_ballot=draw.by_ballot)


def trial(draw: Draw) -> Held:
    """A few of its draws."""
    return made(draw._replace(draws=5))


def run(draws: int, seed: int) -> tuple[list[Held], list[Opposed]]:
    """All rows of both tables."""
    rows = [
        Draw(judge, voted, draws, seed, by_ballot)
        for by_ballot, numbers in ((False, VOTED), (True, BALLOTS))
        for judge in pandalm.JUDGES
        for voted in numbers
    ]
    held = kept.drawn("people", rows, made, trial, Held)
    return list(held.values()), [oppose(60, voted, draws, seed) for voted in OPPOSED]


if __name__ == "__main__":
    print(tables(*run(int(sys.argv[1]), seed=2026)))
