"""The connections of a workspace besides its reader: each is made when it is needed, and scans or writes."""

import math
from collections import deque
from collections.abc import Callable

from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection

_MOST = 3
"""Two scans and a write may be under way at a time."""
_LOG_PAGES = 1_000
"""After so many, a commit moves the log into the file: the engine's own number."""


class Spares:
    """Called in threads: whoever takes a connection has it alone until it gives it back.

    A connection takes 350 kB and two descriptors, so one that has scanned writes next, and the other way round.
    """

    def __init__(self, open_connection: Callable[[bool], Connection]) -> None:
        self._open_connection = open_connection
        self._idle: deque[Connection] = deque()
        self.is_held = False
        """Whether the file stays as it is: commits stay in the log."""

    def to_write(self) -> Connection:
        """One that may write. A transaction is short, so it waits for nobody in the middle of a statement."""
        spare = self._take()
        if spare.query_only:
            spare.set_progress_handler(None)
            spare.stopped, spare.until = False, math.inf
            spare.set_query_only(on=False)
        spare.wal_autocheckpoint(0 if self.is_held else _LOG_PAGES)
        return spare

    def to_scan(self) -> Connection:
        """One that cannot write, and takes turns."""
        spare = self._take()
        if not spare.query_only:
            spare.take_turns()
            spare.set_query_only(on=True)
        return spare

    def give_back(self, spare: Connection) -> None:
        """Keep it for the next one, unless it was interrupted or has failed."""
        # An interrupt may have come at the end of the snapshot.
        if spare.stopped or spare.in_transaction or len(self._idle) >= _MOST:
            database.discard(spare)
        else:
            self._idle.append(spare)

    def close(self) -> None:
        """Close those that nobody has; the last one empties the log."""
        while self._idle:
            spare = self._idle.pop()
            (database.discard if self._idle else self.close_last)(spare)

    def close_last(self, connection: Connection) -> None:
        """Close it, perhaps as the last one: then the log is emptied, unless the file is held."""
        (database.leave if self.is_held else database.close)(connection)

    def empty_log(self) -> None:
        """Move what is in the log into the file."""
        spare = self.to_write()
        try:
            with database.translated():
                spare.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        finally:
            self.give_back(spare)

    def _take(self) -> Connection:
        try:
            # The last one has the newest pages.
            return self._idle.pop()
        except IndexError:
            return self._open_connection(False)
