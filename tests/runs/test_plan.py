"""The plan: the same tasks, keys and order for the same run, whoever asks and when."""

import re
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.runs import plan
from carrel.runs.plan import Judge, Shape

SHAPES = st.builds(
    Shape,
    documents=st.integers(1, 4),
    repeats=st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple),
    judges=st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=3).map(
        lambda judges: tuple(Judge(number, often, compares) for number, (often, compares) in enumerate(judges, start=1))
    ),
    seed=st.text(max_size=5),
)
KEY = re.compile(
    r"r2\.(generate\.d\d+\.c\d+\.s\d+|score\.d\d+\.c\d+\.s\d+\.j\d+\.s\d+|compare\.d\d+\.c\d+-c\d+\.s\d+\.j\d+\.(ab|ba))"
)


@settings(max_examples=60, deadline=None)
@given(SHAPES)
def test_every_key_is_unique_url_safe_and_counted_beforehand(shape: Shape) -> None:
    everyone = range(1, len(shape.repeats) + 1)
    generated = list(plan.generation(shape, 2))
    scored = list(plan.scoring(shape, 2))
    compared = list(plan.comparison(shape, 2, everyone))
    keys = [task.key for task in (*generated, *scored, *compared)]
    assert len(set(keys)) == len(keys)
    assert all(KEY.fullmatch(key) for key in keys)
    assert plan.size(shape, len(shape.repeats)) == (len(generated), len(scored), len(compared))


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


def test_only_finalists_are_compared() -> None:
    shape = Shape(1, (1, 1, 1), (Judge(1, 1, True),), "")
    keys = [task.key for task in plan.comparison(shape, 1, [3, 1])]
    assert keys == ["r1.compare.d1.c1-c3.s1.j1.ab", "r1.compare.d1.c1-c3.s1.j1.ba"]
    assert plan.size(shape, 2).compare == 2


def test_a_candidate_that_always_says_the_same_meets_every_repeat_of_the_other() -> None:
    shape = Shape(1, (1, 3), (Judge(1, 0, True),), "")
    repeats = [task.repeat for task in plan.comparison(shape, 1, [1, 2]) if task.presented == "ab"]
    assert repeats == [1, 2, 3]
    assert [plan.answer_repeat(1, repeat) for repeat in repeats] == [1, 1, 1]
    assert [plan.answer_repeat(3, repeat) for repeat in repeats] == [1, 2, 3]
