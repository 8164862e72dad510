"""The plan: the same tasks, keys and order for the same run, whoever asks and when."""

import re
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.runs.model import plan
from carrel.runs.model.plan import JudgePlan, PlannedTask, Shape, Stage

JUDGES = st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=3).map(
    lambda judges: tuple(JudgePlan(number, often, compares) for number, (often, compares) in enumerate(judges, start=1))
)
SHAPES = st.builds(
    lambda documents, repeats, combined, judges, seed: Shape(
        documents, (*repeats, *[1] * combined), judges, seed, combined
    ),
    st.integers(1, 4),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.integers(0, 2),
    JUDGES,
    st.text(max_size=5),
)
ORDER = (
    *(("generate", False), ("score", False), ("compare", False)),
    *(("combine", True), ("score", True), ("compare", True)),
)
KEY = re.compile(
    r"r[12]\.(generate\.d\d+\.c\d+\.s\d+|score\.d\d+\.c\d+\.s\d+\.j\d+\.s\d+"
    r"|compare\.d\d+\.c\d+-c\d+\.s\d+\.j\d+\.(ab|ba)|combine\.d\d+\.c\d+)"
)


def tasks_of(shape: Shape, number: int, stage: Stage) -> list[PlannedTask]:
    """The tasks of a stage when everyone is compared."""
    field, makers = shape.field(number), shape.makers
    match stage.kind:
        case "generate":
            return list(plan.generation(shape, number))
        case "combine":
            return list(plan.combination(shape, number))
        case "score":
            return list(plan.scoring(shape, number, makers if stage.combined else field))
        case "compare":
            return list(plan.comparison(shape, number, field, makers if stage.combined else ()))


@settings(max_examples=80, deadline=None)
@given(SHAPES, st.sampled_from([1, 2]))
def test_every_key_is_unique_url_safe_and_counted_beforehand(shape: Shape, number: int) -> None:
    stages = plan.stages(shape, number, len(shape.repeats))
    by_stage = [tasks_of(shape, number, stage) for stage in stages]
    keys = [task.key for tasks in by_stage for task in tasks]
    assert len(set(keys)) == len(keys)
    assert all(KEY.fullmatch(key) for key in keys)
    assert [stage.tasks for stage in stages] == [len(tasks) for tasks in by_stage]
    if number == 1:
        assert sum(plan.size(shape, len(shape.repeats))) == len(keys)


@settings(max_examples=80, deadline=None)
@given(SHAPES)
def test_combined_answers_are_made_after_all_others_were_judged_and_judged_like_them(shape: Shape) -> None:
    stages = plan.stages(shape, 1, len(shape.repeats))
    order = [(stage.kind, stage.combined) for stage in stages]
    assert order == [stage for stage in ORDER if stage in order]
    assert (("combine", True) in order) == bool(shape.combined)
    tasks = [task for stage in stages for task in tasks_of(shape, 1, stage)]
    makers = set(shape.makers)
    assert {task.candidate for task in tasks if task.kind == "combine"} == makers
    assert not makers & {task.candidate for task in tasks if task.kind == "generate"}
    # Over the whole round everyone is marked and everyone meets everyone, just as in a round over all answers at once.
    everything = [task for stage in plan.stages(shape, 2, len(shape.repeats)) for task in tasks_of(shape, 2, stage)]
    judged = sorted(task.key.partition(".")[2] for task in tasks if task.kind in ("score", "compare"))
    assert judged == sorted(task.key.partition(".")[2] for task in everything)


@settings(max_examples=40, deadline=None)
@given(SHAPES)
def test_a_later_round_makes_no_answers(shape: Shape) -> None:
    assert {stage.kind for stage in plan.stages(shape, 2, 9)} <= {"score", "compare"}
    assert not any(stage.combined for stage in plan.stages(shape, 2, 9))


@settings(max_examples=40, deadline=None)
@given(SHAPES)
def test_each_pair_meets_in_both_orders_under_every_comparing_judge(shape: Shape) -> None:
    everyone = range(1, len(shape.repeats) + 1)
    met: dict[tuple[int, int | None, int, int, int | None], list[str | None]] = {}
    for task in plan.comparison(shape, 1, everyone):
        meeting = (task.candidate, task.opponent, task.document, task.repeat, task.judge)
        met.setdefault(meeting, []).append(task.presented)
    assert all(orders == ["ab", "ba"] for orders in met.values())
    pairs = {(a, b) for a, b, *_ in met}
    judges = [judge for judge in shape.judges if judge.compares]
    assert pairs == (set(combinations(everyone, 2)) if judges else set())


def test_the_order_of_documents_follows_from_the_seed_alone() -> None:
    first = Shape(20, (1,), (), "a seed")
    assert plan.document_order(first) == plan.document_order(first)
    assert sorted(plan.document_order(first)) == list(range(1, 21))
    assert plan.document_order(first) != plan.document_order(first._replace(seed="another"))
    assert plan.document_order(first) != list(range(1, 21))


def test_newcomers_meet_every_finalist_and_each_other_but_finalists_do_not_meet_again() -> None:
    shape = Shape(1, (1, 1, 1, 1, 1), (JudgePlan(1, 0, True),), "", combined=2)
    keys = [task.key for task in plan.comparison(shape, 1, [1, 3], [4, 5]) if task.presented == "ab"]
    assert keys == [f"r1.compare.d1.{pair}.s1.j1.ab" for pair in ("c1-c4", "c1-c5", "c3-c4", "c3-c5", "c4-c5")]
    assert [stage.tasks for stage in plan.stages(shape, 1, 2)] == [3, 2, 2, 10]


def test_only_finalists_are_compared() -> None:
    shape = Shape(1, (1, 1, 1), (JudgePlan(1, 1, True),), "")
    keys = [task.key for task in plan.comparison(shape, 1, [3, 1])]
    assert keys == ["r1.compare.d1.c1-c3.s1.j1.ab", "r1.compare.d1.c1-c3.s1.j1.ba"]
    assert plan.size(shape, 2).compare == 2


def test_a_candidate_that_always_says_the_same_meets_every_repeat_of_the_other() -> None:
    shape = Shape(1, (1, 3), (JudgePlan(1, 0, True),), "")
    repeats = [task.repeat for task in plan.comparison(shape, 1, [1, 2]) if task.presented == "ab"]
    assert repeats == [1, 2, 3]
    assert [plan.answer_repeat(1, repeat) for repeat in repeats] == [1, 1, 1]
    assert [plan.answer_repeat(3, repeat) for repeat in repeats] == [1, 2, 3]
