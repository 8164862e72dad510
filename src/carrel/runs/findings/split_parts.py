"""Computes the parts of a split from what judges said and what was gathered. Pure, and fit for the worker process."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from carrel.evaluation import split as evaluation
from carrel.evaluation.passing import CheckResults
from carrel.evaluation.records import Score, Verdict
from carrel.evaluation.split import Judging, PartEvidence, PartKind, Split
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence, PackedEvidence

R = TypeVar("R", Verdict, Score)


class PartRows(msgspec.Struct, frozen=True):
    """Some rows of the run, and what the checks say of them; `values` counts the values that they have."""

    kind: PartKind
    value: str | None
    values: int
    documents: int
    checks: CheckResults | None = None


class RowParts(msgspec.Struct, frozen=True):
    """Which part each row is in: `places` has its number, in the order of the rows. Without a `column` none is cut."""

    column: str | None
    columns: tuple[str, ...]
    places: tuple[int, ...] = ()
    parts: tuple[PartRows, ...] = ()


def split_packed(packed: PackedEvidence, cut: RowParts) -> Split:
    """The results of each part."""
    return split(judgement.unpack(packed), cut)


def split(evidence: Evidence, cut: RowParts) -> Split:
    """The same, from evidence that is unpacked and still has the copies of texts as documents of their own."""
    verdicts, scores = _by_part(evidence.verdicts, cut), _by_part(evidence.scores, cut)
    judging = Judging(
        candidates=evidence.candidates,
        comparison_weights=evidence.comparison_weights,
        scoring_weights=evidence.scoring_weights,
        criteria=evidence.criteria,
        look=evidence.look,
    )
    parts = []
    for number, part in enumerate(cut.parts):
        same = same_within(evidence.same, cut.places, number)
        own = judgement.once(replace(evidence, verdicts=verdicts[number], scores=scores[number], votes=[], same=same))
        said = PartEvidence(verdicts=own.verdicts, scores=own.scores, groups=own.groups.joined)
        parts.append(evaluation.part(part.kind, part.value, part.values, part.documents, judging, said, part.checks))
    return Split(
        column=cut.column,
        columns=cut.columns,
        basis=judging.basis,
        checks=next((part.checks.checks for part in cut.parts if part.checks is not None), ()),
        parts=tuple(parts),
        notes=evaluation.notes(parts),
    )


def same_within(same: dict[str, str], places: Sequence[int], number: int) -> dict[str, str]:
    """The first row of this part with the same text, for each later one; copies in other parts stand for themselves."""
    firsts: dict[str, str] = {}
    found = {}
    for ordinal, place in enumerate(places, start=1):
        if place == number:
            name = f"d{ordinal}"
            first = firsts.setdefault(same.get(name, name), name)
            if first != name:
                found[name] = first
    return found


def _by_part(records: Sequence[R], cut: RowParts) -> list[list[R]]:
    found: list[list[R]] = [[] for _ in cut.parts]
    if found:
        for record in records:
            found[cut.places[int(record.document[1:]) - 1]].append(record)
    return found
