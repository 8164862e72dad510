"""What a user writes of a content comes back from every place that keeps contents."""

import json
from typing import Final

import httpx

from carrel.contents.schemas import ContentIn
from tests.support.host import Host
from tests.support.transfers import exported, imported
from tests.support.zips import entries

WRITTEN: Final[dict[str, object]] = {
    "name": "House style",
    "type": "generation_instructions",
    "body": "Few, {{WORDS}}.",
    "variables": {"WORDS": None},
    "description": "How we write.",
    "tags": ["style", "words"],
}
"""A value for every field, none of them the default."""
GIVEN: Final = {"id", "version", "created_at", "updated_at"}
"""What the service says of a content."""
MEASURED: Final = {"body_preview", "body_bytes"}


def written(content: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in content.items() if name in WRITTEN}


async def test_every_field_is_stored_listed_versioned_duplicated_exported_and_imported(
    client: httpx.AsyncClient, host: Host
) -> None:
    assert WRITTEN.keys() == set(ContentIn.__struct_fields__)
    without_body = {name: value for name, value in WRITTEN.items() if name != "body"}
    first, second = await host.signed_in("reader-0001"), await host.signed_in("reader-0002")

    made = (await client.post("/api/contents", json=WRITTEN, headers=first)).json()
    path = f"/api/contents/{made['id']}"
    assert (made.keys(), written(made)) == (WRITTEN.keys() | GIVEN, WRITTEN)
    assert (await client.get(path, headers=first)).json() == made
    (listed,) = (await client.get("/api/contents", headers=first)).json()["items"]
    assert listed.keys() == without_body.keys() | GIVEN | MEASURED
    assert written(listed) == without_body

    changed = {"name": "Other", "type": WRITTEN["type"]}
    assert (await client.put(path, json=changed, headers=first)).status_code == 200
    assert written((await client.get(path, headers=first)).json()) != WRITTEN
    assert (await client.get(f"{path}/versions/1", headers=first)).json() == made
    zipped = entries(await exported(client, first))
    earlier = json.loads(zipped["earlier_versions.jsonl"])
    assert written(earlier) == {name: value for name, value in WRITTEN.items() if name != "type"}

    assert (await client.put(path, json=WRITTEN, headers=first)).status_code == 200
    copy = (await client.post(f"{path}/duplicate", headers=first)).json()
    assert written(copy) == WRITTEN | {"name": "Copy of House style"}
    assert (await client.delete(f"/api/contents/{copy['id']}", headers=first)).status_code == 204

    assert (await imported(client, second, await exported(client, first))).status_code == 201
    (summary,) = (await client.get("/api/contents", headers=second)).json()["items"]
    assert written((await client.get(f"/api/contents/{summary['id']}", headers=second)).json()) == WRITTEN
