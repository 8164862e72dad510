"""What pays for runs with `billing: credits`: the credits of the users, and the keys of the operator."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from carrel.credits.reservation_store import Want
from carrel.credits.reservations import CreditReservations
from carrel.kit.concurrency.cancellation import run_to_completion
from carrel.runs.costs.quotes import NO_CREDITS, Credits
from carrel.runs.tasks.attempts import Attempt
from carrel.vault.workspace import Workspace


class Funds(NamedTuple):
    """The users' credits, and how they pay for calls."""

    reservations: CreditReservations
    credits: Credits


class Payer:
    """Pays for the calls of one run. It calls `on_freed` when credits became free for which calls may wait."""

    def __init__(self, workspace: Workspace, funds: Funds | None, on_freed: Callable[[], None]) -> None:
        self._workspace = workspace
        self._funds = funds
        self._on_freed = on_freed
        self._reservations: dict[str, str] = {}
        """The reservation of each task's present call."""
        self._overdue: set[str] = set()
        """The reservations of calls that go on although their tasks do not wait any longer."""

    @property
    def credits(self) -> Credits:
        """How credits pay for calls."""
        return NO_CREDITS if self._funds is None else self._funds.credits

    @property
    def may_come(self) -> bool:
        """Whether some of the credits that are held back may become free."""
        return self._funds is not None and self._funds.reservations.is_busy(self._workspace.uuid)

    def begin(self) -> None:
        """Listen for credits that become free."""
        if self._funds is not None:
            self._funds.reservations.watch(self._workspace.uuid, self._on_freed)

    def end(self) -> None:
        """Stop listening: the run has no task in work any more."""
        for key in tuple(self._reservations):
            self.done(key)
        for reservation in tuple(self._overdue):
            self.done_overdue(reservation)
        if self._funds is not None:
            self._funds.reservations.unwatch(self._workspace.uuid, self._on_freed)

    async def reserve(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Hold credits back for all of these at once. Returns the attempts for which there are no credits."""
        wants = [Want(*attempt.hold) for attempt in attempts if attempt.hold is not None]
        if not wants or self._funds is None:
            return []
        # It runs to completion: the payer has to know every reservation, also if nobody wants the calls any more.
        return await run_to_completion(self._reserve(self._funds.reservations, attempts, wants))

    async def _reserve(
        self, reservations: CreditReservations, attempts: Sequence[Attempt], wants: Sequence[Want]
    ) -> list[Attempt]:
        granted = await reservations.reserve(self._workspace.uuid, wants)
        refused = []
        for attempt in attempts:
            if attempt.hold is None:
                continue
            if attempt.hold.reservation in granted:
                self._reservations[attempt.key] = attempt.hold.reservation
            else:
                refused.append(attempt)
        return refused

    def done(self, key: str) -> None:
        """Settle what the books say, because the task's call has ended or nobody wants it any more."""
        reservation = self._reservations.pop(key, None)
        if reservation is not None and self._funds is not None:
            self._funds.reservations.done(self._workspace, reservation)

    def overdue(self, key: str) -> str:
        """Keep the reservation of the task's call beyond the task, and return it for `done_overdue`."""
        reservation = self._reservations.pop(key)
        self._overdue.add(reservation)
        return reservation

    def done_overdue(self, reservation: str) -> None:
        """Settle what the books say, because the call has ended. Doing so twice changes nothing."""
        if reservation in self._overdue and self._funds is not None:
            self._overdue.discard(reservation)
            self._funds.reservations.done(self._workspace, reservation)

    async def settled(self) -> None:
        """Wait until all settlements have ended."""
        if self._funds is not None:
            await self._funds.reservations.settled(self._workspace.uuid)


async def reconcile(funds: Funds | None, workspace: Workspace) -> None:
    """End the reservations of the user's credits for calls that nobody works on."""
    if funds is not None:
        await funds.reservations.reconcile(workspace)
