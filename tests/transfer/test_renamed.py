"""The ids in a configuration, each replaced wherever it stands."""

from msgspec.structs import replace

from carrel.presets.configuration import (
    Candidate,
    Combination,
    Comparison,
    Configuration,
    DocumentGroups,
    Generation,
    Judge,
    Output,
    Scoring,
    contents_of,
    ids_of,
)
from carrel.transfer.renamed import renamed
from carrel.vault.ids import ContentId

JUDGES = [Judge(model="local:reader")]


def of(name: str) -> ContentId:
    return ContentId(name)


FULL = Configuration(
    inputs=[of("a"), of("b")],
    instructions=of("c"),
    references={of("a"): of("d")},
    generation=Generation(
        candidates=[
            Candidate(model="local:lead", instructions=of("e")),
            Candidate(label="today", existing={of("a"): of("f"), of("b"): of("g")}),
        ]
    ),
    scoring=Scoring(judges=JUDGES, criteria=of("h"), instructions=of("i")),
    comparison=Comparison(judges=JUDGES, instructions=of("j")),
    combination=Combination(candidates=[Candidate(model="local:mmr", instructions=of("k"))], instructions=of("l")),
    output=Output(destination="library", answers="all"),
    groups=DocumentGroups(by="map", of={of("a"): "one", of("b"): "one"}),
)


def upper(old: ContentId) -> ContentId:
    return ContentId(old.upper())


def test_every_id_is_replaced_and_nothing_else_changes() -> None:
    new = renamed(FULL, upper)
    assert set(ids_of(contents_of(new))) == {held.upper() for held in ids_of(contents_of(FULL))}
    assert set(new.references) == {"A"}
    assert new.groups == DocumentGroups(by="map", of={of("A"): "one", of("B"): "one"})
    assert set(new.generation.candidates[1].existing) == {"A", "B"}
    assert renamed(new, lambda old: ContentId(old.lower())) == FULL


def test_what_is_not_there_stays_away() -> None:
    bare = Configuration(inputs=[of("a")], generation=FULL.generation)
    assert renamed(bare, upper).scoring is None
    assert renamed(bare, upper).combination is None


def test_answers_that_would_go_to_a_connection_stay_in_the_run() -> None:
    assert renamed(replace(FULL, output=Output(destination="github")), upper).output == Output()
