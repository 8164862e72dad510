"""What people talk about in their reasons, by a table of words."""

from pathlib import Path

import pytest

from carrel.evaluation.people import proposing, topics
from carrel.evaluation.people.proposing import Opinion
from carrel.evaluation.people.topics import TOPICS, StemReader
from carrel.providers.base import Criterion
from carrel.providers.local import supported_criterion

HOME = Path(__file__).parents[3]
GUIDE = HOME / "docs/user-guide/votes.md"
TEMPLATES = HOME / "web/src/lib/criteriaTemplates.ts"


def of(text: str) -> set[str]:
    return {TOPICS[number].name for number in StemReader().topics_of(text)}


@pytest.mark.parametrize(
    ("reason", "names"),
    [
        ("Too long.", {"conciseness"}),
        ("TOO SHORT: leaves out the refund", {"coverage"}),
        ("shorter", {"conciseness"}),
        ("Not clear to me", {"clarity"}),
        ("Well-structured, but the wrong tone", {"structure", "tone"}),
        ("It made up a number", {"faithfulness"}),
        ("Doesn’t answer the question", {"focus"}),
        ("Two spelling mistakes", {"language"}),
        ("friendlier, more helpful", {"tone", "usefulness"}),
        ("gives an example and cites its source", {"explanation", "evidence"}),
        ("boring", {"interest"}),
        ("as long as the first, no longer", set()),
        ("better", set()),
        ("Zu lang und unhöflich", set()),
        ("", set()),
    ],
)
def test_a_reason_names_criteria(reason: str, names: set[str]) -> None:
    assert of(reason) == names


def test_every_word_and_phrase_of_the_table_is_found_as_it_is_written() -> None:
    for topic in TOPICS:
        for phrase in topic.said.split(", "):
            assert of(f"It is {phrase.upper()}, I think.") == {topic.name}, phrase


def test_the_user_guide_gives_words_of_every_criterion() -> None:
    _, _, table = GUIDE.read_text().partition("| criterion | among its words |\n|---|---|\n")
    rows = [row.strip("| ").split(" | ") for row in table.partition("\n\n")[0].splitlines()]
    assert [name for name, _ in rows] == [topic.name for topic in TOPICS]
    for name, words in rows:
        for phrase in words.split(", "):
            assert of(phrase) == {name}, phrase


def test_names_and_meanings_are_those_of_the_app_s_templates() -> None:
    templates = TEMPLATES.read_text()
    for name in ("coverage", "faithfulness", "conciseness", "clarity"):
        topic = next(one for one in TOPICS if one.name == name)
        assert f'["{name}", "{topic.meaning}"' in templates


def test_built_in_judges_judge_by_what_they_measure() -> None:
    for judge in ("reader", "statistician"):
        names = [
            one.name for one in TOPICS if supported_criterion(judge, Criterion(one.name, one.meaning, 1.0, 1.0, 5.0))
        ]
        assert {"coverage", "conciseness", "clarity"} <= set(names)


def test_more_words_than_are_kept_are_not_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "MAX_WORDS", 3)
    reading = StemReader()
    assert reading.topics_of("clear one two")
    assert not reading.topics_of("polite")
    assert reading.topics_of("clear")


def test_weights_follow_how_often_a_criterion_is_mentioned() -> None:
    texts = ["clear"] * 9 + ["polite"] * 5 + ["wordy"] * 4 + ["boring"] * 2 + ["a source"]
    said = [Opinion(kind="vote", document=number, text=text) for number, text in enumerate(texts)]
    found = proposing.propose(said)
    assert [(one.name, one.weight, one.votes) for one in found.proposals] == [
        ("clarity", 3, 9),
        ("tone", 2, 5),
        ("conciseness", 1, 4),
        ("interest", 1, 2),
    ]
    assert found.rare == ("evidence",)
    # The same words are quoted once.
    assert [len(one.quotes) for one in found.proposals] == [1, 1, 1, 1]
