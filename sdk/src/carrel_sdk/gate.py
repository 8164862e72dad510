"""Whether a candidate is worse than its baseline. Fields that a newer service adds are ignored."""

import msgspec


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The mean difference over `documents`, candidate minus baseline.

    With an error of 5 % each, the true one is not below `low` and not above `high`. About `needed` documents would
    decide; None if that is not known.
    """

    difference: float
    low: float
    high: float
    documents: int
    independent: int
    outcome: str
    needed: int | None = None


class GateSource(msgspec.Struct, frozen=True, kw_only=True):
    """What one source says: `comparisons`, `scores`, `required` checks, the mean of all `checks`, or one `check`.

    A source that `decides` has to show that the candidate is not worse; the others may only show that it is.
    """

    kind: str
    name: str
    decides: bool
    change: Change | None = None


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the candidate is worse: `better`, `not_worse`, `worse` or `undecided`."""

    outcome: str
    sentence: str
    candidate: str
    baseline: str
    margin: float
    sources: list[GateSource]
    needed: int | None = None
