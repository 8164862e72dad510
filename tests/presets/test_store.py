from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from carrel.contents import store as contents
from carrel.contents.schemas import ContentType
from carrel.errors import BadInput, FieldError, NotFound, PreconditionFailed
from carrel.http.answers.etag import ANY_VERSION, IfMatch
from carrel.http.requests import body
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Paging, decode
from carrel.presets import check, rules, store
from carrel.presets.configuration import Candidate
from carrel.presets.schemas import Preset, PresetChange, PresetIn
from carrel.providers.base import Answer, ModelInfo, ModelRequest
from carrel.providers.local import LocalProvider
from carrel.providers.registry import Registry
from carrel.vault.ids import ContentId, PresetId
from tests.support.workspace import SETTINGS, minimal_preset, write

NOBODY = PresetId("nobody")


class Elsewhere:
    """Models whose prices nobody knows."""

    name = "elsewhere"

    def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(name="big", family="maker", roles=("generate", "judge"), description=""),)

    async def complete(self, request: ModelRequest) -> Answer:
        raise AssertionError

    async def close(self) -> None:
        pass


REGISTRY = Registry([LocalProvider(), Elsewhere()])


@pytest.fixture
def fields(conn: Connection) -> dict[str, Any]:
    """A minimal preset as JSON, to be changed by tests."""
    return minimal_preset(conn)


def create(conn: Connection, fields: dict[str, Any]) -> Preset:
    return store.create(conn, msgspec.convert(fields, PresetIn), REGISTRY)


def refusal(conn: Connection, fields: dict[str, Any]) -> BadInput:
    with pytest.raises(BadInput) as refused:
        create(conn, fields)
    return refused.value


def places(conn: Connection, fields: dict[str, Any]) -> list[str]:
    error = refusal(conn, fields)
    assert error.code == "invalid-input"
    return [fault.path for fault in error.errors]


def candidate(fields: dict[str, Any], index: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = fields["generation"]["candidates"][index]
    return found


def test_a_minimal_preset_works_and_gets_sensible_defaults(conn: Connection, fields: dict[str, Any]) -> None:
    preset = create(conn, fields)
    assert store.get(conn, preset.id) == store.get_short(conn, preset.id) == preset
    assert [candidate.label for candidate in preset.generation.candidates] == ["local:lead", "local:lexrank"]
    assert (preset.version, preset.billing, preset.limits.budget, preset.output.destination) == (
        1,
        "own_keys",
        None,
        "none",
    )
    assert preset.scoring is not None
    assert preset.scoring.judges[0].weight == 1
    assert preset.generation.repeats == preset.scoring.repeats == 1


def test_everything_that_a_preset_can_say_is_kept(conn: Connection, fields: dict[str, Any]) -> None:
    kinds: tuple[ContentType, ...] = (
        "reference_document",
        "output_document",
        "generation_instructions",
        "scoring_instructions",
        "comparison_instructions",
    )
    reference, existing, own, scoring, comparing = (write(conn, kind=kind).id for kind in kinds)
    only = fields["inputs"][0]
    fields |= {
        "description": "d",
        "tags": ["t"],
        "references": {only: reference},
        "generation": {
            "candidates": [
                {"label": "today", "existing": {only: existing}},
                {"label": "A", "model": "local:mmr", "instructions": own, "parameters": {"max_output_tokens": 99}},
                {"label": "B", "model": "elsewhere:big", "parameters": {"temperature": 0.5, "seed": 1}},
            ],
            "repeats": 3,
            "show_criteria": True,
        },
        "billing": "credits",
        "limits": {"concurrency": 2, "timeout_seconds": 5, "max_attempts": 1},
    }
    fields["scoring"] |= {"instructions": scoring, "repeats": 2, "judges": [{"model": "local:reader", "weight": 2.5}]}
    fields["comparison"] |= {"instructions": comparing, "finalists": 2}
    preset = create(conn, fields)
    written = msgspec.convert(fields, PresetIn)
    assert store.configuration_of(preset) == store.configuration_of(written)
    assert (preset.name, preset.description, preset.tags) == ("A preset", "d", ["t"])


def test_the_list_shows_summaries_newest_first(conn: Connection, fields: dict[str, Any]) -> None:
    for name in ("one", "two", "three"):
        create(conn, fields | {"name": name})
    first = store.find(conn, Paging(2))
    assert [item.name for item in first.items] == ["three", "two"]
    assert (first.items[0].input_count, first.items[0].candidate_labels) == (1, ["local:lead", "local:lexrank"])
    assert first.next_cursor is not None
    assert [item.name for item in store.find(conn, Paging(2, decode(first.next_cursor))).items] == ["one"]


def test_replacing_takes_the_version_that_was_read(conn: Connection, fields: dict[str, Any]) -> None:
    preset = create(conn, fields)
    data = msgspec.convert(fields | {"name": "changed"}, PresetChange)
    assert store.replace(conn, preset.id, data, IfMatch(frozenset({1})), REGISTRY).version == 2
    with pytest.raises(PreconditionFailed):
        store.replace(conn, preset.id, data, IfMatch(frozenset({1})), REGISTRY)
    with pytest.raises(PreconditionFailed):
        store.delete(conn, preset.id, IfMatch(frozenset({1})))
    with pytest.raises(NotFound):
        store.replace(conn, NOBODY, data, ANY_VERSION, REGISTRY)


def test_what_is_not_there_is_not_found(conn: Connection) -> None:
    with pytest.raises(NotFound):
        store.get(conn, NOBODY)
    with pytest.raises(NotFound):
        store.get_short(conn, NOBODY)
    with pytest.raises(NotFound):
        store.delete(conn, NOBODY, ANY_VERSION)
    with pytest.raises(NotFound):
        store.duplicate(conn, NOBODY, SETTINGS)


def test_a_copy_has_a_name_that_says_so(conn: Connection, fields: dict[str, Any]) -> None:
    preset = create(conn, fields | {"name": "n" * 200, "tags": ["t"]})
    copy = store.duplicate(conn, preset.id, SETTINGS)
    assert copy.name == ("Copy of " + "n" * 200)[:200]
    assert store.configuration_of(copy) == store.configuration_of(preset)
    assert (copy.tags, copy.version, copy.id != preset.id) == (["t"], 1, True)


def test_a_long_configuration_is_left_to_a_thread(conn: Connection, fields: dict[str, Any]) -> None:
    preset = create(conn, fields)
    conn.run("UPDATE presets SET configuration_bytes = ?", store.SHORT_BYTES + 1)
    assert store.get_short(conn, preset.id) is None


def test_a_content_cannot_be_deleted_while_a_preset_holds_it(conn: Connection, fields: dict[str, Any]) -> None:
    first, second = create(conn, fields), create(conn, fields)
    document = ContentId(fields["inputs"][0])
    with pytest.raises(contents.ContentInUse) as refused:
        contents.delete(conn, document, ANY_VERSION)
    assert refused.value.errors == (("presets", first.id), ("presets", second.id))
    other = write(conn, kind="input_document").id
    store.replace(conn, first.id, msgspec.convert(fields | {"inputs": [other]}, PresetChange), ANY_VERSION, REGISTRY)
    store.delete(conn, second.id, ANY_VERSION)
    contents.delete(conn, document, ANY_VERSION)
    with pytest.raises(contents.ContentInUse):
        contents.delete(conn, other, ANY_VERSION)


def test_a_copy_holds_the_contents_too(conn: Connection, fields: dict[str, Any]) -> None:
    preset = create(conn, fields)
    store.duplicate(conn, preset.id, SETTINGS)
    store.delete(conn, preset.id, ANY_VERSION)
    with pytest.raises(contents.ContentInUse):
        contents.delete(conn, ContentId(fields["inputs"][0]), ANY_VERSION)


def test_every_content_that_is_missing_or_does_not_fit_is_named(conn: Connection, fields: dict[str, Any]) -> None:
    fragment = write(conn, kind="fragment").id
    only = fields["inputs"][0]
    fields |= {"inputs": [only, "missing", fragment], "instructions": fragment, "references": {only: fragment}}
    candidate(fields)["instructions"] = "missing"
    candidate(fields, 1)["existing"] = {only: fragment}
    fields["scoring"] |= {"criteria": fragment, "instructions": fragment}
    fields["comparison"]["instructions"] = fragment
    assert places(conn, fields) == [
        "inputs[1]",
        "inputs[2]",
        f"references.{only}",
        "generation.candidates[0].instructions",
        f"generation.candidates[1].existing.{only}",
        "instructions",
        "scoring.criteria",
        "scoring.instructions",
        "comparison.instructions",
    ]


def test_every_model_that_is_unknown_or_does_something_else_is_named(conn: Connection, fields: dict[str, Any]) -> None:
    candidate(fields)["model"] = "local:reader"
    candidate(fields, 1)["model"] = "nobody:knows"
    fields["scoring"]["judges"] = [{"model": "local:reader"}, {"model": "local:lead"}]
    fields["comparison"]["judges"] = [{"model": "local:nothing"}]
    assert places(conn, fields) == [
        "generation.candidates[0].model",
        "generation.candidates[1].model",
        "scoring.judges[1].model",
        "comparison.judges[0].model",
    ]


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda fields: fields["inputs"].append(fields["inputs"][0]), "inputs"),
        (lambda fields: fields.update(references={"other": "x"}), "references"),
        (
            lambda fields: fields.update(scoring=None, comparison=None, output={"destination": "library"}),
            "output.answers",
        ),
        (lambda fields: candidate(fields).update(model="local:lexrank"), "generation.candidates[1].label"),
        (lambda fields: candidate(fields).update(label=" local:lexrank "), "generation.candidates[1].label"),
        (lambda fields: candidate(fields).update(existing={"other": "x"}), "generation.candidates[0].existing"),
        (lambda fields: candidate(fields).update(label="A", model=None), "generation.candidates[0].model"),
        (lambda fields: fields["generation"]["candidates"].pop(), "comparison"),
        (lambda fields: fields["comparison"].update(finalists=3), "comparison.finalists"),
        (lambda fields: (fields.pop("scoring"), fields["comparison"].update(finalists=2)), "comparison.finalists"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused_at_its_place(
    conn: Connection, fields: dict[str, Any], change: Change, path: str
) -> None:
    change(fields)
    assert places(conn, fields) == [path]


def test_instructions_are_needed_where_a_model_has_to_write(conn: Connection, fields: dict[str, Any]) -> None:
    del fields["instructions"]
    existing = write(conn, kind="output_document").id
    fields["generation"]["candidates"][0] = {"label": "today", "existing": {fields["inputs"][0]: existing}}
    assert places(conn, fields) == ["generation.candidates[1].instructions"]
    candidate(fields, 1)["instructions"] = write(conn, kind="generation_instructions").id
    create(conn, fields)


def test_a_candidate_of_finished_texts_needs_a_label(conn: Connection, fields: dict[str, Any]) -> None:
    existing = {fields["inputs"][0]: write(conn, kind="output_document").id}
    fields["generation"]["candidates"][0] = {"existing": existing}
    assert places(conn, fields) == ["generation.candidates[0].label"]


def test_a_run_cannot_be_made_too_large(conn: Connection) -> None:
    fields: dict[str, Any] = minimal_preset(conn, inputs=200)
    fields["generation"] |= {"repeats": 10}
    fields["scoring"] |= {"repeats": 10, "judges": [{"model": "local:reader"}] * 8}
    assert places(conn, fields) == ["inputs"]


def test_calls_are_counted_as_the_methods_ask_for_them(conn: Connection) -> None:
    fields: dict[str, Any] = minimal_preset(conn, inputs=5)
    fields["generation"]["repeats"] = 2
    fields["generation"]["candidates"].append({"model": "local:mmr"})
    # 30 answers, 30 marks, and 3 pairs met twice on 5 documents both ways round.
    assert rules.calls(create(conn, fields), 5) == 30 + 30 + 60


def test_a_built_in_judge_must_be_able_to_judge_by_the_criteria(conn: Connection, fields: dict[str, Any]) -> None:
    criteria = write(conn, "- name: Coverage\n- name: Humour", kind="criteria")
    fields["scoring"]["criteria"] = criteria.id
    fields["scoring"]["judges"].append({"model": "elsewhere:big"})
    error = refusal(conn, fields)
    assert error.code == "criterion-not-supported"
    assert error.errors == (
        ("scoring.judges[0]", "cannot judge by criterion number 2"),
        ("comparison.judges[0]", "cannot judge by criterion number 2"),
    )


def test_a_budget_needs_prices(conn: Connection, fields: dict[str, Any]) -> None:
    fields["limits"] = {"budget": "2.5"}
    create(conn, fields)
    candidate(fields)["model"] = "elsewhere:big"
    error = refusal(conn, fields)
    assert (error.code, [fault.path for fault in error.errors]) == (
        "budget-unpriced",
        ["generation.candidates[0].model"],
    )


def test_where_answers_are_to_go_is_checked(conn: Connection, fields: dict[str, Any]) -> None:
    there = {"destination": "github", "connection": "c"}
    for output, path in (
        ({"destination": "github"}, "output.connection"),
        (there, "output.connection"),
        (there | {"path": "../up"}, "output.path"),
        (there | {"branch": "a..b"}, "output.branch"),
        ({"destination": "library", "path": "docs"}, "output.destination"),
    ):
        error = refusal(conn, fields | {"output": output})
        assert (error.code, [fault.path for fault in error.errors]) == ("invalid-input", [path]), output


def test_paths_can_be_told_from_where_a_configuration_stands(conn: Connection, fields: dict[str, Any]) -> None:
    fields["inputs"] = ["missing"]
    data = msgspec.convert(fields, PresetIn)
    with pytest.raises(BadInput) as refused:
        check.checked(conn, store.configuration_of(data), REGISTRY, "configuration")
    assert [fault.path for fault in refused.value.errors] == ["configuration.inputs[0]"]


COMBINED: list[tuple[dict[str, Any], list[str]]] = [
    ({"candidates": [{"label": "m", "existing": {}}]}, ["combination.candidates[0].model"]),
    ({"candidates": [{"model": "local:lead"}]}, ["combination.candidates[0].model"]),
    ({"candidates": [{"model": "local:mmr"}, {"model": "local:outline"}]}, ["combination.candidates[1].model"]),
    ({"candidates": [{"model": "local:mmr", "label": "local:lead"}]}, ["combination.candidates[0].label"]),
    ({"candidates": [{"model": "local:mmr"}] * 2}, ["combination.candidates[1].label"]),
    ({"candidates": [{"model": "local:mmr"}], "sources": 3}, ["combination.sources"]),
    ({"candidates": [{"model": "nobody:here"}]}, ["combination.candidates[0].model"]),
    ({"candidates": [{"model": "local:reader"}]}, ["combination.candidates[0].model"]),
    ({"candidates": [{"model": "local:mmr"}], "instructions": "missing"}, ["combination.instructions"]),
]


@pytest.mark.parametrize(("combination", "paths"), COMBINED)
def test_what_cannot_be_combined_is_refused(
    conn: Connection, fields: dict[str, Any], combination: dict[str, Any], paths: list[str]
) -> None:
    assert places(conn, fields | {"combination": combination}) == paths


def test_who_combines_gives_no_answers_that_exist_and_takes_its_own_kind_of_instructions(
    conn: Connection, fields: dict[str, Any]
) -> None:
    only = fields["inputs"][0]
    existing = {only: write(conn, kind="output_document").id}
    wrong = write(conn, kind="generation_instructions").id
    combination = {"candidates": [{"model": "local:mmr", "existing": existing}]}
    assert places(conn, fields | {"combination": combination}) == ["combination.candidates[0].existing"]
    combination = {"candidates": [{"model": "local:mmr", "instructions": wrong}]}
    assert places(conn, fields | {"combination": combination}) == ["combination.candidates[0].instructions"]


def test_a_run_writes_no_more_contents_than_one_transaction_should(conn: Connection) -> None:
    fields: dict[str, Any] = minimal_preset(conn, inputs=1_000)
    fields["generation"]["candidates"] += [{"model": "local:mmr"}]
    fields["comparison"] = None
    output = {"destination": "library", "answers": "all"}
    assert places(conn, fields | {"output": output}) == ["output.answers"]
    create(conn, fields | {"output": {"destination": "library"}})


def test_sources_are_finalists(conn: Connection, fields: dict[str, Any]) -> None:
    fields["generation"]["candidates"].append({"model": "local:mmr"})
    fields["comparison"]["finalists"] = 2
    combination = {"candidates": [{"model": "local:submodular"}], "sources": 3}
    assert places(conn, fields | {"combination": combination}) == ["combination.sources"]


def test_a_run_that_plans_too_many_calls_or_scores_is_refused(
    conn: Connection, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = create(conn, fields)
    for most, many, message in (
        ("MAX_ANSWERS", rules.answers(planned, len(planned.inputs)), "lead to more than {} answers"),
        ("MAX_CALLS", rules.calls(planned, len(planned.inputs)), "lead to more than {} calls"),
        ("MAX_SCORES", rules.scores(planned, len(planned.inputs)), "lead to more than {} scores"),
    ):
        assert many > 0
        with monkeypatch.context() as patched:
            patched.setattr(rules, most, many)
            create(conn, fields)
            patched.setattr(rules, most, many - 1)
            with pytest.raises(BadInput) as refused:
                create(conn, fields)
            assert FieldError("inputs", message.format(many - 1)) in refused.value.errors


def test_finished_answers_count_as_answers_and_not_as_calls(conn: Connection, fields: dict[str, Any]) -> None:
    before = create(conn, fields)
    documents = len(before.inputs)
    answer = write(conn, kind="output_document").id
    fields["generation"]["candidates"].append({"label": "today", "existing": dict.fromkeys(fields["inputs"], answer)})
    after = create(conn, fields)
    # Its answers are judged, but nobody is asked for them.
    judged = rules.scores(after, documents) - rules.scores(before, documents)
    assert rules.answers(after, documents) == rules.answers(before, documents) + documents
    pairs = rules.calls(after, documents) - rules.calls(before, documents) - judged
    assert pairs % (2 * documents) == 0


def test_who_combines_has_a_label_of_its_own_and_takes_calls(conn: Connection, fields: dict[str, Any]) -> None:
    instructions = write(conn, kind="combination_instructions").id
    before = rules.calls(create(conn, fields), len(fields["inputs"]))
    combination = {
        "candidates": [{"model": "local:lexrank", "instructions": instructions}],
        "instructions": instructions,
    }
    preset = create(conn, fields | {"combination": combination})
    assert preset.combination is not None
    assert preset.combination.candidates[0].label == "combined by local:lexrank"
    # One answer, one mark, and two more pairs both ways round.
    assert rules.calls(preset, len(preset.inputs)) == before + 1 + 1 + 4
    assert store.find(conn, Paging(1)).items[0].candidate_labels[-1] == "combined by local:lexrank"


def test_a_model_s_name_longer_than_a_label_is_cut(conn: Connection, fields: dict[str, Any]) -> None:
    long = "local:" + "x" * 150
    assert rules.named([msgspec.convert({"model": long}, Candidate)]) == [long[:100]]


def test_the_fullest_configuration_has_no_more_elements_than_allowed() -> None:
    ids = [f"{number:032}" for number in range(1_000)]
    same = dict.fromkeys(ids, ids[0])
    checks = [{"kind": "contains", "texts": [f"{number}," for number in range(100)]} for _ in range(20)]
    candidates = [{"label": f"c{number}", "existing": same} for number in range(20)]
    sent = {
        "name": "Full",
        "inputs": ids,
        "references": same,
        "groups": {"by": "map", "of": same},
        "checks": checks,
        "generation": {"candidates": candidates},
        "combination": {"candidates": candidates},
    }
    assert len(body.decode(msgspec.json.encode(sent), PresetIn, SETTINGS).generation.candidates) == 20
