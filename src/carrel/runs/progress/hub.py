"""Who wants to hear of a run's commits. Nothing is queued: they are told that there is news, and read the rows."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from carrel.errors import CarrelError
from carrel.runs.model.setup import RunId
from carrel.vault.keyring import UserUuid


class TooManyStreams(CarrelError):
    """The user has as many event streams as the operator allows."""

    status = 429
    code = "too-many-streams"
    detail = "There are as many event streams open as allowed; close one first."


class Hub:
    """The subscriptions of one process. Owned by the event loop. `per_user` bounds the streams of one user."""

    def __init__(self, per_user: int) -> None:
        self._per_user = per_user
        self._subscribers: dict[UserUuid, dict[asyncio.Event, RunId]] = {}

    @contextmanager
    def subscribed(self, uuid: UserUuid, run_id: RunId) -> Iterator[asyncio.Event]:
        """An event that is set whenever something was committed about the run, for the length of a block.

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

    def tell(self, uuid: UserUuid, run_id: RunId | None = None) -> None:
        """Something was committed about a run, or about any of the user's if none is named."""
        for news, about in self._subscribers.get(uuid, {}).items():
            if run_id is None or about == run_id:
                news.set()
