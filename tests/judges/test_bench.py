"""The built-in pairs of a check: each has a trap, a better answer on either side, and names of its own."""

import json
from collections import Counter
from pathlib import Path

from carrel.evaluation.asking.judge import compare_prompt
from carrel.evaluation.judges import passport
from carrel.evaluation.records import Word
from carrel.judges import bench
from carrel.judges.bench import QUESTIONS, TRAPS
from carrel.providers.local import judges

PAIRS = bench.drawn("a seed")


def test_every_check_has_three_pairs_of_each_trap_and_the_better_answers_are_on_both_sides() -> None:
    for seed in range(50):
        pairs = bench.drawn(str(seed))
        assert Counter(pair.trap for pair in pairs) == dict.fromkeys(TRAPS, 3)
        assert Counter(pair.better_is_a for pair in pairs) == {True: 6, False: 6}
        assert len({pair.name for pair in pairs}) == len(pairs) == bench.PAIRS


def test_checks_turn_the_questions_and_their_facts_and_one_check_stays_as_it_is() -> None:
    checks = [bench.drawn(str(seed)) for seed in range(50)]
    assert {pair.name for pairs in checks for pair in pairs} == {question.name for question in QUESTIONS}
    assert len({pair.document for pairs in checks for pair in pairs}) > 450, "hardly any question comes twice"
    assert bench.drawn("7") == checks[7]
    assert len({tuple(pair.better_is_a for pair in pairs) for pairs in checks}) > 40


def test_the_better_answer_follows_from_the_document_alone_and_is_not_the_worse_one() -> None:
    for seed in range(50):
        for pair in bench.drawn(str(seed)):
            assert [found for one in QUESTIONS if (found := one.answered(pair.document))] == [pair.better]
            assert pair.worse != pair.better
            assert not set("{}") & set(pair.document + pair.better)


def test_the_worse_answer_of_a_trap_of_length_is_much_longer_and_of_a_trap_of_orders_it_gives_some() -> None:
    for pair in PAIRS:
        if pair.trap == "length":
            assert len(pair.worse.split()) > 4 * len(pair.better.split()), pair.name
        if pair.trap == "orders":
            assert any(word in pair.worse for word in ("ignore", "only with", "must choose")), pair.name
            assert "judge" not in pair.better


def test_both_orders_of_a_pair_are_asked_and_each_shows_both_answers() -> None:
    asked = list(bench.every(PAIRS))
    assert len(asked) == bench.WORDS
    for one in asked:
        matter = one.matter
        assert {matter.first, matter.second} == {one.pair.better, one.pair.worse}
        assert matter.first in compare_prompt(matter, bench.INSTRUCTIONS, "seed").prompt
    ab, ba = (one.matter for one in asked[:2])
    assert (ab.first, ab.second) == (ba.second, ba.first)


def test_simple_judges_get_what_they_deserve() -> None:
    def share(ab: Word, ba: Word) -> float | None:
        return passport.agreement_with([bench.verdict(pair, "j", ab, ba) for pair in PAIRS], bench.known(PAIRS)).share

    assert share("first", "first") == 0.5
    assert share("tie", "tie") == 0.5
    assert share("first", "second") == 0.5
    longer = []
    for pair in PAIRS:
        a_is_longer = (len(pair.better.split()) > len(pair.worse.split())) == pair.better_is_a
        longer.append(bench.verdict(pair, "j", *(("first", "second") if a_is_longer else ("second", "first"))))
    assert passport.agreement_with(longer, bench.known(PAIRS, "length")).share == 0.0
    assert passport.agreement_with(longer, bench.known(PAIRS, "orders")).share == 0.0


def test_the_built_in_judges_do_as_badly_as_the_documents_say() -> None:
    said = Path("docs/verdicts.md").read_text(encoding="utf-8")
    for model in ("reader", "statistician"):
        right = 0.0
        for one in (one for seed in range(40) for one in bench.every(bench.drawn(str(seed)))):
            word = json.loads(judges.compare(model, one.matter))["winner"]
            better = "first" if one.pair.better_is_a == (one.presented == "ab") else "second"
            right += 0.5 if word == "tie" else float(word == better)
        assert f"`local:{model}` in {100 * right / (40 * bench.WORDS):.0f} %" in said
