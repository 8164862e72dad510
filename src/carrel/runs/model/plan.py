"""The plan of a run: which tasks there are, under which keys, in which order. Pure: it reads no rows and no clock."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Literal, NamedTuple

Kind = Literal["generate", "score", "compare", "combine"]
Presented = Literal["ab", "ba"]
PHASES: tuple[Kind, ...] = ("generate", "score", "compare", "combine")


class JudgePlan(NamedTuple):
    """A judge of a round: whether it scores and how often each answer, and whether it compares."""

    ordinal: int
    score_repeats: int
    compares: bool


class Shape(NamedTuple):
    """What determines the plan.

    Candidates are numbered from 1. `repeats[0]` is how often candidate 1 answers each document: once if a second answer
    would only repeat the first. The last `combined` candidates make their answers from those of the others. `reach[0]`
    is on how many of the ordered documents candidate 1 takes part; if it is empty, everybody takes part on all.
    """

    documents: int
    repeats: tuple[int, ...]
    judges: tuple[JudgePlan, ...]
    seed: str
    combined: int = 0
    reach: tuple[int, ...] = ()

    @property
    def everyone(self) -> range:
        """All candidates."""
        return range(1, len(self.repeats) + 1)

    @property
    def makers(self) -> range:
        """The candidates that combine."""
        return self.everyone[len(self.repeats) - self.combined :]

    def reaches(self, candidate: int) -> int:
        """On how many of the ordered documents the candidate takes part."""
        return self.reach[candidate - 1] if self.reach else self.documents

    def field(self, round_number: int) -> range:
        """The candidates that a round judges first: at first those that answer by themselves, later everyone."""
        return self.everyone[: len(self.repeats) - self.combined] if round_number == 1 else self.everyone


class PlannedTask(NamedTuple):
    """One step of the plan.

    In a comparison, `candidate` < `opponent` are the pair, and `presented` says whether the judge sees the candidate's
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


class DocumentBlock(NamedTuple):
    """The ordered documents from one look to the next: those from `begin` up to `end`, counted from 0."""

    begin: int
    end: int


class Stage(NamedTuple):
    """A part of a round: one kind of task on the ordered documents from `begin` up to `end`.

    Stages that judge combined answers have `combined` set. If candidates answer unequally often, and it is open who is
    compared, `tasks` of a comparison is the greatest possible number. `look` is how many looks come before the stage.
    """

    kind: Kind
    combined: bool
    tasks: int
    begin: int
    end: int
    look: int = 0


class PhaseSizes(NamedTuple):
    """The number of tasks of each phase."""

    generate: int
    score: int
    compare: int
    combine: int


def document_order(shape: Shape) -> list[int]:
    """The documents' numbers in the order in which the run works on them.

    The order follows from the seed, so a run that stops early has seen a fair sample, and always the same one.
    """
    return sorted(
        range(1, shape.documents + 1),
        key=lambda document: hashlib.sha256(f"{shape.seed}:{document}".encode()).digest(),
    )


def stages(
    shape: Shape,
    round_number: int,
    compared: int | Sequence[int],
    blocks: Sequence[DocumentBlock] = (),
    *,
    in_blocks: bool = False,
) -> tuple[Stage, ...]:
    """The stages of a round in their order, without those that have no task.

    The first round generates, judges, combines the best answers, and judges the combined ones. Later rounds judge
    everything. `compared` are the candidates that are compared, or their number while it is open who they are. A round
    with several `blocks` compares block by block; with `in_blocks` it also generates and scores block by block.
    """
    whole = DocumentBlock(0, shape.documents)
    blocks = blocks or (whole,)
    made: tuple[Kind, ...] = ("generate", "score") if round_number == 1 else ("score",)
    found: list[Stage] = []
    for look, block in enumerate(blocks):
        if in_blocks or not look:
            answered = block if in_blocks else whole
            found += [_stage(shape, round_number, kind, compared, answered, look) for kind in made]
        found.append(_stage(shape, round_number, "compare", compared, block, look))
    if round_number == 1 and shape.combined:
        marks = sum(judge.score_repeats for judge in shape.judges)
        makers = [*shape.makers]
        met = _most_repeats(shape, shape.field(round_number), compared)
        later: dict[Kind, int] = {
            "combine": len(makers),
            "score": len(makers) * marks,
            "compare": _verdicts(shape, _pairs(met, makers)),
        }
        found += [Stage(kind, True, tasks * shape.documents, *whole) for kind, tasks in later.items()]
    return tuple(stage for stage in found if stage.tasks)


def _stage(
    shape: Shape, round_number: int, kind: Kind, compared: int | Sequence[int], block: DocumentBlock, look: int
) -> Stage:
    """The stage of this kind over the block, with its number of tasks."""
    tasks = 0
    marks = sum(judge.score_repeats for judge in shape.judges)
    field = shape.field(round_number)
    for place, alike in _alike(shape, block):
        there = [candidate for candidate in field if place < shape.reaches(candidate)]
        if kind == "compare":
            each = _verdicts(shape, _pairs(_most_repeats(shape, there, compared)))
        else:
            each = sum(_repeats(shape, candidate) for candidate in there) * (marks if kind == "score" else 1)
        tasks += each * alike
    return Stage(kind, False, tasks, *block, look)


def _alike(shape: Shape, block: DocumentBlock) -> Iterator[tuple[int, int]]:
    """Parts of the block on which the same candidates take part: where each begins, and its number of documents."""
    places = sorted({block.begin, block.end, *(one for one in shape.reach if block.begin < one < block.end)})
    for begin, end in pairwise(places):
        yield begin, end - begin


def _most_repeats(shape: Shape, there: Sequence[int], compared: int | Sequence[int]) -> Sequence[int]:
    """Those of `there` who are compared; if only their number is known, those who answer most often."""
    if isinstance(compared, int):
        return sorted(there, key=lambda candidate: -_repeats(shape, candidate))[:compared]
    return [candidate for candidate in compared if candidate in there]


def generation(shape: Shape, round_number: int, block: slice = slice(None)) -> Iterator[PlannedTask]:
    """Every candidate that answers by itself answers every document."""
    for document, field in _on_documents(shape, shape.field(round_number), block):
        for candidate in field:
            for repeat in range(1, _repeats(shape, candidate) + 1):
                key = f"r{round_number}.generate.d{document}.c{candidate}.s{repeat}"
                yield PlannedTask(key, "generate", document, candidate, repeat)


def combination(shape: Shape, round_number: int) -> Iterator[PlannedTask]:
    """Every candidate that combines makes one answer to every document."""
    for document in document_order(shape):
        for candidate in shape.makers:
            yield PlannedTask(f"r{round_number}.combine.d{document}.c{candidate}", "combine", document, candidate, 1)


def scoring(
    shape: Shape, round_number: int, candidates: Collection[int], block: slice = slice(None)
) -> Iterator[PlannedTask]:
    """Every scoring judge scores every answer of `candidates`, as often as the round asks that judge."""
    for document, field in _on_documents(shape, candidates, block):
        for candidate in field:
            for repeat in range(1, _repeats(shape, candidate) + 1):
                for judge in shape.judges:
                    for again in range(1, judge.score_repeats + 1):
                        answer = f"d{document}.c{candidate}.s{repeat}"
                        key = f"r{round_number}.score.{answer}.j{judge.ordinal}.s{again}"
                        yield PlannedTask(
                            key, "score", document, candidate, repeat, judge=judge.ordinal, judge_repeat=again
                        )


def comparison(
    shape: Shape,
    round_number: int,
    finalists: Sequence[int],
    newcomers: Sequence[int] = (),
    block: slice = slice(None),
) -> Iterator[PlannedTask]:
    """Every comparing judge compares every pair of finalists in both orders, on a block of the ordered documents.

    With `newcomers`, whose numbers are above all others, the finalists have met before: only pairs with a newcomer are
    new.
    """
    for document, field in _on_documents(shape, finalists, block):
        for first, second in _pairs(field, newcomers):
            for repeat in range(1, _meetings(shape, first, second) + 1):
                for judge in shape.judges:
                    if judge.compares:
                        yield from _both_orders(round_number, document, first, second, repeat, judge.ordinal)


def keys(round_number: int, kind: Kind, document: int) -> tuple[str, str]:
    """The bounds between which the keys of all tasks of a kind about one document lie."""
    beginning = f"r{round_number}.{kind}.d{document}"
    # "/" comes right after ".".
    return f"{beginning}.", f"{beginning}/"


def answer_repeat(repeats: int, repeat: int) -> int:
    """Which of its answers a candidate brings to meeting number `repeat`.

    Repeat i meets repeat i. A candidate that answers less often, because it always gives the same answer, brings its
    last.
    """
    return min(repeats, repeat)


def comparison_key(
    round_number: int, document: str, first: int, second: int, repeat: int, judge: int, presented: Presented
) -> str:
    """The key of a comparison's task; `document` is `d` and its number."""
    return f"r{round_number}.compare.{document}.c{first}-c{second}.s{repeat}.j{judge}.{presented}"


def size(shape: Shape, finalists: int) -> PhaseSizes:
    """How many tasks a first round has if it compares `finalists` candidates.

    Which candidates these are is open until then.
    """
    tasks = dict.fromkeys(PHASES, 0)
    for stage in stages(shape, 1, finalists):
        tasks[stage.kind] += stage.tasks
    return PhaseSizes(tasks["generate"], tasks["score"], tasks["compare"], tasks["combine"])


def _on_documents(shape: Shape, candidates: Collection[int], block: slice) -> Iterator[tuple[int, list[int]]]:
    """The ordered documents of the block, each with those of the candidates that take part on it."""
    for place, document in list(enumerate(document_order(shape)))[block]:
        yield document, [candidate for candidate in candidates if place < shape.reaches(candidate)]


def _repeats(shape: Shape, candidate: int) -> int:
    return shape.repeats[candidate - 1]


def _pairs(finalists: Sequence[int], newcomers: Sequence[int] = ()) -> Iterator[tuple[int, int]]:
    for first, second in combinations(sorted((*finalists, *newcomers)), 2):
        if not newcomers or second in newcomers:
            yield first, second


def _meetings(shape: Shape, first: int, second: int) -> int:
    return max(_repeats(shape, first), _repeats(shape, second))


def _verdicts(shape: Shape, pairs: Iterator[tuple[int, int]]) -> int:
    """How many comparisons the pairs take on one document."""
    comparing = sum(1 for judge in shape.judges if judge.compares)
    return sum(_meetings(shape, first, second) for first, second in pairs) * comparing * 2


def _both_orders(
    round_number: int, document: int, first: int, second: int, repeat: int, judge: int
) -> Iterator[PlannedTask]:
    orders: tuple[Presented, ...] = ("ab", "ba")
    for presented in orders:
        key = comparison_key(round_number, f"d{document}", first, second, repeat, judge, presented)
        yield PlannedTask(key, "compare", document, first, repeat, second, judge, presented=presented)
