"""Decides whether a candidate is worse than its baseline, from what was gathered. Pure."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carrel.checks.definition import Check
from carrel.evaluation import gate, replacement
from carrel.evaluation.gate import Differences, GateResult, Lead, SourceKind
from carrel.evaluation.ranking import by_checks, scores
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.ranking.table import tabulate
from carrel.evaluation.records import Mark, Verdict
from carrel.evaluation.replacement import Cost, GatedCandidate, Replacement
from carrel.evaluation.statistics.means import mean
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence, PackedEvidence

Given = Sequence[tuple[str, bool, list[float | None]]]
"""The answers of a candidate: the document, whether it passes every required check, and its marks."""

_Value = Callable[[bool, Sequence[float | None]], float | None]
"""What counts of an answer, which passes or not and has marks; `None` if it has no value."""


class GatePair(NamedTuple):
    """A candidate and its baseline by their labels, and the documents that only the baseline has answered."""

    candidate: str
    baseline: str
    absent: list[str]


class GateMarks(msgspec.Struct, frozen=True):
    """The marks of both for one source, by document."""

    kind: SourceKind
    name: str
    decides: bool
    candidate: dict[str, float]
    baseline: dict[str, float]


def marks_of(checks: Sequence[Check], candidate: Given, baseline: Given) -> list[GateMarks]:
    """The sources that checks are: the required ones or else the mean decide, and each check may object."""
    if not checks:
        return []
    required = any(check.required for check in checks)
    together: SourceKind = "required" if required else "checks"

    def both(value: _Value) -> tuple[dict[str, float], dict[str, float]]:
        return _by_document(candidate, value), _by_document(baseline, value)

    found = [GateMarks(together, "", True, *both(_passes if required else _mean_mark))]
    if len(checks) > 1 or required:
        for place, check in enumerate(checks):
            found.append(GateMarks("check", check.name, False, *both(_mark_at(place))))
    return found


def decide(packed: PackedEvidence, pair: GatePair, margin: float, marks: list[GateMarks]) -> GateResult:
    """Whether the candidate is worse."""
    evidence = judgement.once(judgement.unpack(packed))
    found = _differences(evidence, judgement.rank(evidence), pair, marks)
    return gate.decide(pair.candidate, pair.baseline, margin, found, evidence.groups.joined)


class ReplacementQuestion(msgspec.Struct, frozen=True):
    """Which of several candidates may take the place of one baseline: each with what its checks say."""

    margin: float
    calls_per_month: int
    pairs: list[tuple[GatePair, list[GateMarks]]]
    costs: dict[str, Cost]


def replace(packed: PackedEvidence, question: ReplacementQuestion) -> Replacement:
    """The cheapest candidate that is not worse."""
    evidence = judgement.once(judgement.unpack(packed))
    ranking, groups = judgement.rank(evidence), evidence.groups.joined
    compared = []
    for pair, marks in question.pairs:
        found = _differences(evidence, ranking, pair, marks)
        decided = gate.decide(pair.candidate, pair.baseline, question.margin, found, groups)
        compared.append(GatedCandidate(decided, found))
    baseline = question.pairs[0][0].baseline
    return replacement.choose(baseline, question.margin, question.calls_per_month, compared, question.costs, groups)


def _differences(evidence: Evidence, ranking: Ranking, pair: GatePair, marks: Sequence[GateMarks]) -> list[Differences]:
    """What judges and checks say of the pair, from every source; the headline's own has the lead of the verdict."""
    found = [] if ranking.basis == "checks" else [*_judged(evidence, pair, ranking)]
    by_f1 = ranking.measure == "macro_f1"
    if by_f1:
        differences, reach = by_checks.differences(_with_absent(evidence.marks, pair), pair.candidate, pair.baseline)
        lead = _lead(ranking, pair, differences)
        found.append(Differences("macro_f1", "", differences, reach, decides=True, lead=lead))
    for one in marks:
        # The mean of all checks is the same answers by another measure, which nobody chose.
        if by_f1 and one.kind == "checks":
            continue
        differences = gate.marked(one.candidate, one.baseline)
        decides = one.decides and not by_f1
        lead = _lead(ranking, pair, differences) if ranking.basis == "checks" and decides else None
        found.append(Differences(one.kind, one.name, differences, 1.0, decides, lead))
    return found


def _judged(evidence: Evidence, pair: GatePair, ranking: Ranking) -> Iterator[Differences]:
    """What judges say: of comparisons, or of scores where nothing is compared. An answer that never came has lost."""
    if evidence.comparison_weights:
        absent = dict.fromkeys(pair.absent, -0.5)
        found = _compared(evidence, pair)
        lead = _lead(ranking, pair, found)
        yield Differences("comparisons", "", found | absent, 0.5, decides=True, lead=lead)
    elif evidence.scoring_weights:
        weights = evidence.scoring_weights
        cells = scores.tabulate(evidence.scores, evidence.criteria, weights)
        theirs = scores.on_documents(cells, pair.baseline, weights)
        absent = {document: -theirs[document] for document in pair.absent if document in theirs}
        differences = scores.differences(cells, pair.candidate, pair.baseline, weights)
        lead = _lead(ranking, pair, differences)
        yield Differences("scores", "", differences | absent, 1.0, decides=True, lead=lead)


def _with_absent(marks: Sequence[Mark], pair: GatePair) -> list[Mark]:
    """With answers that never came as wrong ones, where the baseline has one."""
    expected = {mark.document: mark.expected for mark in marks}
    absent = [
        Mark(document=document, candidate=pair.candidate, value=0.0, expected=expected.get(document))
        for document in pair.absent
    ]
    return [*(mark for mark in marks if mark.value is not None), *absent]


def _lead(ranking: Ranking, pair: GatePair, differences: Mapping[str, float]) -> Lead | None:
    """Which of the two the verdict puts ahead; `None` if it does not compare them, or if an answer never came.

    Judges that cannot carry a verdict put nobody ahead, nor does a lead that the meetings of the two contradict.
    """
    if pair.absent:
        return None
    if any(one.decisive for one in ranking.distrust):
        return "level"
    others = {pair.candidate, pair.baseline} - set(ranking.leaders)
    rivals = [one for one in ranking.contrasts if one.candidate in others]
    if len(ranking.leaders) != 1 or len(others) != 1 or not rivals:
        return "level" if not others else None
    leads = 1 if pair.candidate in ranking.leaders else -1
    met = math.fsum(differences.values()) * leads
    if not rivals[0].excludes_zero or met <= 0:
        return "level"
    return "ahead" if leads > 0 else "behind"


def _compared(evidence: Evidence, pair: GatePair) -> dict[str, float]:
    by_document: defaultdict[str, list[Verdict]] = defaultdict(list)
    names = (pair.candidate, pair.baseline)
    for verdict in evidence.verdicts:
        if verdict.a in names and verdict.b in names:
            by_document[verdict.document].append(verdict)
    tables = {one: tabulate(names, said, evidence.comparison_weights) for one, said in by_document.items()}
    return {one: table.documents[0][0].y - 0.5 for one, table in tables.items() if table.documents}


def _passes(passes: bool, marks: Sequence[float | None]) -> float | None:
    return float(passes)


def _mean_mark(passes: bool, marks: Sequence[float | None]) -> float | None:
    known = [mark for mark in marks if mark is not None]
    return mean(known) if known else None


def _mark_at(place: int) -> _Value:
    return lambda passes, marks: marks[place]


def _by_document(given: Given, value: _Value) -> dict[str, float]:
    """The mean over the answers to each document."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for document, passes, marks in given:
        one = value(passes, marks)
        if one is not None:
            found[document].append(one)
    return {document: mean(values) for document, values in found.items()}
