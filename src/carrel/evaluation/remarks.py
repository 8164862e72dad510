"""The kinds of remarks beside a verdict: doubts about it, and what was tried to overturn it.

`tests/reports/doubts.py` has a case for each kind, and the report, the terminal and the app show every case.
"""

from typing import Literal, NamedTuple

Kind = Literal[
    # What speaks against a verdict, or limits it.
    "exploratory",
    "check",
    "chance",
    "unproven",
    "flips",
    "opposed",
    "family",
    "length",
    "missing",
    "malformed",
    "overturned",
    "alike",
    "grouped",
    "ungrouped",
    "documents_needed",
    "chance_to_find",
    "by_scores",
    "by_judges",
    "majority",
    "head_to_head",
    "equally_long",
    "without_judge",
    "by_votes",
    "repeated_intervals",
    "beaten",
    # What was tried to overturn it.
    "tried_without_judge",
    "one_judge",
    "longer_text",
    "lengths_tied_up",
    "tried_equally_long",
    "by_rule",
    "nothing_missing",
    "bounds",
    "widened",
]


class Remark(NamedTuple):
    """One sentence beside a verdict."""

    kind: Kind
    sentence: str
