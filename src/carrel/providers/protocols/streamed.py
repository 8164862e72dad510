"""Reads an answer that comes piece by piece as server-sent events: the part that all protocols share. Pure.

A protocol's own class interprets the events. This class trusts no server to end its lines or its texts.
"""

from abc import ABC, abstractmethod
from typing import Final, TypeVar

import msgspec

from carrel.providers import refusals
from carrel.providers.base import ANSWER_TOO_LARGE, Answer, ProviderError
from carrel.providers.foreign_json import decoded

T = TypeVar("T")

LONGEST_LINE: Final = 1_000_000
_FIELD: Final = b"\ndata:"
_MARK: Final = b"\n\xef\xbb\xbf"
_SILENT: Final = (b"", b"null")
"""What some servers send so that nothing on the way takes the connection for dead."""
_NO_ERROR: Final = (b"null", b"{}", b'""', b"false", b"[]")


class StreamReader(ABC):
    """Takes bytes as they come, however they are cut; `text` is the answer so far."""

    def __init__(self) -> None:
        self._unread = bytearray(b"\n")
        """The beginning of a line, after the end of the line before."""
        self._has_spoken = False
        self._part = b""
        """The beginning of an event that goes on in the next line of data."""
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
            ProviderError: the server failed on the way, as `refusals.error` says, `provider-malformed` or
                `answer-too-large`.
        """
        end = data.rfind(b"\n")
        if b"\r" in data or self._unread.endswith(b"\r"):
            # A lone carriage return ends a line, too, and the last one here may be half of an end.
            end = max(end, data.rfind(b"\r", 0, -1))
        if end == -1:
            self._unread += data
            if len(self._unread) > LONGEST_LINE:
                raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
            return ""
        lines = bytes(self._unread) + data[:end]
        self._unread = bytearray(b"\n" + data[end + 1 :])
        if b"\r" in lines:
            lines = lines.removesuffix(b"\r") if data[end : end + 1] == b"\n" else lines
            lines = lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if lines.startswith(_MARK):
            lines = b"\n" + lines[len(_MARK) :]
        # Nearly every server puts an event on one line of data; other lines of the stream carry nothing that Carrel
        # reads, and are not even looked at one by one.
        new = "".join(map(self._line, lines.split(_FIELD)[1:]))
        self._keep(new)
        return new

    def finish(self) -> str:
        """Note that nothing more comes, and return the text of a last line without an end.

        Raises:
            ProviderError: as `feed` says.
        """
        text = self.feed(b"\n")
        if self._part:
            last, self._part = self._event(self._part), b""
            self._keep(last)
            text += last
        return text

    def _line(self, line: bytes) -> str:
        """One line of data, and what follows it up to the next one."""
        data, ends, _ = line.partition(b"\n")
        data = self._part + data.strip()
        self._part = b""
        if data in _SILENT:
            return ""
        if not ends and data[:1] == b"{" and not _is_whole(data):
            if len(data) > LONGEST_LINE:
                raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
            self._part = data + b"\n"
            return ""
        text = self._event(data)
        self._has_spoken = self._has_spoken or bool(text)
        return text

    @abstractmethod
    def answer(self) -> Answer | None:
        """The whole answer; `None` if it broke off before its end."""

    @abstractmethod
    def _event(self, data: bytes) -> str:
        """Return the text of one event; raise `ProviderError` if it is malformed."""

    def broken_off(self, data: bytes) -> ProviderError:
        """The error that an event tells. Nothing was done for it only if nothing was said before."""
        return refusals.ToldError(data, unbilled=not self._has_spoken)

    def _keep(self, text: str) -> None:
        self._text += text.encode("utf-8", "surrogatepass")


def _is_whole(data: bytes) -> bool:
    """Whether this is an event, of which another one follows in the next line, or the beginning of one."""
    if data[-1:] != b"}":
        return False
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def has_error(raw: msgspec.Raw) -> bool:
    """Whether a server put an error here, and not one of its words for none."""
    return bytes(raw) not in _NO_ERROR


def event_of(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """What the event says.

    Raises:
        ProviderError: `provider-malformed`, `answer-too-large`.
    """
    found = decoded(decoder, data)
    if found is None:
        raise ProviderError("provider-malformed", retryable=True)
    return found
