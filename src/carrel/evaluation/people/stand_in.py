"""Which judge may stand in for a person: the alternative annotator test.

Leave one voter out. Does the judge agree with the remaining voters as often as the one who was left out, but for ε? The
judge passes if it does so, with confidence, for at least half of the voters (Calderon, Reichart and Dror 2025, "The
alternative annotator test for LLM-as-a-judge", arXiv 2501.10970). Voters on the same document are compared document
by document, because the comparisons of one document depend on each other.

The test takes voters for people who say the same but for errors. Beside voters who say anything, or the opposite of
each other, a coin would pass. So nobody passes unless every voter agrees with the others, and the judge with them all,
more often than words of these frequencies would by chance (the observed less the expected agreement of Cohen 1960).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from carrel.evaluation import records
from carrel.evaluation.records import HumanVote, Verdict
from carrel.evaluation.statistics.intervals import rounded
from carrel.evaluation.statistics.means import mean
from carrel.evaluation.statistics.quantiles import student_above

EPSILON = 0.15
"""How much worse than a person a judge may be, because it costs less: the paper's value for skilled annotators."""
LEAST_VOTERS = 3
LEAST_COMPARISONS = 30
"""The paper's least number of comparisons for each voter; with fewer, the t test says little."""
_FALSE_DISCOVERIES = 0.05
_BY_CHANCE = 0.025
_HALF = 0.5

_Meeting = tuple[str, str, str, int]


class StandIn(msgspec.Struct, frozen=True, kw_only=True):
    """Of the `voters` who could be tested, the judge may stand in for `replaces`; it passes with at least half of them.

    `advantage` is the mean probability that the judge agrees with the other voters at least as well as a voter does.
    Both are without a value if fewer than three people voted on the same 30 comparisons as others and the judge.
    `voters_agree`: each of them agrees with the others more often than by chance; otherwise no judge passes.
    """

    judge: str
    voters: int
    replaces: int | None = None
    advantage: float | None = None
    passes: bool = False
    voters_agree: bool = True


def by_voter(vote: HumanVote) -> Verdict:
    """The vote as a verdict of a judge who has the voter's name, from the side of the pair's first name."""
    named = replace(vote.verdict, judge=vote.voter)
    return named if named.a < named.b else records.mirrored(named)


def test(verdicts: Sequence[Verdict], votes: Sequence[HumanVote]) -> tuple[StandIn, ...]:
    """Every judge against the voters; empty with fewer than three of these."""
    people: defaultdict[_Meeting, dict[str, float]] = defaultdict(dict)
    for vote in votes:
        voted = by_voter(vote)
        y = records.value(voted)
        if y is not None:
            people[_meeting(voted)][vote.voter] = y
    voters = sorted({vote.voter for vote in votes})
    if len(voters) < LEAST_VOTERS:
        return ()
    judges: defaultdict[str, dict[_Meeting, float]] = defaultdict(dict)
    for verdict in verdicts:
        told = verdict if verdict.a < verdict.b else records.mirrored(verdict)
        y = records.value(told)
        if y is not None and told.by_rule is None:
            judges[told.judge][_meeting(told)] = y
    return tuple(_stand_in(judge, judges[judge], people, voters) for judge in sorted(judges))


def _meeting(verdict: Verdict) -> _Meeting:
    return verdict.document, verdict.a, verdict.b, verdict.repeat


def _stand_in(
    judge: str, said: Mapping[_Meeting, float], people: Mapping[_Meeting, Mapping[str, float]], voters: Sequence[str]
) -> StandIn:
    chances, advantages, beyond = [], [], []
    for voter in voters:
        pairs: defaultdict[str, list[tuple[float, list[float]]]] = defaultdict(list)
        wins: defaultdict[str, list[tuple[bool, bool]]] = defaultdict(list)
        for meeting, words in people.items():
            others = [y for other, y in words.items() if other != voter]
            if voter in words and others and meeting in said:
                of_judge, of_voter = others.count(said[meeting]), others.count(words[voter])
                wins[meeting[0]].append((of_judge >= of_voter, of_voter >= of_judge))
                pairs[meeting[0]].append((words[voter], others))
        if sum(map(len, wins.values())) >= LEAST_COMPARISONS and len(wins) > 1:
            chances.append(_chance([mean([b - a for a, b in found]) for found in wins.values()]))
            advantages.append(mean([mean([float(a) for a, _ in found]) for found in wins.values()]))
            beyond.append(_beyond_chance(pairs))
    if len(chances) < LEAST_VOTERS:
        return StandIn(judge=judge, voters=len(chances))
    replaces, agree = _rejected(chances), all(beyond)
    with_all: defaultdict[str, list[tuple[float, list[float]]]] = defaultdict(list)
    for meeting, words in people.items():
        if meeting in said:
            with_all[meeting[0]].append((said[meeting], list(words.values())))
    return StandIn(
        judge=judge,
        voters=len(chances),
        replaces=replaces,
        advantage=rounded(mean(advantages)),
        passes=replaces >= _HALF * len(chances) and agree and _beyond_chance(with_all),
        voters_agree=agree,
    )


def _beyond_chance(pairs: Mapping[str, Sequence[tuple[float, Sequence[float]]]]) -> bool:
    """Whether one agrees with others, by document, more often than their words would by chance (one-sided t test)."""
    ours = Counter(one for found in pairs.values() for one, _ in found)
    theirs = Counter(other for found in pairs.values() for _, others in found for other in others)
    whole = sum(ours.values()) * sum(theirs.values())
    expected = sum(ours[word] * theirs[word] for word in ours) / whole if whole else 1.0
    found = [mean([others.count(one) / len(others) for one, others in one_document]) for one_document in pairs.values()]
    if len(found) < 2:
        return False
    centre = mean(found) - expected
    variance = math.fsum((one - expected - centre) ** 2 for one in found) / (len(found) - 1)
    if variance == 0:
        return centre > 0
    return student_above(centre / math.sqrt(variance / len(found)), len(found) - 1) <= _BY_CHANCE


def _chance(behind: Sequence[float]) -> float:
    """The chance of such documents if the judge were ε or more behind the voter (one-sided t test)."""
    documents, middle = len(behind), mean(behind)
    variance = math.fsum((one - middle) ** 2 for one in behind) / (documents - 1)
    if variance == 0:
        return 0.0 if middle < EPSILON else 1.0
    return student_above((EPSILON - middle) / math.sqrt(variance / documents), documents - 1)


def _rejected(chances: Sequence[float]) -> int:
    """How many hypotheses fall with 5 % of false discoveries, whatever their dependence (Benjamini, Yekutieli 2001)."""
    tests = len(chances)
    divisor = tests * math.fsum(1 / i for i in range(1, tests + 1))
    passed = [i for i, p in enumerate(sorted(chances), 1) if p <= _FALSE_DISCOVERIES * i / divisor]
    return max(passed, default=0)
