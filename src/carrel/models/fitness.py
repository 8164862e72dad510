"""Whether a judge is known to be good enough, or not to be, from a kept table of what classes of models got right.

No current model has a published figure. A later model of the same line is taken to be no worse than the one that was
measured, which nobody has shown; whoever wants to know has the judge take the check.
"""

import csv
import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from carrel.providers.catalogue import find
from carrel.providers.endings import unversioned
from carrel.providers.registry import is_built_in, name_of, provider_of

PASSING: Final = 0.9
"""A judge that is right in a smaller part, of a check or of public pairs, is not good enough to be a default."""


class Figure(NamedTuple):
    """How much of a public set the `measured` model of a class got right, and where that is written."""

    measured: str
    right: float
    source: str

    @property
    def passes(self) -> bool:
        """Whether judges of this class are good enough."""
        return self.right >= PASSING


@lru_cache(maxsize=5_000)
def figure_of(model: str, host: str | None = None) -> Figure | None:
    """The figure of the class of `provider:name`; `None` if nobody has measured it.

    A server of the user's own, or another host, may answer with anything under any name.
    """
    known = find(provider_of(model))
    if not is_built_in(model) and (known is None or known.own or host is not None):
        return None
    name = unversioned(name_of(model).lower().rpartition("/")[2]).replace(".", "-")
    wanted = model if is_built_in(model) else name
    return next((figure for pattern, figure in _table() if pattern.fullmatch(wanted)), None)


@cache
def _table() -> tuple[tuple[re.Pattern[str], Figure], ...]:
    _, *lines = (files("carrel.models") / "classes.csv").read_text().splitlines()
    return tuple(
        (re.compile(row["pattern"]), Figure(row["measured"], float(row["right"]), row["source"]))
        for row in csv.DictReader(lines)
    )
