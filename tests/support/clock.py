"""A clock that stands still until a test moves it."""


class FakeClock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now
        self._monotonic = 1_000.0

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Both clocks move, as real ones do."""
        self._now += seconds
        self._monotonic += seconds

    def set_back(self, seconds: float) -> None:
        """Only the wall clock goes back, as when somebody sets it."""
        self._now -= seconds
