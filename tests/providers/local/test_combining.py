"""Several answers made into one by built-in models: only quotes, nothing twice, and not longer than they are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.providers.base import CombineMatter
from carrel.providers.local import can_combine
from carrel.providers.local.combining import combine
from carrel.providers.local.generators import GENERATORS, generate
from carrel.providers.local.text import read, words
from tests.providers.local.guides import GUIDE

COMBINERS = sorted(name for name in GENERATORS if can_combine(name))
SOURCES = tuple(generate(name, GUIDE)[0] for name in ("lead", "mmr"))


def sentences(markdown: str) -> list[str]:
    return [sentence.text for sentence in read(markdown).sentences]


def test_those_combine_that_choose_by_what_a_sentence_says() -> None:
    assert COMBINERS == ["lexrank", "mmr", "random", "submodular"]


@pytest.mark.parametrize("model", COMBINERS)
def test_an_answer_made_of_answers_quotes_them_once_in_the_document_s_order_and_is_not_longer(model: str) -> None:
    text, cut = combine(model, CombineMatter(GUIDE, SOURCES, ""))
    found = sentences(text)
    assert found
    assert set(found) <= {sentence for source in SOURCES for sentence in sentences(source)}
    assert len(set(found)) == len(found)
    assert found == sorted(found, key=sentences(GUIDE).index)
    assert len(words(text)) <= sum(len(words(source)) for source in SOURCES) / 2
    assert not cut
    assert combine(model, CombineMatter(GUIDE, SOURCES, "")) == (text, False)


@pytest.mark.parametrize("model", ["lexrank", "submodular"])
def test_it_takes_from_each_answer_what_the_others_have_not(model: str) -> None:
    text, _ = combine(model, CombineMatter(GUIDE, SOURCES, ""))
    first, second = (set(sentences(source)) for source in SOURCES)
    assert set(sentences(text)) & (first - second)
    assert set(sentences(text)) & (second - first)


def test_the_caller_s_limit_lowers_the_budget() -> None:
    text, _ = combine("lexrank", CombineMatter(GUIDE, SOURCES, ""), at_most=20)
    assert 0 < len(words(text)) <= 20


def test_answers_without_a_sentence_are_answered_with_a_beginning_and_said_to_be_cut_if_they_are() -> None:
    assert combine("mmr", CombineMatter(GUIDE, ("Bees, hives, mites.", "Honey."), "")) == ("Bees, hives,", False)
    assert combine("mmr", CombineMatter(GUIDE, ("Bees, hives, mites.", "Honey."), ""), at_most=1) == ("Bees,", True)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(COMBINERS), st.text(max_size=300), st.lists(st.text(max_size=300), min_size=2, max_size=3))
def test_whatever_the_texts_are_it_stays_within_their_mean_length(model: str, document: str, given: list[str]) -> None:
    text, _ = combine(model, CombineMatter(document, tuple(given), "Combine them."))
    assert len(words(text)) <= sum(len(words(one)) for one in given) // len(given)
