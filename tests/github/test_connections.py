from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.github.schemas import ConnectionChange, ConnectionIn
from carrel.providers.connections import addresses
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of, service, workspace_file
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub

PATH = "/api/github-connections"
GOOD = {"name": "Texts", "repository": REPOSITORY, "token": TOKEN}


async def test_a_token_goes_in_and_never_comes_out(ada: httpx.AsyncClient, settings: Settings) -> None:
    stored = await ada.post(PATH, json=GOOD | {"branch": "drafts/one"})
    assert stored.status_code == 201
    made = stored.json()
    assert set(made) == {
        "id", "name", "repository", "branch", "base_url", "hint", "version", "created_at", "updated_at", "last_test"
    }  # fmt: skip
    assert (made["base_url"], made["hint"], made["branch"]) == ("https://api.github.com", "6789", "drafts/one")
    found = await ada.get(f"{PATH}/{made['id']}")
    assert found.json() == made
    assert (await ada.get(PATH)).json()["items"] == [made]
    for answer in (stored, found):
        assert "canary" not in answer.text
    changed = await ada.put(f"{PATH}/{made['id']}", json={"name": "Others", "repository": "octo/others"})
    assert (changed.json()["hint"], changed.json()["branch"], changed.json()["version"]) == ("6789", None, 2)
    # At rest it is in the encrypted database alone.
    assert all(TOKEN.encode() not in file.read_bytes() for file in settings.data_dir.rglob("*") if file.is_file())
    assert workspace_file(settings, "ada").is_file()


async def test_changes_honour_the_version_that_they_were_made_from(ada: httpx.AsyncClient) -> None:
    where = f"{PATH}/{(await ada.post(PATH, json=GOOD)).json()['id']}"
    late = {"If-Match": '"7.json"'}
    change = {"name": "n", "repository": REPOSITORY}
    for answer in (await ada.put(where, json=change, headers=late), await ada.delete(where, headers=late)):
        assert (answer.status_code, code_of(answer)) == (412, "version-mismatch")
    assert (await ada.put(where, json=change, headers={"If-Match": '"1.json"'})).headers["etag"] == '"2.json"'
    assert (await ada.delete(where, headers={"If-Match": '"2.json"'})).status_code == 204
    for answer in (await ada.get(where), await ada.put(where, json=change), await ada.delete(where)):
        assert (answer.status_code, code_of(answer)) == (404, "not-found")


async def test_a_stored_token_is_sent_nowhere_else_than_where_it_was_given_for(ada: httpx.AsyncClient) -> None:
    where = f"{PATH}/{(await ada.post(PATH, json=GOOD)).json()['id']}"
    change = {"name": "n", "repository": REPOSITORY, "base_url": "https://git.example/api/v3"}
    refused = await ada.put(where, json=change)
    assert (refused.status_code, [fault["path"] for fault in refused.json()["errors"]]) == (400, ["token"])
    assert (await ada.put(where, json=change | {"token": "another-token"})).json()["base_url"] == change["base_url"]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"repository": "octo"}, "repository"),
    ({"repository": "octo/../texts"}, "repository"),
    ({"repository": "octo/.."}, "repository"),
    ({"repository": "octo/te xts"}, "repository"),
    ({"token": "short"}, "token"),
    ({"token": "with space 123"}, "token"),
    ({"token": "trailing-newline\n"}, "token"),
    ({"token": None}, "token"),
    ({"branch": ""}, "branch"),
    ({"branch": "/main"}, "branch"),
    ({"branch": "a..b"}, "branch"),
    ({"branch": "a//b"}, "branch"),
    ({"branch": "a.lock"}, "branch"),
    ({"base_url": "http://api.github.com"}, "base_url"),
    ({"base_url": "https://user@api.github.com"}, "base_url"),
    ({"hint": "1234"}, "hint"),
]


async def test_bad_input_is_refused_at_its_place_and_never_repeated(ada: httpx.AsyncClient) -> None:
    for change, path in BAD:
        answer = await ada.post(PATH, json=GOOD | change)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), change
        assert [fault["path"] for fault in answer.json()["errors"]] == [path], change
        assert "canary" not in answer.text


@pytest.mark.parametrize(
    "url", ["https://elsewhere.test", "https://169.254.169.254", "http://localhost:1", "https://api.github.com:444"]
)
async def test_only_hosts_that_the_operator_names_are_taken(ada: httpx.AsyncClient, url: str) -> None:
    answer = await ada.post(PATH, json=GOOD | {"base_url": url})
    assert (answer.status_code, code_of(answer)) == (400, "github-host-not-allowed")


async def test_a_host_that_the_operator_names_no_longer_is_not_called(
    settings: Settings, clock: FakeClock, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        made = await client.post(PATH, json=GOOD | {"base_url": github.base_url})
    # As if its address were a public one, as GitHub's is.
    monkeypatch.setattr(addresses, "allowed", lambda *_, **__: True)
    async with service(replace(settings, github_hosts=("api.github.com",)), clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        outcome = (await client.post(f"{PATH}/{made.json()['id']}/test")).json()
    assert (outcome["ok"], outcome["code"]) == (False, "github-host-not-allowed")


async def test_free_members_see_and_delete_connections_but_make_none(ada: httpx.AsyncClient, connection: str) -> None:
    await ada.post("/api/users/ada/deactivate", headers=PLUGIN)
    for refused in (
        await ada.post(PATH, json=GOOD),
        await ada.put(connection, json={"name": "n", "repository": REPOSITORY}),
    ):
        assert (refused.status_code, code_of(refused)) == (403, "membership-required")
    assert (await ada.get(connection)).status_code == 200
    assert (await ada.delete(connection)).status_code == 204


async def test_a_connection_is_its_users_own(ada: httpx.AsyncClient, connection: str, host: Host) -> None:
    bob = await host.signed_in("bob")
    assert (await ada.get(connection, headers=bob)).status_code == 404
    assert (await ada.get(f"{connection}/tree", headers=bob)).status_code == 404


async def test_a_test_tells_what_the_token_opens(ada: httpx.AsyncClient, connection: str, github: GitHub) -> None:
    outcome = (await ada.post(f"{connection}/test")).json()
    assert outcome.pop("latency_ms") >= 0
    assert outcome == {"ok": True, "default_branch": "main", "private": True, "can_write": True, "code": None}
    assert (await ada.get(connection)).json()["last_test"]["ok"] is True
    github.can_push = False
    assert (await ada.post(f"{connection}/test")).json()["can_write"] is False


async def test_a_test_says_what_is_wrong(ada: httpx.AsyncClient, connection: str) -> None:
    stored = (await ada.get(connection)).json()
    change = {"name": "n", "repository": REPOSITORY, "base_url": stored["base_url"]}
    for wrong, code in (
        ({"token": "another-token-0123456789"}, "github-token-rejected"),
        ({"token": TOKEN, "repository": "octo/others"}, "github-not-found"),
    ):
        await ada.put(connection, json=change | wrong)
        answer = await ada.post(f"{connection}/test")
        assert (answer.json()["ok"], answer.json()["code"]) == (False, code)
        assert "canary" not in answer.text
        assert (await ada.get(connection)).json()["last_test"]["ok"] is False


def test_a_connection_does_not_show_its_token() -> None:
    assert TOKEN not in repr(ConnectionIn(name="n", repository=REPOSITORY, token=TOKEN))
    assert TOKEN not in repr(ConnectionChange(name="n", repository=REPOSITORY, token=TOKEN))
