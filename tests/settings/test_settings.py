import httpx
import pytest

from tests.support.host import Host, code_of

SETTINGS = "/api/settings"
DEFAULTS: dict[str, object] = {
    "theme": "system",
    "density": "comfortable",
    "locale": None,
    "timezone": None,
    "default_candidates": [],
    "default_judges": [],
    "resume_after_restart": True,
    "retention_days": None,
}


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada", membership="free"))
    return client


async def test_a_new_user_finds_the_defaults(ada: httpx.AsyncClient) -> None:
    assert (await ada.get(SETTINGS)).json() == DEFAULTS


async def test_settings_are_replaced_as_a_whole_also_by_free_members(ada: httpx.AsyncClient) -> None:
    changed = {"theme": "dark", "timezone": "Europe/Berlin", "default_judges": ["local:reader"], "retention_days": 30}
    answer = await ada.put(SETTINGS, json=changed)
    assert (answer.status_code, answer.json()) == (200, DEFAULTS | changed)
    assert (await ada.get(SETTINGS)).json() == DEFAULTS | changed
    assert (await ada.put(SETTINGS, json=(await ada.get(SETTINGS)).json())).status_code == 200
    assert (await ada.put(SETTINGS, json={})).json() == DEFAULTS


async def test_a_change_that_came_too_late_is_refused(ada: httpx.AsyncClient) -> None:
    first = (await ada.get(SETTINGS)).headers["etag"]
    assert (await ada.get(SETTINGS, headers={"If-None-Match": first})).status_code == 304
    assert (await ada.put(SETTINGS, json={"theme": "dark"}, headers={"If-Match": first})).status_code == 200
    late = await ada.put(SETTINGS, json={"theme": "light"}, headers={"If-Match": first})
    assert (late.status_code, code_of(late)) == (412, "version-mismatch")
    assert (await ada.get(SETTINGS)).json()["theme"] == "dark"


BAD = [
    ({"theme": "pink"}, "theme"),
    ({"locale": "english please"}, "locale"),
    ({"locale": "en\n"}, "locale"),
    ({"timezone": "Mars/Olympus"}, "timezone"),
    ({"timezone": "../../etc/passwd"}, "timezone"),
    ({"timezone": "Europe"}, "timezone"),
    ({"timezone": "a\0b"}, "timezone"),
    ({"default_candidates": ["local:lead", "local:reader"]}, "default_candidates[1]"),
    ({"default_judges": ["local:lead"]}, "default_judges[0]"),
    ({"default_judges": ["no body:knows"]}, "default_judges[0]"),
    ({"default_judges": ["local:reader"] * 21}, "default_judges"),
    ({"resume_after_restart": 1}, "resume_after_restart"),
    ({"retention_days": 0}, "retention_days"),
    ({"colour": "red"}, "colour"),
]


async def test_bad_input_is_refused_at_its_place(ada: httpx.AsyncClient) -> None:
    for fields, path in BAD:
        answer = await ada.put(SETTINGS, json=fields)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
        assert [fault["path"] for fault in answer.json()["errors"]] == [path], fields
    assert (await ada.get(SETTINGS)).json() == DEFAULTS


async def test_every_user_has_settings_of_their_own(ada: httpx.AsyncClient, host: Host) -> None:
    await ada.put(SETTINGS, json={"theme": "dark"})
    bob = await host.signed_in("bob")
    assert (await ada.get(SETTINGS, headers=bob)).json() == DEFAULTS
