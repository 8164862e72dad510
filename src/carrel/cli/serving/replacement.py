"""Whether and how this process may be replaced."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from carrel.app.hot_restart import HotRestart, Terms
from carrel.cli.serving.successor import HotRestartRefused, Successor
from carrel.kit import logs
from carrel.vault.key_memory import KeyMemoryRefused


class Replacement:
    """`environ` are the variables that this process was started with, and `is_allowed` is the operator's setting."""

    def __init__(
        self, hot_restart: HotRestart, environ: Mapping[str, str], terms: Callable[[], Terms], *, is_allowed: bool
    ) -> None:
        self._hot_restart = hot_restart
        self._environ = environ
        self._terms = terms
        self._is_allowed = is_allowed

    async def prepared(self) -> Successor:
        """A successor that is ready to take over. Every run is paused then, durably, and requests still go on.

        Raises:
            HotRestartRefused: nothing has changed.
        """
        if not self._is_allowed:
            raise HotRestartRefused("CARREL_HOT_RESTART is off")
        try:
            self._hot_restart.reserve()
        except KeyMemoryRefused:
            raise HotRestartRefused("no memory for keys could be locked; raise RLIMIT_MEMLOCK") from None
        try:
            with ExitStack() as undo:
                undo.callback(self._hot_restart.abandon)
                successor = await Successor.start(self._environ, self._terms())
                undo.callback(successor.kill)
                logs.info("successor-started")
                await self._hot_restart.finish_work()
                undo.pop_all()
        except OSError:
            raise HotRestartRefused("the data folder cannot be used") from None
        return successor

    def end_streams(self) -> None:
        """Let event streams end. Their readers come back, to the successor."""
        self._hot_restart.streams_end.set()
