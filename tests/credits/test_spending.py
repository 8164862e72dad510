"""Many spend one balance at the same time: it is never below zero, and the rows of the ledger add up to it."""

import asyncio
import random
from contextlib import suppress
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest

from carrel.credits import ledger, reservation_store
from carrel.credits.reservation_store import Want
from carrel.credits.schemas import AddIn
from carrel.kit.money import micros_of, text_of
from carrel.kit.sqlite.database import Connection
from carrel.vault.keyring import UserUuid
from tests.support import soak
from tests.support.auth_stack import AuthStack, auth_stack
from tests.support.clock import FakeClock
from tests.support.soak import Figure

ADA = UserUuid("ada")
SPENDERS = 64


class Purse:
    """One balance, those who spend it, and what they were told."""

    def __init__(self, stack: AuthStack, seed: str) -> None:
        self.stack = stack
        self.chance = random.Random(seed)
        self.added = 0
        self.charged = 0
        self.refused = 0
        self.moves = 0
        self._ids = count(1)

    async def spend(self, moves: int) -> None:
        while self.moves < moves:
            self.moves += 1
            if self.chance.random() < 0.05:
                await self.add(self.chance.randrange(1, 3_000))
            else:
                await self.buy()

    async def add(self, amount: int) -> None:
        self.added += amount
        await self.stack.accounts.run(ADA, ledger.add, AddIn(uuid=ADA, amount=Decimal(text_of(amount))))

    async def buy(self) -> None:
        """Hold back for some calls and end them, perhaps for more than was held; perhaps go away meanwhile."""
        wants = [Want(f"{next(self._ids)}", self.chance.randrange(1, 900)) for _ in range(self.chance.randint(1, 4))]
        held = await self.stack.accounts.run(ADA, reservation_store.reserve, wants)
        self.refused += len(wants) - len(held)
        amounts = {want.id: want.amount_micros for want in wants if want.id in held}
        charges = {name: self.chance.randrange(0, 2 * amount) for name, amount in amounts.items()}
        ending = asyncio.ensure_future(self.stack.accounts.run(ADA, reservation_store.settle, charges))
        if self.chance.random() < 0.2:
            await asyncio.sleep(0)
            ending.cancel()
        with suppress(asyncio.CancelledError):
            await ending
        # Whoever went away does not know whether it was done, and asks once more.
        await self.stack.accounts.run(ADA, reservation_store.settle, charges)
        self.charged += sum(min(charges[name], amount) for name, amount in amounts.items())
        await self.look()

    async def look(self) -> None:
        lowest, total, balance, held, reserved = await self.stack.accounts.read(ADA, books)
        assert lowest >= 0
        assert balance >= 0
        assert total == balance
        assert held == reserved


def books(conn: Connection) -> tuple[int, ...]:
    """The lowest balance of any entry, the sum of the entries, the balance, the open reservations, and their sum."""
    found = conn.one(
        "SELECT coalesce(min(ledger.balance_micros), 0), coalesce(sum(amount_micros), 0), account.balance_micros,"
        " (SELECT coalesce(sum(amount_micros), 0) FROM reservation), account.reserved_micros"
        " FROM account LEFT JOIN ledger"
    )
    assert found is not None
    return found


async def spend_together(data: Path, seed: str, moves: int) -> Purse:
    async with auth_stack(data, FakeClock()) as stack:
        await stack.create(ADA)
        purse = Purse(stack, seed)
        await purse.add(5_000)
        async with asyncio.TaskGroup() as group:
            for _ in range(SPENDERS):
                group.create_task(purse.spend(moves))
        await purse.look()
        balance = await stack.accounts.read(ADA, ledger.balance)
        assert balance.reserved == "0"
        assert micros_of(balance.balance) == purse.added - purse.charged
        return purse


async def test_what_many_spend_at_once_is_never_more_than_there_is(tmp_path: Path) -> None:
    purse = await spend_together(tmp_path / "data", "short", 300)
    assert purse.refused > 10


@pytest.mark.soak(campaign="credits")
@pytest.mark.parametrize("part", range(4))
async def test_what_very_many_spend_at_once_is_never_more_than_there_is(
    tmp_path: Path, part: int, figure: Figure
) -> None:
    moves = soak.size(25_000)
    done = 0
    while done < moves:
        # A ledger of its own for each thousand: it is added up after each move.
        done += (await spend_together(tmp_path / f"{done}", f"{part} {done}", min(1_000, moves - done))).moves
    figure(
        f"{SPENDERS} spenders of one balance at the same time",
        purchases_and_additions=done,
        balances_below_zero=0,
        millionths_wrong=0,
    )


async def test_open_holds_are_bounded(tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reservation_store, "MAX_OPEN", 3)
    async with auth_stack(tmp_path / "data", clock) as stack:
        await stack.create(ADA)
        await stack.accounts.run(ADA, ledger.add, AddIn(uuid=ADA, amount=Decimal(1)))
        wants = [Want(f"{number}", 1) for number in range(5)]
        assert await stack.accounts.run(ADA, reservation_store.reserve, wants[:2]) == {"0", "1"}
        assert await stack.accounts.run(ADA, reservation_store.reserve, wants[2:]) == {"2"}
        assert await stack.accounts.run(ADA, reservation_store.reserve, wants[3:]) == frozenset()
        await stack.accounts.run(ADA, reservation_store.settle, {"0": 1})
        assert await stack.accounts.run(ADA, reservation_store.reserve, wants[3:]) == {"3"}
