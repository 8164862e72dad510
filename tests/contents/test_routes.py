import json
from pathlib import Path

import httpx

from tests.support.host import PLUGIN, Host, code_of

CONTENTS = "/api/contents"


async def create(client: httpx.AsyncClient, **fields: object) -> dict[str, object]:
    answer = await client.post(CONTENTS, json={"name": "A content", "type": "fragment"} | fields)
    assert answer.status_code == 201, answer.text
    made: dict[str, object] = answer.json()
    return made


def places(answer: httpx.Response) -> list[str]:
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), answer.text
    return [fault["path"] for fault in answer.json()["errors"]]


async def test_a_content_lives_from_creation_to_deletion(ada: httpx.AsyncClient) -> None:
    content = await create(ada, name="Ton", body="Grüße\x01!", tags=["t", "t"], description="d", variables={"X": None})
    path = f"{CONTENTS}/{content['id']}"
    assert (await ada.get(path)).json() == content
    saved = await ada.put(path, json={"name": "Ton 2", "type": "fragment", "body": "Hallo"})
    assert (saved.status_code, saved.json()["version"], saved.json()["tags"]) == (200, 2, [])
    assert (await ada.get(f"{path}/versions/1")).json() == content
    assert [item["version"] for item in (await ada.get(f"{path}/versions")).json()["items"]] == [2, 1]
    assert (await ada.delete(path)).status_code == 204
    for gone in (path, f"{path}/versions", f"{path}/versions/1"):
        assert ((await ada.get(gone)).status_code, code_of(await ada.get(gone))) == (404, "not-found")


async def test_lists_show_summaries_and_take_filters(ada: httpx.AsyncClient) -> None:
    await create(ada, name="one", body="alpha beta", tags=["x"])
    await create(ada, name="two", type="input_document", body="gamma")
    item = (await ada.get(CONTENTS, params={"type": "fragment"})).json()["items"][0]
    assert (item["body_preview"], item["body_bytes"]) == ("alpha beta", 10)
    assert "body" not in item
    for filters in ({"q": "gam"}, {"type": "input_document"}, {"limit": "1"}):
        answer = await ada.get(CONTENTS, params=filters)
        assert [found["name"] for found in answer.json()["items"]] == ["two"]
    assert (await ada.get(CONTENTS, params={"tag": "x", "type": "input_document"})).json()["items"] == []
    assert (await ada.get(CONTENTS, params={"type": "poem"})).status_code == 400
    assert (await ada.get(CONTENTS, params={"sort": "name"})).status_code == 400
    assert (await ada.get(f"{CONTENTS}/counts")).json()["total"] == 2


async def test_etags_guard_changes_and_spare_repetition(ada: httpx.AsyncClient) -> None:
    content = await create(ada)
    path = f"{CONTENTS}/{content['id']}"
    tag = (await ada.get(path)).headers["etag"]
    assert (await ada.get(path, headers={"If-None-Match": tag})).status_code == 304
    fields = {"name": "n", "type": "fragment"}
    assert (await ada.put(path, json=fields, headers={"If-Match": tag})).status_code == 200
    stale = await ada.put(path, json=fields, headers={"If-Match": tag})
    assert (stale.status_code, code_of(stale)) == (412, "version-mismatch")
    assert (await ada.delete(path, headers={"If-Match": tag})).status_code == 412
    assert (await ada.get(path, headers={"If-None-Match": tag})).status_code == 200


BAD: list[tuple[dict[str, object], str]] = [
    ({"name": ""}, "name"),
    ({"name": "n" * 201}, "name"),
    ({"name": 5}, "name"),
    ({"type": "poem"}, "type"),
    ({"type": "criteria", "body": "words"}, "body"),
    ({"body": "é" * (512 * 1024 + 1)}, "body"),
    ({"body": None}, "body"),
    ({"tags": ["t" * 51]}, "tags[0]"),
    ({"tags": ["t"] * 21}, "tags"),
    ({"variables": {" X": None}}, "variables"),
    ({"variables": {"X\n": None}}, "variables"),
    ({"variables": {"a}b": None}}, "variables"),
    ({"variables": {"X" * 101: None}}, "variables"),
    ({"variables": {f"X{number}": None for number in range(101)}}, "variables"),
    ({"variables": {"X": "no such id"}}, "variables.X"),
    ({"variables": {"document": None}}, "variables.document"),
    ({"description": "d" * 2_001}, "description"),
    ({"colour": "red"}, "colour"),
    ({"name": "n\0"}, "name"),
    ({"body": "a\0b"}, "body"),
    ({"tags": ["a", "\0"]}, "tags[1]"),
]


async def test_bad_input_is_refused_at_its_place(ada: httpx.AsyncClient) -> None:
    for fields, path in BAD:
        answer = await ada.post(CONTENTS, json={"name": "n", "type": "fragment", **fields})
        assert places(answer) == [path], fields


async def test_a_body_of_exactly_one_mebibyte_is_kept_whole(ada: httpx.AsyncClient) -> None:
    body = "x" * (1024 * 1024)
    content = await create(ada, body=body)
    assert (await ada.get(f"{CONTENTS}/{content['id']}")).json()["body"] == body


async def test_a_version_that_never_was_is_not_found(ada: httpx.AsyncClient) -> None:
    path = f"{CONTENTS}/{(await create(ada))['id']}/versions"
    assert (await ada.get(f"{path}/1")).status_code == 200
    assert (await ada.get(f"{path}/2")).status_code == 404
    for impossible in ("0", str(1 << 70)):
        assert (await ada.get(f"{path}/{impossible}")).status_code == 400
    for no_number in ("-1", "one"):
        assert (await ada.get(f"{path}/{no_number}")).status_code == 404


async def test_resolving_replaces_and_names_what_is_missing(ada: httpx.AsyncClient) -> None:
    tone = await create(ada, body="kindly")
    letter = await create(ada, body="{{TONE}} {{TOPIC}} {{MORE}} {{document}}", variables={"TONE": tone["id"]})
    answer = await ada.post(f"{CONTENTS}/{letter['id']}/resolve", json={"variables": {"TOPIC": "{{TONE}}"}})
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "body": "kindly {{TONE}} {{MORE}} {{document}}",
            "unresolved": ["MORE"],
            "used": [{"name": "TONE", "content_id": tone["id"]}, {"name": "TOPIC", "content_id": None}],
        },
    )
    refused = await ada.post(f"{CONTENTS}/{letter['id']}/resolve", json={"variables": {"document": "x"}})
    assert places(refused) == ["variables.document"]


async def test_contents_within_contents_are_read_sixteen_deep(ada: httpx.AsyncClient) -> None:
    inner = (await create(ada, body="At last.", variables={}))["id"]
    for depth in range(1, 18):
        inner = (await create(ada, body="{{N}}", variables={"N": inner}))["id"]
        answer = await ada.post(f"{CONTENTS}/{inner}/resolve", json={})
        if depth <= 16:
            assert answer.json()["body"] == "At last.", depth
    assert (answer.status_code, code_of(answer)) == (400, "variable-depth")


async def test_a_circle_of_variables_is_refused(ada: httpx.AsyncClient) -> None:
    content = await create(ada)
    fields = {"name": "n", "type": "fragment", "variables": {"ME": content["id"]}}
    answer = await ada.put(f"{CONTENTS}/{content['id']}", json=fields)
    assert (answer.status_code, code_of(answer)) == (400, "variable-cycle")
    assert answer.json()["errors"] == [{"path": "variables.ME", "message": "leads back to this content"}]


async def test_doubling_variables_stop_at_the_limit(ada: httpx.AsyncClient) -> None:
    content = await create(ada, body="x" * 1024)
    for _ in range(13):
        content = await create(ada, body="{{A}}{{A}}", variables={"A": content["id"]})
    answer = await ada.post(f"{CONTENTS}/{content['id']}/resolve", json={})
    assert (answer.status_code, code_of(answer)) == (400, "result-too-large")


async def test_a_duplicate_is_a_content_of_its_own(ada: httpx.AsyncClient) -> None:
    content = await create(ada, name="Ton", body="b")
    answer = await ada.post(f"{CONTENTS}/{content['id']}/duplicate")
    assert (answer.status_code, answer.json()["name"], answer.json()["body"]) == (201, "Copy of Ton", "b")


async def test_a_linked_content_is_kept(ada: httpx.AsyncClient) -> None:
    linked = await create(ada)
    holder = await create(ada, variables={"A": linked["id"]})
    answer = await ada.delete(f"{CONTENTS}/{linked['id']}")
    assert (answer.status_code, code_of(answer)) == (409, "content-in-use")
    assert answer.json()["errors"] == [{"path": "contents", "message": holder["id"]}]


async def test_another_users_contents_do_not_exist(ada: httpx.AsyncClient, host: Host) -> None:
    content = await create(ada)
    bob = await host.signed_in("bob")
    assert (await ada.get(f"{CONTENTS}/{content['id']}", headers=bob)).status_code == 404
    assert (await ada.delete(f"{CONTENTS}/{content['id']}", headers=bob)).status_code == 404
    linking = {"name": "n", "type": "fragment", "variables": {"A": content["id"]}}
    assert places(await ada.post(CONTENTS, json=linking, headers=bob)) == ["variables.A"]


async def test_a_long_resolved_text_is_sent_piece_by_piece_and_arrives_whole(ada: httpx.AsyncClient) -> None:
    body = 'é\U0001f600"\\\n\x01\u2028/' * 20_000
    piece = (await ada.post(CONTENTS, json={"name": "A", "type": "fragment", "body": body})).json()["id"]
    whole = {"name": "B", "type": "fragment", "body": "<{{A}}|{{A}}>{{OPEN}}", "variables": {"A": piece}}
    whole_id = (await ada.post(CONTENTS, json=whole)).json()["id"]
    answer = await ada.post(f"{CONTENTS}/{whole_id}/resolve", json={})
    assert answer.json() == {
        "body": f"<{body}|{body}>{{{{OPEN}}}}",
        "unresolved": ["OPEN"],
        "used": [{"name": "A", "content_id": piece}],
    }
    assert answer.headers["content-length"] == str(len(answer.content))
    assert answer.headers["content-type"] == "application/json"


async def test_free_members_read_resolve_and_delete_but_do_not_write(ada: httpx.AsyncClient, host: Host) -> None:
    content = await create(ada)
    await ada.post("/api/users/ada/deactivate", headers=PLUGIN)
    path, fields = f"{CONTENTS}/{content['id']}", {"name": "n", "type": "fragment"}
    for answer in (
        await ada.post(CONTENTS, json=fields),
        await ada.put(path, json=fields),
        await ada.post(f"{path}/duplicate"),
    ):
        assert (answer.status_code, code_of(answer)) == (403, "membership-required")
    assert (await ada.get(path)).status_code == 200
    assert (await ada.post(f"{path}/resolve", json={})).status_code == 200
    assert (await ada.delete(path)).status_code == 204


async def test_a_result_that_is_six_times_as_long_in_json_is_refused(ada: httpx.AsyncClient) -> None:
    piece = await create(ada, body="\x01" * 340_000)
    lines = await create(ada, body="\n" * 340_000)
    for part, status in ((piece, 400), (lines, 200)):
        many = await create(ada, body="{{A}}" * 5, variables={"A": part["id"]})
        answer = await ada.post(f"{CONTENTS}/{many['id']}/resolve", json={})
        assert answer.status_code == status, answer.text[:200]


async def test_criteria_are_rows_and_yaml_and_nothing_is_lost_between_them(ada: httpx.AsyncClient) -> None:
    """The app writes the rows of this file as its YAML, as its own tests say; here the way back is read."""
    cases = json.loads((Path(__file__).parent / "criteria_rows.json").read_text(encoding="utf-8"))
    for case in cases:
        answer = await ada.post(f"{CONTENTS}/criteria-rows", json={"body": case["yaml"]})
        assert answer.json() == {"rows": case["rows"], "comments": False}


async def test_rows_tell_of_comments_that_they_cannot_hold(ada: httpx.AsyncClient) -> None:
    for body, comments in (
        ("- name: n # why", True),
        ("# Größe 🙂\n- name: n", True),
        ("- name: n\n  description: | # why\n    text", True),
        ("- name: n\n  description: |\n    # no comment\n- name: 'a #b'", False),
    ):
        answer = await ada.post(f"{CONTENTS}/criteria-rows", json={"body": body})
        assert answer.json()["comments"] is comments, body


async def test_a_fault_in_criteria_names_its_entry_its_field_and_its_line(ada: httpx.AsyncClient) -> None:
    for body, path, message in (
        ("- name: a\n  weight: heavy", "body[0].weight", "must be a number (line 2)"),
        (
            "- name: a\n\n- name: b\n  scale:\n    min: 3\n    max: 2",
            "body[1].scale",
            "must have a max above its min (line 4)",
        ),
        ("- name: a\n- weight: 2", "body[1].name", "must have 1 to 100 characters (line 2)"),
        ("- name: a\n- name: a", "body[1].name", "must not be the name of an earlier criterion (line 2)"),
        ("- name: a\n- !x b", "body", "must not use tags (line 2)"),
    ):
        answer = await ada.post(CONTENTS, json={"name": "Marks", "type": "criteria", "body": body})
        assert answer.json()["errors"] == [{"path": path, "message": message}]
    answer = await ada.post(f"{CONTENTS}/criteria-rows", json={"body": "- [a]"})
    assert places(answer) == ["body[0]"]
