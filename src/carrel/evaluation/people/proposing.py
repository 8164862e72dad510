"""Criteria proposed from what people said: how many mention each, and what they wrote."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from carrel.evaluation.people.topics import TOPICS, StemReader

LEAST: Final = 2
"""So many votes and notes have to mention a criterion before it is proposed."""
MAX_QUOTES: Final = 3
_GREATEST_WEIGHT: Final = 3
"""As in the templates of the app."""


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wrote: as the reason of a vote, or as a note on an answer. `document` is its number in the run."""

    kind: Literal["vote", "note"]
    document: int
    text: str


class Proposal(NamedTuple):
    """A criterion with its weight, how many votes and notes mention it, and the first different texts among them."""

    name: str
    meaning: str
    weight: int
    votes: int
    notes: int
    quotes: tuple[Opinion, ...]


class ProposalCounts(NamedTuple):
    """The proposals, most mentioned first; the names of criteria that too few mention; and what was not recognised.

    `votes` and `notes` are those that say anything.
    """

    proposals: tuple[Proposal, ...]
    rare: tuple[str, ...]
    votes: int
    notes: int
    unrecognised: int
    unrecognised_quotes: tuple[Opinion, ...]


class _Mentions:
    """Who mentions one thing so far."""

    def __init__(self) -> None:
        self.votes = 0
        self.notes = 0
        self.quotes: dict[str, Opinion] = {}

    @property
    def count(self) -> int:
        return self.votes + self.notes

    def add(self, said: Opinion) -> None:
        if said.kind == "vote":
            self.votes += 1
        else:
            self.notes += 1
        if len(self.quotes) < MAX_QUOTES:
            self.quotes.setdefault(said.text, said)


def propose(everything: Iterable[Opinion]) -> ProposalCounts:
    """What the texts ask for, by the table of words in `topics`. The same texts make the same proposals.

    The weight goes from 1 to 3, by how often a criterion is mentioned beside the one that is mentioned most.
    """
    reading = StemReader()
    mentions = [_Mentions() for _ in TOPICS]
    unrecognised, all_of_them = _Mentions(), _Mentions()
    for said in everything:
        all_of_them.add(said)
        found = reading.topics_of(said.text)
        for number in found:
            mentions[number].add(said)
        if not found:
            unrecognised.add(said)
    return ProposalCounts(
        _proposals(mentions),
        tuple(topic.name for topic, by in zip(TOPICS, mentions, strict=True) if 0 < by.count < LEAST),
        all_of_them.votes,
        all_of_them.notes,
        unrecognised.count,
        tuple(unrecognised.quotes.values()),
    )


def _proposals(mentions: Sequence[_Mentions]) -> tuple[Proposal, ...]:
    most = max(by.count for by in mentions)
    found = (
        Proposal(
            topic.name,
            topic.meaning,
            max(1, (2 * _GREATEST_WEIGHT * by.count + most) // (2 * most)),
            by.votes,
            by.notes,
            tuple(by.quotes.values()),
        )
        for topic, by in zip(TOPICS, mentions, strict=True)
        if by.count >= LEAST
    )
    return tuple(sorted(found, key=lambda one: -(one.votes + one.notes)))
