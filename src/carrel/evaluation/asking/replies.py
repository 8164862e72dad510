"""Reads a judge's reply: the result is in the required form, or a constant sentence that names the fault."""

import json
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, NoReturn

from carrel.kit.plain_text import as_text
from carrel.providers.base import Criterion, FinishReason

MAX_REPLY_CHARACTERS = 65_536
MAX_REASON_CHARACTERS = 2_000

TOO_LONG = "The reply is too long."
NOT_JSON = "The reply is not one valid JSON object with nothing around it."
REPEATED_KEY = "A key stands more than once in one object."
WRONG_KEYS = "The reply must have exactly the keys that were asked for."
REASON_NOT_TEXT = "The reason must be a text."
UNKNOWN_WINNER = 'The winner must be "first", "second" or "tie".'
SCORES_NOT_OBJECT = "The scores must be an object with one number for each criterion."
MISSING_CRITERION = "A criterion has no score."
UNKNOWN_CRITERION = "There is a score for something that is not a criterion."
NOT_A_NUMBER = "A score is not a number."
OUT_OF_SCALE = "A score lies outside its criterion's scale."
CUT_OFF = "The reply reached the output limit before its end."
REFUSED = "The model refused to judge."

CODES = {
    TOO_LONG: "reply-too-long",
    NOT_JSON: "reply-not-json",
    REPEATED_KEY: "reply-repeated-key",
    WRONG_KEYS: "reply-wrong-keys",
    REASON_NOT_TEXT: "reply-reason-not-text",
    UNKNOWN_WINNER: "reply-unknown-winner",
    SCORES_NOT_OBJECT: "reply-scores-not-object",
    MISSING_CRITERION: "reply-missing-criterion",
    UNKNOWN_CRITERION: "reply-unknown-criterion",
    NOT_A_NUMBER: "reply-not-a-number",
    OUT_OF_SCALE: "reply-out-of-scale",
    CUT_OFF: "reply-cut-off",
    REFUSED: "reply-refused",
}
"""The part of a fault that rows and answers keep."""
FINAL = frozenset({CODES[CUT_OFF], CODES[REFUSED]})
"""What asking the same judge in the same way again does not change, and costs as much again."""

_WRAPPED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
_ENDS = re.compile(r"(?:\s*<\|[a-z_]+\|>)+\Z")
"""Marks for the end of a turn, which some servers leave in."""


class ReplyFault(NamedTuple):
    """The fault of a reply; `message` is one of this module's constants, which may go back to the judge."""

    message: str


class ScoreReply(NamedTuple):
    """One score for every criterion, within its scale."""

    scores: dict[str, float]
    reason: str


class CompareReply(NamedTuple):
    """Which text won, in the order in which the judge saw them."""

    winner: Literal["first", "second", "tie"]
    reason: str


class _Refused(Exception):
    """A fault of the reply, not of Carrel; it never leaves this module."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def parse_score(text: str, criteria: Sequence[Criterion]) -> ScoreReply | ReplyFault:
    """Read the reply to `judge.score_prompt`. Never raises, whatever the text; a long reason is cut."""
    try:
        reply = _read(text, {"scores", "reason"})
        return ScoreReply(_scores(reply["scores"], criteria), _reason(reply["reason"]))
    except _Refused as refused:
        return ReplyFault(refused.message)


def parse_comparison(text: str) -> CompareReply | ReplyFault:
    """Read the reply to `judge.compare_prompt`. Never raises, whatever the text."""
    try:
        reply = _read(text, {"winner", "reason"})
        reason = _reason(reply["reason"])
    except _Refused as refused:
        return ReplyFault(refused.message)
    winner = reply["winner"]
    match winner.strip().lower() if isinstance(winner, str) else winner:
        case "first":
            return CompareReply("first", reason)
        case "second":
            return CompareReply("second", reason)
        case "tie":
            return CompareReply("tie", reason)
    return ReplyFault(UNKNOWN_WINNER)


def because(fault: ReplyFault, finish_reason: FinishReason) -> ReplyFault:
    """The fault of a reply, or why the model did not come to its end."""
    if finish_reason == "length":
        return ReplyFault(CUT_OFF)
    return ReplyFault(REFUSED) if finish_reason == "refused" else fault


def _read(text: str, keys: set[str]) -> dict[str, object]:
    """One JSON object with these keys; a Markdown fence around the whole reply is allowed."""
    if len(text) > MAX_REPLY_CHARACTERS:
        raise _Refused(TOO_LONG)
    bare = _ENDS.sub("", text).strip().removeprefix("\ufeff")
    wrapped = _WRAPPED.fullmatch(bare)
    try:
        reply = json.loads(wrapped[1] if wrapped else bare, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # malformed, an integer of thousands of digits, nesting without end
        raise _Refused(NOT_JSON) from None
    if not isinstance(reply, dict):
        raise _Refused(NOT_JSON)
    if reply.keys() != keys:
        raise _Refused(WRONG_KEYS)
    return reply


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Refused(REPEATED_KEY)
    return found


def _no_constant(_: str) -> NoReturn:
    """JSON has neither NaN nor Infinity, but Python's reader accepts them."""
    raise _Refused(NOT_JSON)


def _reason(reason: object) -> str:
    if not isinstance(reason, str):
        raise _Refused(REASON_NOT_TEXT)
    return as_text(reason[:MAX_REASON_CHARACTERS])


def _scores(scores: object, criteria: Sequence[Criterion]) -> dict[str, float]:
    if not isinstance(scores, dict):
        raise _Refused(SCORES_NOT_OBJECT)
    names = {criterion.name for criterion in criteria}
    if scores.keys() - names:
        raise _Refused(UNKNOWN_CRITERION)
    if names - scores.keys():
        raise _Refused(MISSING_CRITERION)
    return {criterion.name: _number(scores[criterion.name], criterion) for criterion in criteria}


def _number(value: object, criterion: Criterion) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Refused(NOT_A_NUMBER)
    # This compares before converting to a float, because an integer of 400 digits does not fit into one.
    if not criterion.minimum <= value <= criterion.maximum:
        raise _Refused(OUT_OF_SCALE)
    return float(value)
