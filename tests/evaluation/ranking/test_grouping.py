"""Documents that belong together: the groups of a run, and what they do to its ranking and its words."""

from carrel.evaluation.ranking.grouping import Grouping, Groups, joined, moved
from carrel.evaluation.ranking.ranking import rank
from carrel.evaluation.ranking.stopping import looks
from carrel.evaluation.records import Verdict
from carrel.evaluation.verdict import state
from tests.evaluation.told import CRITERIA, score, verdicts

SIX = Groups(by="tag", of={f"d{i}": f"g{i % 6}" for i in range(1, 25)})
FOUR = Groups(by="name", of={f"d{i}": f"g{i % 4}" for i in range(1, 25)})


def told() -> list[Verdict]:
    return [*verdicts("AB", "a" * 24), *verdicts("AC", "a" * 24), *verdicts("BC", "ab" * 12)]


def test_groups_are_what_decides_and_documents_what_is_counted() -> None:
    alone, six, four = rank("ABC", told()), rank("ABC", told(), grouped=SIX), rank("ABC", told(), grouped=FOUR)
    assert (alone.best, six.best, four.best) == ("A", "A", None)
    assert six.rows[0].win_share == alone.rows[0].win_share
    assert (six.rows[0].low or 0.0) < (alone.rows[0].low or 0.0)
    assert six.grouping == Grouping(independent=6, by="tag")
    assert (six.documents, six.independent, four.independent) == (24, 6, 4)


def test_the_words_name_documents_and_groups() -> None:
    six, four = state(rank("ABC", told(), grouped=SIX)), state(rank("ABC", told(), grouped=FOUR))
    assert "on 24 documents in 6 groups" in six.sentence
    assert six.notes[0].startswith("Documents belong together by tag: 24 documents in 6 groups")
    assert four.outcome == "too_few"
    assert four.sentence.startswith("A leads; 24 documents in 4 groups cannot decide")
    assert four.grey


def test_documents_that_stand_alone_are_as_if_nobody_had_given_groups() -> None:
    alone = Groups(by="map", of={f"d{i}": f"g{i}" for i in range(1, 25)})
    assert rank("ABC", told(), grouped=alone).rows == rank("ABC", told()).rows
    assert rank("ABC", told(), grouped=Groups()) == rank("ABC", told())
    assert state(rank("ABC", told(), grouped=alone)).notes == state(rank("ABC", told())).notes


def test_doubling_every_document_changes_no_interval_if_the_copies_are_grouped() -> None:
    once = [*verdicts("AB", "aababaab"), *verdicts("AC", "aaaabaaa"), *verdicts("BC", "abababaa")]
    twice = [*once, *(_renamed(one, f"{one.document}x") for one in once)]
    near = Groups(near={f"d{i}x": f"d{i}" for i in range(1, 9)})
    single, double = rank("ABC", once), rank("ABC", twice, grouped=near)
    assert [(row.win_share, row.low, row.high) for row in double.rows] == [
        (row.win_share, row.low, row.high) for row in single.rows
    ]
    assert [(one.lead, one.low, one.high) for one in double.contrasts] == [
        (one.lead, one.low, one.high) for one in single.contrasts
    ]
    assert "8 documents nearly equal an earlier one" in " ".join(state(double).notes)


def test_scores_alone_go_by_groups_too() -> None:
    given = [score(f"d{i}", name, value) for i in range(1, 25) for name, value in (("A", 8.0), ("B", 4.0))]
    alone = rank("AB", [], scored=given, criteria=CRITERIA)
    six = rank("AB", [], scored=given, criteria=CRITERIA, grouped=SIX)
    four = rank("AB", [], scored=given, criteria=CRITERIA, grouped=FOUR)
    assert (alone.best, six.best, four.best) == ("A", "A", None)
    assert (six.rows[0].score_low or 0.0) < (alone.rows[0].score_low or 0.0)


def test_a_look_counts_groups() -> None:
    look = looks(24)[0]
    early = [one for one in told() if int(one.document[1:]) <= look.documents]
    assert rank("ABC", early, look=look).best == "A"
    assert rank("ABC", early, look=look, grouped=SIX).best is None


def test_a_suggestion_is_a_note_and_moves_no_figure() -> None:
    found = rank("ABC", told(), grouped=Groups(suggested="name"))
    assert found.rows == rank("ABC", told()).rows
    assert "By their names, the documents come in groups" in " ".join(state(found).notes)


def test_near_texts_and_given_groups_are_joined() -> None:
    groups = Groups(by="tag", of={"d1": "a", "d2": "a", "d3": "b"}, near={"d4": "d3", "d5": "d2"}).joined
    assert groups["d1"] == groups["d2"] == groups["d5"]
    assert groups["d3"] == groups["d4"] != groups["d1"]
    assert joined([("d1", "d1")]) == {}


def test_the_same_text_in_two_groups_joins_them() -> None:
    given = Groups(by="tag", of={"d1": "a", "d2": "a", "d3": "b", "d4": "b"})
    found = moved(given, {"d3": "d1"})
    assert "d3" not in found.joined
    assert found.joined["d1"] == found.joined["d2"] == found.joined["d4"]


def _renamed(one: Verdict, document: str) -> Verdict:
    return Verdict(document=document, judge=one.judge, a=one.a, b=one.b, ab=one.ab, ba=one.ba)
