"""Conversations in cells: a JSON list of messages, as chat programs store them."""

from collections.abc import Iterator
from typing import Final

import msgspec

from carrel.kit import json_elements
from carrel.kit.plain_text import NOT_TEXT, is_text
from carrel.kit.sqlite.rows import as_json
from carrel.providers.base import Speaker, Turn

MAX_ELEMENTS: Final = 10_000
"""Three for each message of a role and a text."""
_SPEAKERS: Final[dict[str, Speaker]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "function_call": "assistant",
    "tool": "user",
    "function": "user",
    "observation": "user",
}
"""Roles as OpenAI and others name them, and as ShareGPT does. What a tool returned is told as text of the user."""
_RETURNED: Final = frozenset({"tool", "function", "observation"})
_ROLE: Final = "role must be system, developer, user, assistant or tool"
_CONTENT: Final = "content must be a text, or a list of parts that are texts"
_NO_LIST: Final = "must be a conversation: a JSON list of messages"
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})


class NotAConversation(ValueError):
    """The cell holds none; the message says why in constant words."""


def parse(cell: str) -> tuple[Turn, ...]:
    """The conversation in a cell, whose next turn is the model's. A finished answer at its end is no part of it.

    It is a JSON list of messages. Every message has a role (`system`, `developer`, `user`, `assistant`, `tool`) and as
    its content a text, or a list of parts that are texts; ShareGPT's `from` and `value` are read, too. The calls of
    tools are text.

    Raises:
        NotAConversation: it breaks one of these rules, or nobody is answered.
    """
    turns, _ = _parted(cell)
    if not turns or turns[-1].role != "user":
        raise NotAConversation("must have a message of the user that the last message may answer")
    return turns


def answer(cell: str) -> str | None:
    """The finished answer with which a conversation ends; `None` without one, and if the cell holds no conversation."""
    try:
        return _parted(cell)[1]
    except NotAConversation:
        return None


def transcript(turns: tuple[Turn, ...]) -> str:
    """The conversation as judges and built-in models read it."""
    return "\n\n".join(f"{turn.role}: {turn.content}" for turn in turns)


def _parted(cell: str) -> tuple[tuple[Turn, ...], str | None]:
    """The turns up to the last one that the assistant does not say, and what it says then."""
    if cell.count(",") + cell.count("[") > MAX_ELEMENTS and json_elements.are_more_than(MAX_ELEMENTS, cell.encode()):
        raise NotAConversation(f"must have at most {MAX_ELEMENTS:,} elements")
    try:
        messages = msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError):
        raise NotAConversation(_NO_LIST) from None
    if not isinstance(messages, list):
        raise NotAConversation(_NO_LIST)
    if not messages:
        raise NotAConversation("must have at least one message")
    tools: dict[object, str] = {}
    made = (_turn(number, message, tools) for number, message in enumerate(messages, start=1))
    turns = [turn for turn in made if turn is not None]
    end = len(turns)
    while end and turns[end - 1].role == "assistant":
        end -= 1
    said = "\n\n".join(turn.content for turn in turns[end:])
    return tuple(turns[:end]), said or None


def _turn(number: int, message: object, tools: dict[object, str]) -> Turn | None:
    """A message as a turn; nothing for instructions without a word.

    `tools` are the names of tools by the ids of their calls so far.
    """
    if not isinstance(message, dict):
        raise NotAConversation(f"message {number} must be an object with role and content")
    role = message.get("role", message.get("from"))
    if not isinstance(role, str) or role not in _SPEAKERS:
        raise NotAConversation(f"message {number}: {_ROLE}")
    calls = list(_calls(number, message, tools))
    content = message.get("content", message.get("value", message.get("parts")))
    text = "".join(_part(number, part, tools) for part in content) if isinstance(content, list) else content
    if text is None:
        text = "" if calls else message.get("refusal")
    if not isinstance(text, str):
        raise NotAConversation(f"message {number}: {_CONTENT}")
    if role in _RETURNED and not text.startswith("\n[result of "):
        tool = message.get("name") or tools.get(str(message.get("tool_call_id"))) or "a tool"
        text = f"[result of {tool}]\n{text}"
    text = "\n".join(filter(None, (text.removeprefix("\n"), *calls)))
    if not text.strip():
        if _SPEAKERS[role] == "system":
            return None
        raise NotAConversation(f"message {number} has no text")
    if not is_text(text):
        raise NotAConversation(f"message {number} {NOT_TEXT}")
    return Turn(_SPEAKERS[role], text)


def _calls(number: int, message: dict[str, object], tools: dict[object, str]) -> Iterator[str]:
    """What an assistant asks of tools, one line for each call."""
    asked = message.get("tool_calls") or []
    called = message.get("function_call")
    found: list[dict[str, object]] = [called] if isinstance(called, dict) else []
    for call in asked if isinstance(asked, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            raise NotAConversation(f"message {number}: each of tool_calls must have a function")
        tools[str(call.get("id"))] = str(function.get("name"))
        found.append(function)
    for function in found:
        arguments = function.get("arguments", "")
        shown = arguments if isinstance(arguments, str) else as_json(arguments)
        yield f"[calls {function.get('name')}({shown})]"


def _part(number: int, part: object, tools: dict[object, str]) -> str:
    """A text, or what Anthropic and Google have as parts of a message: calls of tools, and what these returned."""
    found = part if isinstance(part, dict) else {}
    kind, text = found.get("type"), found.get("text")
    if isinstance(text, str) and (kind in _TEXT_PARTS or "type" not in found):
        return text
    if kind == "tool_use":
        tools[str(found.get("id"))] = str(found.get("name"))
        return f"\n[calls {found.get('name')}({as_json(found.get('input'))})]"
    if kind == "tool_result":
        inner = found.get("content") or ""
        said = "".join(_part(number, one, tools) for one in inner) if isinstance(inner, list) else str(inner)
        return f"\n[result of {tools.get(str(found.get('tool_use_id'))) or 'a tool'}]\n{said}"
    for name, before, value in (("functionCall", "calls", "args"), ("functionResponse", "result of", "response")):
        called = found.get(name)
        if isinstance(called, dict):
            shown = as_json(called.get(value))
            words = f"{before} {called.get('name')}"
            return f"\n[{words}({shown})]" if before == "calls" else f"\n[{words}]\n{shown}"
    raise NotAConversation(f"message {number}: {_CONTENT}")
