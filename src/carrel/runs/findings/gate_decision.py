"""Decides whether a candidate is worse than its baseline, from what was gathered. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carrel.checks.definition import Check
from carrel.evaluation import gate, records, replacement
from carrel.evaluation.gate import Differences, GateResult, Lead, SourceKind, ToldGap
from carrel.evaluation.ranking import by_checks, cells, differences, missing, scores
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.records import Mark
from carrel.evaluation.replacement import Cost, GatedCandidate, Replacement
from carrel.evaluation.statistics.clusters import Sample
from carrel.evaluation.statistics.means import mean
from carrel.evaluation.statistics.noninferiority import Extreme
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence, PackedEvidence

Given = Sequence[tuple[str, bool, list[float | None]]]
"""The answers of a candidate: the document, whether it passes every required check, and its marks."""

_Value = Callable[[bool, Sequence[float | None]], float | None]
"""What counts of an answer, which passes or not and has marks; `None` if it has no value."""


class GatePair(NamedTuple):
    """A candidate and its baseline by their labels.

    `absent` are the documents of both that only the baseline has answered. `idle` tell nothing: the baseline has not
    answered them, or the candidate was not asked.
    """

    candidate: str
    baseline: str
    absent: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()


class GateMarks(msgspec.Struct, frozen=True):
    """By document, the difference of both by the marks that are known, and the least and the greatest that it may be.

    These are equal where no mark is missing. `unexplained` is the part of what is missing of one that its rate with the
    other does not explain.
    """

    kind: SourceKind
    name: str
    decides: bool
    differences: dict[str, tuple[float | None, float, float]]
    unexplained: float


def marks_of(
    checks: Sequence[Check], shared: Sequence[bool], pair: GatePair, candidate: Given, baseline: Given
) -> list[GateMarks]:
    """The sources that checks are: the required ones or else the mean decide, and each check may object.

    Those that are not `shared` are of the answers of one of the two only. A mark is missing where only one has it.
    """
    if not checks:
        return []
    required = [place for place, check in enumerate(checks) if check.required]
    asked: defaultdict[str, set[int]] = defaultdict(set)
    for document, _, marks in (*candidate, *baseline):
        asked[document] |= {place for place, mark in enumerate(marks) if mark is not None and shared[place]}

    def passing(passes: bool, marks: Sequence[float | None]) -> float:
        return float(passes and all(marks[place] != 0.0 for place in required))

    def source(kind: SourceKind, name: str, value: _Value, *, decides: bool) -> GateMarks:
        is_mean = kind == "checks"
        ours, theirs = (_by_document(given, value, asked, is_mean=is_mean) for given in (candidate, baseline))
        found, gone = {}, defaultdict[str, float](float)
        for document in sorted((theirs.keys() | ours.keys()) - pair.idle):
            end = 0.0 if document in pair.absent else 1.0
            known, low, high = ours.get(document, (None if end else 0.0, 0.0, end))
            other, least, most = theirs.get(document, (None, 0.0, 1.0))
            found[document] = None if known is None or other is None else known - other, low - most, high - least
            # Of a mean of marks, so great a part is missing.
            gone[pair.candidate] += high - low
            gone[pair.baseline] += most - least
        of = dict.fromkeys((pair.candidate, pair.baseline), len(found))
        parts = missing.unexplained_scores(gone, of) if found else {}
        return GateMarks(kind, name, decides, found, max(parts.values(), default=0.0))

    found = [
        source("required", "", passing, decides=True) if required else source("checks", "", _mean_mark, decides=True)
    ]
    if len(checks) > 1 or required:
        for place, check in enumerate(checks):
            if shared[place]:
                found.append(source("check", check.name, _mark_at(place), decides=False))
    return found


def decide(packed: PackedEvidence, pair: GatePair, margin: float, marks: list[GateMarks]) -> GateResult:
    """Whether the candidate is worse."""
    evidence = judgement.once(judgement.unpack(packed))
    return gated(evidence, judgement.rank(evidence), pair, margin, marks).gate


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
    compared = [gated(evidence, ranking, pair, question.margin, marks) for pair, marks in question.pairs]
    baseline, calls = question.pairs[0][0].baseline, question.calls_per_month
    return replacement.choose(baseline, question.margin, calls, compared, question.costs, groups, _caution(ranking))


def gated(
    evidence: Evidence, ranking: Ranking, pair: GatePair, margin: float, marks: Sequence[GateMarks]
) -> GatedCandidate:
    """Whether the candidate is worse, and from what that was decided; `ranking` is that of the evidence."""
    found = _differences(evidence, ranking, pair, marks)
    groups = evidence.groups.joined
    return GatedCandidate(gate.decide(pair.candidate, pair.baseline, margin, found, groups, _caution(ranking)), found)


def _caution(ranking: Ranking) -> str:
    """What the run says against judges that decide: whoever cannot tell answers apart finds nobody worse."""
    said = [one.sentence for one in ranking.distrust if one.kind in ("check", "chance")]
    return " ".join([*said, "A judge that cannot tell answers apart finds nobody worse."]) if said else ""


def _differences(evidence: Evidence, ranking: Ranking, pair: GatePair, marks: Sequence[GateMarks]) -> list[Differences]:
    """What judges and checks say of the pair, from every source; the verdict's own comes first and has a lead."""
    found = [] if ranking.basis == "checks" else [*_judged(evidence, pair)]
    by_f1 = ranking.measure == "macro_f1"
    if by_f1:
        by_document, reach = by_checks.differences(_with_absent(evidence.marks, pair), pair.candidate, pair.baseline)
        found.append(Differences("macro_f1", "", by_document, reach, decides=True))
    # The mean of all checks is the same answers by another measure, which nobody chose.
    chosen = [one for one in marks if not by_f1 or one.kind != "checks"]
    found += [_marked(one, decides=one.decides and not by_f1) for one in chosen]
    found = [one._replace(unanswered=len(one.by_document.keys() & pair.absent)) for one in found]
    if found:
        first, groups = found[0], evidence.groups.joined
        lead = whole = _lead(ranking, pair, first, groups)
        if first.missing:
            whole = _lead(_whole(ranking), pair, first._replace(missing=0, worst=None, best=None), groups)
        found[0] = first._replace(lead=lead, lead_of_whole=whole)
    return found


def _whole(ranking: Ranking) -> Ranking:
    """As if what is missing held nothing back."""
    contrasts = [
        msgspec.structs.replace(one, excludes_zero=one.excludes_zero or one.held_back) for one in ranking.contrasts
    ]
    distrust = [one for one in ranking.distrust if one.kind != "missing"]
    return msgspec.structs.replace(ranking, contrasts=tuple(contrasts), distrust=tuple(distrust))


def _judged(evidence: Evidence, pair: GatePair) -> Iterator[Differences]:
    """What judges say: of comparisons, or of scores where nothing is compared. An answer that never came has lost."""
    if evidence.comparison_weights:
        yield _compared(evidence, pair)
    elif evidence.scoring_weights:
        yield _scored(evidence, pair)


def _compared(evidence: Evidence, pair: GatePair) -> Differences:
    weights, without = evidence.comparison_weights, pair.absent | pair.idle
    heard: defaultdict[tuple[str, str], list[float | None]] = defaultdict(list)
    planned = [one for one in evidence.verdicts if {one.a, one.b} == {pair.candidate, pair.baseline}]
    for one in planned:
        if one.document not in without:
            y = records.value(one)
            heard[one.document, one.judge].append(y if y is None or one.a == pair.candidate else 1.0 - y)
    said: defaultdict[str, list[ToldGap]] = defaultdict(list)
    gone = 0
    for (document, judge), found in sorted(heard.items()):
        weight = weights.get(judge, 1.0)
        if weight > 0:
            value, (worst, best) = _known(found), _filled(found)
            said[document].append(ToldGap(weight, None if value is None else value - 0.5, worst - 0.5, best - 0.5))
            gone += found.count(None)
    part = 0.0
    if gone:
        every = cells.gathered(evidence.candidates, evidence.verdicts, weights)
        part = missing.unexplained(every, pair.candidate, pair.baseline)
    # A document on which the two were not to meet says nothing, answered or not.
    absent = {one.document: [ToldGap(1.0, -0.5, -0.5, -0.5)] for one in planned if one.document in pair.absent}
    return gate.settled(Differences("comparisons", "", {}, 0.5, decides=True), said | absent, gone, part)


def _scored(evidence: Evidence, pair: GatePair) -> Differences:
    weights = evidence.scoring_weights
    heard: defaultdict[tuple[str, str], defaultdict[str, list[float | None]]]
    heard = defaultdict(lambda: defaultdict(list))
    for one in evidence.scores:
        if weights.get(one.judge, 1.0) > 0 and one.document not in pair.idle:
            value = scores.normalised(one, evidence.criteria)
            heard[one.document, one.judge][one.candidate].append(value)
    said: defaultdict[str, list[ToldGap]] = defaultdict(list)
    gone, planned = Counter[str](), Counter[str]()
    for (document, judge), found in sorted(heard.items()):
        if document in pair.absent:
            found[pair.candidate] = [0.0]
        for candidate, values in found.items():
            planned[candidate] += len(values)
            gone[candidate] += values.count(None)
        ours, theirs = found.get(pair.candidate), found.get(pair.baseline)
        if ours and theirs:
            (low, high), (least, most) = _filled(ours), _filled(theirs)
            mine, other = _known(ours), _known(theirs)
            gap = None if mine is None or other is None else mine - other
            said[document].append(ToldGap(weights.get(judge, 1.0), gap, low - most, high - least))
    both = gone[pair.candidate] + gone[pair.baseline]
    parts = missing.unexplained_scores(gone, planned) if both else {}
    part = max((parts.get(one, 0.0) for one in (pair.candidate, pair.baseline)), default=0.0)
    return gate.settled(Differences("scores", "", {}, 1.0, decides=True), said, both, part)


def _marked(marks: GateMarks, *, decides: bool) -> Differences:
    said = {document: [ToldGap(1.0, *found)] for document, found in marks.differences.items()}
    gone = sum(worst < best for _, worst, best in marks.differences.values())
    return gate.settled(Differences(marks.kind, marks.name, {}, 1.0, decides), said, gone, marks.unexplained)


def _with_absent(marks: Sequence[Mark], pair: GatePair) -> list[Mark]:
    """With answers that never came as wrong ones, where the baseline has one."""
    expected = {mark.document: mark.expected for mark in marks}
    absent = [
        Mark(document=document, candidate=pair.candidate, value=0.0, expected=expected.get(document))
        for document in sorted(pair.absent)
    ]
    return [*(mark for mark in marks if mark.value is not None), *absent]


def _lead(ranking: Ranking, pair: GatePair, found: Differences, groups: Mapping[str, str]) -> Lead:
    """Which of the two is ahead by the verdict; of two that do not lead, by their own meetings.

    Judges that cannot carry a verdict put nobody ahead, nor does a lead that the meetings of the two contradict. The
    verdict does not know of answers that never came: with these, their meetings have to put the candidate ahead as
    well, and are enough to put it behind.
    """
    told = _lead_by_verdict(ranking, pair, found, groups)
    if not pair.absent:
        return told
    if any(one.decisive for one in ranking.distrust):
        silent = {one: value if one in pair.absent else 0.0 for one, value in found.by_document.items()}
        found = found._replace(by_document=silent, missing=0, worst=None, best=None)
    met = _by_meetings(found, groups)
    return met if met in ("behind", told) else "level"


def _lead_by_verdict(ranking: Ranking, pair: GatePair, found: Differences, groups: Mapping[str, str]) -> Lead:
    others = {pair.candidate, pair.baseline} - set(ranking.leaders)
    if not others or any(one.decisive for one in ranking.distrust):
        return "level"
    rivals = [one for one in ranking.contrasts if one.candidate in others]
    if len(ranking.leaders) != 1 or len(others) != 1 or not rivals:
        return _by_meetings(found, groups)
    leads = 1 if pair.candidate in ranking.leaders else -1
    met = math.fsum(found.by_document.values()) * leads
    if not rivals[0].excludes_zero or met <= 0:
        return "level"
    return "ahead" if leads > 0 else "behind"


def _by_meetings(found: Differences, groups: Mapping[str, str]) -> Lead:
    """Who is ahead in their own meetings by more than chance explains, whatever is missing."""
    told = _paired(found._replace(worst=None).at_worst(groups), found.reach)
    if told == "better" and _paired(found.at_worst(groups), found.reach) == told:
        return "ahead"
    return "behind" if told == "worse" and _paired(found.at_best(groups), found.reach) == told else "level"


def _paired(one: Extreme, reach: float) -> str:
    """As in a lead, a document weighs as much as the square root of what it says."""
    if not one.values:
        return "undecided"
    weights = [math.sqrt(size) for size in one.sizes]
    usual = mean(weights) * reach
    values = [v * weight / usual for v, weight in zip(one.values, weights, strict=True)]
    return differences.paired(Sample(values, list(one.groups))).outcome


def _known(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known."""
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _filled(values: Sequence[float | None]) -> tuple[float, float]:
    """The means with 0 and with 1 in the place of those that are not."""
    least, most = ([end if value is None else value for value in values] for end in (0.0, 1.0))
    return mean(least), mean(most)


def _mean_mark(passes: bool, marks: Sequence[float | None]) -> float | None:
    return _known(marks)


def _mark_at(place: int) -> _Value:
    return lambda passes, marks: marks[place]


def _by_document(
    given: Given, value: _Value, asked: Mapping[str, set[int]], *, is_mean: bool
) -> dict[str, tuple[float | None, float, float]]:
    """The mean over the answers to each document: of what is known, and with each missing mark at 0 and at 1.

    A mean of marks is known if one of them is.
    """
    found: defaultdict[str, list[tuple[float | None, float, float]]] = defaultdict(list)
    for document, passes, marks in given:
        known = least = most = value(passes, marks)
        if any(marks[place] is None for place in asked[document]):
            least, most = (
                value(passes, [end if m is None and i in asked[document] else m for i, m in enumerate(marks)])
                for end in (0.0, 1.0)
            )
            known = known if is_mean or least == most else None
        if least is not None and most is not None:
            found[document].append((known, least, most))
    return {
        document: (
            _known([known for known, _, _ in ends]),
            mean([low for _, low, _ in ends]),
            mean([high for *_, high in ends]),
        )
        for document, ends in found.items()
    }
