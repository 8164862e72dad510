"""Conversations in cells: what is read as one, and what is refused and why."""

import json

import httpx
import pytest

from carrel.datasets import conversations
from carrel.datasets.conversations import NotAConversation
from carrel.providers.base import Turn
from tests.datasets.test_routes import faults_of, lines, upload

USER = {"role": "user", "content": "Hello?"}
TEXT = "content must be a text, or a list of parts that are texts"

REFUSED = [
    ("hello", "must be a conversation: a JSON list of messages"),
    ("[" * 5_000, "must be a conversation: a JSON list of messages"),
    ('[{"role": "user", "content": "\\ud800"}]', "must be a conversation: a JSON list of messages"),
    (USER, "must be a conversation: a JSON list of messages"),
    ([], "must have at least one message"),
    (["Hello?"], "message 1 must be an object with role and content"),
    ([USER, {"role": "tool", "content": "42"}], "message 2: role must be system, developer, user or assistant"),
    ([{"role": ["user"], "content": "Hi"}], "message 1: role must be system, developer, user or assistant"),
    ([{"content": "Hi"}], "message 1: role must be system, developer, user or assistant"),
    ([{"role": "user", "content": " \n"}], "message 1 has no text"),
    ([USER, {"role": "assistant", "content": []}, USER], "message 2 has no text"),
    ([{"role": "user", "content": "a\0b"}], "message 1 holds characters that are no text"),
    ([{"role": "assistant", "content": None, "tool_calls": []}, USER], f"message 1: {TEXT}"),
    ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], f"message 1: {TEXT}"),
    ([{"role": "user", "content": [{"type": "text", "text": [{"type": "text", "text": "x"}]}]}], f"message 1: {TEXT}"),
    ([USER, {"role": "assistant", "content": "Yes."}],
     "must end with a message of the user, because the answer is the next turn"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_what_is_no_conversation_is_refused_with_the_number_of_the_message(value: object, message: str) -> None:
    with pytest.raises(NotAConversation) as error:
        conversations.parse(value if isinstance(value, str) else json.dumps(value))
    assert str(error.value) == message


def test_texts_in_parts_are_joined_and_developers_speak_as_the_system() -> None:
    parts = [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo?"}]
    messages = [{"role": "developer", "content": "Be kind."}, {"role": "user", "name": "Eve", "content": parts}]
    turns = conversations.parse(json.dumps(messages))
    assert turns == (Turn("system", "Be kind."), Turn("user", "Hello?"))
    assert conversations.transcript(turns) == "system: Be kind.\n\nuser: Hello?"


async def test_a_table_with_a_bad_conversation_is_refused_naming_row_column_and_message(
    ada: httpx.AsyncClient,
) -> None:
    body = lines({"chat": [USER]}, {"chat": [{"role": "robot", "content": "Hi"}]}, {"chat": []})
    answer = await upload(ada, "a.jsonl", body, columns='{"chat": "messages"}')
    assert (answer.status_code, faults_of(answer)) == (
        400,
        {
            "rows[2].chat": "message 1: role must be system, developer, user or assistant",
            "rows[3].chat": "must have at least one message",
        },
    )
