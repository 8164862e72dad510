"""The batches that a strict server has, and what becomes of them.

A batch ends when it has been looked at `looks` times. What was sent twice shows: the id of a call may come once only.
"""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

Fate = Literal["answered", "expires", "fails", "full", "lost"]
"""What becomes of a batch. Of one that expires, half of the calls are answered."""


class Held(msgspec.Struct):
    """A batch that a server has."""

    id: str
    calls: list[tuple[str, bytes]]
    fate: Fate
    created: datetime
    metadata: dict[str, str] = {}
    looks: int = 0
    cancelled: bool = False
    ended: bool = False

    @property
    def done(self) -> list[tuple[str, bytes]]:
        """The calls that are answered once it has ended."""
        if self.cancelled:
            return []
        return self.calls[: len(self.calls) // 2] if self.fate == "expires" else self.calls

    @property
    def undone(self) -> list[str]:
        """The calls that are not."""
        return [call for call, _ in self.calls[len(self.done) :]]


class Shelf:
    """The batches of a server, and what becomes of the next ones; those after them are answered."""

    def __init__(self) -> None:
        self.held: dict[str, Held] = {}
        self.looks = 2
        self.fates: list[Fate] = []
        self.broken: dict[str, tuple[int, dict[str, Any]]] = {}
        """What is said, once, to the next call that holds the text."""

    @property
    def twice(self) -> list[str]:
        """The calls that came more than once, without those that the server took back as a whole."""
        came = Counter(call for batch in self.held.values() if batch.fate != "full" for call, _ in batch.calls)
        return [call for call, often in came.items() if often > 1]

    def hold(self, kind: str, calls: list[tuple[str, bytes]], metadata: dict[str, str]) -> Held:
        fate = self.fates.pop(0) if self.fates else "answered"
        batch = Held(f"{kind}_{len(self.held) + 1}", calls, fate, datetime.now(UTC), metadata)
        self.held[batch.id] = batch
        return batch

    def look_at(self, batch_id: str) -> Held | None:
        batch = self.held.get(batch_id)
        if batch is None or (batch.fate == "lost" and batch.looks >= 1):
            return None
        batch.looks += 1
        batch.ended = batch.ended or batch.looks >= self.looks or batch.cancelled
        return batch

    def said_to(self, body: bytes, answer: Callable[[bytes], tuple[int, Any]]) -> tuple[int, Any]:
        for text in self.broken:
            if text.encode() in body:
                return self.broken.pop(text)
        return answer(body)
