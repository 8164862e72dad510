"""The service itself compiles nothing that a user wrote: it cannot even import what compiles."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.campaigns.process import peak_bytes, spent
from tests.support.paid_user import PaidUser
from tests.support.processes import at_work
from tests.support.service import Service

FORBIDDING = """
import sys

class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"re2", "_re2", "jsonschema_rs", "jsonschema"}:
            raise RuntimeError("the service imports " + name)

sys.meta_path.insert(0, Forbidden())
"""
"""Read by the service when it starts, and not by its workers: Python is isolated there."""
BOMB = r"^(\p{L}|i){150}$"
ROOM_BYTES = 32 * 1024 * 1024


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    (tmp_path / "sitecustomize.py").write_text(FORBIDDING, encoding="utf-8")
    service = Service(tmp_path / "service", settings={"PYTHONPATH": str(tmp_path)})
    service.start()
    yield service
    assert service.stop() == 0


@pytest.fixture
def mallory(service: Service) -> Iterator[PaidUser]:
    with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
        user = PaidUser("mallory", service, client)
        user.made("/users", {"uuid": user.uuid, "membership": "paid"}, user.plugin)
        user.sign_in()
        yield user


def schema(patterns: int) -> dict[str, Any]:
    return {"kind": "json_schema", "schema": {"patternProperties": {f"{BOMB}{n}": {} for n in range(patterns)}}}


def chain(length: int) -> dict[str, Any]:
    levels: dict[str, object] = {"a0": {}}
    for level in range(1, length + 1):
        levels[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    whole = {"$ref": f"#/$defs/a{length}", "$defs": levels, "unevaluatedProperties": False}
    return {"kind": "json_schema", "schema": whole}


def test_a_service_that_cannot_compile_serves_checks_and_bombs_cost_it_nothing(
    service: Service, mallory: PaidUser
) -> None:
    document, answer = mallory.content("input_document", "A text."), mallory.content("output_document", '{"a": 1}')
    kept: dict[str, Any] = {
        "name": "Checked",
        "inputs": [document],
        "generation": {"candidates": [{"label": "x", "existing": {document: answer}}]},
    }
    good = [
        {"kind": "regex", "pattern": r"\d"},
        {"kind": "forbidden", "texts": ["C++"]},
        {"kind": "json_schema", "schema": {"required": ["a"], "patternProperties": {r"^\p{L}$": {"type": "integer"}}}},
    ]
    preset = mallory.made("/presets", kept | {"checks": good})["id"]
    run_id = mallory.made(f"/presets/{preset}/execute", {})["id"]
    assert mallory.until_halted(run_id)["state"] == "completed"
    [row] = mallory.client.get(f"/runs/{run_id}/ranking").json()["checks"]["rows"]
    assert [rate["share"] for rate in row["rates"]] == [1.0, 1.0, 1.0]

    refusals: list[str] = []

    def attack() -> None:
        for checks in (
            [schema(100)],
            [schema(800)],
            [{"kind": "regex", "name": str(n), "pattern": rf"(?:\pL|\pNi){{{n + 200}}}"} for n in range(20)],
            [{"kind": "forbidden", "texts": [f"{n:02d}" * 4_950 for n in range(100)]}],
            [chain(24)],
        ):
            configuration = {name: kept[name] for name in ("inputs", "generation")} | {"checks": checks}
            for path, body in (
                ("/presets", kept | {"checks": checks}),
                ("/runs?dry_run=true", {"configuration": configuration}),
            ):
                answer = mallory.client.post(path, json=body)
                assert answer.status_code == 400, answer.text
                refusals.append(answer.json()["errors"][0]["path"])

    pid = at_work(service.pid)
    memory = peak_bytes(pid)
    cost = spent(pid, attack)
    assert len(refusals) == 10
    # Of ten requests of up to a megabyte. To compile what a single one of them brings took half a minute and 6 GB.
    assert cost.loop_ms + cost.threads_ms < 1_000
    assert peak_bytes(pid) - memory < ROOM_BYTES
    assert "RuntimeError" not in service.log()
    kinds = [json.loads(line).get("kind") for line in service.log().splitlines() if "worker-started" in line]
    assert "checks" in kinds
