"""The texts of answers while models write them, for the streams that ask for them. They are in memory only.

Nothing here keeps a text: each stream that watches a run holds what it has not sent yet, and drops what its reader is
too slow for. Calls of a run that nobody watches do not come here.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from carrel.kit.plain_text import as_text
from carrel.runs.model.setup import RunId
from carrel.vault.keyring import UserUuid

MOST_CHARACTERS: Final = 65_536
"""What one stream holds at most. `Hub` bounds the streams of a user."""

After = Literal["nothing", "text", "gap"]


class AnswerKey(NamedTuple):
    """Which answer a model writes."""

    task_key: str
    candidate: str
    document: str


class LivePiece(msgspec.Struct, frozen=True):
    """A part of an answer: its beginning, or what follows the part before, or what follows a gap."""

    task_key: str
    candidate: str
    document: str
    after: After
    text: str


class Watcher:
    """What one stream has not sent yet. Every part sets `news`."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self._waiting: dict[str, LivePiece] = {}
        self._room = MOST_CHARACTERS
        self._after: dict[str, After] = {}
        """What the next part of each answer under way follows. The reader has missed the beginning of any other."""

    def begin(self, task_key: str) -> None:
        """Expect an answer from its beginning. What waits of an earlier attempt at it is dropped."""
        self._drop(task_key)
        self._after[task_key] = "nothing"

    def add(self, answering: AnswerKey, text: str) -> None:
        """Take the next part of an answer, as far as there is room for it."""
        key = answering.task_key
        after = self._after.get(key, "gap")
        if after == "gap":
            # The newest part is worth more to a slow reader than one before the gap.
            self._drop(key)
        fits, before = text[: self._room], self._waiting.get(key)
        self._after[key] = "text" if len(fits) == len(text) else "gap"
        if fits:
            self._room -= len(fits)
            self._waiting[key] = (
                LivePiece(*answering, after, fits) if before is None else replace(before, text=before.text + fits)
            )
            self.news.set()

    def end(self, task_key: str) -> None:
        """Note that no further part of the answer comes."""
        self._after.pop(task_key, None)

    def take(self) -> list[LivePiece]:
        """Take what waits, one part of each answer."""
        self.news.clear()
        taken = list(self._waiting.values())
        self._waiting.clear()
        self._room = MOST_CHARACTERS
        return taken

    def _drop(self, task_key: str) -> None:
        dropped = self._waiting.pop(task_key, None)
        if dropped is not None:
            self._room += len(dropped.text)


class LiveTexts:
    """The watchers of one process, by run. Owned by the event loop."""

    def __init__(self) -> None:
        self._watchers: dict[tuple[UserUuid, RunId], list[Watcher]] = {}

    @contextmanager
    def watched(self, uuid: UserUuid, run_id: RunId) -> Iterator[Watcher]:
        """For the length of a block, a watcher of the run."""
        watchers, watcher = self._watchers.setdefault((uuid, run_id), []), Watcher()
        watchers.append(watcher)
        try:
            yield watcher
        finally:
            watchers.remove(watcher)
            if not watchers:
                self._watchers.pop((uuid, run_id), None)

    def is_watched(self, uuid: UserUuid, run_id: RunId) -> bool:
        """Whether anybody watches the run."""
        return (uuid, run_id) in self._watchers

    def of(self, uuid: UserUuid, run_id: RunId, answering: AnswerKey) -> "LiveAnswer":
        """An answer of the run that begins now."""
        return LiveAnswer(self._watchers, (uuid, run_id), answering)


class LiveAnswer:
    """One answer while a model writes it. It goes to whoever watches the run at that moment."""

    def __init__(
        self,
        watchers: dict[tuple[UserUuid, RunId], list[Watcher]],
        run: tuple[UserUuid, RunId],
        answering: AnswerKey,
    ) -> None:
        self._watchers = watchers
        self._run = run
        self._answering = answering
        self._is_empty = True
        for watcher in self._now():
            watcher.begin(answering.task_key)

    def add(self, text: str) -> None:
        """Pass on the next part."""
        self._is_empty = False
        sendable = as_text(text)
        for watcher in self._now():
            watcher.add(self._answering, sendable)

    def end(self, whole: str) -> None:
        """Pass on the whole text if it did not come in parts, and forget the answer."""
        if self._is_empty and whole:
            self.add(whole)
        for watcher in self._now():
            watcher.end(self._answering.task_key)

    def _now(self) -> list[Watcher]:
        return self._watchers.get(self._run, [])
