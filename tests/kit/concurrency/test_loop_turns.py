"""Whose steps on the event loop wait, in which order they go on, and that a turn is never lost."""

import asyncio
from collections.abc import Awaitable

import pytest

from carrel.kit.concurrency import loop_turns
from carrel.kit.concurrency.loop_turns import LoopTurns, in_turns

LONG = loop_turns.ROUND_SECONDS * 10


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> LoopTurns:
    """Those of a service that several users have asked for something."""
    monkeypatch.setattr(loop_turns, "SHARED_SECONDS", 3600.0)
    made = LoopTurns()
    made.note("somebody")
    return made


async def asked(turns: LoopTurns, *users: str) -> list[str]:
    """The order in which steps go on that ask at once."""
    order: list[str] = []

    async def step(user: str) -> None:
        await turns.take(user)
        order.append(user)
        turns.charge(user, LONG)

    await asyncio.gather(*map(step, users))
    return order


async def test_nobody_waits_while_the_loop_has_time(turns: LoopTurns) -> None:
    turns.charge("ada", loop_turns.ROUND_SECONDS / 2)
    assert not turns.must_wait("ada")


async def test_who_has_been_alone_for_long_takes_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_turns, "SHARED_SECONDS", 0.0)
    turns = LoopTurns()
    turns.note("ada")
    turns.charge("ada", LONG)
    assert not turns.are_taken()
    assert not turns.must_wait("ada")
    monkeypatch.setattr(loop_turns, "SHARED_SECONDS", 3600.0)
    turns.note("ada")
    assert not turns.are_taken()
    turns.note("bob")
    assert turns.are_taken()
    assert turns.must_wait("ada")


async def test_who_kept_the_loop_busy_waits_and_a_stranger_does_not(turns: LoopTurns) -> None:
    turns.charge("ada", LONG)
    assert turns.must_wait("ada")
    assert not turns.must_wait("bob")
    await asyncio.wait_for(turns.take("ada"), 60)
    # A round without anybody who waits forgets what was used.
    turns.charge("bob", LONG)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not turns.must_wait("ada")
    assert not turns.must_wait("bob")


async def test_users_take_turns_however_many_steps_each_has_waiting(turns: LoopTurns) -> None:
    for user in ("ada", "bob", "eve"):
        turns.charge(user, LONG)
    order = await asyncio.wait_for(asked(turns, "ada", "ada", "ada", "ada", "bob", "bob", "eve"), 60)
    assert [sorted(order[:3]), sorted(order[3:5]), order[5:]] == [["ada", "bob", "eve"], ["ada", "bob"], ["ada", "ada"]]


async def test_who_used_more_waits_longer(turns: LoopTurns) -> None:
    turns.charge("ada", 10 * LONG)
    turns.charge("bob", LONG)
    order = await asyncio.wait_for(asked(turns, "ada", "bob", "bob", "bob"), 60)
    assert order == ["bob", "bob", "bob", "ada"]


async def test_a_step_that_is_given_up_gives_its_turn_to_the_next(turns: LoopTurns) -> None:
    turns.charge("ada", LONG)
    given_up = asyncio.create_task(turns.take("ada"))
    await asyncio.sleep(0)
    following = asyncio.create_task(turns.take("ada"))
    given_up.cancel()
    await asyncio.wait_for(following, 60)
    assert given_up.cancelled()


async def test_users_of_long_ago_are_forgotten(turns: LoopTurns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_turns, "MANY_USERS", 10)
    for number in range(1_000):
        turns.charge(f"user {number}", LONG)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert len(turns) <= 11


class Ada:
    user = "ada"


async def driven(work: Awaitable[object], turns: LoopTurns) -> object:
    async def run() -> object:
        return await work

    return await in_turns(run(), turns, Ada)


async def test_results_errors_and_cancellation_pass_through(turns: LoopTurns) -> None:
    turns.charge("ada", LONG)
    assert await driven(asyncio.sleep(0, "done"), turns) == "done"
    failing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    failing.set_exception(ValueError("theirs"))
    with pytest.raises(ValueError, match="theirs"):
        await driven(failing, turns)
    endless = asyncio.create_task(driven(asyncio.Event().wait(), turns))
    await asyncio.sleep(0)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless


async def test_a_step_is_cancelled_while_it_waits_for_its_turn(turns: LoopTurns) -> None:
    cleaned: list[str] = []

    async def work() -> None:
        turns.charge("ada", 100 * LONG)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            cleaned.append("cleaned")
            raise

    turns.charge("bob", LONG)
    others = asyncio.create_task(asked(turns, *["bob"] * 20))
    task = asyncio.create_task(driven(work(), turns))
    for _ in range(3):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == ["cleaned"]
    assert len(await asyncio.wait_for(others, 60)) == 20
