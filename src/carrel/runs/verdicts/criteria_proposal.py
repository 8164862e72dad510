"""Criteria proposed from the reasons of a run's votes and the notes on its answers. No model is called."""

from collections.abc import Iterator
from typing import Final

import msgspec

from carrel.contents.criteria import CriterionRow
from carrel.evaluation.people import halves, proposing
from carrel.evaluation.people.proposing import LEAST, Opinion, Proposal
from carrel.evaluation.ranking import grouping
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.model import setup as setups
from carrel.runs.model import units
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts.votes import MAX_REASON

_SCALE: Final = ("1", "5")


class ProposedCriterion(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion as a row of a criteria text, how many `votes` and `notes` mention it, and up to three of these."""

    criterion: CriterionRow
    votes: int
    notes: int
    quotes: tuple[Opinion, ...]


class CriteriaProposal(msgspec.Struct, frozen=True, kw_only=True):
    """What people's words ask for, most mentioned first; a criterion that fewer than `least` mention is not proposed.

    `votes` gave a reason and `notes` have a text, which is read up to its 500th character. `rare` names the criteria
    that too few mention. Of `unrecognised` votes and notes no word is known; up to three are quoted.
    """

    proposals: tuple[ProposedCriterion, ...]
    least: int
    votes: int
    notes: int
    rare: tuple[str, ...]
    unrecognised: int
    unrecognised_quotes: tuple[Opinion, ...]


_reasons = Select(Opinion, kind="'vote'", text="reason")
_notes = Select(Opinion, kind="'note'", text=f"substr(note, 1, {MAX_REASON})")


def propose(conn: Connection, run_id: RunId, *, half: bool = False) -> CriteriaProposal:
    """What the votes that count and the notes ask for. Reads all of them: to be scanned.

    With `half`, only those about the documents of the writing half count.

    Raises:
        NotFound: there is no such run.
    """
    setup = setups.require(conn, run_id)
    said = _said(conn, setup.seq)
    if half:
        documents = units.of(conn, setup.seq)
        groups = grouping.with_copies(documents.groups, documents.same)
        writing = halves.halve(setup.seed, setup.documents, groups).writing
        said = (one for one in said if f"d{one.document}" in writing)
    found = proposing.propose(said)
    return CriteriaProposal(
        proposals=tuple(map(_criterion, found.proposals)),
        least=LEAST,
        votes=found.votes,
        notes=found.notes,
        rare=found.rare,
        unrecognised=found.unrecognised,
        unrecognised_quotes=found.unrecognised_quotes,
    )


def _said(conn: Connection, run: int) -> Iterator[Opinion]:
    yield from _reasons.each(
        conn,
        "FROM run_votes WHERE run = ? AND word IS NOT NULL AND NOT withdrawn AND reason <> '' ORDER BY seq",
        run,
    )
    yield from _notes.each(conn, "FROM run_notes WHERE run = ? AND note <> '' ORDER BY seq", run)


def _criterion(found: Proposal) -> ProposedCriterion:
    minimum, maximum = _SCALE
    return ProposedCriterion(
        criterion=CriterionRow(
            name=found.name, description=found.meaning, weight=str(found.weight), minimum=minimum, maximum=maximum
        ),
        votes=found.votes,
        notes=found.notes,
        quotes=found.quotes,
    )
