"""What a node has to know of the users whose keys it gets with their slot, besides what stands in the databases."""

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

import msgspec

from carrel.auth.sessions import Sessions
from carrel.errors import CarrelError
from carrel.kit.clock import Clock
from carrel.vault.keyring import UserUuid


class HandedUser(msgspec.Struct, frozen=True, array_like=True):
    """A user whose key another node gets. Times are in seconds, because the clocks of nodes differ."""

    uuid: UserUuid
    idle_seconds: float
    is_signed_out: bool
    """The key serves the user's work and programs only."""
    program_seconds: int
    """How long a session of a program may still last."""
    at_work: bool
    """The workspace was in use, so a run or a delivery may have to go on without any request."""


def leave(
    sessions: Sessions, clock: Clock, users: Iterable[UserUuid], working: Collection[UserUuid]
) -> list[HandedUser]:
    """What is known of `users`, who have keys; a move has interrupted the work of those who are `working`."""
    now = clock.monotonic()
    opened = frozenset(sessions.pool.opened)
    return [
        HandedUser(
            uuid,
            now - sessions.last_used.get(uuid, now),
            uuid in sessions.signed_out,
            math.ceil(sessions.programs.seconds_left(uuid)),
            uuid in working or uuid in opened,
        )
        for uuid in users
    ]


def arrive(sessions: Sessions, clock: Clock, users: Sequence[HandedUser]) -> None:
    """Know these users again, whose keys are in the keyring. Their accounts are read when they are needed."""
    now = clock.monotonic()
    for user in users:
        sessions.handed_over.add(user.uuid)
        sessions.last_used[user.uuid] = now - user.idle_seconds
        if user.is_signed_out:
            sessions.signed_out.add(user.uuid)
        if user.program_seconds > 0:
            sessions.programs.begin(user.uuid, user.program_seconds, frozenset())


async def forget(sessions: Sessions, uuid: UserUuid) -> None:
    """Evict the key of a user whom another node serves from now on, and forget the user."""
    async with sessions.locks.of(uuid):
        # Even if the last write of the user's runs failed, the key is gone.
        with suppress(CarrelError):
            await sessions.pool.evict(uuid)
        sessions.forget(uuid)
        sessions.issuer.forget(uuid)
        sessions.pool.forget(uuid)
