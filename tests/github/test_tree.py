import asyncio
import gzip
import socket
from typing import Any

import httpx
import pytest
from aiohttp import web

from tests.support.clock import FakeClock
from tests.support.host import code_of
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub, refusal

FILES = {
    "README.md": b"# Texts\n",
    "docs/one.md": b"One.",
    "docs/two words.md": "Zwölf.".encode(),
    "docs/deep/er/three.md": b"Three.",
}


@pytest.fixture(autouse=True)
def files(github: GitHub) -> None:
    github.refs["main"] = github.commit(FILES, [github.refs["main"]])


async def test_a_repository_is_browsed_folder_by_folder(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    root = (await ada.get(f"{connection}/tree")).json()
    assert (root["commit"], root["path"], root["truncated"]) == (github.refs["main"], "", False)
    assert root["entries"] == [
        {"path": "docs", "kind": "folder", "bytes": None},
        {"path": "README.md", "kind": "file", "bytes": 8},
    ]
    docs = (await ada.get(f"{connection}/tree", params={"path": "docs", "commit": root["commit"]})).json()
    assert [entry["path"] for entry in docs["entries"]] == ["docs/deep", "docs/one.md", "docs/two words.md"]
    deep = (await ada.get(f"{connection}/tree?path=docs/deep/er")).json()
    assert deep["entries"] == [{"path": "docs/deep/er/three.md", "kind": "file", "bytes": 6}]


async def test_what_is_browsed_stays_as_it_was_at_its_commit(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    before = github.refs["main"]
    github.refs["main"] = github.commit({"new.md": b"New."}, [before])
    old = (await ada.get(f"{connection}/tree", params={"commit": before})).json()
    assert [entry["path"] for entry in old["entries"]] == ["docs", "README.md"]
    assert [entry["path"] for entry in (await ada.get(f"{connection}/tree")).json()["entries"]] == ["new.md"]


async def test_links_and_repositories_inside_are_neither_files_nor_folders(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    tree = github.trees[github.commits[github.refs["main"]][0]]
    tree["link.md"] = ("120000", tree["README.md"][1])
    tree["inside"] = ("160000", "0" * 40)
    kinds = {one["path"]: one["kind"] for one in (await ada.get(f"{connection}/tree")).json()["entries"]}
    assert (kinds["link.md"], kinds["inside"]) == ("other", "other")
    assert code_of(await ada.get(f"{connection}/tree?path=inside")) == "github-not-found"


@pytest.mark.parametrize("path", ["/docs", "docs/", "docs/../docs", ".git", "a\\b", "a//b", "x" * 501])
async def test_what_is_no_path_is_not_asked_for(
    ada: httpx.AsyncClient, connection: str, github: GitHub, path: str
) -> None:
    answer = await ada.get(f"{connection}/tree", params={"path": path})
    assert (answer.status_code, code_of(answer), github.asked) == (400, "invalid-input", [])


PACKED = {"Content-Encoding": "gzip"}
REFUSALS: list[tuple[web.Response, int, str, str | None]] = [
    (refusal(401), 409, "github-token-rejected", None),
    (refusal(403), 409, "github-no-permission", None),
    (refusal(404), 404, "github-not-found", None),
    (refusal(409), 409, "github-conflict", None),
    (refusal(301, {"Location": "http://169.254.169.254/"}), 409, "github-moved", None),
    (refusal(500), 503, "github-unavailable", None),
    (refusal(429), 429, "github-rate-limited", "60"),
    (refusal(403, {"Retry-After": "7"}), 429, "github-rate-limited", "7"),
    (web.Response(body=b"not json"), 503, "github-unavailable", None),
    (web.json_response({"unexpected": 1}), 503, "github-unavailable", None),
    (web.Response(body=b'{"object": ' + b"[" * 50_000), 503, "github-unavailable", None),
    (web.json_response({"object": {"sha": "a"}, "more": [[]] * 60_000}), 409, "github-answer-too-large", None),
    (web.Response(body=gzip.compress(bytes(30_000_000)), headers=PACKED), 409, "github-answer-too-large", None),
    (web.Response(status=500, body=gzip.compress(bytes(9_000_000)), headers=PACKED), 503, "github-unavailable", None),
]


async def test_every_refusal_has_its_own_code_and_repeats_nothing(
    ada: httpx.AsyncClient, connection: str, github: GitHub, capfd: pytest.CaptureFixture[str]
) -> None:
    for said, status, code, wait in REFUSALS:
        github.refuse["/git/ref/heads/main"] = [said]
        answer = await ada.get(f"{connection}/tree")
        assert (answer.status_code, code_of(answer), answer.headers.get("retry-after")) == (status, code, wait)
        assert "canary" not in answer.text
    assert "canary" not in "".join(capfd.readouterr())


async def test_an_exhausted_limit_says_when_it_is_over(
    ada: httpx.AsyncClient, connection: str, github: GitHub, clock: FakeClock
) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(clock.now()) + 90)}
    github.refuse["/git/ref/heads/main"] = [refusal(403, headers)]
    answer = await ada.get(f"{connection}/tree")
    assert (code_of(answer), 89 <= int(answer.headers["retry-after"]) <= 91) == ("github-rate-limited", True)


async def test_the_token_stands_in_one_header_and_nowhere_else(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    await ada.get(f"{connection}/tree")
    assert len(github.asked) == 4
    for _, url, headers, body in github.asked:
        assert TOKEN not in url
        assert TOKEN.encode() not in body
        assert [name for name, value in headers.items() if TOKEN in value] == ["authorization"]


async def test_a_name_that_leads_inside_is_not_called(
    ada: httpx.AsyncClient, github: GitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"name": "n", "repository": REPOSITORY, "token": TOKEN}
    # The default host, too: that it stands among the hosts is no leave to look for it at home.
    for url in ("https://git.example", "https://api.github.com"):
        made = (await ada.post("/api/github-connections", json=body | {"base_url": url})).json()

        async def getaddrinfo(_: Any, __: str, port: int, **___: Any) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        with monkeypatch.context() as patch:
            patch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", getaddrinfo)
            answer = await ada.get(f"/api/github-connections/{made['id']}/tree")
        assert code_of(answer) == "github-host-not-allowed"
    assert github.asked == []
