import asyncio

import pytest

from carrel.kit.concurrency.keyed_lock import KeyedLock


async def test_turns_come_in_the_order_of_asking() -> None:
    turns: KeyedLock[str] = KeyedLock()
    order: list[int] = []

    async def take(number: int) -> None:
        async with turns.of("ada"):
            order.append(number)
            await asyncio.sleep(0)
            order.append(number)

    await asyncio.gather(*(take(number) for number in range(5)))
    assert order == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert len(turns) == 0


async def test_different_keys_never_wait() -> None:
    turns: KeyedLock[str] = KeyedLock()
    async with turns.of("ada"), turns.of("bob", 0.01):
        assert len(turns) == 2


async def test_who_waits_too_long_is_told_and_leaves_nothing_behind() -> None:
    turns: KeyedLock[str] = KeyedLock()
    async with turns.of("ada"):
        with pytest.raises(TimeoutError):
            async with turns.of("ada", 0.001):
                raise AssertionError("it had its turn")
        with pytest.raises(LookupError):
            async with turns.of("ada", 0.001, LookupError):
                raise AssertionError("it had its turn")
    async with turns.of("ada", 0.001):
        pass
    assert len(turns) == 0


async def test_who_goes_away_or_fails_gives_the_turn_on() -> None:
    turns: KeyedLock[str] = KeyedLock()

    async def take() -> str:
        async with turns.of("ada"):
            return "taken"

    async with turns.of("ada"):
        gone, waiting = asyncio.create_task(take()), asyncio.create_task(take())
        await asyncio.sleep(0)
        gone.cancel()
    assert await waiting == "taken"
    with pytest.raises(RuntimeError):
        async with turns.of("ada"):
            raise RuntimeError
    assert await take() == "taken"
    assert len(turns) == 0
