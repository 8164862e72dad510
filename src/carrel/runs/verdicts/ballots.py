"""Chooses what a person votes on: two answers to one document, without names, in random order.

Several people may vote, each under a name of their own. A pair is committed before it is shown, and each voter sees it
once. After a vote the person may look up who wrote the answers,
so another vote on the pair would not be blind. Ballots hold no id of an answer, no label and no model.
"""

import hashlib
from typing import NamedTuple

import msgspec

from carrel.datasets import conversations
from carrel.errors import Conflict, NotFound
from carrel.evaluation.ranking.ranking import Ranking
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.providers.base import Turn
from carrel.runs.model import plan, run_transitions, texts
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import Presented, answer_repeat
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import pairing, rankings, votes
from carrel.runs.verdicts.pairing import Meeting, PairDraw


class NothingToVoteOn(Conflict):
    """Every pair of answers has been shown, or there is none yet."""

    code = "nothing-to-vote-on"
    detail = "There is no pair of answers that has not been shown."


class Rubric(msgspec.Struct, frozen=True):
    """What a criterion means, and the ends of its scale."""

    description: str
    minimum: float
    maximum: float


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers to one document, without names and in random order. `left` counts the pairs after this one.

    `turns` are the conversation with whose transcript the document begins; `rubric` says what each criterion means and
    on which scale it is scored.
    """

    pair: str
    document_name: str
    document: str
    reference: str | None
    instructions: str | None
    criteria: tuple[str, ...]
    rubric: dict[str, Rubric]
    first: str
    second: str
    left: int
    turns: tuple[Turn, ...] = ()


class VoteCount(msgspec.Struct, frozen=True):
    """How many votes of all voters count, and how many pairs Carrel can still show to this one.

    `both_bad` of the votes found neither answer good enough.
    """

    votes: int
    left: int
    both_bad: int


class NextPair(NamedTuple):
    """The pair that may be shown next, its order, and how many pairs have not been shown."""

    drawn: PairDraw | None
    presented: Presented
    left: int


class PendingPair(NamedTuple):
    """A pair that waits for a vote, and how many are left after it."""

    pair: str
    left: int


class _Pair(NamedTuple):
    document: int
    candidate: int
    opponent: int
    repeat: int
    presented: Presented
    name: str
    text: int
    messages: int | None
    reference: int | None


_meetings = Select(Meeting)
_pairs = Select(_Pair, name="run_documents.name")


def choose(conn: Connection, run_id: RunId, voter: str = "") -> NextPair:
    """Choose the next pair for a voter. Goes through all answers of the run: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    setup = setups.require(conn, run_id)
    ranking = rankings.get(conn, setup.seq, setup.round.number)
    judged = _judged(setup)
    possible = [
        meeting
        for meeting in pairing.meetings(_delivered(conn, setup), setup.documents, _field(setup, ranking))
        if meeting.document in judged
    ]
    shown = set(_meetings.all(conn, "FROM run_votes WHERE run = ? AND voter = ?", setup.seq, voter))
    labels = {candidate.label: candidate.ordinal for candidate in setup.candidates}
    urgent = pairing.undecided(ranking, labels) if ranking is not None else frozenset()
    found = pairing.choose(possible, shown, urgent, setup.fence, voter)
    presented: Presented = "ab" if found is None else pairing.order(found.meeting, setup.fence, voter)
    return NextPair(found, presented, sum(1 for meeting in possible if meeting not in shown))


def show(conn: Connection, run_id: RunId, chosen: NextPair, voter: str = "") -> PendingPair:
    """Return the pair to vote on: one that was shown and waits, otherwise the chosen one, which is recorded.

    Raises:
        NotFound: there is no such run.
        NothingToVoteOn: everything was shown.
    """
    run = run_transitions.present(conn, run_id).seq
    waiting = conn.column(
        "SELECT id FROM run_votes WHERE run = ? AND voter = ? AND word IS NULL AND NOT withdrawn ORDER BY seq",
        *(run, voter),
    )
    if waiting:
        # After a vote was undone, its pair waits before the one that was shown next.
        return PendingPair(waiting[0], chosen.left + len(waiting) - 1)
    drawn = chosen.drawn
    if drawn is None:
        raise NothingToVoteOn
    pair = conn.new_id()
    if not conn.run(
        "INSERT INTO run_votes (id, run, voter, document, candidate, opponent, repeat, presented, shown_at, chance,"
        " among) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *(pair, run, voter, *drawn.meeting, chosen.presented, conn.now(), drawn.chance, drawn.among),
    ):
        # The same person has voted on the pair in another window since it was chosen.
        raise NothingToVoteOn
    return PendingPair(pair, chosen.left - 1)


def ballot(conn: Connection, run_id: RunId, shown: PendingPair) -> Ballot:
    """The ballot of a pair. The texts may be long: to be scanned.

    Raises:
        NotFound: there is no such pair, or it is not waiting for a vote any more.
    """
    setup = setups.require(conn, run_id)
    row = _pairs.one(
        conn,
        "FROM run_votes JOIN run_documents ON run_documents.run = run_votes.run AND ordinal = document"
        " WHERE run_votes.run = ? AND id = ? AND word IS NULL AND NOT withdrawn",
        *(setup.seq, shown.pair),
    )
    if row is None:
        raise NotFound
    pair = (row.candidate, row.opponent)
    first, second = pair if row.presented == "ab" else pair[::-1]
    instructions = setup.round.comparison_instructions
    return Ballot(
        pair=shown.pair,
        document_name=row.name,
        document=texts.read(conn, row.text),
        reference=None if row.reference is None else texts.read(conn, row.reference),
        instructions=None if instructions is None else texts.read(conn, instructions),
        criteria=tuple(criterion.name for criterion in setup.round.criteria),
        rubric={one.name: Rubric(one.description, one.minimum, one.maximum) for one in setup.round.criteria},
        first=_answer(conn, setup, row.document, first, row.repeat),
        second=_answer(conn, setup, row.document, second, row.repeat),
        left=shown.left,
        turns=() if row.messages is None else conversations.parse(texts.read(conn, row.messages)),
    )


def count(conn: Connection, run_id: RunId, voter: str = "") -> VoteCount:
    """Count votes, and the pairs that are left for a voter. Goes through all answers of the run: to be scanned.

    Raises:
        NotFound: there is no such run.
    """
    left = choose(conn, run_id, voter).left
    run = run_transitions.present(conn, run_id).seq
    return VoteCount(votes.count(conn, run), left, votes.count_both_bad(conn, run))


def _field(setup: Setup, ranking: Ranking | None) -> dict[int, int]:
    """The candidates that the judges compared, with the number of their answers to each document.

    Before a comparison these are all candidates.
    """
    compared = {row.candidate for row in ranking.rows if row.win_share is not None} if ranking is not None else set()
    return {
        candidate.ordinal: candidate.repeats
        for candidate in setup.candidates
        if not compared or candidate.label in compared
    }


def _judged(setup: Setup) -> frozenset[int]:
    """The documents whose answers are compared. Where a run stopped early, no judge has compared the later ones."""
    order, look = plan.document_order(setup.shape), setup.look
    return frozenset(order if look is None or not look.stopped else order[: look.documents])


def _delivered(conn: Connection, setup: Setup) -> dict[tuple[int, int, int], bytes]:
    rows = conn.execute(
        "SELECT document, candidate, repeat, body FROM generated WHERE run = ? AND delivered", (setup.seq,)
    )
    return {
        (document, candidate, repeat): hashlib.sha256(body.encode()).digest()
        for document, candidate, repeat, body in rows
    }


def _answer(conn: Connection, setup: Setup, document: int, candidate: int, repeat: int) -> str:
    body: str | None = conn.value(
        "SELECT body FROM generated WHERE run = ? AND document = ? AND candidate = ? AND repeat = ?",
        *(setup.seq, document, candidate, answer_repeat(setup.candidate(candidate).repeats, repeat)),
    )
    if body is None:
        raise NotFound
    return body
