"""Reading a judge's reply: strict, and unshaken by anything that can be written."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from carrel.evaluation.asking import replies
from carrel.evaluation.asking.replies import CompareReply, ReplyFault, ScoreReply, parse_comparison, parse_score
from carrel.providers.base import Criterion

CRITERIA = (Criterion(name="clarity", description=""), Criterion(name="depth", description="", minimum=0, maximum=1))
FAULTS = {value for name, value in vars(replies).items() if name.isupper() and isinstance(value, str)}


def reply(clarity: str = "4", depth: str = "0.5") -> str:
    return f'{{"scores": {{"clarity": {clarity}, "depth": {depth}}}, "reason": "Good."}}'


def test_a_score_is_read() -> None:
    assert parse_score(reply(), CRITERIA) == ScoreReply({"clarity": 4.0, "depth": 0.5}, "Good.")


def test_a_comparison_is_read() -> None:
    assert parse_comparison('{"winner": "tie", "reason": "Alike."}') == CompareReply("tie", "Alike.")


@pytest.mark.parametrize("wrap", ["{}", "\n  {}\n", "```json\n{}\n```", "```\n{}\n```\n"])
def test_space_and_one_markdown_fence_around_the_whole_reply_are_no_fault(wrap: str) -> None:
    assert isinstance(parse_score(wrap.replace("{}", reply()), CRITERIA), ScoreReply)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", replies.NOT_JSON),
        ("I think that the first one is better.", replies.NOT_JSON),
        (f"Here you are: {reply()}", replies.NOT_JSON),
        (f"{reply()} {reply()}", replies.NOT_JSON),
        (f"```json\n{reply()}\n``` That is all.", replies.NOT_JSON),
        (f"[{reply()}]", replies.NOT_JSON),
        ("null", replies.NOT_JSON),
        ("4", replies.NOT_JSON),
        (reply(clarity="NaN"), replies.NOT_JSON),
        (reply(clarity="-Infinity"), replies.NOT_JSON),
        (reply(clarity="9" * 5000), replies.NOT_JSON),
        ("[" * 60_000, replies.NOT_JSON),
        ('{"scores":' * 6_000, replies.NOT_JSON),
        (" " * 70_000 + reply(), replies.TOO_LONG),
        (reply(clarity="9" * 400), replies.OUT_OF_SCALE),
        (reply(clarity="1e999"), replies.OUT_OF_SCALE),
        (reply(clarity="5.0000001"), replies.OUT_OF_SCALE),
        (reply(clarity="0"), replies.OUT_OF_SCALE),
        (reply(depth="-0.1"), replies.OUT_OF_SCALE),
        (reply(clarity="true"), replies.NOT_A_NUMBER),
        (reply(clarity='"4"'), replies.NOT_A_NUMBER),
        (reply(clarity="null"), replies.NOT_A_NUMBER),
        (reply(clarity="[4]"), replies.NOT_A_NUMBER),
        ('{"scores": {"clarity": 4}, "reason": ""}', replies.MISSING_CRITERION),
        ('{"scores": {"clarity": 4, "depth": 1, "style": 1}, "reason": ""}', replies.UNKNOWN_CRITERION),
        ('{"scores": {"clarity": 4, "Depth": 1}, "reason": ""}', replies.UNKNOWN_CRITERION),
        ('{"scores": {"clarity": 1, "clarity": 5, "depth": 1}, "reason": ""}', replies.REPEATED_KEY),
        (f'{{"reason": "", {reply()[1:]}', replies.REPEATED_KEY),
        ('{"scores": [4, 1], "reason": ""}', replies.SCORES_NOT_OBJECT),
        ('{"scores": {"clarity": 4, "depth": 1}}', replies.WRONG_KEYS),
        ('{"scores": {"clarity": 4, "depth": 1}, "reason": "", "winner": "first"}', replies.WRONG_KEYS),
        ('{"scores": {"clarity": 4, "depth": 1}, "reason": null}', replies.REASON_NOT_TEXT),
    ],
)
def test_each_fault_of_a_score_has_its_name(text: str, fault: str) -> None:
    assert parse_score(text, CRITERIA) == ReplyFault(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"winner": "the first", "reason": ""}', replies.UNKNOWN_WINNER),
        ('{"winner": "draw", "reason": ""}', replies.UNKNOWN_WINNER),
        ('{"winner": ["first"], "reason": ""}', replies.UNKNOWN_WINNER),
        ('{"winner": true, "reason": ""}', replies.UNKNOWN_WINNER),
        ('{"winner": "first"}', replies.WRONG_KEYS),
        ('{"winner": "first", "winner": "second", "reason": ""}', replies.REPEATED_KEY),
        ('{"winner": "first", "reason": {}}', replies.REASON_NOT_TEXT),
        ("first", replies.NOT_JSON),
    ],
)
def test_each_fault_of_a_comparison_has_its_name(text: str, fault: str) -> None:
    assert parse_comparison(text) == ReplyFault(fault)


def test_a_reason_can_be_stored_whatever_it_holds() -> None:
    found = parse_comparison('{"winner": "first", "reason": "\\ud800' + "x" * 5000 + '"}')
    assert isinstance(found, CompareReply)
    assert found.reason == "?" + "x" * (replies.MAX_REASON_CHARACTERS - 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.sampled_from(["first", "tie"]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["scores", "reason", "winner", "clarity", "depth"]), inner)
    ),
    max_leaves=8,
)


@given(st.text() | JSON.map(json.dumps))
@example("\ufeff{}")
@example("```json\n\n```")
@example('{"scores": {}, "reason": "\x00"}')
def test_whatever_is_written_there_is_a_verdict_or_a_constant_fault(text: str) -> None:
    for found in (parse_score(text, CRITERIA), parse_comparison(text)):
        assert not isinstance(found, ReplyFault) or found.message in FAULTS
        if isinstance(found, ScoreReply):
            assert 1 <= found.scores["clarity"] <= 5
            assert 0 <= found.scores["depth"] <= 1


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "```json\n{}\n```",
        "```JSON\r\n{}\r\n```",
        "```json\n{}```",
        "```{}```",
        "\ufeff{}",
        "{}<|im_end|>",
        "\n{}\n",
    ],
)
@pytest.mark.parametrize("winner", ["first", "First", "first "])
def test_what_never_changes_when_a_judge_is_asked_again_is_read(around: str, winner: str) -> None:
    said = json.dumps({"reason": "r", "winner": winner})
    assert parse_comparison(around.replace("{}", said)) == CompareReply("first", "r")


def test_a_judge_that_was_cut_off_or_refused_is_called_so_and_not_asked_again() -> None:
    fault = ReplyFault(replies.NOT_JSON)
    codes = [replies.CODES[replies.because(fault, how).message] for how in ("stop", "length", "refused")]
    assert codes == ["reply-not-json", "reply-cut-off", "reply-refused"]
    assert [code in replies.FINAL for code in codes] == [False, True, True]
