"""Which users' programs have sessions, and when each program was seen last. In memory, owned by the event loop."""

from carrel.auth.known_sessions import KnownSession
from carrel.auth.programs.tokens import ProgramClaims
from carrel.kit.clock import Clock
from carrel.vault.keyring import UserUuid


class ProgramUse:
    """While a user is away, `serves` says whether the key is still there for programs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[UserUuid, float] = {}
        """Until when sessions of programs last, on the monotonic clock."""
        self._known: dict[UserUuid, dict[str, KnownSession]] = {}

    def begin(self, uuid: UserUuid, seconds: int, programs: frozenset[str]) -> None:
        """A session of one of these programs begins, which lasts for so long. Other programs have ended."""
        self._drop(uuid, programs)
        until = self._clock.monotonic() + seconds
        self._until[uuid] = max(until, self._until.get(uuid, until))

    def serves(self, uuid: UserUuid) -> bool:
        """Whether there may be a session of a program."""
        return self._until.get(uuid, 0.0) > self._clock.monotonic()

    def seconds_left(self, uuid: UserUuid) -> float:
        """For how long there may be one; 0 if there is none."""
        return max(0.0, self._until.get(uuid, 0.0) - self._clock.monotonic())

    def end(self, uuid: UserUuid) -> None:
        """There is none any more, or the user is back, so that it does not matter."""
        self._until.pop(uuid, None)

    def note(self, uuid: UserUuid, claims: ProgramClaims) -> KnownSession:
        """A program is at work now."""
        known = self._known.setdefault(uuid, {}).setdefault(claims.program, KnownSession(claims.issued_at, 0.0))
        known.used_at = self._clock.monotonic()
        return known

    def last(self, uuid: UserUuid, program: str) -> int | None:
        """The epoch second of the last request of a program in this process."""
        known = self._known.get(uuid, {}).get(program)
        return None if known is None else int(self._clock.now() - (self._clock.monotonic() - known.used_at))

    def forget(self, uuid: UserUuid, programs: frozenset[str] = frozenset()) -> None:
        """Drop all but these programs of a user, and their sessions."""
        self._drop(uuid, programs)
        if uuid not in self._known:
            self.end(uuid)

    def _drop(self, uuid: UserUuid, programs: frozenset[str]) -> None:
        kept = {program: known for program, known in self._known.pop(uuid, {}).items() if program in programs}
        if kept:
            self._known[uuid] = kept

    @property
    def sizes(self) -> dict[str, int]:
        """How many entries each table has."""
        return {"programs_until": len(self._until), "program_uses": sum(map(len, self._known.values()))}
