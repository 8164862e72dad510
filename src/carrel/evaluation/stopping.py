"""Stopping early: at which documents a run looks at what it has, and how strict it is at each look.

Whoever looks again and again until somebody is ahead by more than chance finds somebody. So the 5 % of error that a run
allows itself is divided: by the time a part t of its documents is in, a part t of the error may be spent (the linear
spending function of Lan and DeMets 1983), and each look tests with what has been added since the one before. The errors
of all looks add up to no more than 5 %, however they depend on each other. The intervals drawn at that strictness hold
at all looks together: they are repeated confidence intervals (Jennison and Turnbull 1989).
"""

import math
from itertools import pairwise

import msgspec

LEAST_DOCUMENTS = 10
"""A run over fewer looks once, at its end."""
LOOKS = 6
"""The most looks that a run takes."""
LEAST_BETWEEN = 5
"""Documents from one look to the next, at least."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Look `number` of `of` comes when `documents` of the `planned` ones are compared.

    `part` of the error that a run allows itself is spent on it: its intervals are at 1 − .05 · part each. `stopped`
    says that the run ended here because it was decided.
    """

    number: int
    of: int
    documents: int
    planned: int
    part: float
    stopped: bool = False

    @property
    def confidence(self) -> float:
        """The level of each single interval."""
        return 1.0 - 0.05 * self.part

    @property
    def is_last(self) -> bool:
        """Whether every document is in by then."""
        return self.documents == self.planned


def looks(documents: int) -> tuple[Look, ...]:
    """The looks of a run over so many documents, the last one at its end; none where it looks only then.

    They come every max(5, documents/6) documents. A rest of less than half of that is left to the last look, which
    would have next to no error to spend on it.
    """
    if documents < LEAST_DOCUMENTS:
        return ()
    between = max(LEAST_BETWEEN, math.ceil(documents / LOOKS))
    places = [*range(between, documents - (between - 1) // 2, between), documents]
    return tuple(
        Look(
            number=number,
            of=len(places),
            documents=upto,
            planned=documents,
            part=(upto - before) / documents,
        )
        for number, (before, upto) in enumerate(pairwise((0, *places)), start=1)
    )
