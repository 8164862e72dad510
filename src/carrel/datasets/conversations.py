"""Conversations in cells: a JSON list of messages, as chat programs store them."""

from typing import Final

import msgspec

from carrel.kit import json_elements
from carrel.kit.plain_text import NOT_TEXT, is_text
from carrel.providers.base import Speaker, Turn

MAX_ELEMENTS: Final = 10_000
"""Three for each message of a role and a text."""
_SPEAKERS: Final[dict[str, Speaker]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


class NotAConversation(ValueError):
    """The cell holds none; the message says why in constant words."""


def parse(cell: str) -> tuple[Turn, ...]:
    """The conversation in a cell, whose next turn is the model's.

    It is a JSON list of messages. Every message has a role (`system`, `developer`, `user`, `assistant`) and as its
    content a text, or a list of parts that are texts. The last one is the user's.

    Raises:
        NotAConversation: it breaks one of these rules.
    """
    if cell.count(",") + cell.count("[") > MAX_ELEMENTS and json_elements.are_more_than(MAX_ELEMENTS, cell.encode()):
        raise NotAConversation(f"must have at most {MAX_ELEMENTS:,} elements")
    try:
        messages = msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError):
        raise NotAConversation("must be a conversation: a JSON list of messages") from None
    if not isinstance(messages, list):
        raise NotAConversation("must be a conversation: a JSON list of messages")
    if not messages:
        raise NotAConversation("must have at least one message")
    turns = tuple(_turn(number, message) for number, message in enumerate(messages, start=1))
    if turns[-1].role != "user":
        raise NotAConversation("must end with a message of the user, because the answer is the next turn")
    return turns


def transcript(turns: tuple[Turn, ...]) -> str:
    """The conversation as judges and built-in models read it."""
    return "\n\n".join(f"{turn.role}: {turn.content}" for turn in turns)


def _turn(number: int, message: object) -> Turn:
    if not isinstance(message, dict):
        raise NotAConversation(f"message {number} must be an object with role and content")
    role = message.get("role")
    if not isinstance(role, str) or role not in _SPEAKERS:
        raise NotAConversation(f"message {number}: role must be system, developer, user or assistant")
    content = message.get("content")
    text = "".join(_part(number, part) for part in content) if isinstance(content, list) else content
    if not isinstance(text, str):
        raise NotAConversation(f"message {number}: content must be a text, or a list of parts that are texts")
    if not text.strip():
        raise NotAConversation(f"message {number} has no text")
    if not is_text(text):
        raise NotAConversation(f"message {number} {NOT_TEXT}")
    return Turn(_SPEAKERS[role], text)


def _part(number: int, part: object) -> str:
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    if not isinstance(text, str):
        raise NotAConversation(f"message {number}: content must be a text, or a list of parts that are texts")
    return text
