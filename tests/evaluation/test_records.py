"""What two orders of one comparison amount to."""

from itertools import product

import pytest

from carrel.evaluation.records import Side, Verdict, Word, by_rule, fate, mirrored, value

CASES: list[tuple[Word, Word, str, float | None]] = [
    ("first", "second", "agreed", 1.0),
    ("second", "first", "agreed", 0.0),
    ("tie", "tie", "agreed", 0.5),
    ("first", "first", "flip", 0.5),
    ("second", "second", "flip", 0.5),
    ("first", "tie", "inconsistent", 0.5),
    ("tie", "second", "inconsistent", 0.5),
    ("invalid", "second", "invalid", None),
    ("missing", "invalid", "invalid", None),
    ("first", "missing", "missing", None),
]
WORDS: list[Word] = ["first", "second", "tie", "invalid", "missing"]


def of(ab: Word, ba: Word, rule: Side | None = None) -> Verdict:
    return Verdict(document="d", judge="j", a="A", b="B", ab=ab, ba=ba, by_rule=rule, a_length=5, b_length=9)


@pytest.mark.parametrize(("ab", "ba", "what", "y"), CASES)
def test_two_orders_make_one_verdict(ab: Word, ba: Word, what: str, y: float | None) -> None:
    assert (fate(of(ab, ba)), value(of(ab, ba))) == (what, y)


@pytest.mark.parametrize(("ab", "ba"), list(product(WORDS, WORDS)))
def test_the_same_verdict_told_from_the_other_side_is_its_mirror(ab: Word, ba: Word) -> None:
    told = of(ab, ba)
    y, mirror = value(told), value(mirrored(told))
    assert mirror == (None if y is None else 1.0 - y)
    assert fate(mirrored(told)) == fate(told)
    assert mirrored(mirrored(told)) == told


@pytest.mark.parametrize(
    ("a_delivered", "b_delivered", "side", "y"),
    [(True, False, "a", 1.0), (False, True, "b", 0.0), (False, False, "tie", 0.5)],
)
def test_an_answer_that_was_not_delivered_loses_by_rule(
    a_delivered: bool, b_delivered: bool, side: Side, y: float
) -> None:
    assert by_rule(a_delivered, b_delivered) == side
    ruled = of("missing", "missing", side)
    assert (fate(ruled), value(ruled), value(mirrored(ruled))) == ("by_rule", y, 1.0 - y)


def test_two_delivered_answers_need_a_judge() -> None:
    assert by_rule(True, True) is None
