"""People's blind votes: one word of each voter on each pair. For statistics they are verdicts of judge `human`."""

from typing import Annotated, Final, Literal, NamedTuple, NewType

import msgspec
from msgspec import Meta

from carrel.errors import BadInput, Conflict, NotFound
from carrel.evaluation import verdict
from carrel.evaluation.judges import human
from carrel.evaluation.records import HumanVote, Side
from carrel.http.requests.schema import In
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.sqlite import paging
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.kit.sqlite.rows import Select
from carrel.runs.model import log, run_transitions
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import Presented
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import people_scores
from carrel.runs.verdicts.people_scores import PairScores

VoteId = NewType("VoteId", Id)
Choice = Literal["first", "second", "tie"]
MAX_VOTER: Final = 60
MAX_REASON: Final = 500
"""Characters of why somebody voted so."""
MAX_VOTES: Final = 10_000
"""Of a run, of all voters. What people would say is computed from all of them at once."""


class TooManyVotes(Conflict):
    """The run has as many votes as can be weighed in the time of one request."""

    code = "too-many-votes"
    detail = "The run would have more votes than it may have; withdraw some, or make another run."


class VoteCounted(Conflict):
    """A vote counts once, and a withdrawn pair cannot get another vote."""

    code = "vote-counted"
    detail = "This pair has been voted on already."


class VoteNotLast(Conflict):
    """Only a slip can be undone: after further votes the person may know whose answers they were."""

    code = "vote-not-last"
    detail = "Only the last vote of a voter can be undone; an earlier one can be withdrawn."


class VoteIn(In, frozen=True):
    """A vote: the pair's id, which answer is better, and perhaps why, in the voter's words.

    `both_bad` says of a tie that neither is good enough. `scores` are of the answers, by any of the run's criteria.
    """

    pair: str
    verdict: Choice
    both_bad: bool = False
    reason: Annotated[str, Meta(max_length=MAX_REASON)] = ""
    scores: PairScores | None = None


class Voted(msgspec.Struct, frozen=True):
    """A vote that counts. It does not name the authors of the answers, so that the next vote is blind, too."""

    id: Id
    verdict: Choice
    voted_at: Time
    votes: int


class VoteUndone(msgspec.Struct, frozen=True):
    """The pair that waits for a vote again, and how many votes count now."""

    pair: str
    votes: int


class Vote(msgspec.Struct, frozen=True):
    """A vote in the list, with names. `winner` is null for a tie, and `voter` empty for the user.

    `reason` is why somebody voted so, empty where they did not say it; `scores` are null where nothing was scored.
    """

    id: Id
    document: int
    document_name: str
    first: str
    second: str
    repeat: int
    verdict: Choice
    winner: str | None
    voted_at: Time
    voter: str
    both_bad: bool
    reason: str
    scores: PairScores | None


class _Word(NamedTuple):
    document: int
    candidate: int
    opponent: int
    repeat: int
    presented: Presented
    word: Choice
    voter: str
    chance: float | None
    among: int | None
    nth: int


FROM = (
    "FROM run_votes JOIN run_documents ON run_documents.run = run_votes.run AND run_documents.ordinal = document"
    " JOIN run_candidates AS c ON c.run = run_votes.run AND c.ordinal = candidate"
    " JOIN run_candidates AS o ON o.run = run_votes.run AND o.ordinal = opponent"
)
"""The votes, with the names of their documents and candidates."""
SHOWN_FIRST = "CASE presented WHEN 'ab' THEN c.label ELSE o.label END"
SHOWN_SECOND = "CASE presented WHEN 'ab' THEN o.label ELSE c.label END"
_words = Select(_Word)
_votes = Select(
    Vote,
    document_name="run_documents.name",
    first=SHOWN_FIRST,
    second=SHOWN_SECOND,
    verdict="word",
    winner=f"CASE word WHEN 'first' THEN {SHOWN_FIRST} WHEN 'second' THEN {SHOWN_SECOND} END",
)


def cast(conn: Connection, run_id: RunId, vote: VoteIn) -> Voted:
    """Count a vote.

    For statistics `both_bad` is a tie like any other, and neither a reason nor a score counts.

    Raises:
        BadInput: `both_bad`, though one answer is better; a score by no criterion of the run, or beyond its scale.
        NotFound: the run was never shown such a pair.
        VoteCounted: it was voted on, or withdrawn.
        TooManyVotes
    """
    if vote.both_bad and vote.verdict != "tie":
        raise BadInput.at("both_bad", "must be false where one answer is better")
    setup = setups.require(conn, run_id)
    run = setup.seq
    row = conn.one("SELECT word, withdrawn FROM run_votes WHERE run = ? AND id = ?", run, vote.pair)
    if row is None:
        raise NotFound
    if row != (None, 0):
        raise VoteCounted
    if vote.scores is not None and not people_scores.fit(vote.scores, setup.round.criteria):
        raise BadInput.at("scores", "must name criteria of this run, and stay on their scales")
    now = conn.now()
    conn.run(
        "UPDATE run_votes SET word = ?, both_bad = ?, reason = ?, scores = ?, voted_at = ? WHERE run = ? AND id = ?",
        *(vote.verdict, vote.both_bad, vote.reason.strip(), people_scores.text(vote.scores), now, run, vote.pair),
    )
    log.write(conn, run, "vote-cast")
    update_verdict(conn, run)
    return Voted(vote.pair, vote.verdict, now, bounded(conn, run))


def undo(conn: Connection, run_id: RunId, vote_id: str) -> VoteUndone:
    """Let the pair of a voter's last vote wait again, without reason and scores. It comes next, in the same order.

    Raises:
        NotFound: there is no such vote.
        VoteNotLast
    """
    run = run_transitions.present(conn, run_id).seq
    voter = conn.value(
        "SELECT voter FROM run_votes WHERE run = ? AND id = ? AND word IS NOT NULL AND NOT withdrawn", run, vote_id
    )
    if voter is None:
        raise NotFound
    last = conn.value(
        "SELECT id FROM run_votes WHERE run = ? AND voter = ? AND word IS NOT NULL ORDER BY voted_at DESC, seq DESC"
        " LIMIT 1",
        *(run, voter),
    )
    if last != vote_id:
        raise VoteNotLast
    conn.run(
        "UPDATE run_votes SET word = NULL, both_bad = 0, reason = '', scores = NULL, voted_at = NULL"
        " WHERE run = ? AND id = ?",
        *(run, vote_id),
    )
    log.write(conn, run, "vote-undone")
    update_verdict(conn, run)
    return VoteUndone(vote_id, count(conn, run))


def withdraw(conn: Connection, run_id: RunId, vote_id: str) -> None:
    """Take a vote back with its reason and scores, or skip a pair that waits for one. The pair is not shown again.

    Raises:
        NotFound: there is no such vote.
    """
    run = run_transitions.present(conn, run_id).seq
    if not conn.run(
        "UPDATE run_votes SET withdrawn = 1, reason = '', scores = NULL WHERE run = ? AND id = ? AND NOT withdrawn",
        *(run, vote_id),
    ):
        raise NotFound
    log.write(conn, run, "vote-withdrawn")
    update_verdict(conn, run)


def page(conn: Connection, run_id: RunId, which: Paging) -> Page[Vote]:
    """The votes that count, with names, newest first.

    Raises:
        NotFound: there is no such run.
    """
    run = run_transitions.present(conn, run_id).seq
    source = f"{FROM} WHERE run_votes.run = ? AND word IS NOT NULL AND NOT withdrawn"
    return paging.fetch(conn, which, _votes, source, run, seq="run_votes.seq")


def said(conn: Connection, setup: Setup) -> list[HumanVote]:
    """The votes as verdicts, in the order of documents and pairs, with how their pairs were drawn."""
    words = _words.all(
        conn,
        # The columns by name, because reasons may be long.
        "FROM (SELECT document, candidate, opponent, repeat, presented, word, voter, chance, among, withdrawn,"
        " row_number() OVER (PARTITION BY voter, document ORDER BY seq) AS nth FROM run_votes"
        " WHERE run = ?) WHERE word IS NOT NULL AND NOT withdrawn"
        " ORDER BY document, candidate, opponent, repeat, voter",
        setup.seq,
    )
    return [
        HumanVote(
            verdict=human.vote(
                f"d{one.document}",
                setup.candidate(one.candidate).label,
                setup.candidate(one.opponent).label,
                one.repeat,
                _side(one.presented, one.word),
            ),
            voter=one.voter,
            chance=one.chance,
            among=one.among,
            nth=one.nth,
        )
        for one in words
    ]


def update_verdict(conn: Connection, run: int) -> None:
    """Write into the run's verdict whether a person has checked it.

    Called after each change of a vote or of the verdict.
    """
    scopes = (verdict.UNCHECKED, verdict.VOTED)
    before, after = scopes if count(conn, run) else scopes[::-1]
    conn.run("UPDATE runs SET verdict = replace(verdict, ?, ?) WHERE seq = ?", before, after, run)
    conn.run("UPDATE run_rankings SET verdict = replace(verdict, ?, ?) WHERE run = ?", before, after, run)


def _side(presented: Presented, word: Choice) -> Side:
    if word == "tie":
        return "tie"
    return "a" if (word == "first") == (presented == "ab") else "b"


def bounded(conn: Connection, run: int) -> int:
    """How many votes count after one was added, or many.

    Raises:
        TooManyVotes
    """
    found = count(conn, run)
    if found > MAX_VOTES:
        raise TooManyVotes
    return found


def count(conn: Connection, run: int) -> int:
    """How many votes count."""
    found: int = conn.value("SELECT count(*) FROM run_votes WHERE run = ? AND word IS NOT NULL AND NOT withdrawn", run)
    return found


def count_both_bad(conn: Connection, run: int) -> int:
    """How many votes found neither answer good enough."""
    found: int = conn.value("SELECT count(*) FROM run_votes WHERE run = ? AND both_bad AND NOT withdrawn", run)
    return found
