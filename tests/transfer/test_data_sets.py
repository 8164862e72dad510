"""Tables go out with the workspace and come in again, and so do the presets that take their rows."""

import asyncio
import json

import httpx

from tests.support.host import Host
from tests.support.transfers import exported, imported
from tests.support.web_runs import content
from tests.support.zips import entries

TABLE = b'id,Long question,note\nq1,"What,\nthen?",\nq2,Who?,=1+2\n'
ROLES = {"Long question": "variable"}


async def test_a_table_and_a_preset_over_its_rows_come_back(client: httpx.AsyncClient, host: Host) -> None:
    first, second = await host.signed_in("reader-0001"), await host.signed_in("reader-0002")
    made = (
        await client.post(
            "/api/data-sets",
            files={"file": ("q.csv", TABLE)},
            data={"name": "Questions", "columns": json.dumps(ROLES)},
            headers=first,
        )
    ).json()
    longer = {"file": ("q.csv", TABLE + b"q3,Why?,\n")}
    path = f"/api/data-sets/{made['id']}"
    present = (await client.post(f"{path}/versions", files=longer, headers=first)).json()
    instructions = await content(client, first, "generation_instructions", "{{Long_question}}")
    preset = {
        "name": "p",
        "rows": {"data_set": made["id"], "where": {"note": ""}},
        "instructions": instructions,
        "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:lexrank"}]},
        "comparison": {"judges": [{"model": "local:reader"}]},
    }
    answer = await client.post("/api/presets", json=preset, headers=first)
    assert answer.status_code == 201, answer.text
    rows = (await client.get(f"{path}/rows", headers=first)).json()

    zipped = entries(await exported(client, first))
    assert [json.loads(line)["version"] for line in zipped["data_set_versions.jsonl"].splitlines()] == [1]
    files = sorted(name for name in zipped if name.startswith("data_sets/"))
    assert [len(zipped[name].splitlines()) for name in files] == [2, 3]

    brought = await imported(client, second, await exported(client, first))
    assert brought.json() == {"contents": 1, "presets": 1, "data_sets": 1}
    (found,) = (await client.get("/api/data-sets", headers=second)).json()["items"]
    same = ("name", "description", "format", "columns", "row_count", "bytes")
    assert {name: found[name] for name in same} == {name: present[name] for name in same}
    assert (await client.get(f"/api/data-sets/{found['id']}/rows", headers=second)).json() == rows
    (summary,) = (await client.get("/api/presets", headers=second)).json()["items"]
    assert summary["input_count"] == 2
    taken = (await client.get(f"/api/presets/{summary['id']}", headers=second)).json()["rows"]
    assert taken == {"data_set": found["id"], "where": {"note": ""}, "version": None, "row": None}


async def test_imports_and_uploads_of_a_user_at_once_do_not_wait_for_each_other_for_ever(
    client: httpx.AsyncClient, host: Host
) -> None:
    """An import has the thread that writes and wants a worker; an upload has a worker, and wants the thread later."""
    session = await host.signed_in("reader-0001")

    async def upload() -> httpx.Response:
        files = {"file": ("q.csv", b"question\n" + b"Why?\n" * 5_000)}
        return await client.post("/api/data-sets", files=files, headers=session)

    assert (await upload()).status_code == 201
    package = await exported(client, session)
    imports = [imported(client, session, package) for _ in range(2)]
    answers = await asyncio.wait_for(asyncio.gather(upload(), *imports, upload()), 60)
    first, *brought, last = [answer.status_code for answer in answers]
    # The second import may replace the first before that is read.
    assert (first, last) == (201, 201)
    assert sorted(brought) in ([201, 201], [201, 409])
