"""Waiting for what something at work in this process brings about."""

import asyncio
from collections.abc import Callable


async def until(holds: Callable[[], bool]) -> None:
    """Return once it holds, and fail after a minute."""
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.005)
