"""An answer that comes piece by piece, as server-sent events: what the protocols have in common. Pure.

A protocol's own class says what an event means. Nobody's lines are trusted to end, nor their texts.
"""

from abc import ABC, abstractmethod

import msgspec

from carrel.providers.base import Answer, ProviderError

_LONGEST_LINE = 1_000_000
_LONGEST_TEXT = 16 * 1024 * 1024


class Streamed(ABC):
    """Fed with bytes as they come, however they are cut; `text` is what was said so far."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._pieces: list[str] = []
        self._length = 0

    @property
    def text(self) -> str:
        """All that was said so far."""
        return "".join(self._pieces)

    def feed(self, data: bytes) -> str:
        """The text that came with these bytes.

        Raises:
            ProviderError: the server broke down on the way, as `refusals.broken_off` says, or `provider-malformed`.
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
        """All of it; `None` if it broke off before its end."""

    @abstractmethod
    def _event(self, data: bytes) -> str:
        """The text of one event; `msgspec.DecodeError` for what is none."""

    def _read(self, line: bytes) -> str:
        # Each server puts an event on one line of data; what else a stream of events may hold says nothing here.
        if not line.startswith(b"data:"):
            return ""
        try:
            return self._event(line.removeprefix(b"data:").strip())
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ProviderError("provider-malformed", retryable=True) from None
