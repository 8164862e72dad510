"""The user's client against the real service: contents, presets, settings, keys, models, credits."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from carrel_sdk import Conflict, Host, NotFound, VersionMismatch, Workspace
from carrel_sdk.errors import CarrelApiError
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, PresetDraft, Scoring

from tests.support.service import Service

CRITERIA = "- name: coverage\n  description: Holds the main points.\n- name: clarity\n  description: Is clear.\n"


@pytest.fixture(scope="module")
def workspace(service: Service) -> Iterator[Workspace]:
    host = Host(service.url, service.plugin_secret)
    uuid = f"workspace-{uuid4()}"
    host.sign_up(uuid, membership="paid", password="pw")
    host.add_credits(uuid, "1.5", "a gift")
    with Workspace(service.url, lambda: str(host.session(uuid))) as workspace:
        yield workspace
    host.close()


def draft(workspace: Workspace, name: str = "Which summary?") -> PresetDraft:
    documents = [
        workspace.contents.create(f"document {number}", "input_document", f"Text {number}.") for number in (1, 2)
    ]
    return PresetDraft(
        name=name,
        inputs=[document.id for document in documents],
        instructions=workspace.contents.create("prompt", "generation_instructions", "Summarise.").id,
        generation=Generation(candidates=[Candidate(model="local:lead"), Candidate(label="r", model="local:random")]),
        scoring=Scoring(
            judges=[Judge(model="local:reader", weight=2)],
            criteria=workspace.contents.create("criteria", "criteria", CRITERIA).id,
        ),
        comparison=Comparison(judges=[Judge(model="local:reader")]),
    )


def test_a_content_is_written_read_changed_and_deleted(workspace: Workspace) -> None:
    made = workspace.contents.create("Letter", "fragment", "Dear {{WHO}}", variables={"WHO": None}, tags=["a"])
    read = workspace.contents.get(made.id)
    assert (read.body, read.variables, read.tags, read.version) == ("Dear {{WHO}}", {"WHO": None}, ["a"], 1)
    read.body = "Hello {{WHO}}"
    saved = workspace.contents.save(read)
    assert saved.version == 2
    assert workspace.contents.resolve(made.id, {"WHO": "you"}).body == "Hello you"
    assert workspace.contents.resolve(made.id).unresolved == ["WHO"]
    assert [version.version for version in workspace.contents.versions(made.id)] == [2, 1]
    assert workspace.contents.version(made.id, 1).body == "Dear {{WHO}}"
    copy = workspace.contents.duplicate(made.id)
    assert {found.id for found in workspace.contents.find("Hello", type="fragment", tag="a")} == {made.id, copy.id}
    assert workspace.contents.counts().by_type["fragment"] == 2
    workspace.contents.delete(made.id, if_match=saved.etag)
    with pytest.raises(NotFound):
        workspace.contents.get(made.id)


def test_two_who_change_the_same_content_do_not_overwrite_each_other(workspace: Workspace) -> None:
    mine = workspace.contents.create("Shared", "fragment", "first")
    theirs = workspace.contents.get(mine.id)
    theirs.body = "theirs"
    workspace.contents.save(theirs)
    mine.body = "mine"
    with pytest.raises(VersionMismatch):
        workspace.contents.save(mine)
    with pytest.raises(VersionMismatch):
        workspace.contents.delete(mine.id, if_match=mine.etag)
    assert workspace.contents.get(mine.id).body == "theirs"


def test_all_pages_of_a_list_are_read(workspace: Workspace) -> None:
    names = {f"page {number:03}" for number in range(60)}
    for name in names:
        workspace.contents.create(name, "output_document", "x", tags=["paged"])
    assert [item.name for item in workspace.contents.find(tag="paged")].__len__() == 60
    assert {item.name for item in workspace.contents.find(tag="paged")} == names


def test_a_preset_is_written_read_changed_and_deleted(workspace: Workspace) -> None:
    made = workspace.presets.create(draft(workspace))
    read = workspace.presets.get(made.id)
    assert [candidate.label for candidate in read.generation.candidates] == ["local:lead", "r"]
    assert read.scoring is not None
    assert read.scoring.judges[0].weight == 2
    assert read.limits.concurrency == 8
    read.name = "Which one?"
    read.generation.repeats = 2
    saved = workspace.presets.save(read)
    assert (saved.name, saved.generation.repeats, saved.version) == ("Which one?", 2, 2)
    copy = workspace.presets.duplicate(made.id)
    listed = {item.id: item for item in workspace.presets.each()}
    assert listed[made.id].candidate_labels == ["local:lead", "r"]
    assert listed[copy.id].input_count == 2
    with pytest.raises(Conflict) as caught:
        workspace.contents.delete(made.inputs[0])
    assert caught.value.code == "content-in-use"
    workspace.presets.delete(made.id, if_match=saved.etag)
    with pytest.raises(NotFound):
        workspace.presets.get(made.id)


def test_bad_input_names_the_field(workspace: Workspace) -> None:
    wrong = draft(workspace)
    wrong.generation.candidates[1].model = "local:nobody"
    with pytest.raises(CarrelApiError) as caught:
        workspace.presets.create(wrong)
    assert caught.value.errors[0].path == "generation.candidates[1].model"


def test_settings_are_replaced_as_a_whole(workspace: Workspace) -> None:
    settings = workspace.settings.get()
    settings.timezone = "Europe/Berlin"
    settings.default_judges = ["local:reader"]
    saved = workspace.settings.save(settings)
    assert (saved.timezone, saved.default_judges) == ("Europe/Berlin", ["local:reader"])
    with pytest.raises(VersionMismatch):
        workspace.settings.save(settings)
    saved.timezone = "UTC"
    assert workspace.settings.save(saved).timezone == "UTC"


def test_a_provider_key_is_stored_and_only_its_end_is_shown(workspace: Workspace) -> None:
    stored = workspace.provider_keys.store("openai", "sk-0123456789abcdef", base_url="http://127.0.0.1:9/v1")
    assert stored.hint == "cdef"
    assert [key.provider for key in workspace.provider_keys.each()] == ["openai"]
    assert workspace.provider_keys.get("openai").last_test is None
    tested = workspace.provider_keys.test("openai")
    assert (tested.ok, tested.code) == (False, "provider-unreachable")
    workspace.provider_keys.delete("openai")
    with pytest.raises(NotFound):
        workspace.provider_keys.get("openai")


def test_models_are_listed_and_found_by_name(workspace: Workspace) -> None:
    generators = {model.model for model in workspace.models.each() if "generate" in model.roles}
    assert generators == {f"local:{name}" for name in ("lead", "random", "lexrank", "mmr", "submodular", "outline")}
    assert workspace.models.get("local:reader").roles == ["judge"]
    with pytest.raises(NotFound):
        workspace.models.get("nobody:a/b")


def test_the_user_sees_balance_and_ledger(workspace: Workspace) -> None:
    assert workspace.credits().balance == "1.5"
    assert [(entry.kind, entry.amount, entry.reason) for entry in workspace.ledger()] == [("add", "1.5", "a gift")]
    assert workspace.me().credits == "1.5"
