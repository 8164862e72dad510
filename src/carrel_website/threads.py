"""Runs pages in threads, because they wait for the service, for SQLite and for the slow hash of a password."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Final, TypeVar

from carrel_website.protection import Ask

R = TypeVar("R")

AT_ONCE: Final = 64
"""How many pages run at once. A change of a password may take minutes, and a few of them must not block the rest."""


def in_thread(page: Callable[..., R]) -> Callable[..., Coroutine[Any, Any, R]]:
    """The page as a coroutine. Litestar's `sync_to_thread` (2.25) wraps a page twice if its path has two methods."""

    @wraps(page)
    async def run(request: Ask, **named: Any) -> R:
        # Not asyncio's own threads: on a machine with two cores there are only six.
        threads = request.app.state.site.threads
        return await asyncio.get_running_loop().run_in_executor(threads, partial(page, request, **named))

    return run
