"""A journey through the whole API with canaries in everything that a user gives or gets, and the search for them."""

import os
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx

from tests.support.run_setup import exported, finished, text_of
from tests.support.service import Service

PASSWORD = "canary-password-Zephyrine-81"
NEW_PASSWORD = "canary-password-Quillon-82"
CANARIES = {
    "document": "canarydocumentWisteria",
    "instructions": "canaryinstructionsMarmalade",
    "name": "canarynameObsidian",
    "tag": "canarytagPeriwinkle",
    "variable": "canaryvariableHalcyon",
    "label": "canarylabelTamarind",
    "provider key": "sk-canaryproviderkeyVermilion-0001",
    "preset": "canarypresetKaleido",
    "run": "canaryrunEucalypt",
    "criteria": "canarycriteriaSassafras",
    "token reason": "canarybodyCinnabar",
    "program key": "canaryprogramBergamot",
}


def sign_in(client: httpx.Client, plugin: dict[str, str], key: bytes) -> dict[str, str]:
    created = client.post("/users", json={"uuid": "canary-user", "membership": "paid"}, headers=plugin)
    assert created.status_code == 201, created.text
    body = {"uuid": "canary-user", "db_key_hex": key.hex()}
    answer = client.post("/auth/login", json=body, headers=plugin)
    return {"X-SVC-Session-Token": answer.json()["session_token"]}


def journey(client: httpx.Client, session: dict[str, str], errors: list[bytes]) -> str:
    """Contents, a preset, a run with everything it leaves; the run's id."""

    def made(path: str, body: object, status: int = 201) -> dict[str, object]:
        answer = client.post(path, json=body, headers=session)
        assert answer.status_code == status, answer.text
        found: dict[str, object] = answer.json()
        return found

    inputs = [
        made(
            "/contents",
            {
                "name": f"{CANARIES['name']} {number}",
                "type": "input_document",
                "tags": [CANARIES["tag"]],
                "body": text_of(number, CANARIES["document"]),
            },
        )["id"]
        for number in range(3)
    ]
    instructions = made(
        "/contents",
        {
            "name": CANARIES["name"],
            "type": "generation_instructions",
            "variables": {"TOPIC": None},
            "body": f"Summarise {{{{TOPIC}}}} with {CANARIES['instructions']}.",
        },
    )
    criteria = made(
        "/contents",
        {
            "name": CANARIES["name"],
            "type": "criteria",
            "body": f"- name: coverage\n  description: coverage of the content, {CANARIES['criteria']}\n",
        },
    )
    key = {"provider": "openai", "key": CANARIES["provider key"]}
    made("/provider-keys", key)
    judges = [{"model": "local:reader"}, {"model": "local:statistician"}]
    preset = made(
        "/presets",
        {
            "name": CANARIES["preset"],
            "inputs": inputs,
            "instructions": instructions["id"],
            "generation": {
                "candidates": [
                    {"label": CANARIES["label"], "model": "local:lexrank"},
                    {"label": "second", "model": "local:lead"},
                ]
            },
            "scoring": {"judges": judges, "criteria": criteria["id"]},
            "comparison": {"judges": judges},
        },
    )
    execution = {"name": CANARIES["run"], "variables": {"TOPIC": CANARIES["variable"]}}
    run = made(f"/presets/{preset['id']}/execute", execution, 202)["id"]
    assert finished(client, session, run) == "completed"
    for path in (f"/runs/{run}/logs", f"/runs/{run}/ranking", f"/runs/{run}/tasks", f"/contents?q={CANARIES['tag']}"):
        assert client.get(path, headers=session).status_code == 200, path
    assert client.post(f"/runs/{run}/export", headers=session).status_code == 202
    zipped = exported(client, session, run)
    names = zipfile.ZipFile(BytesIO(zipped)).namelist()
    assert len(names) > 5, "the canaries were in there"
    assert client.post(f"/runs/{run}/share-logs", headers=session).is_success
    return str(run)


def let_a_program_in(client: httpx.Client, session: dict[str, str], errors: list[bytes]) -> bytes:
    """A program with a key of its own; the secret half of that key."""
    body = {"name": CANARIES["program key"], "scopes": ["read", "write"]}
    made = client.post("/users/me/program-keys", json=body, headers=session)
    assert made.status_code == 201, made.text
    program_key = str(made.json()["program_key"])
    answer = client.post("/auth/program", json={"program_key": program_key})
    assert answer.status_code == 200, answer.text
    program = {"X-SVC-Session-Token": answer.json()["session_token"]}
    assert client.get("/contents", headers=program).status_code == 200
    errors += [
        client.post("/auth/program", json={"program_key": wrong}).content
        for wrong in (program_key[:-1], f"{program_key}0", program_key.upper())
    ]
    errors.append(client.post("/auth/program", json={"program_key": program_key, program_key: 1}).content)
    errors.append(client.get("/contents", headers={"X-SVC-Session-Token": program_key}).content)
    body = {"name": CANARIES["program key"], "scopes": [CANARIES["program key"]]}
    errors.append(client.post("/users/me/program-keys", json=body, headers=session).content)
    errors.append(client.post("/users/me/program-keys", json=body, headers=program).content)
    return bytes.fromhex(program_key.partition(".")[2][32:96])


def take_along(client: httpx.Client, session: dict[str, str]) -> None:
    """The whole workspace as a zip, and once more onto the same workspace."""
    everything = client.get("/users/me/export", headers=session)
    assert everything.status_code == 200, everything.text
    zipped = session | {"Content-Type": "application/zip"}
    brought = client.post("/users/me/import", content=everything.content, headers=zipped)
    assert brought.is_success, brought.text


def provoke_errors(
    client: httpx.Client, session: dict[str, str], plugin: dict[str, str], run: str, errors: list[bytes]
) -> None:
    """Bad requests full of canaries; their answers are collected."""
    canary = CANARIES["token reason"]
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", f"/contents/{canary}", {}),
        ("GET", f"/contents?surprise={canary}", {}),
        ("GET", f"/contents?type={canary}&cursor={canary}", {}),
        ("POST", "/contents", {"json": {"name": canary, "type": canary, "body": canary, canary: canary}}),
        (
            "POST",
            "/contents",
            {"content": b'{"name": "' + canary.encode(), "headers": {"Content-Type": "application/json"}},
        ),
        ("POST", "/contents", {"content": canary.encode(), "headers": {"Content-Type": "text/plain"}}),
        ("PUT", "/settings", {"json": {"theme": canary, canary: 1}}),
        ("POST", "/presets", {"json": {"name": canary, "inputs": [canary], "generation": {"candidates": []}}}),
        ("POST", "/runs", {"json": {"configuration": {"inputs": [canary]}}}),
        ("POST", "/provider-keys", {"json": {"provider": canary, "key": CANARIES["provider key"]}}),
        ("GET", f"/provider-keys/{canary}", {}),
        ("GET", f"/runs/{run}/generated/{canary}", {}),
        ("POST", f"/runs/{run}/tasks/{canary}/skip", {}),
        ("GET", f"/{canary}", {}),
    ]
    for method, path, kwargs in requests:
        headers = session | kwargs.pop("headers", {})
        answer = client.request(method, path, headers=headers, **kwargs)
        assert answer.status_code >= 400, (method, path, answer.text)
        errors.append(answer.content)
    for path in ("/auth/login", "/auth/rekey", "/users"):
        answer = client.post(path, json={"uuid": canary + "\n", "db_key_hex": canary}, headers=plugin)
        errors.append(answer.content)
    errors.append(client.get("/users/me", headers={"X-SVC-Session-Token": canary}).content)


@dataclass
class Search:
    """Looks for what must not be readable, in all places, and counts both."""

    services: Iterable[Service]
    folders: Iterable[Path]
    """What they and the programs beside them write to."""
    strings: int = 0
    places: int = 0
    """Of all looks together."""

    def found(self, errors: list[bytes], keys: list[bytes]) -> dict[str, list[str]]:
        """Where any canary, password or key is readable: file names, "an error", "an unlinked file"."""
        sought = {name: text.encode() for name, text in CANARIES.items()}
        sought |= {"password": PASSWORD.encode(), "new password": NEW_PASSWORD.encode()}
        for number, key in enumerate(keys):
            sought |= {f"key {number}": key, f"key {number} in hex": key.hex().encode()}
        written = [path for folder in self.folders for path in folder.rglob("*") if path.is_file()]
        places = {str(path): path.read_bytes() for path in written}
        assert any(name.endswith("workspace.db") for name in places)
        for path in Path(tempfile.gettempdir()).glob("*carrel*"):
            if path.is_file():
                places[str(path)] = path.read_bytes()
        places |= {f"error {number}": body for number, body in enumerate(errors)}
        for service in self.services:
            places |= _unlinked(service)
        self.strings, self.places = len(sought), self.places + len(places)
        found: dict[str, list[str]] = {}
        for place, content in places.items():
            names = [name for name, text in sought.items() if text in content]
            if names:
                found[place] = names
        return found


def _unlinked(service: Service) -> dict[str, bytes]:
    """What the process still holds of files that no folder names any more."""
    if service.process is None or service.process.poll() is not None:
        return {}
    held: dict[str, bytes] = {}
    for entry in Path(f"/proc/{service.pid}/fd").iterdir():
        target = os.readlink(entry)
        if target.startswith("/") and (target.endswith("(deleted)") or "memfd" in target):
            held[f"{service.pid} fd {entry.name}"] = entry.read_bytes()
    return held
