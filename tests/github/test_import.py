import asyncio
from typing import Any

import httpx
import pytest

from carrel.github import repository
from tests.support.host import PLUGIN, code_of
from tests.support.strict_github import GitHub, refusal

FILES = {
    "docs/one.md": b"# One\n\nFirst {{NAME}}.",
    "docs/two.md": "\ufeffZwölf.".encode(),
    "docs/logo.png": b"\x89PNG\x00\xff",
    "docs/null.md": b"a\0b",
    "docs/long.md": b"x" * (1024 * 1024 + 1),
    "criteria.yaml": b"- name: Coverage\n",
}


@pytest.fixture(autouse=True)
def files(github: GitHub) -> None:
    github.refs["main"] = github.commit(FILES, [github.refs["main"]])


async def take(ada: httpx.AsyncClient, connection: str, *paths: str, **more: Any) -> httpx.Response:
    return await ada.post(f"{connection}/import", json={"paths": list(paths)} | more)


async def test_chosen_files_become_contents_and_the_rest_is_named_with_the_reason(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    answer = await take(
        ada, connection, *(path for path in FILES if path != "criteria.yaml"), "no/where.md", tags=["a"]
    )
    assert answer.status_code == 201, answer.text
    outcome = answer.json()
    assert outcome["commit"] == github.refs["main"]
    assert [(one["path"], one["name"]) for one in outcome["imported"]] == [
        ("docs/one.md", "one.md"), ("docs/two.md", "two.md")
    ]  # fmt: skip
    assert {(one["path"], one["code"]) for one in outcome["refused"]} == {
        ("docs/logo.png", "not-text"),
        ("docs/null.md", "not-text"),
        ("docs/long.md", "too-large"),
        ("no/where.md", "github-not-found"),
    }
    first, second = [(await ada.get(f"/api/contents/{one['content_id']}")).json() for one in outcome["imported"]]
    assert (first["body"], first["type"], first["tags"]) == ("# One\n\nFirst {{NAME}}.", "input_document", ["a"])
    assert first["description"] == f"From octo/texts, commit {outcome['commit'][:12]}: docs/one.md"
    assert second["body"] == "Zwölf."
    # What was too large was not even fetched.
    assert sum("/git/blobs/" in url for _, url, _, _ in github.asked) == 4


async def test_what_is_imported_is_what_was_browsed(ada: httpx.AsyncClient, connection: str, github: GitHub) -> None:
    before = github.refs["main"]
    github.refs["main"] = github.commit({"docs/one.md": b"Later."}, [before])
    outcome = (await take(ada, connection, "docs/one.md", commit=before)).json()
    content = (await ada.get(f"/api/contents/{outcome['imported'][0]['content_id']}")).json()
    assert (outcome["commit"], content["body"][:5]) == (before, "# One")


async def test_criteria_are_checked_like_any_others(ada: httpx.AsyncClient, connection: str) -> None:
    outcome = (await take(ada, connection, "criteria.yaml", "docs/one.md", type="criteria")).json()
    assert [one["path"] for one in outcome["imported"]] == ["criteria.yaml"]
    assert outcome["refused"] == [{"path": "docs/one.md", "code": "invalid-input"}]


async def test_a_refusal_on_the_way_imports_nothing(ada: httpx.AsyncClient, connection: str, github: GitHub) -> None:
    sha = github.trees[github.commits[github.refs["main"]][0]]["criteria.yaml"][1]
    github.refuse[f"/git/blobs/{sha}"] = [refusal(403, {"Retry-After": "30"})]
    answer = await take(ada, connection, "docs/one.md", "criteria.yaml")
    assert (answer.status_code, code_of(answer), answer.headers["retry-after"]) == (429, "github-rate-limited", "30")
    assert (await ada.get("/api/contents/counts")).json()["total"] == 0


async def test_bytes_that_are_not_those_of_the_file_are_not_taken(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    sha = github.trees[github.commits[github.refs["main"]][0]]["criteria.yaml"][1]
    github.blobs[sha] = b"other bytes"
    answer = await take(ada, connection, "criteria.yaml")
    assert (answer.status_code, code_of(answer)) == (503, "github-unavailable")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"paths": []}, "paths"),
        ({"paths": ["a.md"] * 101}, "paths"),
        ({"paths": ["a.md", "a.md"]}, "paths"),
        ({"paths": ["a.md", "../b.md"]}, "paths[1]"),
        ({"paths": ["a.md"], "commit": "main"}, "commit"),
        ({"paths": ["a.md"], "type": "secret"}, "type"),
    ],
)
async def test_bad_input_is_refused_before_anybody_is_called(
    ada: httpx.AsyncClient, connection: str, github: GitHub, body: dict[str, Any], path: str
) -> None:
    answer = await ada.post(f"{connection}/import", json=body)
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    assert [fault["path"] for fault in answer.json()["errors"]] == [path]
    assert github.asked == []


async def test_importing_is_for_members_and_taking_along_is_not(ada: httpx.AsyncClient, connection: str) -> None:
    text = (await take(ada, connection, "docs/one.md")).json()["imported"][0]["content_id"]
    await ada.post("/api/users/ada/deactivate", headers=PLUGIN)
    refused = await take(ada, connection, "docs/one.md")
    assert (refused.status_code, code_of(refused)) == (403, "membership-required")
    assert (await ada.post(f"{connection}/export", json={"contents": [text]})).status_code == 201


async def test_whoever_asks_for_much_at_once_is_served_one_by_one(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    github.held = asyncio.Event()
    asked = [asyncio.create_task(take(ada, connection, "docs/one.md")) for _ in range(5)]
    asked += [asyncio.create_task(ada.get(f"{connection}/tree")) for _ in range(5)]
    async with asyncio.timeout(60):
        while github.waiting < 2:
            await asyncio.sleep(0.01)
    for _ in range(20):
        # Whoever is not kept back has reached GitHub after so many others' answers.
        assert (await ada.get("/api/health/ready")).status_code == 200
    under_way = github.waiting
    github.held.set()
    assert under_way == 2
    assert sorted([answer.status_code for answer in await asyncio.gather(*asked)]) == [200] * 5 + [201] * 5


async def test_what_a_folder_says_of_the_size_of_a_file_is_not_believed(
    ada: httpx.AsyncClient, connection: str, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = repository.Folders.file

    async def small(folders: repository.Folders, path: str) -> repository.File | None:
        found = await read(folders, path)
        return found and found._replace(bytes=1)

    monkeypatch.setattr(repository.Folders, "file", small)
    answer = await take(ada, connection, "docs/long.md")
    assert answer.json()["refused"] == [{"path": "docs/long.md", "code": "too-large"}]


async def test_of_large_folders_only_some_stay_in_memory(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    large = {f"{folder}/{number}.md": folder.encode() for folder in "abcd" for number in range(14_000)}
    github.refs["main"] = github.commit(large, [github.refs["main"]])
    answer = await take(ada, connection, *(f"{folder}/1.md" for folder in "abcd"), "a/2.md")
    assert len(answer.json()["imported"]) == 5
    trees = [url for method, url, _, _ in github.asked if "/git/trees/" in url]
    # The root and each folder; then the root and the first folder once more.
    assert (len(trees), len(set(trees))) == (7, 5)
