"""The table of the cost campaign: operations with the worst stored data and bodies that are known."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tests.campaigns import largest, operations
from tests.campaigns.user import Json, Request, User

MAX_BODY = 1024 * 1024
"""CARREL_MAX_BODY_BYTES."""


class Case(NamedTuple):
    """An operation, as `openapi.json` names it, and what makes it dear.

    `prepare` stores data and returns the request.
    """

    operation: str
    name: str
    prepare: Callable[[User], Request]


def _references(user: User) -> Request:
    """Twenty candidates, each with instructions of its own that hold 200,000 placeholders."""
    letter = user.content("fragment", "")
    body = "{{A}}" * (MAX_BODY // 5)
    candidates = [
        {
            "label": f"c{number}",
            "model": "local:lead",
            "instructions": user.content("generation_instructions", body, {"A": letter}),
        }
        for number in range(20)
    ]
    document = user.content("input_document", "A river.")
    return Request("POST", "/runs?dry_run=true", json=_run(user, [document], candidates))


def _references_in_a_run(user: User) -> Request:
    request = _references(user)
    return request._replace(path="/runs")


def _same_text_often(user: User) -> Request:
    """One answer with 200,000 placeholders for each of four candidates and five documents."""
    letter = user.content("fragment", "")
    answer = user.content("output_document", "{{A}}" * (MAX_BODY // 5), {"A": letter})
    documents = [user.content("input_document", f"River {number}.") for number in range(5)]
    existing = dict.fromkeys(documents, answer)
    candidates: list[Json] = [{"label": f"c{number}", "existing": existing} for number in range(4)]
    return Request("POST", "/runs?dry_run=true", json=_run(user, documents, candidates))


def _long_texts(user: User) -> Request:
    """A run over seventy documents of a megabyte."""
    documents = [user.content("input_document", "river " * (MAX_BODY // 6) + str(number)) for number in range(70)]
    return Request("POST", "/runs", json=_run(user, documents, [{"model": "local:lead"}]))


def _run(user: User, documents: list[str], candidates: list[Json]) -> Json:
    return {
        "configuration": {
            "inputs": documents,
            "instructions": user.content("generation_instructions", "Summarise."),
            "generation": {"candidates": candidates},
            "scoring": {
                "judges": [{"model": "local:reader"}],
                "criteria": user.content("criteria", "- name: Coverage"),
            },
        }
    }


def _large_patterns(user: User) -> Request:
    """Twenty schemas of as many patterns, as large as there may be, as a worker has memory for."""
    letters = r"^[\p{L}\p{N}]{1,20}"
    schemas: list[Json] = [{"patternProperties": {f"{letters}{n}x{m}$": {} for m in range(30)}} for n in range(20)]
    return _checked(user, schemas)


def _doubled_references(user: User) -> Request:
    """Twenty schemas of a kilobyte that take any time and memory to compile."""
    levels: Json = {"a0": {}}
    for level in range(1, 19):
        levels[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    schema = {"$ref": "#/$defs/a18", "$defs": levels, "unevaluatedProperties": False}
    return _checked(user, [schema | {"title": str(number)} for number in range(20)])


def _checked(user: User, schemas: list[Json]) -> Request:
    checks = [{"kind": "json_schema", "name": str(number), "schema": one} for number, one in enumerate(schemas)]
    run = _run(user, [user.content("input_document", "A river.")], [{"model": "local:lead"}])
    body: Json = {"name": "n", **run["configuration"]}
    user.post("/presets", body | {"checks": [{"kind": "regex", "pattern": "a"}]})  # a worker has started
    return Request("POST", "/presets", json=body | {"checks": checks})


def _chain(user: User) -> Request:
    """Texts of 4 MB that lead from one to the next, and a body of two bytes."""
    quarter = user.content("fragment", "é" + "x" * (MAX_BODY - 2))
    below = user.content("fragment", "{{A}}" * 4, {"A": quarter})
    for _ in range(14):
        below = user.content("fragment", "{{A}}", {"A": below})
    return Request("POST", f"/contents/{below}/resolve", json={})


def _wide_chain(user: User) -> Request:
    """Hundreds of texts of 4 MB on the way to an empty result: each is made, and none is in the result but one."""
    quarter = user.content("fragment", "\U0001f600" + "x" * (MAX_BODY - 4))
    whole = user.content("fragment", "{{A}}{{A}}{{A}}", {"A": quarter})
    for _ in range(6):
        names = {f"N{number}": user.content("fragment", "{{A}}", {"A": whole}) for number in range(1)}
        whole = user.content("fragment", "".join(f"{{{{{name}}}}}" for name in names), names)
    return Request("POST", f"/contents/{whole}/resolve", json={})


def _controls(user: User) -> Request:
    """Characters that JSON writes as six bytes."""
    piece = user.content("fragment", "\x01" * 340_000)
    whole = user.content("fragment", "{{A}}" * 12, {"A": piece})
    return Request("POST", f"/contents/{whole}/resolve", json={})


def _carried_slots(user: User) -> Request:
    """Places for the document that each link carries on."""
    below = user.content("generation_instructions", "{{document}}" * (MAX_BODY // 12))
    for _ in range(15):
        below = user.content("fragment", "{{A}}", {"A": below})
    return Request("POST", f"/contents/{below}/resolve", json={})


def _fat_rows(user: User) -> Request:
    """A page of contents with as many variables and tags and as long descriptions as there may be."""
    target = user.content("fragment", "")
    variables = {f"V{number:063}": target for number in range(100)}
    tags = [f"{number:050}" for number in range(20)]
    for _ in range(200):
        user.content("fragment", "", variables, description="d" * 2_000, tags=tags)
    return Request("GET", "/contents?limit=200")


def _fat_rows_found(user: User) -> Request:
    return _fat_rows(user)._replace(path="/contents?limit=200&q=fragment")


def _over_largest(prepare: largest.Prepare, user: User) -> Request:
    assert user.shared is not None
    return prepare(user.shared, user)


KNOWN: tuple[Case, ...] = (
    Case("POST /runs", "dry run, 20 x 200,000", _references),
    Case("POST /runs", "20 x 200,000", _references_in_a_run),
    Case("POST /runs", "one answer 20 times", _same_text_often),
    Case("POST /runs", "70 x 1 MB", _long_texts),
    Case("POST /presets", "20 schemas of 30 large patterns", _large_patterns),
    Case("POST /presets", "20 schemas of doubled references", _doubled_references),
    Case("POST /contents/{content_id}/resolve", "chain of 4 MB", _chain),
    Case("POST /contents/{content_id}/resolve", "chain of wide characters", _wide_chain),
    Case("POST /contents/{content_id}/resolve", "control characters", _controls),
    Case("POST /contents/{content_id}/resolve", "carried slots", _carried_slots),
    Case("GET /contents", "200 fat rows", _fat_rows),
    Case("GET /contents", "200 fat rows, searched", _fat_rows_found),
)
"""The dearest that are known."""

CASES: tuple[Case, ...] = (
    *KNOWN,
    *(Case(operation, name, partial(_over_largest, prepare)) for operation, name, prepare in largest.cases()),
    *(Case(operation, "", partial(operations.prepared, operation)) for operation in operations.every()),
)
