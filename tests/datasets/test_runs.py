"""Runs over rows: what candidates and judges read of each, what is finished already, and what the run keeps."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from carrel.datasets import store as data_sets
from carrel.datasets.schemas import DataSet, Role
from carrel.errors import BadInput, FieldError
from carrel.http.answers.etag import ANY_VERSION
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Paging
from carrel.presets import store as presets
from carrel.presets.configuration import Configuration
from carrel.presets.schemas import PresetIn
from carrel.providers.base import GenerateMatter, ScoreMatter
from carrel.providers.registry import Registry
from carrel.runs.creation import snapshot
from carrel.runs.creation.estimate import estimate
from carrel.runs.engine import commands
from carrel.runs.model.schemas import ExecuteIn, RunIn
from tests.support.engine import engine_harness
from tests.support.models import TestModels
from tests.support.tables import uploaded
from tests.support.workspace import SETTINGS, workspace_database, write

TABLE = """\
id,question,context,expected,topic,lang,today
q1,What is a carrel?,Libraries.,A desk,books,en,A study desk.
q2,Was ist das?,Schlösser.,Ein Schlüssel,keys,de,
q3,Who reads?,Libraries.,,books,en,Readers do.
"""
ROLES: dict[str, Role] = {"context": "metadata", "today": "output"}
REGISTRY = Registry([TestModels()])


def table(conn: Connection, body: str = TABLE, roles: dict[str, Role] = ROLES) -> DataSet:
    return data_sets.create(conn, *uploaded(body.encode(), roles))


def configuration(conn: Connection, /, made: DataSet, instructions: str = "{{question}} Think.", **fields: Any) -> Any:
    asked = write(conn, instructions, kind="generation_instructions").id
    criteria = write(conn, "- name: Coverage", kind="criteria").id
    raw: dict[str, Any] = {
        "rows": {"data_set": made.id},
        "instructions": asked,
        "generation": {"candidates": [{"model": "test:one"}, {"label": "today", "column": "today"}]},
        "scoring": {"judges": [{"model": "test:judge"}], "criteria": criteria},
    }
    return raw | fields


def converted(raw: dict[str, Any]) -> Configuration:
    return msgspec.convert(raw, Configuration)


async def test_a_prompt_names_columns_judges_get_the_reference_and_finished_answers_cost_no_call(
    tmp_path: Path,
) -> None:
    models = TestModels()
    async with engine_harness(tmp_path, models) as harness:
        made = await harness.write(table)
        raw = await harness.write(configuration, made, "In {{lang}}: {{question}} See {{context}}")
        run_id = await harness.write(snapshot.create, RunIn(configuration=converted(raw)), harness.registry, SETTINGS)
        await harness.write(commands.start, run_id)
        run = await harness.ended(run_id)
        prompts = sorted(one.prompt for one in models.asked if isinstance(one.matter, GenerateMatter))
        assert prompts == [
            "In de: Was ist das? See Schlösser.",
            "In en: What is a carrel? See Libraries.",
            "In en: Who reads? See Libraries.",
        ]
        scored = [one.matter for one in models.asked if isinstance(one.matter, ScoreMatter)]
        references = {matter.document: matter.reference for matter in scored}
        assert references == {"What is a carrel?": "A desk", "Was ist das?": "Ein Schlüssel", "Who reads?": None}
        assert {matter.answer for matter in scored} >= {"A study desk.", "Readers do."}
        kept = await harness.rows(
            "SELECT content_id, name, belongs, json_extract(metadata, '$.lang') FROM run_documents ORDER BY ordinal"
        )
        assert kept == [("q1", "q1", "books", "en"), ("q2", "q2", "keys", "de"), ("q3", "q3", "books", "en")]
        # The empty cell is no answer: there is nothing to score there.
        assert run.progress.skipped == 2
        assert run.configuration.rows is not None
        assert run.configuration.rows.version == 1


@pytest.fixture
def conn(tmp_path: Path) -> Any:
    with workspace_database(tmp_path) as connection:
        yield connection


def documents_of(conn: Connection) -> list[tuple[Any, ...]]:
    return conn.all("SELECT name, body FROM run_documents JOIN run_texts ON seq = text ORDER BY ordinal")


def test_a_run_takes_the_rows_with_the_values_that_are_asked_for(conn: Connection) -> None:
    made = table(conn)
    where = {"topic": "books", "today": "Readers do."}
    raw = configuration(conn, made, rows={"data_set": made.id, "where": where})
    snapshot.create(conn, RunIn(configuration=converted(raw)), REGISTRY, SETTINGS)
    assert documents_of(conn) == [("q3", "Who reads?")]
    raw["rows"]["where"] = {"today": ""}
    assert estimate(conn, RunIn(configuration=converted(raw)), REGISTRY, SETTINGS).documents == 1


def test_rows_that_are_kept_some_at_a_time_have_their_own_texts(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []
    for at_once in (1, 6, 1_000):
        monkeypatch.setattr("carrel.runs.creation.snapshot.TEXTS_AT_ONCE", at_once)
        raw = configuration(conn, table(conn), "{{question}} {{context}}")
        run = snapshot.create(conn, RunIn(configuration=converted(raw)), REGISTRY, SETTINGS)
        rows = conn.all(
            "SELECT ordinal, asked.body, wanted.body, named.body, answer.body FROM runs"
            " JOIN run_documents ON run_documents.run = runs.seq"
            " JOIN run_texts AS asked ON asked.seq = run_documents.text"
            " LEFT JOIN run_texts AS wanted ON wanted.seq = reference"
            " JOIN run_texts AS named ON named.seq = json_extract(fields, '$.context')"
            " LEFT JOIN run_existing ON run_existing.run = runs.seq AND document = ordinal AND candidate = 2"
            " LEFT JOIN run_texts AS answer ON answer.seq = run_existing.text WHERE runs.id = ? ORDER BY ordinal",
            run,
        )
        kept.append(rows)
    assert kept[0] == [
        (1, "What is a carrel?", "A desk", "Libraries.", "A study desk."),
        (2, "Was ist das?", "Ein Schlüssel", "Schlösser.", None),
        (3, "Who reads?", None, "Libraries.", "Readers do."),
    ]
    assert kept == kept[:1] * 3


def test_rows_lead_to_as_many_texts_and_answers_as_a_run_may_keep(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three rows with a question, what is expected, the context that the prompt names, a finished answer, and another.
    raw = configuration(conn, table(conn), "{{question}} {{context}}")
    data = RunIn(configuration=converted(raw))
    monkeypatch.setattr("carrel.runs.creation.row_inputs.MAX_KEPT", 21)
    assert estimate(conn, data, REGISTRY, SETTINGS).documents == 3
    snapshot.create(conn, data, REGISTRY, SETTINGS)
    monkeypatch.setattr("carrel.runs.creation.row_inputs.MAX_KEPT", 20)
    for ask in (estimate, snapshot.create):
        with pytest.raises(BadInput) as refused:
            ask(conn, data, REGISTRY, SETTINGS)
        assert refused.value.errors == (FieldError("rows", "lead to more than 20 texts and answers"),)


def test_a_run_takes_the_version_at_its_start_and_a_preset_the_newest_then(conn: Connection) -> None:
    made = table(conn)
    preset = presets.create(conn, msgspec.convert(configuration(conn, made) | {"name": "p"}, PresetIn), REGISTRY)
    assert presets.find(conn, Paging()).items[0].input_count == 3
    longer = uploaded(TABLE.encode() + b"q4,Why?,,,books,en,Because.\n", ROLES)
    data_sets.add_version(conn, made.id, *longer, made.columns, ANY_VERSION)
    run = snapshot.create(conn, RunIn(preset_id=preset.id), REGISTRY, SETTINGS)
    assert len(documents_of(conn)) == 4
    assert conn.value("SELECT json_extract(configuration, '$.rows.version') FROM run_snapshots") == 2
    with pytest.raises(Exception, match="data-set-in-use"):
        data_sets.delete(conn, made.id, ANY_VERSION)
    presets.delete(conn, preset.id, ANY_VERSION)
    data_sets.delete(conn, made.id, ANY_VERSION)
    assert len(documents_of(conn)) == 4
    assert run


def test_several_variables_are_shown_with_their_names_and_without_a_placeholder_they_follow(conn: Connection) -> None:
    raw = configuration(conn, table(conn, roles=ROLES | {"context": "variable"}), "Answer.")
    snapshot.create(conn, RunIn(configuration=converted(raw)), REGISTRY, SETTINGS)
    assert documents_of(conn)[0] == ("q1", "question:\nWhat is a carrel?\n\ncontext:\nLibraries.")


def test_a_dry_run_counts_rows_and_only_the_calls_that_are_made(conn: Connection) -> None:
    found = estimate(conn, RunIn(configuration=converted(configuration(conn, table(conn)))), REGISTRY, SETTINGS)
    assert (found.documents, found.calls.generate, found.calls.score) == (3, 4, 6)


def test_a_preset_may_be_executed_over_other_rows_or_over_documents(conn: Connection) -> None:
    made = table(conn)
    raw = configuration(conn, made) | {"name": "p"}
    raw["generation"] = {"candidates": [{"model": "test:one"}]}
    preset = presets.create(conn, msgspec.convert(raw, PresetIn), REGISTRY)
    data = msgspec.convert({"rows": {"data_set": made.id, "where": {"lang": "de"}}}, ExecuteIn)
    assert estimate(conn, snapshot.of_preset(conn, preset.id, data), REGISTRY, SETTINGS).documents == 1
    document = write(conn, "A text.", kind="input_document").id
    data = msgspec.convert({"inputs": [document], "variables": {"question": "What?"}}, ExecuteIn)
    assert estimate(conn, snapshot.of_preset(conn, preset.id, data), REGISTRY, SETTINGS).documents == 1


def refused(conn: Connection, raw: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(BadInput) as error:
        snapshot.create(conn, RunIn(configuration=converted(raw)), REGISTRY, SETTINGS)
    return {fault.path: fault.message for fault in error.value.errors}


def test_what_does_not_fit_the_table_is_refused_at_its_place(conn: Connection) -> None:
    made = table(conn)
    raw = configuration(conn, made)
    plain = made.id
    for rows, faults in (
        ({"data_set": "x"}, {"configuration.rows": "names no data set, or no version of it"}),
        ({"data_set": plain, "version": 2}, {"configuration.rows": "names no data set, or no version of it"}),
        ({"data_set": plain, "where": {"no": "x"}}, {"configuration.rows.where.no": "is not a column of the data set"}),
        ({"data_set": plain, "where": {"lang": "fr"}}, {"configuration.rows": "has no rows with these values"}),
    ):
        assert refused(conn, raw | {"rows": rows}) == faults
    assert refused(conn, raw | {"inputs": ["x"]})["configuration.inputs"] == "must be empty where there are rows"
    assert "configuration.groups" in refused(conn, raw | {"groups": {"by": "tag"}})
    bare = table(conn, "a,b\n1,2\n", {})
    assert refused(conn, raw | {"rows": {"data_set": bare.id}}) == {
        "configuration.rows.data_set": "needs a column with the role variable or messages",
        "configuration.generation.candidates[1].column": "is not a column of the data set",
    }
    without = {name: value for name, value in raw.items() if name != "rows"}
    assert refused(conn, without)["configuration.inputs"] == "must have at least 1 entry, or rows must be given"


def test_a_placeholder_is_the_name_of_any_column_and_what_fits_none_or_two_is_refused(conn: Connection) -> None:
    head = "question,Größe,質問,回答,User Name,ctx.a,ctx-a,a b,a_b,same one,same\u00a0one"
    made = table(conn, f"{head}\n{','.join(f'c{place}' for place in range(1, 12))}\n", {})
    asked = "{{Größe}} {{質問}} {{ 回答 }} {{User  Name}} {{User_Name}} {{ctx.a}} {{ctx-a}} {{a b}} {{a_b}}"
    raw = configuration(conn, made, asked)
    raw["generation"] = {"candidates": [{"model": "test:one"}]}
    snapshot.create(conn, RunIn(configuration=converted(raw)), REGISTRY, SETTINGS)
    fields = conn.value("SELECT fields FROM run_documents")
    kept = {name: conn.value("SELECT body FROM run_texts WHERE seq = ?", n) for name, n in json.loads(fields).items()}
    assert kept == {
        "Größe": "c2", "質問": "c3", "回答": "c4", "User Name": "c5", "User_Name": "c5", "ctx.a": "c6", "ctx-a": "c7",
        "a b": "c8", "a_b": "c9",
    }  # fmt: skip
    raw["instructions"] = write(
        conn, "{{answer}} {{ctx_a}} {{question|upper}} {{same one}}", kind="generation_instructions"
    ).id
    names = ("answer", "ctx_a", "question|upper", "same one")
    assert refused(conn, raw) == {f"variables.{name}": "has no value" for name in names}


def test_a_trial_takes_one_row(tmp_path: Path) -> None:
    with workspace_database(tmp_path) as conn:
        raw = configuration(conn, table(conn))
        for chosen, row in (({}, 1), ({"row": 2}, 2), ({"where": {"today": "Readers do."}}, 3)):
            raw["rows"] |= {"where": {}, "row": None} | chosen
            tried = RunIn(configuration=converted(raw), trial=True)
            narrowed = snapshot.recipe(conn, tried, REGISTRY).configuration.rows
            assert narrowed is not None
            assert narrowed.row == row
            assert estimate(conn, tried, REGISTRY, SETTINGS).documents == 1
        for beside, message in (
            ({"row": 4}, "is beyond the last row, 3"),
            ({"row": 2, "where": {"lang": "en"}}, "does not have the values in where"),
        ):
            wrong = raw | {"rows": {"data_set": raw["rows"]["data_set"]} | beside}
            assert refused(conn, wrong) == {"configuration.rows.row": message}
