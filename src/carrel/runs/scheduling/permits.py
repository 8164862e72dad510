"""The slots of one run: what it waits for at the gate, and what it was granted and has not used yet."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress

from carrel.runs.model.setup import RunId
from carrel.runs.scheduling.scheduler import Gate, Wish
from carrel.vault.keyring import UserUuid

_OUTSIDE = RunId("outside")
"""All calls of a user outside of runs take turns with each of their runs."""


class Slots:
    """`told` is called whenever a slot was granted."""

    def __init__(self, gate: Gate, uuid: UserUuid, run_id: RunId, told: Callable[[], None]) -> None:
        self._gate = gate
        self._uuid = uuid
        self._run_id = run_id
        self._told = told
        self._wishes: dict[str, Wish] = {}
        self._granted: Counter[str] = Counter()

    def settle(self, needed: Mapping[str, int]) -> bool:
        """Wait for so many slots of each provider, give back what is too much; whether any is there."""
        for provider in {*needed, *self._wishes}:
            wanted = needed.get(provider, 0)
            while self._granted[provider] > wanted:
                self._granted[provider] -= 1
                self._gate.give_back(self._uuid, provider, used=False)
            self._gate.want(self._wish(provider), wanted - self._granted[provider])
        return self._granted.total() > 0

    def take(self) -> Counter[str]:
        """All that were granted; the caller gives back or keeps what it does not use."""
        taken, self._granted = self._granted, Counter()
        return taken

    def keep(self, slots: Mapping[str, int]) -> None:
        """These were taken and not used."""
        self._granted.update(slots)

    def give_back(self, provider: str) -> None:
        """A call is over."""
        self._gate.give_back(self._uuid, provider)

    def single(self, provider: str) -> "Single":
        """One slot more, for a task that is tried again."""
        return Single(self._gate, self._uuid, self._run_id, provider)

    def _wish(self, provider: str) -> Wish:
        wish = self._wishes.get(provider)
        if wish is None:
            wish = Wish(self._uuid, self._run_id, provider, lambda: self._grant(provider))
            self._wishes[provider] = wish
        return wish

    def _grant(self, provider: str) -> None:
        self._granted[provider] += 1
        self._told()


class Door:
    """Lets calls outside of runs take their turns with those of runs."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def enter(self, user: UserUuid, provider: str, patience_seconds: float) -> bool:
        """Wait for a slot; False if none was granted in that time."""
        slot = Single(self._gate, user, _OUTSIDE, provider)
        with ExitStack() as undo:
            undo.callback(slot.withdraw)
            with suppress(TimeoutError):
                async with asyncio.timeout(patience_seconds):
                    await slot.there.wait()
            if not slot.there.is_set():
                return False
            undo.pop_all()
        return True

    def leave(self, user: UserUuid, provider: str) -> None:
        """The call is over."""
        self._gate.give_back(user, provider)


class Single:
    """One slot that is waited for; `there` is set when it is granted."""

    def __init__(self, gate: Gate, uuid: UserUuid, run_id: RunId, provider: str) -> None:
        self.there = asyncio.Event()
        self._gate = gate
        self._wish = Wish(uuid, run_id, provider, self.there.set)
        gate.want(self._wish, 1)

    def withdraw(self) -> None:
        """Do without it, whether or not it was granted."""
        if self.there.is_set():
            self._gate.give_back(self._wish.user, self._wish.provider, used=False)
        else:
            self._gate.want(self._wish, 0)
