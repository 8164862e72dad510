"""Issues session tokens, and remembers for every user the latest time of issue.

A token tells when it ends and so when it was issued; a rekey and a deletion revoke tokens by that time. The clock may
go back, within a process and between two, so the service keeps the latest time of issue: for each user in memory, and
for all users together in `service.db`. The record in `service.db` runs up to a minute ahead; an orderly stop corrects
it. A slot that came from another node has a record of its own, because that node's clock may be ahead.
"""

import asyncio
from contextlib import suppress

from carrel.accounts import issuance
from carrel.accounts.accounts import Account
from carrel.accounts.issuance import IssuanceTimes
from carrel.accounts.service import ServiceDatabase
from carrel.accounts.slots import slot_of
from carrel.auth import tokens
from carrel.auth.credentials import Credentials
from carrel.errors import CarrelError
from carrel.kit.clock import Clock
from carrel.vault.keyring import UserUuid

_AHEAD_SECONDS = 60
"""The lead of the record: the service writes it once in this time, not with every token."""


class Issuer:
    """Signs with the first plugin secret in force."""

    def __init__(self, credentials: Credentials, service: ServiceDatabase, clock: Clock) -> None:
        self._credentials = credentials
        self._service = service
        self._clock = clock
        self._last_issued: dict[UserUuid, int] = {}
        self._ended = 0
        self._slots: dict[int, IssuanceTimes] = {}
        self._inherited = 0
        self._recorded = 0
        self._latest = 0
        self._recording = asyncio.Lock()

    async def start(self) -> None:
        """Read the record of the previous process."""
        self._inherited = self._latest = self._recorded = await self._service.run(issuance.latest)
        self._ended = await self._service.run(issuance.ended)
        await self.read_slots()

    async def read_slots(self) -> None:
        """Read the records of slots that came from other nodes, or have left."""
        self._slots = await self._service.run(issuance.of_slots)

    def ended(self, uuid: str) -> int:
        """Every session of the user from before this second is over, whatever the account says."""
        found = self._slots.get(slot_of(uuid))
        return self._ended if found is None else found.ended

    def issued(self, slot: int) -> IssuanceTimes:
        """What the next node has to know of the tokens of this slot's users."""
        users = (second for uuid, second in self._last_issued.items() if slot_of(uuid) == slot)
        before = self._slots.get(slot, IssuanceTimes(0, self._ended))
        return IssuanceTimes(max(self._latest, before.latest, *users, 0), before.ended)

    def forget(self, uuid: UserUuid) -> None:
        """Forget a user whom another node serves from now on."""
        self._last_issued.pop(uuid, None)

    async def stop(self) -> None:
        """Correct the record. Afterwards no token may be issued."""
        if self._recorded != self._latest:
            with suppress(CarrelError):
                await self._service.run(issuance.record, self._latest)

    async def issue(self, account: Account) -> tuple[str, int]:
        """A new token, issued now, or at the first second that counts if the clock is behind it; and that second."""
        issued_at = await self.issue_second(account)
        return tokens.issue(account.uuid, issued_at, self._credentials.plugin[0]), issued_at

    async def issue_second(self, account: Account) -> int:
        """The second of issue of a session that begins now; every later end of all sessions ends it."""
        uuid = UserUuid(account.uuid)
        now = int(self._clock.now())
        if now > self._recorded:
            await self._record(now)
        issued_at = max(now, account.valid_from, self.ended(uuid))
        # The token would be the one that the user ended.
        while issued_at in account.ended_sessions:
            issued_at += 1
        self._latest = max(self._latest, now)
        self._last_issued[uuid] = max(issued_at, self._last_issued.get(uuid, 0))
        return issued_at

    def latest(self, account: Account) -> float:
        """The last second at which a token of the user can have been issued: `issue` may go ahead of the clock."""
        after_ended = max(account.ended_sessions, default=-1) + 1
        uuid = account.uuid
        before = self._before(uuid)
        return max(self._clock.now(), self._latest, before, self.ended(uuid), account.valid_from, after_ended)

    @property
    def remembered(self) -> int:
        """How many users' latest tokens are remembered."""
        return len(self._last_issued)

    def next_valid_from(self, uuid: UserUuid, previous: int) -> int:
        """The epoch second that revokes every session issued so far, also when the clock has gone back.

        `previous` is the one in force.
        """
        issued = max(self._inherited, self._before(uuid), self._last_issued.get(uuid, 0))
        return max(int(self._clock.now()), previous, issued) + 1

    def _before(self, uuid: str) -> int:
        """The last second at which another node can have issued a token of this user."""
        found = self._slots.get(slot_of(uuid))
        return 0 if found is None else found.latest

    async def _record(self, now: int) -> None:
        async with self._recording:
            if now > self._recorded:
                # A full disk must not end everybody's session: the record matters only if the clock goes back later.
                with suppress(CarrelError):
                    await self._service.run(issuance.record, now + _AHEAD_SECONDS)
                    self._recorded = now + _AHEAD_SECONDS
