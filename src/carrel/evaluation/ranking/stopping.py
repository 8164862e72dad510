"""Stopping early: after which documents a run looks at its results, and how strict each look is.

A run that looks again and again until a candidate is ahead by more than chance always finds one. So the run divides its
error: when a part t of its documents is done, it may have spent the part (eᵍᵗ − 1)/(eᵍ − 1) of it (the spending
function of Hwang, Shih and DeCani 1990 with γ = −g), which is little at first. From 60 documents on g is 2; with fewer
it is 1 + 60/documents, because early looks find little then and what they spend is missing at the end. What a look may
err is the chance to be
past its bound and past none before. Looks share their documents, so that chance depends on all bounds together; this
module integrates it over independent increments (Armitage, McPherson and Rowe 1969). Intervals at a look's own level
hold at all looks together: they are repeated confidence intervals (Jennison and Turnbull 1989). A look at which not
even documents that all agree could tell two candidates apart is not taken; the next one may spend its part.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

LEAST_DOCUMENTS = 13
"""With fewer there is no place between the first documents that can decide and the last."""
LOOKS = 10
"""The most looks that a run takes."""
LEAST_BETWEEN = 5
"""The least number of documents from one look to the next."""
_LEAST_GROWTH = 2.0
_SCARCE = 60
"""Below so many documents a run keeps more of its error for the end."""
_ERROR = 0.05
_CARE = 0.85
"""A look before the last uses this part of its level. Levels as small as an early look's are not exact with so few
documents, and simulated runs named a wrong winner in 5.3 % with the whole of it."""
_LOWEST = -5.0
"""A standardised lead as low as this does not come."""
_INTERVALS = 80
"""Into so many parts the integral is divided; twice as many do not change five digits of a level."""


class Beaten(msgspec.Struct, frozen=True):
    """A candidate that another one beat at a look, when so many documents were compared; it takes no further part."""

    candidate: str
    by: str
    documents: int


class Decision(msgspec.Struct, frozen=True):
    """What a look found: the candidate that leads alone, those that it newly beat, and whether it beat all of them."""

    leader: str | None = None
    beaten: tuple[str, ...] = ()
    decides: bool = False

    @property
    def best(self) -> str | None:
        """Who beat all the others."""
        return self.leader if self.decides else None


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Look `number` of `of` comes when `documents` of the `planned` ones are compared.

    `before` of them were compared at the look before. Its intervals are at 1 − .05 · part each, which makes those of
    all looks hold together at 95 %. `stopped` says that the run ended here because it was decided. `beaten` are the
    candidates that earlier looks told from their leader.
    """

    number: int
    of: int
    before: int
    documents: int
    planned: int
    part: float
    stopped: bool = False
    beaten: tuple[Beaten, ...] = ()

    @property
    def confidence(self) -> float:
        """The level of each single interval."""
        return 1.0 - _ERROR * self.part

    @property
    def is_last(self) -> bool:
        """Whether every document is compared by then."""
        return self.documents == self.planned


@lru_cache(maxsize=256)
def looks(documents: int) -> tuple[Look, ...]:
    """The looks of a run over so many documents, the last one at its end; empty if the run looks only at its end.

    They come every max(5, documents/10) documents, beginning where a look could first decide between two candidates. A
    rest of less than half of that distance joins the last look, because a look of its own would tell almost nothing.
    """
    if documents < LEAST_DOCUMENTS:
        return ()
    between = max(LEAST_BETWEEN, math.ceil(documents / LOOKS))
    places = [
        place
        for place in range(between, documents - (between - 1) // 2, between)
        if place >= documents_to_agree(_spent(place, documents))
    ]
    found = list(pairwise((0, *places, documents)))
    return tuple(
        Look(
            number=number,
            of=len(found),
            before=before,
            documents=upto,
            planned=documents,
            part=round(2.0 * level / _ERROR * (1.0 if upto == documents else _CARE), 9),
        )
        for number, ((before, upto), level) in enumerate(zip(found, levels((*places, documents)), strict=True), start=1)
    )


def levels(places: Sequence[int]) -> list[float]:
    """The one-sided level of each look, so that all of them together err as often as one look may.

    Of two candidates that are level, the standardised lead after n documents is a sum of n normal steps over √n.
    """
    found: list[float] = []
    # The density of the sums that no bound has stopped yet, each with the width of its part of the integral.
    going: list[tuple[float, float]] = [(0.0, 1.0)]
    before, spent = 0, 0.0
    for place in places:
        step = math.sqrt(place - before)
        new = _ERROR / 2.0 * _spent(place, places[-1]) - spent
        bound = _bound(going, step, new)
        found.append(_beyond(bound / math.sqrt(place)))
        lowest = _LOWEST * math.sqrt(place)
        width = (bound - lowest) / _INTERVALS
        sums = [lowest + width * part for part in range(_INTERVALS + 1)]
        going = [
            (here, width * weight / 3.0 * math.fsum(mass * _density((here - old) / step) for old, mass in going) / step)
            for here, weight in zip(sums, _SIMPSON, strict=True)
        ]
        before, spent = place, spent + new
    return found


_SIMPSON = (1, *(4 if part % 2 else 2 for part in range(1, _INTERVALS)), 1)


def _bound(going: Sequence[tuple[float, float]], step: float, error: float) -> float:
    """The sum that is passed with this chance for the first time."""
    low, high = 0.0, 40.0 * step
    while high - low > 1e-7 * step:
        middle = (low + high) / 2.0
        passed = math.fsum(mass * _beyond((middle - old) / step) for old, mass in going)
        low, high = (middle, high) if passed > error else (low, middle)
    return (low + high) / 2.0


def _spent(documents: int, planned: int) -> float:
    """The part of the error that may be spent when so many of the planned documents are done."""
    growth = max(_LEAST_GROWTH, 1.0 + _SCARCE / planned)
    return math.expm1(growth * documents / planned) / math.expm1(growth)


def _density(x: float) -> float:
    return math.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi)


def _beyond(x: float) -> float:
    return math.erfc(x / math.sqrt(2.0)) / 2.0


def part_of(look: Look | None) -> float:
    """How strict a look is, beside a single one."""
    return 1.0 if look is None else look.part


def documents_to_agree(part: float) -> int:
    """The fewest documents that may decide: 2^(1 − n), the chance that n agree, is at most .05 · part."""
    return math.ceil(1.0 - math.log2(_ERROR * part))
