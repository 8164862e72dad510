"""The gate over evidence: missing verdicts, scores and marks, and pairs without the leader."""

import pytest
from msgspec.structs import replace

from carrel.checks.definition import Check
from carrel.evaluation.gate import GateResult
from carrel.evaluation.records import Score
from carrel.evaluation.replacement import Cost
from carrel.runs.findings import gate_decision
from carrel.runs.findings.gate_decision import GatePair
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.evaluation.told import score, verdict, verdicts
from tests.reports.doubts import evidence


def decided(found: Evidence, candidate: str = "A", baseline: str = "B", margin: float = 0.05) -> GateResult:
    return gate_decision.decide(judgement.pack(found), GatePair(candidate, baseline), margin, [])


def test_of_two_all_that_is_missing_counts_against_the_new_one_and_for_it_where_it_is_called_worse() -> None:
    won = decided(evidence(verdicts("AB", "a" * 40 + "!" * 45)))
    assert (won.outcome, won.needed, won.sources[0].missing) == ("undecided", None, 45)
    assert won.sources[0].change is not None
    assert (won.sources[0].change.difference, won.sources[0].change.documents) == (0.5, 40)
    assert "What is missing decides this. Retry" in won.sentence
    # More documents of this kind would not tell either.
    assert "What is missing decides this. Retry" in decided(evidence(verdicts("AB", "ab" * 20 + "!" * 20))).sentence
    lost = decided(evidence(verdicts("AB", "b" * 40 + "?" * 30)))
    assert "What is missing decides this. Retry" in lost.sentence
    assert (lost.outcome, "(30 verdicts are missing)" in lost.sentence) == ("undecided", True)
    assert decided(evidence(verdicts("AB", "b" * 40 + "?" * 10))).outcome == "worse"


def test_what_happens_to_all_alike_is_left_out() -> None:
    often = "ab?" * 300
    alike = [*verdicts("AB", often), *verdicts("AC", often), *verdicts("BC", often)]
    assert decided(evidence(alike, "ABC")).outcome == "not_worse"
    alone = [*verdicts("AB", often), *verdicts("AC", "ab" * 450), *verdicts("BC", "ab" * 450)]
    assert decided(evidence(alone, "ABC")).outcome == "undecided"


@pytest.mark.parametrize(("hidden", "outcome"), [("A", "undecided"), ("ABC", "not_worse"), ("", "not_worse")])
def test_scores_that_are_missing_for_one_count_as_the_worst(hidden: str, outcome: str) -> None:
    told: list[Score] = []
    for n in range(400):
        for name in "ABC":
            gone = n < 80 and name in hidden
            told.append(
                Score(document=f"d{n}", judge="judge", candidate=name, fate="invalid")
                if gone
                else score(f"d{n}", name, 3 if n % 2 else 4)
            )
    found = replace(evidence([], "ABC"), scores=told, comparison_weights={}, scoring_weights={"judge": 1.0})
    made = decided(found)
    assert (made.outcome, made.sources[0].missing) == (outcome, 80 * len(set(hidden) & set("AB")))
    # Where the baseline has no answer, its missing scores explain nothing.
    idle = frozenset(f"d{n}" for n in range(320, 400))
    silent = [
        replace(one, values={}, fate="missing") if one.candidate == "B" and one.document in idle else one
        for one in told
    ]
    pair = GatePair("A", "B", idle=idle)
    made = gate_decision.decide(judgement.pack(replace(found, scores=silent)), pair, 0.05, [])
    assert (made.outcome, made.sources[0].missing) == (outcome, 80 * len(set(hidden) & set("AB")))


def test_a_mark_that_only_one_of_two_has_is_missing_and_a_check_of_one_says_nothing() -> None:
    checks = [Check(kind="grade", name="grade", columns={"A": "a", "B": "b"}), Check(kind="json", name="answer schema")]
    pair = GatePair("A", "B", frozenset({"d3"}), frozenset({"d4"}))
    ours: list[tuple[str, bool, list[float | None]]] = [
        ("d1", True, [1.0, None]),
        ("d2", True, [None, None]),
        ("d4", True, [1.0, None]),
        ("d5", True, [None, None]),
    ]
    theirs: list[tuple[str, bool, list[float | None]]] = [
        ("d1", True, [1.0, 1.0]),
        ("d2", True, [0.5, 1.0]),
        ("d3", True, [1.0, 1.0]),
        ("d5", True, [None, 1.0]),
    ]
    found = gate_decision.marks_of(checks, [True, False], pair, ours, theirs)
    grades = {"d1": (0.0, 0.0, 0.0), "d2": (None, -0.5, 0.5), "d3": (-1.0, -1.0, -1.0)}
    assert [(one.kind, one.name) for one in found] == [("checks", ""), ("check", "grade")]
    assert found[1].differences == grades
    required = gate_decision.marks_of([replace(checks[0], required=True)], [True, False], pair, ours, theirs)
    lost = {"d2": (None, -1.0, 0.0), "d3": (-1.0, -1.0, -1.0)}
    assert required[0].differences == lost | dict.fromkeys(("d1", "d5"), (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("ours", "theirs", "outcome", "told"),
    [
        # Nineteen of twenty marks are known, and the worst is five points less.
        ([1.0] * 19 + [None], [1.0] * 20, "not_worse", (0.0, -0.06)),
        # What is missing as often of the other is explained.
        ([None] + [1.0] * 19, [1.0] * 19 + [None], "not_worse", (0.0, -0.02)),
        ([1.0] + [None] * 19, [1.0] * 20, "undecided", (0.0, -0.93)),
        ([1.0] + [None] * 19, [1.0] * 19 + [None], "undecided", (0.0, -0.93)),
    ],
)
def test_what_is_known_of_a_document_counts_beside_marks_that_are_missing(
    ours: list[float | None], theirs: list[float | None], outcome: str, told: tuple[float, float]
) -> None:
    checks = [Check(kind="json", name=f"c{n}") for n in range(20)]
    pair, documents = GatePair("A", "B"), [f"d{n}" for n in range(400)]
    given = [[(name, True, marks) for name in documents] for marks in (ours, theirs)]
    marks = gate_decision.marks_of(checks, [True] * 20, pair, *given)
    made = gate_decision.decide(judgement.pack(evidence([])), pair, 0.1, marks)
    source = next(one for one in made.sources if one.kind == "checks")
    assert source.change is not None
    assert (source.change.outcome, source.missing) == (outcome, 400)
    assert (source.change.difference, source.change.low) == pytest.approx(told, abs=0.02)


@pytest.mark.parametrize(("documents", "outcome"), [(5, "not_worse"), (6, "better")])
def test_of_two_that_do_not_lead_their_meetings_must_pass_the_tests_of_a_lead(documents: int, outcome: str) -> None:
    level = "a" * (documents // 2 + 1) + "b" * (documents - documents // 2 - 1)
    told = [*verdicts("AB", level), *verdicts("AC", "a" * documents), *verdicts("BC", "a" * documents)]
    found = evidence(told, "ABC")
    assert judgement.rank(found).leaders == ("A",)
    assert decided(found, "B", "C").outcome == outcome
    assert decided(found, "C", "B").outcome == {"better": "worse", "not_worse": "undecided"}[outcome]


def test_a_verdict_that_is_missing_can_take_such_a_word_away() -> None:
    told = [*verdicts("AB", "aaaaaabbb?"), *verdicts("AC", "a" * 9 + "?"), *verdicts("BC", "a" * 9 + "?")]
    assert decided(evidence(told, "ABC"), "B", "C").outcome == "better"
    told = [*verdicts("AB", "a" * 12 + "b" * 8), *verdicts("AC", "a" * 20), *verdicts("BC", "a" * 10 + "?" * 10)]
    assert decided(evidence(told, "ABC"), "B", "C").outcome != "better"


def test_answers_that_never_came_are_told_apart_from_verdicts() -> None:
    absent = frozenset(f"d{n}" for n in range(41, 61))
    found = evidence(verdicts("AB", "ab" * 20 + "?" * 20))
    pair = GatePair("A", "B", absent)
    made = gate_decision.decide(judgement.pack(found), pair, 0.05, [])
    assert (made.outcome, made.sources[0].unanswered) == ("worse", 20)
    assert made.sentence.endswith(" on 60 documents (20 without an answer of it).")
    # Judges that nobody should believe say nothing, but silence does.
    families: dict[str, str | None] = {"A": "f", "B": "g"}
    related = evidence(verdicts("AB", "b" * 40 + "?" * 20), families=families, judge_families={"judge": "g"})
    losing = judgement.pack(related)
    assert gate_decision.decide(losing, pair._replace(absent=frozenset({"d41"})), 0.05, []).outcome == "undecided"
    assert gate_decision.decide(losing, pair, 0.05, []).outcome == "worse"
    # Nor does silence where the two were not to meet.
    never = evidence(verdicts("AB", "ab" * 20), "ABC")
    assert gate_decision.decide(judgement.pack(never), GatePair("C", "B", absent), 0.05, []).outcome == "undecided"


def test_an_answer_that_never_came_makes_no_word_stronger() -> None:
    told = [
        *verdicts("AB", "a" * 28 + "b" * 12 + "?"),
        *verdicts("AC", "a" * 20 + "b" * 20),
        *verdicts("BC", "a" * 23 + "b" * 17),
        *verdicts("AD", "b" * 20 + "a" * 20),
        *verdicts("BD", "a" * 23 + "b" * 17),
        *verdicts("CD", "ab" * 20),
    ]
    found = judgement.pack(evidence(told, "ABCD"))
    for absent in (frozenset[str](), frozenset({"d41"})):
        assert gate_decision.decide(found, GatePair("A", "B", absent), 0.05, []).outcome == "not_worse"


def test_not_worse_by_a_judge_that_is_a_coin_comes_with_that() -> None:
    said = [verdict(f"d{n}", "AB", "flip") for n in range(60)]
    made = decided(evidence(said))
    assert made.outcome == "not_worse"
    assert made.sentence.endswith(
        "judge is no better than a coin: it named the other answer in 60 of 60 pairs when their places changed. A judge"
        " that cannot tell answers apart finds nobody worse."
    )
    pair, costs = GatePair("A", "B"), dict.fromkeys("AB", Cost(None, None))
    question = gate_decision.ReplacementQuestion(0.05, 10, [(pair, [])], costs)
    found = gate_decision.replace(judgement.pack(evidence(said)), question)
    assert found.chosen == "A"
    assert found.sentence.endswith("finds nobody worse.")
    assert "coin" not in decided(evidence(verdicts("AB", "=" * 60))).sentence
