"""Whatever judges say, verdict, gate, report and leaderboard agree, and more wins never weaken a verdict."""

import random
from itertools import combinations, product

import pytest
from msgspec.structs import replace

from carrel.checks.definition import Check
from carrel.evaluation import verdict
from carrel.evaluation.classes import MAJORITY
from carrel.evaluation.ranking import contrasts, scores
from carrel.evaluation.ranking.ranking import Measure, Ranking
from carrel.evaluation.ranking.table import tabulate
from carrel.evaluation.records import Mark, Verdict, Word
from carrel.evaluation.statistics import intervals, leads
from carrel.receipts import rules
from carrel.runs.findings import gate_decision
from carrel.runs.findings.gate_decision import GateMarks, GatePair
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.evaluation import kept
from tests.evaluation.told import score
from tests.reports.doubts import evidence
from tests.support import soak

SEEDED = (*range(6), 240, 328, 348, 249, 1612, 2069, 8456)
"""In the last four, a further win once made judges contradict each other; in the three before, the gate once named one
of two that did not lead."""
SOAKED = soak.size(10_000)
BLOCK = 50
SIDES: tuple[tuple[Word, Word], ...] = (("first", "second"), ("second", "first"))
"""Of a pair in both orders: what a judge says that prefers the first, or the second."""


def table(seed: int) -> Evidence:
    """Two to four candidates of whom the first may lead, some judges who flip or tie, and lengths."""
    draw = random.Random(seed)
    names = "ABCD"[: draw.randint(2, 4)]
    judges = [f"j{i}" for i in range(draw.choice((1, 1, 2, 3)))]
    lead, sure, ties, gone = draw.random(), draw.random(), draw.choice((0, 0.3)), draw.choice((0, 0, 0.05))
    told = []
    for document in range(draw.randint(4, 24)):
        lengths = {name: draw.randint(50, 60) + 20 * (name == "A") * draw.randint(0, 1) for name in names}
        for judge in judges:
            for a, b in combinations(names, 2):
                first = draw.random() < (0.5 + 0.5 * lead if a == "A" else 0.5)
                ab, ba = SIDES[not first]
                if draw.random() > sure:
                    ba = draw.choice(("first", "second"))
                if draw.random() < ties:
                    ab = ba = "tie"
                if draw.random() < gone:
                    ab = ba = draw.choice(("missing", "invalid"))
                told.append(
                    Verdict(
                        document=f"d{document}",
                        judge=judge,
                        a=a,
                        b=b,
                        ab=ab,
                        ba=ba,
                        a_length=lengths[a],
                        b_length=lengths[b],
                    )
                )
    return evidence(told, names)


def checked(seed: int) -> Evidence:
    """Two to four candidates of whom the first may be right more often, by classes of which one may be rare."""
    draw = random.Random(seed)
    names, better, rare = "ABCD"[: draw.randint(2, 4)], draw.random() * 0.3, draw.choice((0.1, 0.5))
    # Answers name classes that are expected somewhere, so each is.
    classes = [0, 1, *(int(draw.random() < rare) for _ in range(draw.randint(2, 38)))]
    marks = []
    for name in names:
        for place, expected in enumerate(classes):
            answer = expected if draw.random() < 0.65 + better * (name == "A") else 1 - expected
            value = None if draw.random() < 0.02 else float(answer == expected)
            marks.append(Mark(document=f"d{place}", candidate=name, value=value, expected=expected, answer=answer))
    measure: Measure = draw.choice(("accuracy", "macro_f1"))
    return replace(evidence([], names), marks=marks, measure=measure, checked=True)


def scored(seed: int) -> Evidence:
    """Two to four candidates of whom the first may score higher, by judges who differ and may be of its family."""
    draw = random.Random(seed)
    names, judges = "ABCD"[: draw.randint(2, 4)], [f"j{i}" for i in range(draw.choice((1, 1, 2, 3)))]
    better, gone = draw.random() * 2, draw.choice((0, 0.05, 0.2))
    likes = {(judge, name): draw.gauss(0, 0.5) for judge in judges for name in names}
    told = []
    for document in range(draw.randint(4, 24)):
        for judge, name in product(judges, names):
            value = min(5, max(1, round(2.5 + better * (name == "A") + likes[judge, name] + draw.gauss(0, 0.8))))
            one = score(f"d{document}", name, value, judge)
            told.append(replace(one, values={}, fate="missing") if draw.random() < gone else one)
    return replace(
        evidence([], names),
        scores=told,
        scoring_weights=dict.fromkeys(judges, 1.0),
        families={name: name for name in names},
        judge_families={judge: draw.choice("AB") for judge in judges},
    )


def gate_marks(found: Evidence, pair: GatePair) -> list[GateMarks]:
    """What the gate reads of the same answers."""
    by_candidate = {
        name: {one.document: one.value for one in found.marks if one.candidate == name and one.value is not None}
        for name in (pair.candidate, pair.baseline)
    }
    ours, theirs = by_candidate[pair.candidate], by_candidate[pair.baseline]
    rows = [[(name, True, [known.get(name)]) for name in theirs | ours] for known in (ours, theirs)]
    return gate_decision.marks_of([Check(kind="json", name="only")], [True], pair, *rows)


def with_one_more_win(found: Evidence, winner: str, seed: int) -> Evidence:
    """The same, but for a pair of the winner that it had not won.

    What was missing stays so: that it comes after all tells how often others are missing, too, and may weaken a lead.
    """
    if found.scores:
        marks = [one for one in found.scores if one.candidate == winner and one.values.get("clarity", 5) < 5]
        higher = random.Random(seed).choice(marks) if marks else None
        raised = [
            replace(one, values={"clarity": one.values["clarity"] + 1}) if one is higher else one
            for one in found.scores
        ]
        return replace(found, scores=raised)
    open_ones = [
        place
        for place, one in enumerate(found.verdicts)
        if winner in (one.a, one.b) and (one.ab, one.ba) != SIDES[winner == one.b]
    ]
    if not open_ones:
        return found
    place = random.Random(seed).choice(open_ones)
    if found.verdicts[place].ab not in ("first", "second", "tie"):
        return found
    verdicts = list(found.verdicts)
    ab, ba = SIDES[winner == verdicts[place].b]
    verdicts[place] = replace(verdicts[place], ab=ab, ba=ba)
    return replace(found, verdicts=verdicts)


def contradictions(found: Evidence, ranking: Ranking) -> list[str]:
    """What is said in one place and not in another."""
    said = verdict.state(ranking)
    open_ones = [one.candidate for one in ranking.contrasts if not one.excludes_zero]
    distrusted = any(one.decisive for one in ranking.distrust)
    wrong = [
        what
        for what, holds in {
            "the report or the leaderboard has another ranking": judgement.answer(
                judgement.pack(found), None, None
            ).ranking
            == ranking,
            "a verdict that is decided and names nobody": (said.outcome == "decided") == (ranking.best is not None),
            "a sentence that is stronger than the verdict": (" is best" in said.sentence) == (ranking.best is not None),
            "a row that is best": {row.candidate for row in ranking.rows if row.is_best} == {ranking.best} - {None},
            "somebody best who is not ahead of all": not ranking.best or not (open_ones or distrusted),
            "an interval and a lead": all(
                one.low is None or (one.low >= 0 if one.excludes_zero else one.low <= 0) for one in ranking.contrasts
            ),
            "somebody out over whom nobody leads": all(one.ahead for one in ranking.contrasts if one.excludes_zero),
        }.items()
        if not holds
    ]
    wrong += behind_the_leader(found, ranking, distrusted=distrusted)
    if len(ranking.leaders) != 1:
        return wrong
    leader = ranking.leaders[0]
    for one in ranking.contrasts:
        for pair, against in (
            (GatePair(one.candidate, leader), "better"),
            (GatePair(leader, one.candidate), "worse"),
        ):
            if MAJORITY in pair:
                continue
            marks = gate_marks(found, pair) if found.marks else []
            outcome = gate_decision.gated(found, ranking, pair, 0.05, marks).gate.outcome
            weak = distrusted or not one.excludes_zero
            if outcome == against or (weak and outcome in ("better", "worse")):
                wrong.append(f"{said.sentence} Of {pair.candidate} and {pair.baseline}, the gate: {outcome}.")
    return wrong


def behind_the_leader(found: Evidence, ranking: Ranking, *, distrusted: bool) -> list[str]:
    """Where the gate names one of two, neither of whom leads, although their meetings do not pass the tests of a lead.

    Nor may it name one of those whom the judges contradict, or not take back the word if they change places.
    """
    wrong = []
    others = [row.candidate for row in ranking.rows if row.candidate not in ranking.leaders]
    for one, two in combinations(others, 2):
        outcomes = []
        for pair in (GatePair(one, two), GatePair(two, one)):
            marks = gate_marks(found, pair) if found.marks else []
            outcomes.append(gate_decision.gated(found, ranking, pair, 0.05, marks).gate.outcome)
            if outcomes[-1] in ("better", "worse") and (distrusted or not is_told(found, pair, outcomes[-1])):
                wrong.append(f"Of {pair.candidate} and {pair.baseline}, the gate: {outcomes[-1]}.")
        if "better" in outcomes and not {"worse", "not_worse"} & {*outcomes}:
            wrong.append(f"Of {one} and {two}, the gate: {outcomes}.")
    return wrong


def is_told(found: Evidence, pair: GatePair, outcome: str) -> bool:
    """Whether the meetings of the two pass both tests, from six documents on; by macro F1 only the latter is asked."""
    sign = 1 if outcome == "better" else -1
    if found.measure == "macro_f1":
        return len({one.document for one in found.marks}) >= contrasts.UNANIMOUS
    if found.marks:
        [marks] = gate_marks(found, pair)
        gaps = [sign * low for _, low, high in marks.differences.values() if low == high]
    elif found.scores:
        cells = scores.tabulate(found.scores, found.criteria, {})
        gaps = [sign * gap for gap in scores.differences(cells, pair.candidate, pair.baseline, {}).values()]
    else:
        table = tabulate([*pair[:2]], [one for one in found.verdicts if {one.a, one.b} == {*pair[:2]}], {})
        gaps = [sign * (2 * pairs[0].y - 1) for pairs in table.documents]
    return len(gaps) >= contrasts.UNANIMOUS and leads.told(intervals.difference(gaps), intervals.ONE_SIDED, each=True)


def weaker(found: Evidence, ranking: Ranking, seed: int) -> list[str]:
    """What becomes weaker if whoever is best wins once more."""
    if ranking.best is None or found.marks:
        return []
    more = judgement.rank(with_one_more_win(found, ranking.best, seed))
    before, after = verdict.state(ranking), verdict.state(more)
    if more.best != ranking.best or after.doubted > before.doubted:
        return [f"{before.text} {before.notes} With one more win: {after.text} {after.notes}"]
    return []


def told(seed: int) -> list[str]:
    return [one for made in (table, checked, scored) for one in of(seed, made(seed))]


def of(seed: int, found: Evidence) -> list[str]:
    ranking = judgement.rank(found)
    return [f"{seed}: {one}" for one in (*contradictions(found, ranking), *weaker(found, ranking, seed))]


def of_block(block: tuple[int, int]) -> list[str]:
    return [one for seed in range(*block) for one in told(seed)]


def digest(_block: tuple[int, int]) -> str:
    """Other rules, other tables."""
    return rules.digest()


def test_no_two_pages_contradict_each_other_and_more_wins_never_weaken() -> None:
    assert [one for seed in SEEDED for one in told(seed)] == []


@pytest.mark.soak(campaign="verdicts")
def test_nor_do_they_in_ten_thousand_tables() -> None:
    blocks = [(first, min(first + BLOCK, SOAKED)) for first in range(0, SOAKED, BLOCK)]
    found = kept.drawn("one-rule", blocks, of_block, digest, list[str])
    assert [one for block in blocks for one in found[block]] == []
