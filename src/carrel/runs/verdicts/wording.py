"""The words about a round: those of its ranking, and what the run adds to them.

The report, the ranking, the leaderboard and the receipt all show their verdicts through `worded`.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from carrel.evaluation import verdict
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement
from carrel.evaluation.words import listed
from carrel.kit.sqlite.database import Connection
from carrel.presets.configuration import DroppedPart
from carrel.providers import hosts
from carrel.providers.registry import provider_of
from carrel.runs.verdicts import combining

_dropped = msgspec.json.Decoder(list[DroppedPart])


class CandidateModel(NamedTuple):
    """A candidate by its label, and the model and the host that answered for it, as in `run_candidates`."""

    label: str
    model: str | None
    host: str | None


def worded(
    ranking: Ranking,
    human: HumanCheck | None,
    answering: Sequence[CandidateModel],
    combined: Collection[str] = (),
    dropped: Sequence[DroppedPart] = (),
) -> Statement:
    """The words that follow from a ranking, from people's votes, from what answered, and from what nobody checked.

    `combined` are the labels of candidates that combine. Judges are named with their hosts, but candidates have labels
    that may say anything: a note tells which of them did not answer at their providers' own hosts.
    """
    said = combining.cautioned(verdict.state(ranking, human=human), ranking, combined)
    return replace(said, notes=(*said.notes, *_elsewhere(answering), *_unchecked(dropped)))


def dropped_parts(conn: Connection, run: int) -> list[DroppedPart]:
    """What an imported suite has and the run's configuration has not."""
    found = conn.value("SELECT json_extract(configuration, '$.dropped') FROM run_snapshots WHERE run = ?", run)
    return [] if found is None else _dropped.decode(found)


def _unchecked(parts: Sequence[DroppedPart]) -> Iterator[str]:
    if parts:
        kinds = listed([f"{one.kind} ({one.count:,})" for one in parts])
        yield f"The suite that was imported has more than this run: {kinds}."


def _elsewhere(answering: Sequence[CandidateModel]) -> Iterator[str]:
    labels: dict[tuple[str, str], list[str]] = {}
    for one in answering:
        own = None if one.model is None else hosts.own(provider_of(one.model))
        # Providers without a host of their own are named for a kind of server, and nobody takes one for another.
        if one.host is not None and own is not None:
            labels.setdefault((one.host, own), []).append(one.label)
    for (host, own), some in labels.items():
        answered = f"{listed(some)} {'was' if len(some) == 1 else 'were'} answered"
        if host == hosts.UNKNOWN:
            yield f"It was not recorded at which host {answered}."
        else:
            only = "not only" if own in host.split(hosts.BETWEEN) else "not"
            yield f"{answered} at {host}, {only} at {own}."
