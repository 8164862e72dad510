"""Pages wait: for the service, for SQLite, for the slow hash of a password. They do so in threads."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_thread(page: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The page as a coroutine. Litestar's own `sync_to_thread` wraps a page twice whose path has two methods (2.25)."""

    @wraps(page)
    async def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(page, *args, **kwargs)

    return run
