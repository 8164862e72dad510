"""Unfinished set-ups: what cannot be saved as a preset yet is kept as it is, within bounds, and travels along."""

import json
import uuid
from typing import Any

import httpx
import pytest

from carrel.presets import drafts
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of
from tests.support.transfers import exported, imported, packed
from tests.support.web_runs import content
from tests.support.zips import entries

DRAFTS = "/api/preset-drafts"
UNFINISHED: dict[str, Any] = {
    "name": "Which summary?",
    "form": "preset",
    "body": {"value": {"name": "", "inputs": [], "generation": {"candidates": []}, "limits": {"budget": "lots"}}},
}


def path() -> str:
    return f"{DRAFTS}/{uuid.uuid4()}"


async def test_what_no_preset_may_be_is_kept_as_a_draft_until_it_is_finished(
    ada: httpx.AsyncClient, clock: FakeClock
) -> None:
    assert (await ada.post("/api/presets", json=UNFINISHED["body"]["value"])).status_code == 400
    place = path()
    kept = await ada.put(place, json=UNFINISHED)
    assert kept.status_code == 200, kept.text
    found = await ada.get(place)
    assert found.json() == kept.json() == kept.json() | UNFINISHED
    assert set(found.json()) == {"id", "name", "form", "preset_id", "version", "updated_at", "body"}
    assert found.headers["etag"] == kept.headers["etag"]
    assert (await ada.get(place, headers={"If-None-Match": found.headers["etag"]})).status_code == 304
    await ada.put(path(), json=UNFINISHED | {"name": "Another", "form": "comparison"})
    clock.advance(1)
    again = (await ada.put(place, json=UNFINISHED | {"name": "Changed last"})).json()
    first, second = (await ada.get(DRAFTS)).json()["items"]
    assert (first["name"], second["name"]) == ("Changed last", "Another")
    assert first == {name: again[name] for name in again if name != "body"}
    assert (await ada.delete(place)).status_code == 204
    assert (await ada.get(place)).status_code == (await ada.delete(place)).status_code == 404
    assert [one["name"] for one in (await ada.get(DRAFTS)).json()["items"]] == ["Another"]


async def test_a_draft_never_goes_over_a_version_that_its_writer_has_not_seen(ada: httpx.AsyncClient) -> None:
    place = path()
    first = (await ada.put(place, json=UNFINISHED)).headers["etag"]
    second = await ada.put(place, json=UNFINISHED | {"name": "Newer"}, headers={"If-Match": first})
    for late in (
        await ada.put(place, json=UNFINISHED, headers={"If-Match": first}),
        await ada.delete(place, headers={"If-Match": first}),
        await ada.put(path(), json=UNFINISHED, headers={"If-Match": first}),
    ):
        assert (late.status_code, code_of(late)) == (412, "version-mismatch")
    assert (await ada.get(place)).json()["name"] == "Newer"
    # Removed and kept again under the same id, it is another one.
    assert (await ada.delete(place, headers={"If-Match": second.headers["etag"]})).status_code == 204
    anew = await ada.put(place, json=UNFINISHED)
    assert anew.headers["etag"] not in (first, second.headers["etag"])


async def test_a_refused_draft_changes_nothing(ada: httpx.AsyncClient) -> None:
    place = path()
    kept = (await ada.put(place, json=UNFINISHED)).json()
    bad: list[tuple[dict[str, Any], str]] = [
        ({"name": ""}, "name"),
        ({"name": "n" * 201}, "name"),
        ({"form": "poem"}, "form"),
        ({"preset_id": 7}, "preset_id"),
        ({"body": []}, "body"),
        ({"body": None}, "body"),
        ({"body": {"text": "x" * (drafts.MAX_BYTES - 10)}}, "body"),
        ({"colour": "red"}, "colour"),
        ({"version": 77}, "version"),
    ]
    for change, fault in bad:
        answer = await ada.put(place, json=UNFINISHED | change)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), change
        assert [one["path"] for one in answer.json()["errors"]] == [fault], change
    for body in (b'{"name": "n", "form": "preset", "body": {"a": ', b'{"body": ' + b'{"a":' * 40_000):
        answer = await ada.put(place, content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, code_of(answer)) == (400, "malformed"), answer.text
    for name in ("new", "0", kept["id"].upper(), kept["id"].replace("-", "")):
        answer = await ada.put(f"{DRAFTS}/{name}", json=UNFINISHED)
        assert [one["path"] for one in answer.json()["errors"]] == ["draft_id"], name
    assert (await ada.get(place)).json() == kept
    assert len((await ada.get(DRAFTS)).json()["items"]) == 1


async def test_the_largest_draft_and_any_text_in_it_come_back_as_they_were(ada: httpx.AsyncClient) -> None:
    place = path()
    odd = {"🛶": ['\x01\x1f"\\', "\u2028", "é" * 1000, -0.5, 2**63, True, None], "": {}}
    assert (await ada.put(place, json=UNFINISHED | {"body": odd})).status_code == 200
    assert (await ada.get(place)).json()["body"] == odd
    largest = {"text": "x" * (drafts.MAX_BYTES - len('{"text":""}'))}
    assert (await ada.put(place, json=UNFINISHED | {"body": largest})).status_code == 200
    assert (await ada.get(place)).json()["body"] == largest


async def test_there_are_at_most_fifty_and_those_can_still_be_changed(ada: httpx.AsyncClient) -> None:
    places = [path() for _ in range(50)]
    for place in places:
        assert (await ada.put(place, json=UNFINISHED)).status_code == 200
    answer = await ada.put(path(), json=UNFINISHED)
    assert (answer.status_code, code_of(answer)) == (409, "too-many-drafts")
    assert "50" in answer.json()["detail"]
    assert (await ada.put(places[0], json=UNFINISHED | {"name": "Changed"})).status_code == 200
    assert (await ada.delete(places[1])).status_code == 204
    assert (await ada.put(path(), json=UNFINISHED)).status_code == 200
    assert len((await ada.get(DRAFTS)).json()["items"]) == 50


async def test_free_members_read_and_delete_drafts_but_do_not_write_them(ada: httpx.AsyncClient) -> None:
    place = path()
    await ada.put(place, json=UNFINISHED)
    await ada.post("/api/users/ada/deactivate", headers=PLUGIN)
    answer = await ada.put(place, json=UNFINISHED)
    assert (answer.status_code, code_of(answer)) == (403, "membership-required")
    assert (await ada.get(place)).json()["body"] == UNFINISHED["body"]
    assert (await ada.delete(place)).status_code == 204


async def test_another_users_drafts_do_not_exist(ada: httpx.AsyncClient, host: Host) -> None:
    place = path()
    await ada.put(place, json=UNFINISHED)
    bob = await host.signed_in("bob")
    assert (await ada.get(place, headers=bob)).status_code == 404
    assert (await ada.delete(place, headers=bob)).status_code == 404
    assert (await ada.get(DRAFTS, headers=bob)).json() == {"items": []}
    # The same id is another draft there.
    assert (await ada.put(place, json=UNFINISHED | {"name": "Bob's"}, headers=bob)).status_code == 200
    assert (await ada.get(place)).json()["name"] == UNFINISHED["name"]


async def preset_of(ada: httpx.AsyncClient, document: str) -> str:
    candidates = [{"model": "local:lead"}, {"model": "local:mmr"}]
    whole = {
        "name": "Whole",
        "inputs": [document],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise."),
        "generation": {"candidates": candidates},
        "comparison": {"judges": [{"model": "local:statistician"}]},
    }
    answer = await ada.post("/api/presets", json=whole)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_a_draft_outlives_the_preset_and_the_texts_that_it_names(ada: httpx.AsyncClient) -> None:
    preset = await preset_of(ada, await content(ada, {}, "input_document", "One."))
    loose = await content(ada, {}, "input_document", "Two.")
    change = UNFINISHED | {"preset_id": preset, "body": {"value": {"inputs": [loose]}}}
    place = f"{DRAFTS}/{preset}"
    assert (await ada.put(place, json=change)).json()["preset_id"] == preset
    assert (await ada.delete(f"/api/contents/{loose}")).status_code == 204
    assert (await ada.delete(f"/api/presets/{preset}")).status_code == 204
    kept = (await ada.get(place)).json()
    assert (kept["preset_id"], kept["body"]) == (None, change["body"])
    # Whoever still writes it loses nothing, though the preset is gone.
    assert (await ada.put(place, json=change)).json()["preset_id"] is None


async def test_drafts_travel_with_the_workspace_and_name_what_came_along(ada: httpx.AsyncClient, host: Host) -> None:
    document = await content(ada, {}, "input_document", "One.", "The river")
    preset = await preset_of(ada, document)
    gone = str(uuid.uuid4())
    body = {
        "inputs": [document, gone],
        "references": {document: document},
        "text": f'It quotes "{document}", says "\nand ends in "{document}',
    }
    change = UNFINISHED | {"preset_id": preset, "body": body}
    await ada.put(f"{DRAFTS}/{preset}", json=change)
    await ada.put(path(), json=UNFINISHED | {"form": "comparison"})
    session = await host.signed_in("grace-0001")
    zipped = await exported(ada, {})
    assert "preset_drafts.jsonl" in entries(zipped)["README.txt"].decode()
    for _ in range(2):
        # Once more adds them once more: an import goes over nothing.
        taken = await imported(ada, session, zipped)
        assert taken.status_code == 201, taken.text
    found = (await ada.get(DRAFTS, headers=session)).json()["items"]
    assert [(one["name"], one["form"]) for one in found].count((UNFINISHED["name"], "comparison")) == 2
    assert len({one["id"] for one in found}) == 4
    presets = {one["id"] for one in (await ada.get("/api/presets", headers=session)).json()["items"]}
    assert {one["preset_id"] for one in found} == presets | {None}
    moved = next(one for one in found if one["preset_id"])
    kept = (await ada.get(f"{DRAFTS}/{moved['id']}", headers=session)).json()["body"]
    whole = (await ada.get(f"/api/presets/{moved['preset_id']}", headers=session)).json()
    (new,) = whole["inputs"]
    assert new != document
    assert kept == {"inputs": [new, gone], "references": {new: new}, "text": body["text"]}


async def test_an_import_brings_all_drafts_or_nothing(
    ada: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await ada.put(path(), json=UNFINISHED)
    await content(ada, {}, "input_document", "One.")
    found = entries(await exported(ada, {}))
    session = await host.signed_in("grace-0001")
    bad = json.loads(found["preset_drafts.jsonl"].splitlines()[0]) | {"form": "poem"}
    damaged = found | {"preset_drafts.jsonl": found["preset_drafts.jsonl"] + json.dumps(bad).encode() + b"\n"}
    answer = await imported(ada, session, packed(damaged))
    assert [one["path"] for one in answer.json()["errors"]] == ["preset_drafts[3].form"]
    monkeypatch.setattr(drafts, "MAX_DRAFTS", 2)
    answer = await imported(ada, session, packed(found))
    assert (answer.status_code, code_of(answer)) == (409, "too-many-drafts")
    for kind in ("preset-drafts", "contents"):
        assert (await ada.get(f"/api/{kind}", headers=session)).json()["items"] == []
    # An export of an earlier program has none.
    del found["preset_drafts.jsonl"]
    assert (await imported(ada, session, packed(found))).status_code == 201
