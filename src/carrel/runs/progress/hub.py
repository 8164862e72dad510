"""Wakes the streams of a run after its commits. The hub queues nothing: a stream that wakes up reads the rows."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from carrel.errors import CarrelError
from carrel.runs.model.setup import RunId
from carrel.runs.progress.live_texts import LiveTexts
from carrel.vault.keyring import UserUuid


class TooManyStreams(CarrelError):
    """The user has as many event streams as the operator allows."""

    status = 429
    code = "too-many-streams"
    detail = "There are as many event streams open as allowed; close one first."


class Hub:
    """The subscriptions of one process. Owned by the event loop. `per_user` bounds the streams of one user.

    `texts` has the streams among them that also want the texts of answers.
    """

    def __init__(self, per_user: int) -> None:
        self._per_user = per_user
        self.texts = LiveTexts()
        self._subscribers: dict[UserUuid, dict[asyncio.Event, RunId]] = {}

    @contextmanager
    def subscribed(self, uuid: UserUuid, run_id: RunId) -> Iterator[asyncio.Event]:
        """For the length of a block, an event that is set after each commit about the run.

        Raises:
            TooManyStreams: the user has too many already.
        """
        streams = self._subscribers.setdefault(uuid, {})
        if len(streams) >= self._per_user:
            raise TooManyStreams
        news = asyncio.Event()
        streams[news] = run_id
        try:
            yield news
        finally:
            del streams[news]
            if not streams:
                self._subscribers.pop(uuid, None)

    @property
    def open_streams(self) -> int:
        """The streams of all users."""
        return sum(map(len, self._subscribers.values()))

    def notify(self, uuid: UserUuid, run_id: RunId | None = None) -> None:
        """Wake the streams of a run after a commit, or all streams of the user if no run is named."""
        for news, about in self._subscribers.get(uuid, {}).items():
            if run_id is None or about == run_id:
                news.set()
