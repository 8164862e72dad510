"""Votes of three people and verdicts of two judges on 999 comparisons, from which campaigns draw who voted on what.

`pandalm.csv` is a table of numbers from the test set of PandaLM (Wang and others 2023, arXiv 2306.05087; on GitHub
WeOpenML/PandaLM, Apache-2.0): 170 documents, 5 candidates, about 6 of 10 pairs a document, no texts. Comparisons on
which the three strongly disagreed had been removed by its authors.
"""

import csv
import random
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from carrel.evaluation.judges.human import vote
from carrel.evaluation.people import people
from carrel.evaluation.people.people import PeopleVerdict
from carrel.evaluation.records import HumanVote, Side, Verdict
from carrel.runs.verdicts.pairing import Meeting, choose

JUDGES = ("gpt_3_5_turbo", "pandalm_7b")
PEOPLE = ("human_1", "human_2", "human_3")
_SIDES: dict[str, Side] = {"1": "a", "2": "b", "0": "tie", "Tie": "tie"}


class Table(NamedTuple):
    """Every judge's verdicts, and every person's votes by document and pair."""

    candidates: tuple[str, ...]
    judged: dict[str, list[Verdict]]
    votes: dict[str, dict[str, list[HumanVote]]]


@cache
def table() -> Table:
    with Path(__file__).with_name("pandalm.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    judged: dict[str, list[Verdict]] = {judge: [] for judge in JUDGES}
    votes: dict[str, dict[str, list[HumanVote]]] = {person: defaultdict(list) for person in PEOPLE}
    for row in rows:
        where = row["document"], row["candidate_1"], row["candidate_2"], 1
        for judge in JUDGES:
            side = _SIDES.get(row[judge])
            told = Verdict(document=where[0], judge=judge, a=where[1], b=where[2], ab="invalid", ba="invalid")
            judged[judge].append(told if side is None else _as(vote(*where, side), judge))
        for person in PEOPLE:
            votes[person][row["document"]].append(HumanVote(verdict=vote(*where, _SIDES[row[person]]), voter=person))
    names = sorted({row["candidate_1"] for row in rows} | {row["candidate_2"] for row in rows})
    return Table(tuple(names), judged, votes)


def _as(verdict: Verdict, judge: str) -> Verdict:
    return Verdict(document=verdict.document, judge=judge, a=verdict.a, b=verdict.b, ab=verdict.ab, ba=verdict.ba)


@cache
def truth() -> dict[str, float]:
    """What all people say on all documents: the share of each candidate and of each pair (`A over B`)."""
    found = people.say(table().candidates, [], [one for person in PEOPLE for one in _all(person)], {})
    assert found is not None
    shares = {row.candidate: row.share for row in found.rows}
    pairs = {f"{pair.first} over {pair.second}": pair.share for pair in found.pairs}
    return {name: share for name, share in (shares | pairs).items() if share is not None}


def _all(person: str) -> list[HumanVote]:
    return [one for votes in table().votes[person].values() for one in votes]


def draw(judge: str, documents: int, lots: random.Random) -> PeopleVerdict:
    """One person votes on every pair of so many documents, drawn by lot, and the judge judges all."""
    votes = table().votes[lots.choice(PEOPLE)]
    chosen = lots.sample(sorted(votes), documents)
    found = people.say(
        table().candidates, table().judged[judge], [one for document in chosen for one in votes[document]], {}
    )
    assert found is not None
    return found


def drawn(judge: str, ballots: int, lots: random.Random) -> PeopleVerdict:
    """One person votes on so many pairs, one after the other, as a run draws them when two candidates are close."""
    names = table().candidates
    votes = _by_meeting()[lots.choice(PEOPLE)]
    close = frozenset({names.index("llama-7b"), names.index("pythia-6.9b")})
    secret = str(lots.random())
    shown: dict[Meeting, HumanVote] = {}
    seen: defaultdict[int, list[Meeting]] = defaultdict(list)
    possible: defaultdict[int, list[Meeting]] = defaultdict(list)
    for meeting in votes:
        possible[meeting.document].append(meeting)
    turns = sorted(possible)
    while len(shown) < ballots:
        least = min(len(seen[document]) for document in turns)
        # Only documents that are next in turn can be drawn from, so the draw may look at these alone.
        turn = [document for document in turns if len(seen[document]) == least]
        document = turn[lots.randrange(len(turn))]
        found = choose(possible[document], seen[document], {close}, secret)
        if found is None:
            turns.remove(document)
            continue
        seen[document].append(found.meeting)
        shown[found.meeting] = replace(
            votes[found.meeting], chance=found.chance, among=found.among, nth=len(seen[document])
        )
    told = people.say(names, table().judged[judge], list(shown.values()), {})
    assert told is not None
    return told


@cache
def _by_meeting() -> dict[str, dict[Meeting, HumanVote]]:
    """Every person's votes by the number of the document and those of the candidates."""
    place = {name: i for i, name in enumerate(table().candidates)}
    return {
        person: {_meeting(place, one.verdict): one for votes in by_document.values() for one in votes}
        for person, by_document in table().votes.items()
    }


def _meeting(place: dict[str, int], verdict: Verdict) -> Meeting:
    a, b = sorted((place[verdict.a], place[verdict.b]))
    return Meeting(int(verdict.document), a, b, 1)
