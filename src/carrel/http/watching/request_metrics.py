"""Counts and times of answered requests by route template and status, for the operator's monitoring."""

from bisect import bisect_left
from collections import Counter
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

BOUNDS_SECONDS: Final = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER: Final = "other"


class Route(NamedTuple):
    """A route in the counts: a template and an existing method, never a name that a client made up."""

    method: str
    template: str


class Times:
    """The times that the answers of one route took."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self.buckets = [0] * (len(BOUNDS_SECONDS) + 1)
        """The number of answers up to each bound and above the one before; the last number is for times above all
        bounds."""


class RequestMetrics:
    """Counts since the process started. Owned by the event loop."""

    def __init__(self) -> None:
        self.answers: dict[tuple[Route, int], int] = {}
        """By route and status."""
        self.times: dict[Route, Times] = {}
        self.refusals = Counter[str]()
        """By the code of the error."""

    def add(self, method: str, template: str, status: int, seconds: float, code: str | UnsetType = UNSET) -> Route:
        """Count one answer, and say for which route; a status of 0 is a client that went away before there was one."""
        if code is not UNSET:
            self.refusals[code] += 1
        route = Route(method if method in _METHODS else OTHER, template)
        self.answers[route, status] = self.answers.get((route, status), 0) + 1
        times = self.times.get(route)
        if times is None:
            times = self.times[route] = Times()
        times.seconds += seconds
        times.buckets[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        return route
