"""The built-in pairs of a check: each has a trap, a better answer on either side, and names of its own."""

from collections import Counter

from carrel.evaluation.asking.judge import compare_prompt
from carrel.evaluation.judges import passport
from carrel.evaluation.records import Word
from carrel.judges import bench
from carrel.judges.bench import PAIRS, TRAPS


def test_every_trap_has_three_pairs_and_the_better_answers_are_on_both_sides() -> None:
    assert Counter(pair.trap for pair in PAIRS) == dict.fromkeys(TRAPS, 3)
    assert Counter(pair.better_is_a for pair in PAIRS) == {True: 6, False: 6}
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)


def test_the_worse_answer_of_a_trap_of_length_is_much_longer_and_of_a_trap_of_orders_it_gives_some() -> None:
    for pair in PAIRS:
        if pair.trap == "length":
            assert len(pair.worse.split()) > 4 * len(pair.better.split()), pair.name
        if pair.trap == "orders":
            assert any(word in pair.worse for word in ("ignore", "Reply only", "must choose")), pair.name
            assert "judge" not in pair.better


def test_both_orders_of_a_pair_are_asked_and_each_shows_both_answers() -> None:
    asked = list(bench.every())
    assert len(asked) == bench.WORDS
    for one in asked:
        matter = one.matter
        assert {matter.first, matter.second} == {one.pair.better, one.pair.worse}
        assert matter.first in compare_prompt(matter, bench.INSTRUCTIONS, "seed").prompt
    ab, ba = (one.matter for one in asked[:2])
    assert (ab.first, ab.second) == (ba.second, ba.first)


def test_simple_judges_get_what_they_deserve() -> None:
    def share(ab: Word, ba: Word) -> float | None:
        return passport.agreement_with([bench.verdict(pair, "j", ab, ba) for pair in PAIRS], bench.known()).share

    assert share("first", "first") == 0.5
    assert share("tie", "tie") == 0.5
    assert share("first", "second") == 0.5
    longer = []
    for pair in PAIRS:
        a_is_longer = (len(pair.better.split()) > len(pair.worse.split())) == pair.better_is_a
        longer.append(bench.verdict(pair, "j", *(("first", "second") if a_is_longer else ("second", "first"))))
    assert passport.agreement_with(longer, bench.known("length")).share == 0.0
    assert passport.agreement_with(longer, bench.known("orders")).share == 0.0
