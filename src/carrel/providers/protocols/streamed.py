"""Reads an answer that comes piece by piece as server-sent events: the part that all protocols share. Pure.

A protocol's own class interprets the events. This class trusts no server to end its lines or its texts.
"""

from abc import ABC, abstractmethod

import msgspec

from carrel.providers.base import Answer, ProviderError

_LONGEST_LINE = 1_000_000
_LONGEST_TEXT = 16 * 1024 * 1024


class Streamed(ABC):
    """Takes bytes as they come, however they are cut; `text` is the answer so far."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._pieces: list[str] = []
        self._length = 0

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._pieces)

    def feed(self, data: bytes) -> str:
        """Take these bytes and return the text that came with them.

        Raises:
            ProviderError: the server failed on the way, as `refusals.broken_off` says, or `provider-malformed`.
        """
        *lines, rest = data.split(b"\n")
        said = []
        for line in lines:
            self._line += line
            said.append(self._read(bytes(self._line)))
            self._line.clear()
        self._line += rest
        new = "".join(said)
        self._length += len(new)
        if len(self._line) > _LONGEST_LINE or self._length > _LONGEST_TEXT:
            raise ProviderError("provider-malformed", retryable=True)
        if new:
            self._pieces.append(new)
        return new

    @abstractmethod
    def answer(self) -> Answer | None:
        """The whole answer; `None` if it broke off before its end."""

    @abstractmethod
    def _event(self, data: bytes) -> str:
        """Return the text of one event; raise `msgspec.DecodeError` if it is malformed."""

    def _read(self, line: bytes) -> str:
        # Every known server puts an event on one line of data; other lines of the stream carry nothing that Carrel
        # reads.
        if not line.startswith(b"data:"):
            return ""
        try:
            return self._event(line.removeprefix(b"data:").strip())
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ProviderError("provider-malformed", retryable=True) from None
