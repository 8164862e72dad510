"""Stopping early: at which documents a run looks at what it has, and how strict it is at each look.

Whoever looks again and again until somebody is ahead by more than chance finds somebody. So the 5 % of error that a run
allows itself is divided: by the time a part t of its documents is in, a part t of the error may be spent (the linear
spending function of Lan and DeMets 1983), and each look tests with what has been added since the one before. The errors
of all looks add up to no more than 5 %, however they depend on each other. The intervals drawn at that strictness hold
at all looks together: they are repeated confidence intervals (Jennison and Turnbull 1989).

Student's t promises little of so small an error with so few documents: where a judge is sure of itself, five equal
documents agree by chance once in sixteen times. So a look decides nothing on documents that could all agree by chance
more often than it may err, and one that never could decide is not taken: what it would have spent is left to the next.
"""

import math
from itertools import pairwise

import msgspec

LEAST_DOCUMENTS = 13
"""With fewer there is no place between the first documents that can decide and the last."""
LOOKS = 6
"""The most looks that a run takes."""
LEAST_BETWEEN = 5
"""Documents from one look to the next, at least."""
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
        """Whether every document is in by then."""
        return self.documents == self.planned


def looks(documents: int) -> tuple[Look, ...]:
    """The looks of a run over so many documents, the last one at its end; none where it looks only then.

    They come every max(5, documents/6) documents, from the first place on at which two candidates could be told apart.
    A rest of less than half of that is left to the last look, which would have next to no error to spend on it.
    """
    if documents < LEAST_DOCUMENTS:
        return ()
    between = max(LEAST_BETWEEN, math.ceil(documents / LOOKS))
    places = [
        place
        for place in range(between, documents - (between - 1) // 2, between)
        if place >= documents_to_agree(place / documents, 1)
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


def documents_to_agree(part: float, rivals: int) -> int:
    """With fewer nothing is decided: 2^(1 − n), the chance that n of them agree, is to be .05 · part/rivals at most."""
    return math.ceil(1.0 + math.log2(rivals / (_ERROR * part)))
