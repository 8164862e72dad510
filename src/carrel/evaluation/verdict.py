"""The words of a verdict: one sentence that may also say "not decided", its scope, and the doubts about it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from carrel.evaluation import overturning
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.ranking.contrasts import DECIDES_FROM, UNANIMOUS, Contrast
from carrel.evaluation.ranking.grouping import By
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.remarks import Kind, Remark
from carrel.evaluation.words import counted, listed, percent

Outcome = Literal["nothing", "disconnected", "anecdote", "too_few", "level", "undecided", "decided"]

UNCHECKED = "about documents like these, for these judges; no human has checked them"
VOTED = "about documents like these, for these judges; a person has voted blind on some of them"
"""Mentions the votes without their number, which may still grow."""
CHECKED = "about documents like these, for these judges, a person among them"
BY_CHECKS = "about documents like these, and about nothing but what the checks ask"
NO_CLASSES = "The expected answers are no classes, so nobody can be called best by macro F1."
UNCHECKABLE = "No answer could be checked, so nobody can be called best."
NO_JUDGEMENT = "no judgement of the answers"
ANSWERS_ONLY = "Nothing was compared or scored, so nobody can be called best: the run only made answers."
BY_SCORES = "Nothing was compared; by scores alone:"


_EXPLORATORY = "Exploratory: judges were left out or added, or their weights moved, after the results were seen."
_SERIOUS: frozenset[Kind] = frozenset({"exploratory", "check", "chance", "flips", "length", "by_votes"})
"""Doubts that leave a verdict decided, but not beyond doubt."""
_SETTLED_BY: dict[Kind, str] = {
    "exploratory": "A run over other documents tells.",
    "check": "Judging again with a judge that passed the check tells.",
    "chance": "Judging again with another judge tells.",
    "opposed": "Ten blind votes tell which of them to believe.",
    "flips": "Ten blind votes tell how far to believe it.",
    "by_votes": "More blind votes tell.",
    "overturned": "Retry what failed.",
}
"""What to do about a doubt that does not say so itself."""
_CLOSE = 0.05
"""Logits; a smaller difference of two ratings is not worth a word."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """The words about a ranking. Always show `sentence` with `scope`; `notes` are doubts, the most serious first.

    `doubt` is the one of them that could change the decision, with what settles it: show it beside the sentence, and
    the others with the method.
    `checks` are what was tried to overturn the verdict, apart from what `notes` say already: show them, too. `grey`
    says that intervals should be drawn grey, because there are too few documents to read anything from them.
    `doubted`: one of the notes is serious, so do not show even a decided verdict as if nothing spoke against it.
    """

    outcome: Outcome
    sentence: str
    scope: str
    notes: tuple[str, ...]
    grey: bool
    checks: tuple[str, ...] = ()
    doubted: bool = False
    doubt: str | None = None

    @property
    def text(self) -> str:
        """Sentence and scope as one text."""
        return f"{self.sentence} This is {self.scope}."


def state(ranking: Ranking, human: HumanCheck | None = None) -> Statement:
    """Put a ranking into words; the same ranking gives the same words."""
    if ranking.basis == "checks" and not ranking.groups:
        sentence = NO_CLASSES if ranking.measure == "macro_f1" else UNCHECKABLE
        return Statement(outcome="nothing", sentence=sentence, scope=BY_CHECKS, notes=(), grey=True)
    if ranking.basis == "answers":
        return Statement(outcome="nothing", sentence=ANSWERS_ONLY, scope=NO_JUDGEMENT, notes=(), grey=True)
    outcome = _outcome(ranking)
    found = doubts(ranking, human)
    notes = tuple(doubt.sentence for doubt in found)
    return Statement(
        outcome=outcome,
        sentence=_sentence(outcome, ranking),
        scope=BY_CHECKS if ranking.basis == "checks" else CHECKED if ranking.checked_by_human else _scope(human),
        notes=notes,
        grey=ranking.independent < DECIDES_FROM,
        checks=tuple(check.sentence for check in overturning.tried(ranking) if check.sentence not in notes),
        doubted=any(doubt.kind in _SERIOUS for doubt in found),
        doubt=_headline(outcome, ranking, found),
    )


def doubts(ranking: Ranking, human: HumanCheck | None = None) -> tuple[Remark, ...]:
    """What speaks against the verdict on a ranking or limits it, the most serious first."""
    return (*_doubts(ranking), *_of_votes(ranking, human), *_malformed(ranking), *_of_looks(ranking))


def _headline(outcome: Outcome, ranking: Ranking, found: Sequence[Remark]) -> str | None:
    """Of several: what takes *best* away, else how many documents would decide, else the most serious."""
    decisive = {one.sentence for one in ranking.distrust if one.decisive}
    first = [
        *(one for one in found if one.sentence in decisive),
        *(one for one in found if outcome == "undecided" and one.kind == "documents_needed"),
        *(one for one in found if one.kind in _SERIOUS or one.kind == "overturned"),
    ]
    return " ".join([first[0].sentence, *filter(None, [_SETTLED_BY.get(first[0].kind)])]) if first else None


def _outcome(ranking: Ranking) -> Outcome:
    if not ranking.groups:
        return "nothing"
    if len(ranking.groups) > 1:
        return "disconnected"
    if ranking.documents == 1:
        return "anecdote"
    if ranking.independent < DECIDES_FROM:
        return "too_few"
    if len(ranking.leaders) > 1:
        return "level"
    return "decided" if ranking.best is not None else "undecided"


def _sentence(outcome: Outcome, ranking: Ranking) -> str:
    words = _words(outcome, ranking)
    look = ranking.look
    if outcome == "decided" and look is not None and look.stopped:
        words = f"{words} Stopped after {look.documents} of {look.planned} documents: decided."
    if outcome == "decided" and (lost := _lost(ranking)):
        words = f"{words} But head to head it does not beat {listed([contrast.candidate for contrast in lost])}."
    if ahead := _ahead_by_rating(ranking):
        words = f"{words} By rating {ahead} is ahead, because not all met the same opponents."
    compared, field = _field(ranking)
    if compared < field and outcome not in ("nothing", "decided"):
        words = f"{words} Only {compared} of {field} candidates were {_met(ranking)}."
    return f"{BY_SCORES} {words}" if ranking.basis == "scores" else words


def _words(outcome: Outcome, ranking: Ranking) -> str:
    by_scores = ranking.by_score
    match outcome:
        case "nothing":
            return "Nothing was compared, so nothing can be said."
        case "disconnected":
            groups = "; ".join(listed(group) for group in ranking.groups)
            never = "were never scored together" if by_scores else "never met"
            return f"No candidate leads: these groups {never} ({groups})."
        case "anecdote":
            return f"{_lead(ranking)}. One document: an anecdote; no interval."
        case "too_few":
            needed = _needed(ranking)
            would = "" if needed is None else f"; about {_ranged(needed)} would"
            if would and ranking.independent < ranking.documents:
                would = f"; about {_ranged(needed)} documents in such groups would" if needed is not None else would
            return f"{_lead(ranking)}; {_documents(ranking)} cannot decide{would}."
        case "level":
            return f"{_lead(ranking)} after {_documents(ranking)}: none can be called best."
        case "undecided":
            if len(ranking.rows) == 1:
                return f"{_lead(ranking)} because it had no rival: nothing was decided."
            rivals = listed([contrast.candidate for contrast in ranking.contrasts if not contrast.excludes_zero])
            if not rivals:
                return f"{_lead(ranking)}, but these judges cannot carry a verdict."
            return f"{_lead(ranking)}, but cannot be called best: {rivals} cannot be ruled out."
        case "decided":
            return _best(ranking)


def _best(ranking: Ranking) -> str:
    row = ranking.rows[0]
    compared, field = _field(ranking)
    best = "is best" if compared == field else f"is best of the {compared} that were {_met(ranking)}"
    if ranking.by_score and row.score is not None and row.score_low is not None and row.score_high is not None:
        written = percent if ranking.basis == "checks" else "{:.2f}".format
        between = f"95 % interval {written(row.score_low)} to {written(row.score_high)}"
        return f"{row.candidate} {best}: {_reached(ranking, written(row.score))} {_documents(ranking)} ({between})."
    if row.win_share is None or row.shown_low is None or row.high is None:
        return f"{row.candidate} {best}."
    interval = f"{percent(row.shown_low)} to {percent(row.high)}"
    kind = "95 % interval" if ranking.look is None else "repeated 95 % interval"
    won = f"it won {percent(row.win_share)} of its pairs"
    if row.tied:
        won = (
            f"it won {row.won:,} of its {row.comparisons:,} pairs and {row.tied:,} had no clear winner, so"
            f" it is preferred in {percent(row.win_share)}"
        )
    return f"{row.candidate} {best}: {won} on {_documents(ranking)} ({kind} {interval})."


def _reached(ranking: Ranking, score: str) -> str:
    match ranking.measure:
        case None:
            return f"its mean score is {score}, of 1, on"
        case "required":
            return f"it passes every required check on {score} of"
        case "checks":
            return f"the mean of its checks is {score}, on"
        case "accuracy":
            return f"it is right on {score} of"
        case "macro_f1":
            return f"its macro F1 is {score}, on"


def _documents(ranking: Ranking) -> str:
    """`60 documents in 12 groups`; without the groups where every document stands alone."""
    number = counted(ranking.documents, "document")
    return (
        number if ranking.independent == ranking.documents else f"{number} in {counted(ranking.independent, 'group')}"
    )


def _field(ranking: Ranking) -> tuple[int, int]:
    """How many candidates were compared (or scored, where that is all), and how many there are."""
    return sum(1 for row in ranking.rows if row.place is not None), len(ranking.rows)


def _met(ranking: Ranking) -> str:
    return {"scores": "scored", "checks": "checked"}.get(ranking.basis, "compared")


def _ahead_by_rating(ranking: Ranking) -> str | None:
    """Who has a greater rating than the one leader by win share: this happens where verdicts are missing."""
    rated = {row.candidate: row.rating for row in ranking.rows if row.rating is not None}
    if len(ranking.leaders) != 1 or ranking.leaders[0] not in rated:
        return None
    first = max(rated, key=lambda candidate: rated[candidate])
    return first if rated[first] - rated[ranking.leaders[0]] > _CLOSE else None


def _lost(ranking: Ranking) -> list[Contrast]:
    """The rivals that were preferred to the leader where the two met: others beat those rivals more often."""
    return [one for one in ranking.contrasts if one.head_to_head is not None and one.head_to_head < 0.5]


def _lead(ranking: Ranking) -> str:
    return _lead_of(ranking.leaders)


def _lead_of(leaders: Sequence[str]) -> str:
    return f"{leaders[0]} leads" if len(leaders) == 1 else f"{listed(leaders)} are level"


def _needed(ranking: Ranking) -> tuple[int, int] | None:
    """From how many to how many documents would decide every open contrast; `None` if that cannot be told yet."""
    needed = [contrast.documents_needed for contrast in ranking.contrasts if not contrast.ahead]
    known = [numbers for numbers in needed if numbers is not None]
    if not known or len(known) < len(needed):
        return None
    least = max(ranking.documents + 1, UNANIMOUS)
    return max(least, *(one.low for one in known)), max(least, *(one.high for one in known))


def _ranged(numbers: tuple[int, int]) -> str:
    low, high = numbers
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _doubts(ranking: Ranking) -> list[Remark]:
    found = []
    if ranking.exploratory:
        found.append(Remark("exploratory", _EXPLORATORY))
    distrust = [one for one in ranking.distrust if one.kind != "malformed"]
    found.extend(Remark(one.kind, one.sentence) for one in sorted(distrust, key=lambda one: not one.decisive))
    bounds = ranking.bounds
    if bounds is not None and bounds.overturned_by:
        noun = {"scores": "score", "checks": "answer"}.get(ranking.basis, "verdict")
        could = f"{counted(bounds.overturning, f'missing {noun}')} could overturn this."
        found.append(Remark("overturned", could))
    found.extend(_of_groups(ranking))
    found.extend(_of_size(ranking))
    if ranking.leaders and ranking.score_leaders and not set(ranking.leaders) & set(ranking.score_leaders):
        found.append(Remark("by_scores", f"By scores, {_lead_of(ranking.score_leaders)}."))
    if ranking.leaders and ranking.judged_leaders and not set(ranking.leaders) & set(ranking.judged_leaders):
        found.append(Remark("by_judges", f"By the judges, {_lead_of(ranking.judged_leaders)}."))
    if len(ranking.leaders) == 1:
        found.extend(
            Remark(
                "head_to_head",
                f"Head to head, {one.candidate} won {percent(1.0 - (one.head_to_head or 0.0))} against"
                f" {ranking.leaders[0]} on {counted(one.met, 'document')}: {ranking.leaders[0]} leads because it does"
                " better against others.",
            )
            for one in _lost(ranking)
        )
    if ranking.majority is not None:
        always = f"Always giving the most frequent of the expected answers reaches {percent(ranking.majority)}."
        found.append(Remark("majority", always))
    level = ranking.length_adjusted.leaders if ranking.length_adjusted is not None else ()
    if ranking.leaders and level and not set(ranking.leaders) & set(level):
        found.append(
            Remark("equally_long", "Length and preference go together here: ten blind votes tell which of them it is.")
        )
    found.extend(
        Remark("without_judge", f"Without {without.judge}, {_lead_of(without.leaders)}.")
        for without in ranking.without_judge
        if without.leaders and without.leaders != ranking.leaders
    )
    return found


def _of_size(ranking: Ranking) -> list[Remark]:
    """How many documents would decide, and how often such a run finds a true lead."""
    is_open = any(not contrast.ahead for contrast in ranking.contrasts)
    if _outcome(ranking) != "undecided" or not is_open:
        return []
    needed = _needed(ranking)
    such = " in such groups" if ranking.independent < ranking.documents else ""
    unknown = "How many documents would decide cannot be told yet."
    would = unknown if needed is None else f"About {_ranged(needed)} documents{such} would decide."
    found = [Remark("documents_needed", would)]
    if ranking.found_chance_low is not None and ranking.found_chance_high is not None:
        low, high = round(100 * ranking.found_chance_low), round(100 * ranking.found_chance_high)
        planned = ranking.documents if ranking.look is None else ranking.look.planned
        found.append(
            Remark(
                "chance_to_find",
                f"If judges like these truly preferred one candidate in 69 % of pairs, {_ranged((low, high))} of"
                f" 100 runs over {counted(planned, 'document')} would find it.",
            )
        )
    return found


_KINDS: dict[By, str] = {"tag": "tag", "name": "beginning of the name", "map": "the groups that you gave"}


def _of_groups(ranking: Ranking) -> list[Remark]:
    """What is to be known about documents that belong together, or that seem to."""
    grouping = ranking.grouping
    if grouping is None:
        return []
    found = []
    if grouping.near:
        equals = f"{counted(grouping.near, 'document')} nearly {'equals' if grouping.near == 1 else 'equal'}"
        found.append(Remark("alike", f"{equals} an earlier one: such documents count together as one group."))
    if grouping.by is not None and ranking.independent < ranking.documents:
        found.append(
            Remark(
                "grouped",
                f"Documents belong together by {_KINDS[grouping.by]}: {_documents(ranking)}, and only the groups count"
                " as independent of each other.",
            )
        )
    if grouping.suggested is not None:
        what = "names" if grouping.suggested == "name" else "tags"
        found.append(
            Remark(
                "ungrouped",
                f"By their {what}, the documents come in groups, but each counted as independent of the others. If"
                " those of a group are alike, say in the preset what they belong together by: intervals here are then"
                " too narrow.",
            )
        )
    return found


def _scope(human: HumanCheck | None) -> str:
    if human is None:
        return UNCHECKED
    voted = f"a person voted blind on {counted(human.votes, 'pair')}"
    if human.voters > 1:
        voted = f"{human.voters:,} people gave {human.votes:,} blind votes"
    scope = f"about documents like these, for these judges; {voted}"
    return f"{scope} and came to the judges' outcome on {human.sided} of {human.judged}" if human.judged else scope


def _of_votes(ranking: Ranking, human: HumanCheck | None) -> list[Remark]:
    if human is None or not human.leaders or not ranking.leaders or set(human.leaders) & set(ranking.leaders):
        return []
    between = ""
    if human.share is not None and human.low is not None and human.high is not None:
        between = f", preferred in {percent(human.share)} (95 % interval {percent(human.low)} to {percent(human.high)})"
    whose = "the person's" if human.voters == 1 else "people's"
    return [Remark("by_votes", f"By {whose} {human.votes} blind votes, {_lead_of(human.leaders)}{between}.")]


def _of_looks(ranking: Ranking) -> list[Remark]:
    """Remarks on the kind of intervals in the ranking of a run that may stop early, and on whom it left behind."""
    look = ranking.look
    if look is None:
        return []
    repeated = (
        f"Intervals are repeated ones: the run looks up to {look.of} times, and they hold at all its looks together at"
        f" 95 % (each at {100 * look.confidence:.1f} %), so they are wider than those of a run that looks once."
    )
    found = [Remark("repeated_intervals", repeated)]
    if look.beaten:
        beaten = listed(
            [f"{one.candidate} was beaten by {one.by} after {one.documents} documents" for one in look.beaten]
        )
        them = "it" if len(look.beaten) == 1 else "them"
        found.append(Remark("beaten", f"{beaten}; nobody was called for {them} after that."))
    return found


def _malformed(ranking: Ranking) -> list[Remark]:
    """Of all reasons for distrust these are the least serious."""
    return [Remark("malformed", one.sentence) for one in ranking.distrust if one.kind == "malformed"]
