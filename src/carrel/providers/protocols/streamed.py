"""Reads an answer that comes piece by piece as server-sent events: the part that all protocols share. Pure.

A protocol's own class interprets the events. This class trusts no server to end its lines or its texts.
"""

from abc import ABC, abstractmethod
from typing import Final, TypeVar

import msgspec

from carrel.providers.base import ANSWER_TOO_LARGE, Answer, ProviderError
from carrel.providers.foreign_json import decoded

T = TypeVar("T")

_LONGEST_LINE: Final = 1_000_000
_FIELD: Final = b"\ndata:"


class StreamReader(ABC):
    """Takes bytes as they come, however they are cut; `text` is the answer so far."""

    def __init__(self) -> None:
        self._unread = bytearray(b"\n")
        """The beginning of a line, after the end of the line before."""
        self._text = bytearray()
        """In UTF-8, as pieces of a few characters each would take twenty times as much memory."""

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._text.decode("utf-8", "surrogatepass")

    @property
    def size(self) -> int:
        """How many bytes it takes in memory."""
        return len(self._text) + len(self._unread)

    def feed(self, data: bytes) -> str:
        """Take these bytes and return the text that came with them.

        Raises:
            ProviderError: the server failed on the way, as `refusals.broken_off` says, `provider-malformed` or
                `answer-too-large`.
        """
        end = data.rfind(b"\n")
        if end == -1:
            self._unread += data
            if len(self._unread) > _LONGEST_LINE:
                raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
            return ""
        lines = bytes(self._unread) + data[:end]
        self._unread = bytearray(data[end:])
        # Every known server puts an event on one line of data; other lines of the stream carry nothing that Carrel
        # reads, and are not even looked at one by one.
        events = lines.split(_FIELD)[1:]
        new = "".join(self._event(event.partition(b"\n")[0].strip()) for event in events)
        self._keep(new)
        return new

    @abstractmethod
    def answer(self) -> Answer | None:
        """The whole answer; `None` if it broke off before its end."""

    @abstractmethod
    def _event(self, data: bytes) -> str:
        """Return the text of one event; raise `ProviderError` if it is malformed."""

    def _keep(self, text: str) -> None:
        self._text += text.encode("utf-8", "surrogatepass")


def event_of(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """What the event says.

    Raises:
        ProviderError: `provider-malformed`, `answer-too-large`.
    """
    found = decoded(decoder, data)
    if found is None:
        raise ProviderError("provider-malformed", retryable=True)
    return found
