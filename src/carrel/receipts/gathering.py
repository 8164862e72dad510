"""Reads a finished run for its receipt: evidence and configuration, and a commitment to each text."""

from collections.abc import Iterator
from typing import NamedTuple

from carrel.errors import CarrelError, Conflict, NotFound
from carrel.evaluation.ranking.ranking import Ranking
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.kit.structs import narrowed
from carrel.presets.configuration import Configuration
from carrel.receipts import commitments
from carrel.receipts.commitments import Commitment, DisclosedText
from carrel.receipts.receipt import ReceiptCandidate, ReceiptJudge
from carrel.runs.model import run_transitions, states, texts
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import combining, evidence, rankings
from carrel.runs.verdicts.judgement import PackedEvidence


class ReceiptNotReady(Conflict):
    """The run has no result to give a receipt of: it has not ended, or it failed, or somebody cancelled it."""

    code = "receipt-not-ready"
    detail = "A receipt is there once the run has finished with a result."


class RunHead(NamedTuple):
    """The run's row and the configuration that it was made from."""

    configuration: Configuration
    created_at: str
    finished_at: str | None


class ReceiptInput(NamedTuple):
    """Everything about the run that goes into the receipt."""

    head: RunHead
    setup: Setup
    texts: dict[str, Commitment]
    evidence: PackedEvidence
    combined: tuple[str, ...]
    at_end: Ranking | None

    @property
    def candidates(self) -> tuple[ReceiptCandidate, ...]:
        """The candidates, and what answered for them."""
        return tuple(narrowed(ReceiptCandidate, candidate) for candidate in self.setup.candidates)

    @property
    def judges(self) -> tuple[ReceiptJudge, ...]:
        """The judges of the round."""
        return tuple(narrowed(ReceiptJudge, judge) for judge in self.setup.round.judges)


_heads = Select(RunHead)


def gather(conn: Connection, run_id: RunId) -> ReceiptInput:
    """Read the run. Unbounded: to be scanned.

    Raises:
        NotFound: there is no such run.
        ReceiptNotReady: it has no result.
    """
    setup = _finished(conn, run_id)
    head = _heads.one(conn, "FROM runs JOIN run_snapshots ON run = seq WHERE seq = ?", setup.seq)
    if head is None:
        raise CarrelError
    return ReceiptInput(
        head=head,
        setup=setup,
        texts={name: commitments.commit(setup.fence, name, text) for name, text in _texts(conn, setup)},
        evidence=evidence.packed(conn, setup),
        combined=combining.labels(conn, setup.seq),
        at_end=rankings.get(conn, setup.seq, setup.round.number),
    )


def disclose(conn: Connection, run_id: RunId, name: str) -> DisclosedText:
    """One text with its salt. Goes through all texts of the run: to be scanned.

    Raises:
        NotFound: there is no such run, or it has no such text.
        ReceiptNotReady: it has no result.
    """
    setup = _finished(conn, run_id)
    for found, text in _texts(conn, setup):
        if found == name:
            return DisclosedText(name, commitments.salt(setup.fence, name).hex(), text)
    raise NotFound


def _finished(conn: Connection, run_id: RunId) -> Setup:
    run = run_transitions.present(conn, run_id)
    if run.state not in states.FINISHED:
        raise ReceiptNotReady
    setup = setups.load(conn, run.seq)
    if setup is None:
        raise CarrelError
    return setup


def _texts(conn: Connection, setup: Setup) -> Iterator[tuple[str, str]]:
    """Every text that was judged or judged by, with its name."""
    for ordinal, text, turns, reference in conn.execute(
        "SELECT ordinal, d.body, m.body, r.body FROM run_documents JOIN run_texts AS d ON d.seq = text"
        " LEFT JOIN run_texts AS m ON m.seq = messages LEFT JOIN run_texts AS r ON r.seq = reference"
        " WHERE run_documents.run = ? ORDER BY ordinal",
        (setup.seq,),
    ):
        yield f"d{ordinal}", text
        if turns is not None:
            yield f"d{ordinal}.turns", turns
        if reference is not None:
            yield f"d{ordinal}.reference", reference
    for number, criterion in enumerate(setup.round.criteria, 1):
        yield f"criteria.{number}", criterion.description
    instructions = {f"c{candidate.ordinal}.instructions": candidate.instructions for candidate in setup.candidates}
    instructions["scoring.instructions"] = setup.round.scoring_instructions
    instructions["comparison.instructions"] = setup.round.comparison_instructions
    for name, number_of_text in instructions.items():
        if number_of_text is not None:
            yield name, texts.read(conn, number_of_text)
    for document, candidate, repeat, body in conn.execute(
        "SELECT document, candidate, repeat, body FROM generated WHERE run = ? ORDER BY document, candidate, repeat",
        (setup.seq,),
    ):
        yield f"d{document}.c{candidate}.s{repeat}", body
