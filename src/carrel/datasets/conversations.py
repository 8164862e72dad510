"""Conversations in cells: a JSON list of messages, as chat programs store them."""

from typing import Literal

import msgspec

Speaker = Literal["system", "user", "assistant"]


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    role: Speaker
    content: str


class _Part(msgspec.Struct):
    type: Literal["text"]
    text: str


class _Sent(msgspec.Struct):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[_Part]


_sent = msgspec.json.Decoder(list[_Sent])


def parse(text: str) -> tuple[Message, ...] | None:
    """The messages in a cell, or `None` if they are no conversation whose next turn is the model's.

    Every message has a role (`system`, `developer`, `user`, `assistant`) and a text, or a list of parts that are texts.
    The last one is the user's.
    """
    try:
        found = _sent.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not found or found[-1].role != "user":
        return None
    return tuple(
        Message(
            "system" if one.role == "developer" else one.role,
            one.content if isinstance(one.content, str) else "".join(part.text for part in one.content),
        )
        for one in found
    )


def transcript(messages: tuple[Message, ...]) -> str:
    """The conversation as judges and built-in models read it."""
    return "\n\n".join(f"{message.role}: {message.content}" for message in messages)
