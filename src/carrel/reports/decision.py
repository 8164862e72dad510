"""The decision that a run comes to, in everyday words with money: the page, the report and the terminal show one text.

It never says more than the verdict: whether somebody is best is decided there. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from carrel.evaluation import verdict
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.passing import CandidateChecks, CheckResults
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.remarks import Kind
from carrel.evaluation.statistics.rates import PassRate
from carrel.evaluation.verdict import Statement
from carrel.evaluation.words import counted, listed, percent
from carrel.kit.money import brief, micros_of
from carrel.reports.report import CandidateReport, PairShare, Recommendation

ENOUGH_VOTES: Final = 10
"""So many blind votes make a fair check of the judges."""
_ANSWERS: Final = 1_000
"""So many answers have a cost that a reader can picture."""
_BY_VOTES: frozenset[Kind] = frozenset({"opposed", "flips", "length", "by_votes"})
"""Doubts about judges, which blind votes settle."""
_BY_DOCUMENTS: frozenset[Kind] = frozenset({"documents_needed", "chance_to_find"})
_SURE: Final = (
    "Nothing is told apart.",
    "Not sure: chance could explain the lead.",
    "More than chance explains, but with a doubt.",
    "More than chance explains. No person has checked it.",
    "More than chance explains, and people agree.",
)


class DecisionFacts(NamedTuple):
    """What a decision rests on; `pairs` and `checks` as the report has them."""

    ranking: Ranking
    verdict: Statement
    candidates: Sequence[CandidateReport]
    pairs: Sequence[PairShare]
    checks: CheckResults | None
    human: HumanCheck | None
    finished: bool


class _Doubt(NamedTuple):
    sentence: str
    settled_by: Literal["votes", "documents"] | None


def decide(facts: DecisionFacts) -> Recommendation:
    """Put what follows from the facts into a headline and one sentence."""
    costs = _costs(facts.candidates)
    first, beside = sides(facts.ranking, facts.candidates)
    marks = _marks(facts)
    doubt = None if first is None else _doubt(facts)
    return Recommendation(
        headline=_headline(facts, first),
        reason="" if first is None or beside is None else _reason(facts, first, beside, costs),
        marks=marks,
        sure="" if first is None else _sure(facts, marks),
        first=first,
        beside=beside,
        doubt=None if doubt is None else doubt.sentence,
        settled_by=None if doubt is None else doubt.settled_by,
    )


def sides(ranking: Ranking, candidates: Sequence[CandidateReport]) -> tuple[str | None, str | None]:
    """Whom the decision is about: the first, and whom it is weighed against."""
    first = _first(ranking)
    return first, None if first is None else _beside(ranking, first, _costs(candidates))


def _first(ranking: Ranking) -> str | None:
    placed = [row.candidate for row in ranking.rows if row.place is not None]
    if not ranking.groups or len(ranking.groups) > 1 or not placed:
        return None
    return ranking.leaders[0] if ranking.leaders else placed[0]


def _beside(ranking: Ranking, first: str, costs: Mapping[str, int | None]) -> str | None:
    """The best of those that cost much less; else the next one."""
    others = [row.candidate for row in ranking.rows if row.place is not None and row.candidate != first]
    cheaper = [one for one in others if _saves(costs[first], costs[one])]
    return next(iter(cheaper or others), None)


def _saves(dear: int | None, cheap: int | None) -> bool:
    return dear is not None and cheap is not None and dear > 0 and 3 * cheap <= 2 * dear


def _costs(candidates: Sequence[CandidateReport]) -> dict[str, int | None]:
    """What an answer of each costs, in millionths."""
    return {
        one.candidate: None if one.cost_per_answer is None else micros_of(one.cost_per_answer) for one in candidates
    }


def _headline(facts: DecisionFacts, first: str | None) -> str:
    ranking, said = facts.ranking, facts.verdict
    if first is None:
        return said.sentence
    match said.outcome:
        case "decided":
            if ranking.exploratory:
                return f"{first} would be ahead with these judges and weights."
            return f"{first} is ahead." if said.doubted or not facts.finished else f"Take {first}."
        case "undecided" | "level":
            open_rivals = [one.candidate for one in ranking.contrasts if not one.excludes_zero]
            names = list(dict.fromkeys([*ranking.leaders, *open_rivals]))
            if len(names) < 2:
                return f"{first} leads, but nothing is decided."
            return f"No clear difference between {listed(names)} yet."
        case _:
            return f"{counted(ranking.documents, 'document')} cannot decide: {_leading(ranking)} so far."


def _leading(ranking: Ranking) -> str:
    leaders = ranking.leaders
    return f"{listed(leaders)} are level" if len(leaders) > 1 else f"{leaders[0]} leads"


def _reason(facts: DecisionFacts, first: str, beside: str, costs: Mapping[str, int | None]) -> str:
    """What the other one saves and what it is worse at; or what speaks for the first."""
    dear, cheap = costs[first], costs[beside]
    told = _told(facts, first, beside)
    if dear is not None and cheap is not None and _saves(dear, cheap):
        saves = "is free" if not cheap else f"saves {percent((dear - cheap) / dear)}"
        instead = f"{_price(cheap)} instead of {_price(dear)}" if cheap else f"in place of {_price(dear)}"
        but = "but" if facts.verdict.outcome == "decided" else "and"
        return f"{beside} {saves} ({instead} per {_ANSWERS:,} answers)" + (f", {but} {told}." if told else ".")
    spoken = [f"{beside} {told}"] if told else []
    if dear is not None and cheap is not None:
        if _saves(cheap, dear):
            less = f"and costs {percent((cheap - dear) / cheap)} less" if dear else "and is free"
            spoken.append(f"{first} is better {less} ({_price(dear)} instead of {_price(cheap)})")
        elif dear or cheap:
            spoken.append(f"they cost about the same, {_price(dear)} and {_price(cheap)} per {_ANSWERS:,} answers")
    return f"{'; '.join(spoken)}." if spoken else ""


def _told(facts: DecisionFacts, first: str, beside: str) -> str:
    """How the other one does beside the first, document by document, or by its mean score."""
    rates = {row.candidate: _rate(row) for row in facts.checks.rows} if facts.checks is not None else {}
    if facts.ranking.basis == "checks":
        if not rates:
            return ""
        passed, theirs = _passed(rates[beside]), _passed(rates[first])
        return f"passes {passed}, as {first} does" if passed == theirs else f"passes {passed}, {first} {theirs}"
    for pair in facts.pairs:
        if {pair.a, pair.b} == {first, beside}:
            better, worse = (pair.better, pair.worse) if pair.a == first else (pair.worse, pair.better)
            level = pair.documents - better - worse
            parts = (("worse on", better), ("better on", worse), ("level on", level))
            on = listed([f"{words} {number:,}" for words, number in parts if number])
            return f"is {on} of {counted(pair.documents, 'document')}"
    scores = {row.candidate: row.score for row in facts.ranking.rows}
    own, other = scores.get(beside), scores.get(first)
    return "" if own is None or other is None else f"scores {own:.2f} of 1 on average, {first} {other:.2f}"


def _price(micros: int) -> str:
    return brief(_ANSWERS * micros)


def _marks(facts: DecisionFacts) -> int:
    """How sure it is: 0 nothing, 1 a lead, 2 with a serious doubt, 3 beyond chance, 4 people agree."""
    ranking, human = facts.ranking, facts.human
    if facts.verdict.outcome != "decided" or not facts.finished:
        return int(facts.verdict.outcome in ("decided", "undecided") and len(ranking.leaders) == 1)
    if facts.verdict.doubted:
        return 2
    if human is None or human.votes < ENOUGH_VOTES or human.low is None:
        return 3
    return 4 if human.low > 0.5 and set(human.leaders) & set(ranking.leaders) else 3


def _sure(facts: DecisionFacts, marks: int) -> str:
    """Nobody has to check what needs no judge, and what a doubt takes away need not be chance."""
    if marks == 1 and any(one.decisive for one in facts.ranking.distrust):
        return "Not sure: a doubt stands against the lead."
    return "More than chance explains." if marks == 3 and facts.ranking.basis == "checks" else _SURE[marks]


def _doubt(facts: DecisionFacts) -> _Doubt | None:
    """The one doubt to be shown beside a decision. All others stand with the method."""
    told = facts.verdict.doubt
    if told is None:
        is_judged = facts.ranking.counts.planned and facts.ranking.basis != "checks"
        is_unchecked = facts.human is None and is_judged
        return _Doubt("No person has checked these judges.", "votes") if is_unchecked else None
    found = verdict.doubts(facts.ranking, facts.human)
    kind = next((one.kind for one in found if told.startswith(one.sentence)), None)
    return _Doubt(told, "votes" if kind in _BY_VOTES else "documents" if kind in _BY_DOCUMENTS else None)


def _rate(row: CandidateChecks) -> PassRate:
    return row.required or row.mean


def _passed(rate: PassRate) -> str:
    """`27 of 30 documents`, or a share where an answer may pass in part."""
    passed = (rate.share or 0.0) * rate.documents
    whole = abs(passed - round(passed)) < 1e-6
    of = counted(rate.documents, "document")
    return f"{round(passed):,} of {of}" if whole else f"{percent(rate.share or 0.0)} of {of}"
