"""The built-in generators: what each chooses, the budget, the order, and the same bytes every time."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.providers.local.generators import GENERATORS, SummaryRequest, generate, lead, lexrank, mmr, submodular
from carrel.providers.local.text import budget_words, read, words
from tests.providers.local.guides import GUIDE, documents

ALL = sorted(GENERATORS)


def summary(model: str, document: str = GUIDE, instructions: str = "", **limits: int) -> str:
    return generate(model, document, instructions, **limits)[0]


def chosen(model: str, document: str) -> list[int]:
    guide = read(document)
    return GENERATORS[model](guide, SummaryRequest("", budget_words(guide))) if guide.sentences else []


def test_lead_takes_the_first_sentences() -> None:
    assert summary("lead") == (
        "Keeping bees takes patience, a calm hand and a little equipment. A colony has one queen, some drones and "
        "50,000 workers.\n\nThe Langstroth hive is the most common hive in North America. Its frames can be lifted "
        "out one at a time. A Warré hive asks for less work, but its combs cannot be inspected easily."
    )


def test_outline_puts_a_sentence_under_each_heading_it_keeps() -> None:
    text = summary("outline")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["## Choosing a hive", "## Feeding the colony", "## Watching for mites", "## Harvesting honey"]
    assert [len(words(part)) > 4 for part in text.split("\n\n")[1::2]] == [True] * 4


def test_mmr_follows_the_instructions() -> None:
    about_mites = summary("mmr", instructions="Which mites weaken bees, and how are mites counted?", at_most=20)
    about_syrup = summary("mmr", instructions="How much sugar goes into syrup, and how much water?", at_most=20)
    assert "mites" in about_mites
    assert "sugar" in about_syrup


def test_words_of_the_task_ask_for_nothing() -> None:
    document = GUIDE + "\nA document of one sentence is a short text to read.\n"
    assert summary("mmr", document, "Summarise the document in short sentences.") == summary("mmr", document)


def test_submodular_spreads_over_the_sections() -> None:
    guide = read(GUIDE)
    sections = {guide.sentences[at].section for at in submodular(guide, SummaryRequest("", 60))}
    assert len(sections) >= 4


@pytest.mark.parametrize("model", ["lexrank", "mmr"])
def test_what_was_said_is_not_said_again_in_almost_the_same_words(model: str) -> None:
    twins = "\n\n".join(
        f"Feed the strong colony sugar syrup in spring {when}."
        for when in ("always", "often", "daily", "early", "late")
    )
    text = summary(model, GUIDE + "\n" + twins)
    assert text.count("Feed the strong colony") <= 1


def test_the_control_is_drawn_by_lot_and_draws_the_same_again() -> None:
    assert summary("random") == summary("random") != summary("lead")
    assert len({summary("random", seed=seed) for seed in range(5)}) > 1


def test_every_generator_makes_something_else_of_a_guide() -> None:
    texts = {model: summary(model, GUIDE * 2) for model in ALL}
    assert all(texts[one] != texts[other] for one, other in combinations(ALL, 2))


@pytest.mark.parametrize("model", ALL)
def test_a_text_without_a_sentence_is_answered_with_its_own_beginning(model: str) -> None:
    assert generate(model, "") == ("", False)
    assert generate(model, "Just four words here") == ("Just four words here", False)
    assert generate(model, "```\ncode = 1\n```") == ("``` code = 1 ```", False)
    assert len(words(summary(model, "word, " * 5000))) == 160


@pytest.mark.parametrize("model", ALL)
def test_a_limit_below_every_sentence_cuts_and_says_so(model: str) -> None:
    text, cut = generate(model, GUIDE, at_most=3)
    assert (text, cut) == ("Keeping bees takes", True)
    assert generate(model, GUIDE, at_most=0) == ("", True)


def test_the_budget_is_an_eighth_or_so_of_the_document_within_bounds() -> None:
    assert budget_words(read(GUIDE)) == 60
    assert budget_words(read("\n\n".join(f"This is sentence number {n}." for n in range(200)))) == 120
    assert budget_words(read(GUIDE * 60)) == 160


@pytest.mark.parametrize("model", ALL)
@given(document=documents, instructions=st.text(max_size=60), at_most=st.none() | st.integers(0, 200))
@settings(max_examples=40, deadline=None)
def test_any_text_gets_an_answer_within_its_budget(
    model: str, document: str, instructions: str, at_most: int | None
) -> None:
    text, _ = generate(model, document, instructions, at_most=at_most)
    assert len(words(text)) <= budget_words(read(document), at_most)
    assert bool(text) or at_most == 0 or not document.strip()


@pytest.mark.parametrize("model", ALL)
@given(document=documents)
@settings(max_examples=25, deadline=None)
def test_sentences_come_in_the_documents_order_and_none_twice(model: str, document: str) -> None:
    guide = read(document)
    picked = sorted(chosen(model, document))
    assert len(set(picked)) == len(picked)
    text = summary(model, document)
    places = [text.find(guide.sentences[at].text) for at in picked]
    assert -1 not in places
    if model != "outline":
        in_order = [guide.sentences[at].text for at in picked]
        assert " ".join(text.split()) == " ".join(" ".join(in_order).split()) or not picked


def test_pairwise_work_is_bounded_and_the_whole_document_takes_part() -> None:
    document = "\n\n".join(f"Sentence {n} tells of hive {n % 97} and of frame {n % 89}." for n in range(5000))
    guide = read(document)
    for choose in (lexrank, mmr, submodular):
        picked = choose(guide, SummaryRequest("frames", 160))
        assert max(picked) > 2500
    assert lead(guide, SummaryRequest("", 160))[-1] < 20
