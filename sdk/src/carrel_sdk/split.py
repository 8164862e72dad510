"""The results of a run by the values of a column. Fields that a newer service adds are ignored."""

import msgspec

from carrel_sdk.ranking import CheckColumn, PassRate


class SplitRow(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate on the rows of a part.

    `preferred` is its win share, or its mean score where nothing was compared. `passes` is how often it passes every
    required check, or the mean of all checks; `rates` has the rate of each.
    """

    candidate: str
    preferred: PassRate | None
    passes: PassRate | None
    rates: list[PassRate]


class SplitPart(msgspec.Struct, frozen=True, kw_only=True):
    """The rows with one `value`, without one (`none`), or with any of many rarer ones (`others`)."""

    kind: str
    value: str | None
    values: int
    documents: int
    few: bool
    planned: int
    missing: int
    rows: list[SplitRow]


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """The results by the values of `column`, which is one of `columns`. Exploratory: `notes` say why."""

    column: str | None
    columns: list[str]
    basis: str
    checks: list[CheckColumn]
    parts: list[SplitPart]
    notes: list[str]
