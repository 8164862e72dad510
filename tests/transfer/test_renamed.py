"""The ids in a configuration, each replaced wherever it stands."""

import uuid
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
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
from carrel.transfer.renamed import renamed, renamed_json
from carrel.vault.ids import ContentId

JUDGES = [Judge(model="local:reader")]

OLD = [str(uuid.UUID(int=number)) for number in range(4)]
NEW = {old: str(uuid.UUID(int=number + 100)) for number, old in enumerate(OLD[:2])}
texts = st.sampled_from([*OLD, f'"{OLD[0]}"', f"{OLD[0]}\\", "\\", '"', "-" * 60]) | st.text(max_size=5)
bodies = st.recursive(
    texts | st.none() | st.integers(),
    lambda held: st.lists(held, max_size=4) | st.dictionaries(texts, held, max_size=4),
    max_leaves=20,
)


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


def walked(body: Any) -> Any:
    if isinstance(body, dict):
        return {NEW.get(key, key): walked(held) for key, held in body.items()}
    if isinstance(body, list):
        return [walked(held) for held in body]
    return NEW.get(body, body) if isinstance(body, str) else body


@given(bodies)
def test_in_any_json_every_text_that_is_an_id_is_replaced(body: Any) -> None:
    line = msgspec.json.encode({"body": body})
    new = renamed_json(line, {old.encode(): new.encode() for old, new in NEW.items()})
    assert msgspec.json.decode(new) == {"body": walked(body)}
