"""Texts that are nearly the same: found whatever was changed a little, and nothing else is."""

import random

from carrel.runs.creation.likeness import RESEMBLANCE, near, resemblance, sketch

DRAW = random.Random(7)
WORDS = [f"{a}{b}" for a in ("ba", "ce", "di", "fo", "gu") for b in ("ran", "sel", "tim", "von", "wub", "xis", "yet")]


def text(words: int) -> str:
    return " ".join(DRAW.choice(WORDS) for _ in range(words))


def changed(original: str, every: int) -> str:
    return " ".join("other" if i % every == every - 1 else word for i, word in enumerate(original.split()))


def test_a_text_with_a_few_other_words_is_nearly_the_same_and_one_with_many_is_not() -> None:
    original = text(400)
    found = [original, changed(original, 100), changed(original, 8), text(400)]
    assert near([sketch(one) for one in found]) == {1: 0}


def test_case_and_spaces_make_no_other_text() -> None:
    assert (
        resemblance(sketch("The ship\nsails at DAWN and returns"), sketch("the  ship sails at dawn and returns")) == 1
    )


def test_texts_of_a_few_words_are_near_only_if_they_are_the_same() -> None:
    assert near([sketch("Paris"), sketch("Rome"), sketch("paris"), sketch(""), sketch("")]) == {2: 0}


def test_resemblance_is_that_of_all_runs_of_words() -> None:
    original = text(120)
    other = changed(original, 60)
    runs = [{tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in (original.split(), other.split())]
    exact = len(runs[0] & runs[1]) / len(runs[0] | runs[1])
    assert abs(resemblance(sketch(original), sketch(other)) - exact) < 0.08
    assert exact > RESEMBLANCE


def test_of_a_long_text_beginning_and_end_count() -> None:
    long = text(8_000)
    assert near([sketch(long), sketch(f"{long[:30_000]} {text(500)} {long[30_000:]}")]) == {1: 0}
    assert len(sketch(long)) == 128
