"""Material for every remark that the engine can make beside a verdict, and what the app's tests take from it.

    python -m tests.reports.doubts

writes `web/src/features/run/verdict/remarks.json` anew: the same cases for the app's own test.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from carrel.evaluation import overturning, verdict
from carrel.evaluation.judges import human
from carrel.evaluation.ranking.grouping import Groups
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.ranking.stopping import Beaten, looks
from carrel.evaluation.records import HumanVote, Mark, Verdict
from carrel.evaluation.remarks import Kind, Remark
from carrel.evaluation.verdict import Statement
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.evaluation.told import CRITERIA, score, verdicts
from tests.evaluation.told import verdict as told

APP: Final = Path(__file__).parents[2] / "web/src/features/run/verdict/remarks.json"

LOOK: Final = msgspec.structs.replace(looks(30)[-1], beaten=(Beaten("C", "A", 10),))


def evidence(records: list[Verdict], candidates: str = "AB", **changes: Any) -> Evidence:
    judges = sorted({one.judge for one in records})
    weights = dict.fromkeys(judges, 1.0)
    found = Evidence(tuple(candidates), records, [], CRITERIA, weights, weights)
    return msgspec.structs.replace(found, **changes)


def long(outcomes: str, lengths: Callable[[int], tuple[int, int]]) -> list[Verdict]:
    return [
        msgspec.structs.replace(one, a_length=lengths(place)[0], b_length=lengths(place)[1])
        for place, one in enumerate(verdicts("AB", outcomes))
    ]


def votes(outcomes: str, pair: str = "AB") -> list[HumanVote]:
    sides: dict[str, Any] = {"a": "a", "b": "b"}
    a, b = pair[0], pair[1]
    return [HumanVote(verdict=human.vote(f"d{i}", a, b, 1, sides[one])) for i, one in enumerate(outcomes, 1)]


def marks(candidate: str, passed: str) -> list[Mark]:
    return [Mark(document=f"d{i}", candidate=candidate, value=float(one == "+")) for i, one in enumerate(passed, 1)]


def classified(candidate: str, answers: str, expected: str = "001122") -> list[Mark]:
    pairs = zip(map(int, answers), map(int, expected * (len(answers) // len(expected))), strict=True)
    return [
        Mark(document=f"d{i}", candidate=candidate, value=float(answer == one), expected=one, answer=answer)
        for i, (answer, one) in enumerate(pairs, 1)
    ]


TWO = [*verdicts("AB", "a" * 12, "x"), *verdicts("AB", "b" * 12, "y")]
APART = [*verdicts("AB", "a" * 12, "x"), *verdicts("AB", "a" + "b" * 11, "y")]
MISSING = [*verdicts("AB", "a" * 7 + "?" * 9), *verdicts("AC", "a" * 16), *verdicts("BC", "a" * 16)]
BEATEN = [*verdicts("AB", "a" * 30), *verdicts("AC", "a" * 10), *verdicts("BC", "a" * 10)]
HEAD = [
    *verdicts("AC", "a" * 12),
    *verdicts("AB", "b" * 12),
    *verdicts("BC", "aaaabbbbbbbb"),
    *verdicts("CD", "=" * 12),
]
HEAD += [*verdicts("AD", "a" * 12), *verdicts("BD", "b" * 12)]

GROUPED = Groups(by="name", of={f"d{i}": f"folder {i % 6}" for i in range(1, 13)}, near={"d2": "d1"})

CASES: Final[dict[Kind, tuple[Evidence, str]]] = {
    "exploratory": (evidence(verdicts("AB", "a" * 12), exploratory=True), "Exploratory: judges were left out or added"),
    "check": (
        evidence(verdicts("AB", "a" * 12), built_in=("judge",)),
        "judge is built in and cannot tell what is true: this is a demonstration.",
    ),
    "chance": (evidence([told(f"d{i}", "AB", "flip") for i in range(12)]), "judge is no better than a coin"),
    "unproven": (
        evidence([*verdicts("AB", "a" * 8), *(told(f"e{i}", "AB", "flip") for i in range(2))]),
        "judge cannot yet be told from a coin: it named the other answer in 2 of 10 pairs",
    ),
    "flips": (
        evidence([*verdicts("AB", "a" * 21), *(told(f"e{i}", "AB", "flip") for i in range(9))]),
        "judge named the other answer in 9 of 30 pairs (30 %) when their places changed.",
    ),
    "opposed": (evidence(APART), "contradict each other"),
    "family": (
        evidence(verdicts("AB", "a" * 12), families={"A": "f", "B": "g"}, judge_families={"judge": "f"}),
        "The only judge is of A's own family (f)",
    ),
    "length": (
        evidence(long("a" * 12, lambda _: (90, 10))),
        "Length and candidate are the same thing here: the answer of A was the longer one in 12 pairs with B",
    ),
    "missing": (evidence(MISSING, "ABC"), "Too many verdicts about A are missing"),
    "malformed": (evidence(verdicts("AB", "aaaaaaaa!!!!")), "judge stayed malformed in 33 % of what it judged."),
    "overturned": (evidence(verdicts("AB", "aab??")), "2 missing verdicts could overturn this."),
    "alike": (evidence(verdicts("AB", "a" * 12), groups=GROUPED), "1 document nearly equals an earlier one"),
    "grouped": (evidence(verdicts("AB", "a" * 12), groups=GROUPED), "Documents belong together by beginning of the"),
    "ungrouped": (
        evidence(verdicts("AB", "a" * 12), groups=Groups(suggested="tag")),
        "By their tags, the documents come in groups",
    ),
    "documents_needed": (evidence(verdicts("AB", "aaaaaaaaabb")), "About 12 to 44 documents would decide."),
    "chance_to_find": (evidence(verdicts("AB", "aaaaaaaaabb")), "If judges like these truly preferred one candidate"),
    "by_scores": (
        evidence(verdicts("AB", "a" * 12), scores=[score("d1", "A", 1), score("d1", "B", 5)]),
        "By scores, B leads.",
    ),
    "by_judges": (
        evidence(verdicts("AB", "a" * 12), measure="checks", marks=[*marks("A", "-" * 12), *marks("B", "+" * 12)]),
        "By the judges, A leads.",
    ),
    "majority": (
        evidence([], measure="accuracy", marks=[*classified("A", "001122" * 3), *classified("B", "000000" * 3)]),
        "Always giving the most frequent of the expected answers reaches 33 %.",
    ),
    "head_to_head": (evidence(HEAD, "ABCD"), "Head to head, B won 100 % against A on 12 documents"),
    "equally_long": (
        evidence(long("a" * 12 + "b" * 11 + "a", lambda i: (20, 10) if i < 17 else (10, 20))),
        "Length and preference go together here: ten blind votes tell which of them it is.",
    ),
    "without_judge": (evidence(TWO[:-1]), "Without x, B leads."),
    "by_votes": (evidence(verdicts("AB", "a" * 12), votes=votes("b" * 12)), "By the person's 12 blind votes, B leads"),
    "repeated_intervals": (evidence(BEATEN, "ABC", look=LOOK), "Intervals are repeated ones"),
    "beaten": (evidence(BEATEN, "ABC", look=LOOK), "C was beaten by A after 10 documents"),
    "tried_without_judge": (
        evidence([*verdicts("AB", "a" * 12, "x"), *verdicts("AB", "a" * 12, "y")]),
        "Without x, A leads as well.",
    ),
    "one_judge": (evidence(verdicts("AB", "a" * 6)), "There is no second judge"),
    "longer_text": (evidence(long("aabb" * 5, lambda i: (9 + i % 2, 10))), "clear verdicts"),
    "lengths_tied_up": (
        evidence(long("aab" * 8, lambda _: (9, 12))),
        "with all answers equally long is not known: ",
    ),
    "tried_equally_long": (
        evidence(long("aab" * 8, lambda i: (10 + i % 5, 12))),
        "If longer answers won by their length alone (length-adjusted",
    ),
    "by_rule": (
        evidence([*verdicts("AB", "a" * 6), Verdict(document="d9", judge="judge", a="A", b="B", by_rule="a")]),
        "1 verdict is by rule: an answer was empty, cut off or refused",
    ),
    "nothing_missing": (evidence(verdicts("AB", "a" * 6)), "No verdict is missing."),
    "bounds": (evidence(verdicts("AB", "aab??")), "With all of them against it, the leader's win share is"),
    "widened": (evidence(MISSING, "ABC"), "so intervals of win shares reach further: "),
}


class Case(NamedTuple):
    """The statement on one kind's material, the remark of that kind, and the ranking that both rest on."""

    statement: Statement
    remark: Remark
    ranking: Ranking


def case(kind: Kind) -> Case:
    """Judges the material of a kind as a run does."""
    found, words = CASES[kind]
    answered = judgement.answer(judgement.pack(found), None, None)
    told = [*verdict.doubts(answered.ranking, answered.human), *overturning.tried(answered.ranking)]
    (remark,) = [one for one in told if one.kind == kind and words in one.sentence]
    return Case(verdict.state(answered.ranking, answered.human), remark, answered.ranking)


def for_the_app() -> bytes:
    """The cases as JSON: of each ranking, only what the app reads to show remarks."""
    cases = []
    for kind in CASES:
        statement, remark, ranking = case(kind)
        read = {"leaders": ranking.leaders, "exploratory": ranking.exploratory, "longer_text": ranking.longer_text}
        read["distrust"] = ranking.distrust
        cases.append({"kind": kind, "sentence": remark.sentence, "verdict": statement, "ranking": read})
    return msgspec.json.format(msgspec.json.encode(cases)) + b"\n"


if __name__ == "__main__":
    APP.write_bytes(for_the_app())
