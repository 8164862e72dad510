"""Which documents of a run belong together: from tags, names or a map, as the run began; and what suggests groups."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from carrel.errors import BadInput
from carrel.evaluation.ranking.grouping import Groups
from carrel.kit.sqlite.database import Connection
from carrel.presets.configuration import Configuration, DocumentGroups
from carrel.providers.local import LocalProvider
from carrel.providers.registry import Registry
from carrel.runs.creation import snapshot
from carrel.runs.creation.belonging import beginning
from carrel.runs.model import setup
from carrel.runs.model.schemas import RunIn
from carrel.runs.verdicts import evidence
from tests.support.engine import small_configuration
from tests.support.models import TestModels
from tests.support.workspace import SETTINGS, workspace_database

REGISTRY = Registry([LocalProvider(), TestModels()])


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    with workspace_database(tmp_path) as connection:
        yield connection


def configured(conn: Connection, names: list[str], tags: list[list[str]] | None = None, **fields: Any) -> Configuration:
    found = small_configuration(conn, documents=len(names))
    for place, (content_id, name) in enumerate(zip(found.inputs, names, strict=True)):
        given = msgspec.json.encode(tags[place] if tags else []).decode()
        conn.run("UPDATE contents SET name = ?, tags = ? WHERE id = ?", name, given, content_id)
    return msgspec.structs.replace(found, **fields)


def groups_of(conn: Connection, configuration: Configuration) -> Groups:
    run = snapshot.create(conn, RunIn(configuration=configuration), REGISTRY, SETTINGS)
    loaded = setup.load(conn, conn.value("SELECT seq FROM runs WHERE id = ?", run))
    assert loaded is not None
    return evidence.collect(conn, loaded).groups


def test_tags_make_groups_and_the_names_of_groups_stay_out_of_the_evidence(conn: Connection) -> None:
    tags = [["x", "topic:Sea"], ["topic:sea"], ["topic:land"], ["x"]]
    found = groups_of(
        conn, configured(conn, ["a", "b", "c", "d"], tags, groups=DocumentGroups(by="tag", prefix="topic:"))
    )
    assert (found.by, found.of) == ("tag", {"d1": "g1", "d2": "g1", "d3": "g2"})


def test_folders_and_first_words_make_groups(conn: Connection) -> None:
    found = groups_of(
        conn, configured(conn, ["Ada 1", "ada 2", "Letters/x", "letters/y"], groups=DocumentGroups(by="name"))
    )
    assert found.of == {"d1": "g1", "d2": "g1", "d3": "g2", "d4": "g2"}
    assert [beginning(name) for name in ("User-guide.md", "42", "Ships", "a/b/c")] == ["user", "42", "ships", "a/b"]


def test_a_map_makes_groups_and_what_it_leaves_out_stands_alone(conn: Connection) -> None:
    found = configured(conn, ["a", "b", "c"])
    of = {found.inputs[0]: "one", found.inputs[2]: "one"}
    given = msgspec.structs.replace(found, groups=DocumentGroups(by="map", of=of))
    assert groups_of(conn, given).of == {"d1": "g1", "d3": "g1"}
    elsewhere = msgspec.structs.replace(found, groups=DocumentGroups(by="map", of={"nobody": "one"}))  # type: ignore[dict-item]
    with pytest.raises(BadInput):
        groups_of(conn, elsewhere)


def test_later_changes_of_tags_change_no_run(conn: Connection) -> None:
    configuration = configured(conn, ["a", "b"], [["x"], ["x"]], groups=DocumentGroups(by="tag"))
    run = snapshot.create(conn, RunIn(configuration=configuration), REGISTRY, SETTINGS)
    conn.run("UPDATE contents SET tags = '[]'")
    loaded = setup.load(conn, conn.value("SELECT seq FROM runs WHERE id = ?", run))
    assert loaded is not None
    assert evidence.collect(conn, loaded).groups.of == {"d1": "g1", "d2": "g1"}


@pytest.mark.parametrize(
    ("names", "tags", "suggested"),
    [
        (["Ada 1", "Ada 2", "Bob 1", "Bob 2", "Cy 1", "Cy 2"], None, "name"),
        (["Ada 1", "Ada 2", "Bob 1", "Bob 2", "Cy 1", "Dan 1"], None, None),
        ([f"Document {i}" for i in range(6)], None, None),
        ([*"abcdef"], [["x"], ["x"], ["y"], ["y"], ["z"], ["z"]], "tag"),
    ],
)
def test_names_and_tags_suggest_groups_where_none_are_given(
    conn: Connection, names: list[str], tags: list[list[str]] | None, suggested: str | None
) -> None:
    found = groups_of(conn, configured(conn, names, tags))
    assert (found.by, found.of, found.suggested) == (None, {}, suggested)


def test_a_run_s_body_may_name_other_groups_than_the_preset(conn: Connection) -> None:
    configuration = configured(conn, ["a", "b"], [["x"], ["x"]])
    data = RunIn(configuration=configuration, groups=DocumentGroups(by="tag"))
    assert snapshot.recipe(conn, data, REGISTRY).configuration.groups == DocumentGroups(by="tag")


def test_texts_that_are_nearly_the_same_are_a_group_by_themselves(conn: Connection) -> None:
    configuration = configured(conn, ["a", "b", "c"])
    long = " ".join(f"word{i}" for i in range(200))
    for content_id, body in zip(configuration.inputs, (long, f"{long} more", "another text"), strict=True):
        conn.run("UPDATE contents SET body = ? WHERE id = ?", body, content_id)
    found = groups_of(conn, configuration)
    assert found.near == {"d2": "d1"}
    assert found.joined["d1"] == found.joined["d2"]
