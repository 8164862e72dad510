"""Conversations in cells: what is read as one, and what is refused and why."""

import json

import httpx
import pytest

from carrel.datasets import conversations
from carrel.datasets.conversations import NotAConversation
from carrel.providers.base import Turn
from tests.datasets.test_routes import faults_of, lines, upload

USER = {"role": "user", "content": "Hello?"}
ROLE = "role must be system, developer, user, assistant or tool"
TEXT = "content must be a text, or a list of parts that are texts"

REFUSED = [
    ("hello", "must be a conversation: a JSON list of messages"),
    ("[" * 5_000, "must be a conversation: a JSON list of messages"),
    ('[{"role": "user", "content": "\\ud800"}]', "must be a conversation: a JSON list of messages"),
    (USER, "must be a conversation: a JSON list of messages"),
    ([], "must have at least one message"),
    (["Hello?"], "message 1 must be an object with role and content"),
    ([USER, {"role": "robot", "content": "42"}], f"message 2: {ROLE}"),
    ([{"role": ["user"], "content": "Hi"}], f"message 1: {ROLE}"),
    ([{"content": "Hi"}], f"message 1: {ROLE}"),
    ([{"role": "assistant", "tool_calls": ["w"]}, USER], "message 1: each of tool_calls must have a function"),
    ([{"role": "user", "content": " \n"}], "message 1 has no text"),
    ([USER, {"role": "assistant", "content": []}, USER], "message 2 has no text"),
    ([{"role": "user", "content": "a\0b"}], "message 1 holds characters that are no text"),
    ([{"role": "assistant", "content": None, "tool_calls": []}, USER], f"message 1: {TEXT}"),
    ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], f"message 1: {TEXT}"),
    ([{"role": "user", "content": [{"type": "text", "text": [{"type": "text", "text": "x"}]}]}], f"message 1: {TEXT}"),
    ([{"role": "assistant", "content": "Yes."}], "must have a message of the user that the last message may answer"),
    ([{"role": "user", "content": "Hi"}, {"role": "system", "content": "Be kind."}],
     "must have a message of the user that the last message may answer"),
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


def test_calls_of_tools_are_text_and_a_finished_answer_is_apart() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"in": "Rome"}'}}
    messages = [
        {"from": "human", "value": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "sunny"},
        {"from": "gpt", "value": "It is sunny."},
    ]
    asked = (
        Turn("user", "Weather?"),
        Turn("assistant", '[calls weather({"in": "Rome"})]'),
        Turn("user", "[result of weather]\nsunny"),
    )
    assert conversations.parse(json.dumps(messages)) == conversations.parse(json.dumps(messages[:3])) == asked
    assert [conversations.answer(json.dumps(messages[:end])) for end in (3, 4)] == [None, "It is sunny."]
    assert conversations.answer("no conversation") is None


CALLED = (Turn("user", "Weather?"), Turn("assistant", '[calls weather({"in":"Rome"})]'))
OF_OTHERS: dict[str, tuple[list[object], tuple[Turn, ...]]] = {
    "Anthropic": (
        [
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "1", "name": "weather", "input": {"in": "Rome"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"text": "sunny"}]}]},
        ],
        (*CALLED, Turn("user", "[result of weather]\nsunny")),
    ),
    "Google": (
        [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"in": "Rome"}}}]},
            {"role": "function", "parts": [{"functionResponse": {"name": "weather", "response": {"sky": "blue"}}}]},
        ],
        (*CALLED, Turn("user", '[result of weather]\n{"sky":"blue"}')),
    ),
    "LangChain, and no instructions": (
        [{"role": "system", "content": ""}, {"role": "ai", "content": "Hello."}, USER],
        (Turn("assistant", "Hello."), Turn("user", "Hello?")),
    ),
    "a refusal": (
        [USER, {"role": "assistant", "content": None, "refusal": "No."}, USER],
        (Turn("user", "Hello?"), Turn("assistant", "No."), Turn("user", "Hello?")),
    ),
}


@pytest.mark.parametrize("program", OF_OTHERS)
def test_conversations_of_other_programs_are_read(program: str) -> None:
    messages, turns = OF_OTHERS[program]
    assert conversations.parse(json.dumps(messages)) == turns


async def test_finished_answers_of_conversations_are_a_column_whose_name_is_free(ada: httpx.AsyncClient) -> None:
    done = [USER, {"role": "assistant", "content": "Yes."}]
    body = lines({"messages": [USER], "answer": "x"}, {"messages": done}, {"messages": done, "late": "y"})
    made = (await upload(ada, "a.jsonl", body)).json()
    roles = [("messages", "messages"), ("answer", "metadata"), ("answer_", "output"), ("late", "metadata")]
    assert [(one["name"], one["role"]) for one in made["columns"]] == roles
    rows = (await ada.get(f"/api/data-sets/{made['id']}/rows")).json()["items"]
    assert [(row["values"]["answer_"], row["values"]["late"]) for row in rows] == [
        (None, None), ("Yes.", None), ("Yes.", "y")
    ]  # fmt: skip


async def test_a_table_with_a_bad_conversation_is_refused_naming_row_column_and_message(
    ada: httpx.AsyncClient,
) -> None:
    body = lines({"chat": [USER]}, {"chat": [{"role": "robot", "content": "Hi"}]}, {"chat": []})
    answer = await upload(ada, "a.jsonl", body, columns='{"chat": "messages"}')
    assert (answer.status_code, faults_of(answer)) == (
        400,
        {
            "rows[2].chat": f"message 1: {ROLE}",
            "rows[3].chat": "must have at least one message",
        },
    )
