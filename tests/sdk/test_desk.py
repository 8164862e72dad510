"""The user's client against the real service: contents, presets, settings, keys, models, credits."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from carrel_sdk import Conflict, Host, NotFound, VersionMismatch, Workspace
from carrel_sdk.configuration import Candidate, Comparison, Generation, Judge, Scoring
from carrel_sdk.errors import CarrelApiError
from carrel_sdk.presets import PresetDraft

from tests.support.service import Service

CRITERIA = "- name: coverage\n  description: Holds the main points.\n- name: clarity\n  description: Is clear.\n"


@pytest.fixture(scope="module")
def desk(service: Service) -> Iterator[Workspace]:
    host = Host(service.url, service.plugin_secret)
    uuid = f"desk-{uuid4()}"
    host.sign_up(uuid, membership="paid", password="pw")
    host.add_credits(uuid, "1.5", "a gift")
    with Workspace(service.url, lambda: str(host.session(uuid))) as desk:
        yield desk
    host.close()


def draft(desk: Workspace, name: str = "Which summary?") -> PresetDraft:
    documents = [desk.contents.create(f"document {number}", "input_document", f"Text {number}.") for number in (1, 2)]
    return PresetDraft(
        name=name,
        inputs=[document.id for document in documents],
        instructions=desk.contents.create("prompt", "generation_instructions", "Summarise.").id,
        generation=Generation(candidates=[Candidate(model="local:lead"), Candidate(label="r", model="local:random")]),
        scoring=Scoring(
            judges=[Judge(model="local:reader", weight=2)],
            criteria=desk.contents.create("criteria", "criteria", CRITERIA).id,
        ),
        comparison=Comparison(judges=[Judge(model="local:reader")]),
    )


def test_a_content_is_written_read_changed_and_deleted(desk: Workspace) -> None:
    made = desk.contents.create("Letter", "fragment", "Dear {{WHO}}", variables={"WHO": None}, tags=["a"])
    read = desk.contents.get(made.id)
    assert (read.body, read.variables, read.tags, read.version) == ("Dear {{WHO}}", {"WHO": None}, ["a"], 1)
    read.body = "Hello {{WHO}}"
    saved = desk.contents.save(read)
    assert saved.version == 2
    assert desk.contents.resolve(made.id, {"WHO": "you"}).body == "Hello you"
    assert desk.contents.resolve(made.id).unresolved == ["WHO"]
    assert [version.version for version in desk.contents.versions(made.id)] == [2, 1]
    assert desk.contents.version(made.id, 1).body == "Dear {{WHO}}"
    copy = desk.contents.duplicate(made.id)
    assert {found.id for found in desk.contents.find("Hello", type="fragment", tag="a")} == {made.id, copy.id}
    assert desk.contents.counts().by_type["fragment"] == 2
    desk.contents.delete(made.id, if_match=saved.etag)
    with pytest.raises(NotFound):
        desk.contents.get(made.id)


def test_two_who_change_the_same_content_do_not_overwrite_each_other(desk: Workspace) -> None:
    mine = desk.contents.create("Shared", "fragment", "first")
    theirs = desk.contents.get(mine.id)
    theirs.body = "theirs"
    desk.contents.save(theirs)
    mine.body = "mine"
    with pytest.raises(VersionMismatch):
        desk.contents.save(mine)
    with pytest.raises(VersionMismatch):
        desk.contents.delete(mine.id, if_match=mine.etag)
    assert desk.contents.get(mine.id).body == "theirs"


def test_all_pages_of_a_list_are_read(desk: Workspace) -> None:
    names = {f"page {number:03}" for number in range(60)}
    for name in names:
        desk.contents.create(name, "output_document", "x", tags=["paged"])
    assert [item.name for item in desk.contents.find(tag="paged")].__len__() == 60
    assert {item.name for item in desk.contents.find(tag="paged")} == names


def test_a_preset_is_written_read_changed_and_deleted(desk: Workspace) -> None:
    made = desk.presets.create(draft(desk))
    read = desk.presets.get(made.id)
    assert [candidate.label for candidate in read.generation.candidates] == ["local:lead", "r"]
    assert read.scoring is not None
    assert read.scoring.judges[0].weight == 2
    assert read.limits.concurrency == 8
    read.name = "Which one?"
    read.generation.repeats = 2
    saved = desk.presets.save(read)
    assert (saved.name, saved.generation.repeats, saved.version) == ("Which one?", 2, 2)
    copy = desk.presets.duplicate(made.id)
    listed = {item.id: item for item in desk.presets.each()}
    assert listed[made.id].candidate_labels == ["local:lead", "r"]
    assert listed[copy.id].input_count == 2
    with pytest.raises(Conflict) as caught:
        desk.contents.delete(made.inputs[0])
    assert caught.value.code == "content-in-use"
    desk.presets.delete(made.id, if_match=saved.etag)
    with pytest.raises(NotFound):
        desk.presets.get(made.id)


def test_bad_input_names_the_field(desk: Workspace) -> None:
    wrong = draft(desk)
    wrong.generation.candidates[1].model = "local:nobody"
    with pytest.raises(CarrelApiError) as caught:
        desk.presets.create(wrong)
    assert caught.value.errors[0].path == "generation.candidates[1].model"


def test_settings_are_replaced_as_a_whole(desk: Workspace) -> None:
    settings = desk.settings.get()
    settings.timezone = "Europe/Berlin"
    settings.default_judges = ["local:reader"]
    saved = desk.settings.save(settings)
    assert (saved.timezone, saved.default_judges) == ("Europe/Berlin", ["local:reader"])
    with pytest.raises(VersionMismatch):
        desk.settings.save(settings)
    saved.timezone = "UTC"
    assert desk.settings.save(saved).timezone == "UTC"


def test_a_provider_key_is_stored_and_only_its_end_is_shown(desk: Workspace) -> None:
    stored = desk.provider_keys.store("openai", "sk-0123456789abcdef", base_url="http://127.0.0.1:9/v1")
    assert stored.hint == "cdef"
    assert [key.provider for key in desk.provider_keys.each()] == ["openai"]
    assert desk.provider_keys.get("openai").last_test is None
    tested = desk.provider_keys.test("openai")
    assert (tested.ok, tested.code) == (False, "provider-unreachable")
    desk.provider_keys.delete("openai")
    with pytest.raises(NotFound):
        desk.provider_keys.get("openai")


def test_models_are_listed_and_found_by_name(desk: Workspace) -> None:
    generators = {model.model for model in desk.models.each() if "generate" in model.roles}
    assert generators == {f"local:{name}" for name in ("lead", "random", "lexrank", "mmr", "submodular", "outline")}
    assert desk.models.get("local:reader").roles == ["judge"]
    with pytest.raises(NotFound):
        desk.models.get("nobody:a/b")


def test_the_user_sees_balance_and_ledger(desk: Workspace) -> None:
    assert desk.credits().balance == "1.5"
    assert [(entry.kind, entry.amount, entry.reason) for entry in desk.ledger()] == [("add", "1.5", "a gift")]
    assert desk.me().credits == "1.5"
