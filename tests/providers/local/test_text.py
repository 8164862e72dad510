"""Words, sentences, stems: the ground that all built-in models stand on."""

import pytest

from carrel.providers.local.english import Stems, stem
from carrel.providers.local.text import clip, inverse_frequency, read, split_sentences, words


@pytest.mark.parametrize(
    ("paragraph", "sentences"),
    [
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ("Use a tool, e.g. Make, i.e. the usual. Done.", ["Use a tool, e.g. Make, i.e. the usual.", "Done."]),
        ("J. Smith wrote version 3.11 of app.py. It runs.", ["J. Smith wrote version 3.11 of app.py.", "It runs."]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
        ("蜂蜜很甜。蜜蜂很忙！", ["蜂蜜很甜。", "蜜蜂很忙！"]),
        ("no stop at all", ["no stop at all"]),
        ("   ", []),
    ],
)
def test_a_paragraph_falls_into_sentences(paragraph: str, sentences: list[str]) -> None:
    assert list(split_sentences(paragraph)) == sentences


def test_words_keep_their_inner_marks() -> None:
    assert words("don't re-run app.py 3.11, snake_case; café 蜂蜜!") == [
        *("don't", "re-run", "app.py", "3.11", "snake_case", "café", "蜂", "蜜"),
    ]


@pytest.mark.parametrize(
    "family",
    [
        ("configure", "configured", "configures", "configuring"),
        ("organize", "organizes", "organization", "organisation", "organising"),
        ("create", "created", "creation", "creating"),
        ("run", "runs", "running"),
        ("copy", "copies", "copied"),
        ("process", "processes", "processing"),
        ("option", "options"),
    ],
)
def test_words_of_one_family_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


def test_short_words_and_words_with_marks_keep_their_form() -> None:
    assert [stem(word) for word in ("Bees", "is", "app.py", "3.11", "Hive’s")] == ["bee", "is", "app.py", "3.11", "hiv"]
    assert Stems().of(["The", "hive", "and", "the", "Bees"]) == ("hiv", "bee")


def test_only_sentences_that_can_be_quoted_are_offered() -> None:
    document = read(
        "# Title\n\nToo short. This one is long enough to quote. To install it, run this command:\n\n"
        "See https://example.org/page for all of it now.\n\nThis one is long enough to quote.\n\n"
        "- an item that has no full stop;\n- "
        + "word " * 61
        + "\n- the key deadbeef"
        + "0a" * 20
        + " is no prose here\n"
    )
    assert [sentence.text for sentence in document.sentences] == [
        "This one is long enough to quote.",
        "an item that has no full stop.",
    ]
    assert document.words > 80


def test_a_text_without_headings_is_cut_into_sections_of_five() -> None:
    document = read("\n\n".join(f"This is the sentence with number {n}." for n in range(12)))
    assert [sentence.section for sentence in document.sentences] == [0] * 5 + [1] * 5 + [2] * 2
    assert len(document.sections) == 3


def test_rare_stems_weigh_more_and_common_ones_something() -> None:
    weights = inverse_frequency([("a", "b"), ("a", "c"), ("a", "a")])
    assert weights["b"] == weights["c"] > weights["a"] > 0


def test_clipping_counts_words_and_bounds_what_has_none() -> None:
    assert clip("one two\nthree four", 3) == "one two three"
    assert clip("one", 3) == "one"
    assert len(clip("x" * 1_000_000, 60)) <= 12 * 60
