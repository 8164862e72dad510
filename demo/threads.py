"""Pages wait: for the service, for SQLite, for the slow hash of a password. They do so in threads."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Final, TypeVar

from demo.protection import Ask

R = TypeVar("R")

AT_ONCE: Final = 64
"""Pages that are made at once. A change of a password may wait for minutes, and a few of them must not be all."""


def in_thread(page: Callable[..., R]) -> Callable[..., Coroutine[Any, Any, R]]:
    """The page as a coroutine. Litestar's own `sync_to_thread` wraps a page twice whose path has two methods (2.25)."""

    @wraps(page)
    async def run(request: Ask, **named: Any) -> R:
        # Not asyncio's own threads: of those there are six on a machine of two cores.
        threads = request.app.state.site.threads
        return await asyncio.get_running_loop().run_in_executor(threads, partial(page, request, **named))

    return run
