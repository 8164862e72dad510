"""So many attempts a minute for each user: a bucket that fills evenly."""

from collections.abc import Hashable

from carrel.kit.clock import Clock

_MINUTE = 60.0


class Attempts:
    """At most `per_minute` at once for each key, and as many in each minute after that."""

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._most = per_minute
        self._clock = clock
        self._taken: dict[Hashable, tuple[float, float]] = {}
        """How many attempts count at a moment of the monotonic clock."""

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, key: Hashable) -> float:
        """Count an attempt and return 0; or return how many seconds to wait for the next one, and count nothing."""
        now = self._clock.monotonic()
        taken = self._present(key, now)
        if taken > self._most - 1:
            return (taken - self._most + 1) * _MINUTE / self._most
        # Whoever has tried nothing for a minute is forgotten: there is one entry for each user of the last minute.
        for other in [other for other in self._taken if not self._present(other, now)]:
            del self._taken[other]
        self._taken[key] = (taken + 1, now)
        return 0.0

    def _present(self, key: Hashable, now: float) -> float:
        taken, at = self._taken.get(key, (0.0, now))
        return max(0.0, taken - (now - at) * self._most / _MINUTE)
