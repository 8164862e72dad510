"""What a run takes with it: resolved texts, each once, and nothing while anything is open."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from carrel.errors import BadInput, NotFound
from carrel.http.answers.etag import ANY_VERSION
from carrel.kit.sqlite.database import Connection
from carrel.presets import store as presets
from carrel.presets.configuration import Configuration
from carrel.presets.schemas import PresetIn
from carrel.providers.local import LocalProvider
from carrel.providers.registry import Registry
from carrel.runs.creation import snapshot
from carrel.runs.creation.estimate import estimate
from carrel.runs.creation.text_cache import VariablesOpen
from carrel.runs.model import setup
from carrel.runs.model.schemas import ExecuteIn, RunIn
from carrel.runs.progress import store
from tests.support.engine import small_configuration
from tests.support.models import TestModels
from tests.support.workspace import SETTINGS, minimal_preset, workspace_database, write

REGISTRY = Registry([LocalProvider(), TestModels()])


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    with workspace_database(tmp_path) as connection:
        yield connection


def made(conn: Connection, configuration: Configuration, **fields: Any) -> str:
    return snapshot.create(conn, RunIn(configuration=configuration, **fields), REGISTRY, SETTINGS)


def texts(conn: Connection) -> list[str]:
    return [body for (body,) in conn.all("SELECT body FROM run_texts ORDER BY seq")]


def test_a_run_of_a_preset_has_its_name_tags_and_configuration(conn: Connection) -> None:
    raw = minimal_preset(conn, inputs=2) | {"tags": ["a", "b"]}
    preset = presets.create(conn, msgspec.convert(raw, PresetIn), REGISTRY)
    run = store.get(conn, snapshot.create(conn, RunIn(preset_id=preset.id), REGISTRY, SETTINGS))
    assert (run.name, run.tags, run.preset_id, run.state) == ("A preset", ["a", "b"], preset.id, "pending")
    assert run.configuration == presets.configuration_of(preset)
    presets.delete(conn, preset.id, ANY_VERSION)
    assert store.get(conn, run.id) == run


def test_exactly_one_of_preset_and_configuration_is_wanted(conn: Connection) -> None:
    for data in (RunIn(), RunIn(preset_id="x", configuration=small_configuration(conn))):  # type: ignore[arg-type]
        with pytest.raises(BadInput):
            snapshot.create(conn, data, REGISTRY, SETTINGS)
    with pytest.raises(BadInput):
        snapshot.create(conn, RunIn(preset_id="x"), REGISTRY, SETTINGS)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        snapshot.of_preset(conn, "x", ExecuteIn())  # type: ignore[arg-type]


def test_equal_texts_are_kept_once(conn: Connection) -> None:
    same = [write(conn, "The same text.", kind="input_document").id for _ in range(3)]
    made(conn, small_configuration(conn, inputs=same))
    assert texts(conn).count("The same text.") == 1


def test_variables_are_resolved_with_the_texts_that_are_given(conn: Connection) -> None:
    part = write(conn, "in two sentences").id
    instructions = write(
        conn,
        "Summarise for {{reader}} {{length}}.",
        kind="generation_instructions",
        variables={"reader": None, "length": part},
    ).id
    made(conn, small_configuration(conn, instructions=instructions), variables={"reader": "{{length}} children"})
    assert "Summarise for {{length}} children in two sentences." in texts(conn)


def test_open_variables_are_refused_before_anything_is_made(conn: Connection) -> None:
    instructions = write(conn, "For {{reader}} at {{place}}.", kind="generation_instructions").id
    configuration = small_configuration(conn, instructions=instructions)
    conn.execute("SAVEPOINT request")
    with pytest.raises(VariablesOpen) as refused:
        made(conn, configuration, variables={"place": "sea"})
    conn.execute("ROLLBACK TO request")
    assert [error.path for error in refused.value.errors] == ["variables.reader"]
    assert conn.one("SELECT count(*) FROM runs") == (0,)
    with pytest.raises(VariablesOpen):
        estimate(conn, RunIn(configuration=configuration), REGISTRY, SETTINGS)


def test_braces_in_a_document_are_its_own_unless_it_declares_variables(conn: Connection) -> None:
    manual = write(conn, "Write {{name}} and {{document}} in templates.", kind="input_document").id
    letter = write(conn, "Dear {{name}}, see {{other}}.", kind="input_document", variables={"name": None}).id
    made(conn, small_configuration(conn, inputs=[manual, letter]), variables={"name": "Ada"})
    assert {"Write {{name}} and {{document}} in templates.", "Dear Ada, see {{other}}."} <= set(texts(conn))


def test_the_seed_follows_from_texts_not_from_ids(conn: Connection) -> None:
    first, second = (made(conn, small_configuration(conn)) for _ in range(2))
    other = made(conn, small_configuration(conn, documents=3))
    seeds = [seed for (seed,) in conn.all("SELECT seed FROM run_snapshots ORDER BY run")]
    fences = [fence for (fence,) in conn.all("SELECT fence FROM run_snapshots")]
    assert first != second != other
    assert seeds[0] == seeds[1] != seeds[2]
    assert len(set(fences)) == 3


def test_other_inputs_take_their_references_and_answers_with_them(conn: Connection) -> None:
    configuration = small_configuration(conn)
    reference = write(conn, "A reference.", kind="reference_document").id
    configuration = msgspec.structs.replace(configuration, references={configuration.inputs[0]: reference})
    other = write(conn, "Another document.", kind="input_document").id
    run = store.get(conn, made(conn, configuration, inputs=[other]))  # type: ignore[arg-type]
    assert (run.configuration.inputs, run.configuration.references) == ([other], {})


def test_a_judge_of_both_phases_is_one_judge(conn: Connection) -> None:
    configuration = small_configuration(
        conn,
        scoring={"judges": [{"model": "test:judge", "weight": 2}, {"model": "test:jury"}], "repeats": 3},
        comparison={"judges": [{"model": "test:judge"}, {"model": "test:judge", "parameters": {"seed": 7}}]},
    )
    made(conn, configuration)
    found = setup.load(conn, 1)
    assert found is not None
    assert [(j.name, j.scoring_weight, j.comparison_weight, j.score_repeats) for j in found.round.judges] == [
        ("test:judge", 2.0, 1.0, 3),
        ("test:jury", 1.0, None, 3),
        ("test:judge (2)", None, 1.0, 3),
    ]


def test_an_estimate_counts_what_a_run_then_plans(conn: Connection) -> None:
    configuration = small_configuration(conn, documents=3, repeats=2)
    found = estimate(conn, RunIn(configuration=configuration), REGISTRY, SETTINGS)
    run = store.get(conn, made(conn, configuration))  # type: ignore[arg-type]
    assert found.calls.total == run.progress.total == 3 * (2 * 2 + 2 * 2 + 2 * 2)
    assert (found.likely_cost, found.worst_cost) == ("0", "0")
    assert (found.documents, found.candidates, found.power.documents) == (3, 2, 3)
    assert conn.one("SELECT count(*) FROM runs") == (1,)


def test_answers_that_exist_are_no_calls_in_an_estimate(conn: Connection) -> None:
    configuration = small_configuration(conn)
    candidates = [{"label": "human", "existing": dict.fromkeys(configuration.inputs, configuration.inputs[0])}]
    configuration = small_configuration(
        conn,
        inputs=configuration.inputs,
        generation={"candidates": [*candidates, {"model": "test:one"}]},
    )
    assert estimate(conn, RunIn(configuration=configuration), REGISTRY, SETTINGS).calls.generate == 2


def test_criteria_that_variables_spoil_are_refused_where_they_are_named(conn: Connection) -> None:
    criteria = write(conn, "- name: Wit\n  description: '{{what}}'", kind="criteria").id
    configuration = small_configuration(conn, scoring={"criteria": criteria})
    with pytest.raises(BadInput) as refused:
        made(conn, configuration, variables={"what": "'\n- - -"})
    assert refused.value.errors[0].path.startswith("scoring.criteria")
