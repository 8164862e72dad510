"""The plan of a run: which tasks there are, under which keys, in which order. Pure: no rows, no clock, no chance."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

Kind = Literal["generate", "score", "compare"]
Presented = Literal["ab", "ba"]
PHASES: tuple[Kind, ...] = ("generate", "score", "compare")


class Judge(NamedTuple):
    """A judge of a round: whether it scores and how often each answer, and whether it compares."""

    ordinal: int
    score_repeats: int
    compares: bool


class Shape(NamedTuple):
    """What the plan follows from.

    Candidates are numbered from 1; `repeats[0]` is how often candidate 1 answers each document: once where another
    answer would only replay the first.
    """

    documents: int
    repeats: tuple[int, ...]
    judges: tuple[Judge, ...]
    seed: str


class Task(NamedTuple):
    """One step of the plan.

    Of a comparison, `candidate` < `opponent` are the pair, and `presented` says whether the judge sees the candidate's
    answer first (`ab`) or the opponent's (`ba`).
    """

    key: str
    kind: Kind
    document: int
    candidate: int
    repeat: int
    opponent: int | None = None
    judge: int | None = None
    judge_repeat: int | None = None
    presented: Presented | None = None


class Size(NamedTuple):
    """The number of tasks of each phase."""

    generate: int
    score: int
    compare: int


def document_order(shape: Shape) -> list[int]:
    """The documents' numbers in the order in which they are worked through.

    It follows from the seed, so that whoever stops early has seen a fair sample, and always the same one.
    """
    return sorted(
        range(1, shape.documents + 1),
        key=lambda document: hashlib.sha256(f"{shape.seed}:{document}".encode()).digest(),
    )


def generation(shape: Shape, round_number: int) -> Iterator[Task]:
    """Every candidate's answers to every document."""
    for document in document_order(shape):
        for candidate, repeats in enumerate(shape.repeats, start=1):
            for repeat in range(1, repeats + 1):
                key = f"r{round_number}.generate.d{document}.c{candidate}.s{repeat}"
                yield Task(key, "generate", document, candidate, repeat)


def scoring(shape: Shape, round_number: int) -> Iterator[Task]:
    """Every scoring judge on every answer, as often as the judge is asked."""
    for document in document_order(shape):
        for candidate, repeats in enumerate(shape.repeats, start=1):
            for repeat in range(1, repeats + 1):
                for judge in shape.judges:
                    for again in range(1, judge.score_repeats + 1):
                        answer = f"d{document}.c{candidate}.s{repeat}"
                        key = f"r{round_number}.score.{answer}.j{judge.ordinal}.s{again}"
                        yield Task(key, "score", document, candidate, repeat, judge=judge.ordinal, judge_repeat=again)


def comparison(shape: Shape, round_number: int, finalists: Sequence[int]) -> Iterator[Task]:
    """Every comparing judge on every pair of finalists, both ways round."""
    for document in document_order(shape):
        for first, second in combinations(sorted(finalists), 2):
            for repeat in range(1, _meetings(shape, first, second) + 1):
                for judge in shape.judges:
                    if judge.compares:
                        yield from _both_orders(round_number, document, first, second, repeat, judge.ordinal)


def answer_repeat(repeats: int, repeat: int) -> int:
    """Which of its answers a candidate brings to meeting number `repeat`.

    Repeat i meets repeat i; whoever answers less often, for always saying the same, brings its last answer.
    """
    return min(repeats, repeat)


def size(shape: Shape, finalists: int) -> Size:
    """How many tasks the plan has when `finalists` candidates are compared.

    Which ones is open until all scores are in. It makes no difference to the number where all candidates answer
    equally often; where they do not, this is the greatest number that it can be.
    """
    answers = shape.documents * sum(shape.repeats)
    score = answers * sum(judge.score_repeats for judge in shape.judges)
    most = sorted(range(1, len(shape.repeats) + 1), key=lambda candidate: -shape.repeats[candidate - 1])[:finalists]
    meetings = sum(_meetings(shape, first, second) for first, second in combinations(most, 2))
    comparing = sum(1 for judge in shape.judges if judge.compares)
    return Size(answers, score, shape.documents * meetings * comparing * 2)


def _meetings(shape: Shape, first: int, second: int) -> int:
    return max(shape.repeats[first - 1], shape.repeats[second - 1])


def _both_orders(round_number: int, document: int, first: int, second: int, repeat: int, judge: int) -> Iterator[Task]:
    orders: tuple[Presented, ...] = ("ab", "ba")
    for presented in orders:
        key = f"r{round_number}.compare.d{document}.c{first}-c{second}.s{repeat}.j{judge}.{presented}"
        yield Task(key, "compare", document, first, repeat, second, judge, presented=presented)
