from typing import Any

import httpx
import pytest

from tests.support.host import code_of
from tests.support.strict_github import GitHub, refusal
from tests.support.transfers import exported
from tests.support.web_runs import content, ended, planned
from tests.support.zips import entries


async def send(ada: httpx.AsyncClient, connection: str, **body: Any) -> httpx.Response:
    answer = await ada.post(f"{connection}/export", json=body)
    assert "canary" not in answer.text
    return answer


async def test_contents_become_one_commit_beside_what_was_there(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    before = github.refs["main"]
    ids = [
        await content(ada, {}, "input_document", "Zwölf.", "A note/with: odd* signs"),
        await content(ada, {}, "output_document", "Two.", "report.txt"),
        await content(ada, {}, "fragment", "Three.", "Report.txt"),
        await content(ada, {}, "criteria", "- name: Coverage\n", "What counts"),
    ]
    answer = await send(ada, connection, contents=ids, path="from/carrel", message="Add notes")
    assert answer.status_code == 201, answer.text
    done = answer.json()
    assert (done["commit"], done["branch"], done["new_branch"], done["changed"]) == (
        github.refs["main"], "main", False, True
    )  # fmt: skip
    assert github.files() == {
        "README.md": b"# Texts\n",
        "from/carrel/A-note-with-odd-signs.md": "Zwölf.".encode(),
        "from/carrel/report.txt": b"Two.",
        "from/carrel/Report-2.txt": b"Three.",
        "from/carrel/What-counts.yaml": b"- name: Coverage\n",
    }
    assert done["files"] == sorted(path for path in github.files() if path != "README.md")
    assert github.commits[done["commit"]][1:] == ([before], "Add notes")


async def test_the_same_again_makes_no_second_commit(ada: httpx.AsyncClient, connection: str, github: GitHub) -> None:
    ids = [await content(ada, {}, "fragment", "One.", "One")]
    first = (await send(ada, connection, contents=ids)).json()
    again = (await send(ada, connection, contents=ids)).json()
    assert (again["commit"], again["changed"]) == (first["commit"], False)
    assert len(github.commits) == 2


async def test_a_branch_that_there_is_not_is_made(ada: httpx.AsyncClient, connection: str, github: GitHub) -> None:
    before = github.refs["main"]
    ids = [await content(ada, {}, "fragment", "One.", "One")]
    done = (await send(ada, connection, contents=ids, branch="drafts/one")).json()
    assert (done["branch"], done["new_branch"], github.refs["main"]) == ("drafts/one", True, before)
    assert github.files("drafts/one")["One.md"] == b"One."
    again = (await send(ada, connection, contents=ids, branch="drafts/one")).json()
    assert (again["new_branch"], again["changed"]) == (False, False)


async def test_many_texts_go_in_several_requests_and_one_commit(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    texts = [*("x" * 900_000 for _ in range(3)), *("x" for _ in range(100))]
    ids = [await content(ada, {}, "fragment", f"{number}.{text}", f"n{number}") for number, text in enumerate(texts)]
    assert (await send(ada, connection, contents=ids)).status_code == 201
    written = [url.rpartition("/git/")[2] for method, url, _, _ in github.asked if method != "GET"]
    assert written == ["trees", "trees", "trees", "commits", "refs/heads/main"]
    assert len(github.files()) == 104


async def test_somebody_elses_commit_is_never_overwritten(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    theirs = github.commit({"theirs.md": b"Theirs."}, [github.refs["main"]])
    github.meanwhile = {"main": theirs}
    ids = [await content(ada, {}, "fragment", "One.", "One")]
    answer = await send(ada, connection, contents=ids)
    assert (answer.status_code, code_of(answer)) == (409, "github-conflict")
    assert github.refs["main"] == theirs
    # The next attempt goes on from there.
    assert (await send(ada, connection, contents=ids)).status_code == 201
    assert set(github.files()) == {"theirs.md", "One.md"}


async def test_a_refused_export_leaves_the_branch_as_it_was(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    before = github.refs["main"]
    ids = [await content(ada, {}, "fragment", "One.", "One")]
    for step, status, code in (
        ("/git/trees", 403, "github-no-permission"),
        ("/git/commits", 500, "github-unavailable"),
        ("/git/refs/heads/main", 422, "github-conflict"),
    ):
        github.refuse[f"POST /repos/octo/texts{step}"] = [refusal(status)]
        github.refuse[f"PATCH /repos/octo/texts{step}"] = [refusal(status)]
        answer = await send(ada, connection, contents=ids)
        assert code_of(answer) == code
        assert github.refs["main"] == before


async def test_a_run_sends_the_answers_of_whoever_leads_or_all(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    run = await ended(ada, {}, documents=4)
    everything = (await send(ada, connection, run=run, answers="all", path="all")).json()
    assert everything["files"] == [
        f"all/d{document}-Chronicle-{document}/c{number}-local-{name}.md"
        for document in range(1, 5)
        for number, name in ((1, "lead"), (2, "lexrank"))
    ]
    answers = (await ada.get(f"/api/runs/{run}/tasks?limit=200&kind=generate")).json()["items"]
    assert len(answers) == 8
    best = (await send(ada, connection, run=run, path="best")).json()["files"]
    assert len(best) == 4
    assert len({path.rpartition("/")[2] for path in best}) == 1
    assert github.files()[best[0]] == github.files()[best[0].replace("best/", "all/")]


async def test_answers_are_called_as_in_the_export_as_a_zip(ada: httpx.AsyncClient, connection: str) -> None:
    run = await ended(ada, {}, compared=False)
    sent = (await send(ada, connection, run=run, answers="all")).json()["files"]
    zipped = entries(await exported(ada, {}))
    assert sent == sorted(name.partition("/generated/")[2] for name in zipped if "/generated/" in name)
    assert len(sent) == 4


async def test_a_run_without_answers_has_nothing_to_export(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    run = await planned(ada, {})
    for answers in ("best", "all"):
        answer = await send(ada, connection, run=run, answers=answers)
        assert (answer.status_code, code_of(answer), github.asked) == (409, "nothing-to-export", [])


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "contents"),
        ({"contents": ["x"], "run": "y"}, "contents"),
        ({"contents": []}, "contents"),
        ({"contents": ["x"]}, "contents[0]"),
        ({"run": "y", "answers": "none"}, "answers"),
        ({"run": "y", "path": "/abs"}, "path"),
        ({"run": "y", "path": "../up"}, "path"),
        ({"run": "y", "message": ""}, "message"),
        ({"run": "y", "branch": "a b"}, "branch"),
    ],
)
async def test_bad_input_is_refused_before_anybody_is_called(
    ada: httpx.AsyncClient, connection: str, github: GitHub, body: dict[str, Any], path: str
) -> None:
    answer = await send(ada, connection, **body)
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    assert [fault["path"] for fault in answer.json()["errors"]] == [path]
    assert github.asked == []


async def test_a_run_that_is_not_there_is_not_found(ada: httpx.AsyncClient, connection: str) -> None:
    answer = await send(ada, connection, run="y")
    assert (answer.status_code, code_of(answer)) == (404, "not-found")


async def test_more_than_one_commit_holds_is_refused(ada: httpx.AsyncClient, connection: str, github: GitHub) -> None:
    ids = [await content(ada, {}, "fragment", "x" * 1_000_000, f"n{number}") for number in range(17)]
    answer = await send(ada, connection, contents=ids)
    assert (answer.status_code, code_of(answer), github.asked) == (409, "github-too-much", [])
