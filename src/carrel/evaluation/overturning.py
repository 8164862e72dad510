"""What was tried to overturn a verdict, in sentences: without each judge, with equal lengths, with what is missing."""

from collections.abc import Iterator

from carrel.evaluation.ranking.length import LengthAdjusted
from carrel.evaluation.ranking.ranking import Ranking, Row
from carrel.evaluation.remarks import Remark
from carrel.evaluation.words import counted, listed, percent

_SHOWN = 0.005
"""Less than half a point is not worth a word."""


def tried(ranking: Ranking) -> tuple[Remark, ...]:
    """Everything that was tried, with its result, whether or not it speaks against the verdict."""
    if not ranking.groups:
        return ()
    judges = () if ranking.basis == "checks" else _judges(ranking)
    return (*judges, *_length(ranking), *_by_rule(ranking), *_missing(ranking))


def _judges(ranking: Ranking) -> Iterator[Remark]:
    for without in ranking.without_judge:
        if not without.leaders:
            yield Remark("tried_without_judge", f"Without {without.judge}, nobody can be called the leader.")
        else:
            leads = "leads" if len(without.leaders) == 1 else "are level"
            same = " as well" if without.leaders == ranking.leaders else ""
            yield Remark("tried_without_judge", f"Without {without.judge}, {listed(without.leaders)} {leads}{same}.")
    if not ranking.without_judge:
        yield Remark("one_judge", "There is no second judge, so nobody can tell whether the verdict hangs on this one.")


def _length(ranking: Ranking) -> Iterator[Remark]:
    longer = ranking.longer_text
    if longer.share is not None:
        yield Remark(
            "longer_text",
            f"The longer text won {longer.won:,} of {longer.of:,} clear verdicts ({percent(longer.share)} by"
            f" document{_interval(longer.low, longer.high, ', 95 % interval ')}).",
        )
    level = ranking.length_adjusted
    if level is None:
        return
    if level.reason is not None:
        yield Remark(
            "lengths_tied_up",
            f"What the ranking would be with all answers equally long is not known: {level.reason}.",
        )
    else:
        yield Remark("tried_equally_long", _level(level))


def _level(level: LengthAdjusted) -> str:
    shares = ", ".join(
        f"{row.candidate} would win {percent(row.win_share)}{_interval(row.low, row.high, ' (', ')')}"
        for row in level.rows
    )
    said = f"If longer answers won by their length alone (length-adjusted after Dubois and others 2024), {shares}."
    if level.taste is None:
        return said
    between = _interval(level.taste_low, level.taste_high, " (", ")")
    return f"{said} The longer of two equally good answers wins {percent(level.taste)} of the time{between}."


def _by_rule(ranking: Ranking) -> Iterator[Remark]:
    """Nobody judged what a rule decides, and it may be a failure of a server's that no other try would bring."""
    of = ranking.counts.by_rule
    if of and ranking.basis == "comparisons":
        are = "is" if of == 1 else "are"
        yield Remark(
            "by_rule",
            f"{counted(of, 'verdict')} {are} by rule: an answer was empty, cut off or refused, or failed a required"
            " check.",
        )


def _missing(ranking: Ranking) -> Iterator[Remark]:
    bounds = ranking.bounds
    if bounds is None:
        return
    noun = {"scores": "score", "checks": "answer"}.get(ranking.basis, "verdict")
    if not bounds.open_verdicts:
        yield Remark("nothing_missing", f"No {noun} is missing.")
        return
    gone = f"{counted(bounds.open_verdicts, noun)} {'is' if bounds.open_verdicts == 1 else 'are'} missing or invalid."
    if ranking.by_score:
        value = "rate" if ranking.basis == "checks" else "mean score"
        yield Remark(
            "bounds",
            f"{gone} With the least in their place, the leader's {value} is {bounds.share_worst:.2f}; with the most,"
            f" {bounds.share_best:.2f}.",
        )
    else:
        yield Remark(
            "bounds",
            f"{gone} With all of them against it, the leader's win share is {percent(bounds.share_worst)}; with all of"
            f" them for it, {percent(bounds.share_best)}.",
        )
        widened = [f"{row.candidate} by up to {100 * row.widened:.0f} points" for row in ranking.rows if _shows(row)]
        if widened:
            yield Remark(
                "widened",
                "Some verdicts are missing for a reason that the others do not show, so intervals of win shares reach"
                f" further: {listed(widened)}.",
            )


def _shows(row: Row) -> bool:
    return row.widened >= _SHOWN


def _interval(low: float | None, high: float | None, before: str, after: str = "") -> str:
    return "" if low is None or high is None else f"{before}{percent(low)} to {percent(high)}{after}"
