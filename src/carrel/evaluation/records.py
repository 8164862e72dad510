"""The judges' verdicts and scores, one record each: the only input of every statistic in this package."""

from functools import cache
from typing import Literal

import msgspec

HUMAN = "human"
"""The name under which Carrel keeps a person's blind votes as a judge's."""

Word = Literal["first", "second", "tie", "invalid", "missing"]
"""A judge's word on two answers in the order in which it saw them; `invalid` stayed malformed after the re-asks,
`missing` never came (a transport failure, a skipped task)."""

Side = Literal["a", "b", "tie"]
Fate = Literal["agreed", "flip", "inconsistent", "by_rule", "invalid", "missing"]
ScoreFate = Literal["given", "by_rule", "invalid", "missing"]


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One judge on candidates `a` and `b` for one document and repeat, in both orders.

    `ab` is the word when `a`'s answer was shown first, `ba` when `b`'s was. `by_rule` stands instead of a call where an
    answer was not delivered, or failed a required check. Lengths are in any one unit, `None` where unknown. A repeat
    that replays another one (a cache, a deterministic judge on the same answers) is not a second record: leave it out.
    """

    document: str
    judge: str
    a: str
    b: str
    repeat: int = 1
    ab: Word = "missing"
    ba: Word = "missing"
    by_rule: Side | None = None
    a_length: int | None = None
    b_length: int | None = None


REPEATS = 1_000
"""A number above all repeats of a run. What several runs, or several copies of a text, say of one document has repeats
in ranges of this size, one range for each."""


class HumanVote(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A person's blind vote, as a verdict of judge `human`, and how its pair was chosen.

    A `voter` without a name is the user. The pair was the `nth` that the voter saw of its document, drawn from `among`
    pairs with probability `chance`. Both are `None` where nobody drew: such votes count as drawn by equal lots.
    """

    verdict: Verdict
    voter: str = ""
    chance: float | None = None
    among: int | None = None
    nth: int = 1


class Score(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One judge's scores of one answer, on the criteria's own scales.

    `by_rule` marks an answer that was not delivered or fails a required check: it has the least score on every
    criterion, without a call.
    """

    document: str
    judge: str
    candidate: str
    repeat: int = 1
    values: dict[str, float] = {}
    fate: ScoreFate = "given"


class Mark(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the checks say of one answer: a value from 0 to 1; `None` if the answer never came.

    Where the expected outputs are classes, `expected` is the number of the document's and `answer` that of the answer,
    `None` if it names none of them.
    """

    document: str
    candidate: str
    repeat: int = 1
    value: float | None = None
    expected: int | None = None
    answer: int | None = None


def by_rule(a_delivered: bool, b_delivered: bool) -> Side | None:
    """Who wins without a call: a refused, empty or truncated answer loses against a delivered one.

    Two undelivered answers tie: neither did the job. `None` when both were delivered, so that a judge must say.
    """
    if a_delivered and b_delivered:
        return None
    if a_delivered == b_delivered:
        return "tie"
    return "a" if a_delivered else "b"


def by_checks(a_passes: bool, b_passes: bool) -> Side | None:
    """Who wins without a call: an answer that passes every required check beats one that does not.

    `None` when both pass or both fail, so that a judge must say.
    """
    if a_passes == b_passes:
        return None
    return "a" if a_passes else "b"


def fate(verdict: Verdict) -> Fate:
    """The outcome of a verdict's two orders: opposite winners are a `flip`, a win and a tie are `inconsistent`."""
    return outcome(verdict.by_rule, verdict.ab, verdict.ba)[0]


def value(verdict: Verdict) -> float | None:
    """1 if `a` won in both orders, 0 if `b` did, ½ for other words; `None` if it is invalid or missing."""
    return outcome(verdict.by_rule, verdict.ab, verdict.ba)[1]


def mirrored(verdict: Verdict) -> Verdict:
    """The same verdict with `a` and `b` exchanged."""
    return msgspec.structs.replace(
        verdict,
        a=verdict.b,
        b=verdict.a,
        ab=verdict.ba,
        ba=verdict.ab,
        by_rule=None if verdict.by_rule is None else _MIRROR[verdict.by_rule],
        a_length=verdict.b_length,
        b_length=verdict.a_length,
    )


_VALUES: dict[Side, float] = {"a": 1.0, "b": 0.0, "tie": 0.5}
_MIRROR: dict[Side, Side] = {"a": "b", "b": "a", "tie": "tie"}


@cache
def outcome(rule: Side | None, ab: Word, ba: Word) -> tuple[Fate, float | None]:
    """Fate and value of a verdict of these words: a hundred at most, for which a long run asks a million times."""
    if rule is not None:
        return "by_rule", _VALUES[rule]
    if "invalid" in (ab, ba):
        return "invalid", None
    if "missing" in (ab, ba):
        return "missing", None
    winner = _winner(ab, "a", "b")
    if winner == _winner(ba, "b", "a"):
        return "agreed", _VALUES[winner]
    return ("inconsistent" if "tie" in (ab, ba) else "flip"), 0.5


def _winner(word: Word, first: Side, second: Side) -> Side:
    if word == "first":
        return first
    return second if word == "second" else "tie"
