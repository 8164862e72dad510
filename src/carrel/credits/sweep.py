"""Ends the holds of users who do not come back: after some days the whole hold is charged.

Only the user's workspace knows what the calls took. The hold is never too low, so the host loses nothing by it. If the
user does come back, the next opening of the workspace refunds the rest.
"""

import asyncio

from carrel.accounts.accounts import Accounts, UserUnknown
from carrel.accounts.service import ServiceDatabase
from carrel.credits import holders, reservation_store
from carrel.credits.reservations import CreditReservations
from carrel.errors import CarrelError
from carrel.kit import logs
from carrel.kit.clock import Clock, rfc3339
from carrel.kit.logs import tail

SWEEP_SECONDS = 6 * 3600.0
"""Between two sweeps. Holds wait for days, so an hour more does not matter."""
_DAY_SECONDS = 86_400


class HoldSweep:
    """Owned by the event loop. It opens one account after the other."""

    def __init__(
        self, accounts: Accounts, service: ServiceDatabase, reservations: CreditReservations, clock: Clock, days: int
    ) -> None:
        self._accounts = accounts
        self._service = service
        self._reservations = reservations
        self._clock = clock
        self._days = days
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Sweep now, and from then on again and again."""
        self._task = asyncio.create_task(self._again_and_again())

    async def _again_and_again(self) -> None:
        while True:
            try:
                await self.sweep()
            except CarrelError as error:
                logs.warning("holds-not-swept", code=error.code)
            await asyncio.sleep(SWEEP_SECONDS)

    async def sweep(self) -> None:
        """Charge the holds that are older than the days that were set."""
        before = rfc3339(self._clock.now() - self._days * _DAY_SECONDS)
        for holder in await self._service.run(holders.listed):
            try:
                in_use = self._reservations.in_use(holder.uuid)
                some_left = await self._accounts.run(holder.uuid, reservation_store.sweep, before, in_use)
            except UserUnknown:
                some_left = False
            except CarrelError as error:
                logs.warning("holds-not-swept", user=tail(holder.uuid), code=error.code)
                continue
            if not some_left and self._reservations.let_go(holder.uuid):
                await self._service.run(holders.remove, holder.owner)

    async def stop(self) -> None:
        """Stop sweeping."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
