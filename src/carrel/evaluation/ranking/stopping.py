"""Stopping early: after which documents a run looks at its results, and how strict each look is.

A run that looks again and again until a candidate is ahead by more than chance always finds one. So the run divides its
5 % of error: when a part t of its documents is done, it may have spent a part t of the error (the linear spending
function of Lan and DeMets 1983), and each look tests with the part that was added since the look before. The errors of
all looks add up to no more than 5 %, however they depend on each other. Intervals at that level hold at all looks
together: they are repeated confidence intervals (Jennison and Turnbull 1989).  Student's t is unreliable at so small an
error with so few documents: if a judge is sure of itself, five documents with two equal candidates all agree by chance
once in sixteen times. So a look decides nothing on documents that could all agree by chance more often than the look
may err. A run does not take a look that could never decide; the next look may spend its part of the error.
"""

import math
from itertools import pairwise

import msgspec

LEAST_DOCUMENTS = 13
"""With fewer there is no place between the first documents that can decide and the last."""
LOOKS = 6
"""The most looks that a run takes."""
LEAST_BETWEEN = 5
"""The least number of documents from one look to the next."""
_ERROR = 0.05


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Look `number` of `of` comes when `documents` of the `planned` ones are compared.

    `before` of them were compared at the look before. `part` of the error that a run allows itself is spent on it: its
    intervals are at 1 − .05 · part each. `stopped` says that the run ended here because it was decided.
    """

    number: int
    of: int
    before: int
    documents: int
    planned: int
    part: float
    stopped: bool = False

    @property
    def confidence(self) -> float:
        """The level of each single interval."""
        return 1.0 - _ERROR * self.part

    @property
    def is_last(self) -> bool:
        """Whether every document is compared by then."""
        return self.documents == self.planned


def looks(documents: int) -> tuple[Look, ...]:
    """The looks of a run over so many documents, the last one at its end; empty if the run looks only at its end.

    They come every max(5, documents/6) documents, beginning where a look could first decide between two candidates. A
    rest of less than half of that distance joins the last look, because a look of its own would have almost no error to
    spend.
    """
    if documents < LEAST_DOCUMENTS:
        return ()
    between = max(LEAST_BETWEEN, math.ceil(documents / LOOKS))
    places = [
        place
        for place in range(between, documents - (between - 1) // 2, between)
        if place >= documents_to_agree(place / documents)
    ]
    found = list(pairwise((0, *places, documents)))
    return tuple(
        Look(
            number=number,
            of=len(found),
            before=before,
            documents=upto,
            planned=documents,
            part=(upto - before) / documents,
        )
        for number, (before, upto) in enumerate(found, start=1)
    )


def part_of(look: Look | None) -> float:
    """The part of its error that a run spends here: all of it, if it looks once."""
    return 1.0 if look is None else look.part


def documents_to_agree(part: float) -> int:
    """The fewest documents that may decide: 2^(1 − n), the chance that n agree, is at most .05 · part."""
    return math.ceil(1.0 - math.log2(_ERROR * part))
