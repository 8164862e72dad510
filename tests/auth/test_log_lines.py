"""The access log of `/auth/*`: whose request failed and why, and never more of the uuid than its end."""

import json

import pytest

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, key_of, service, token

UUID = "3f1c2b9e-0001-ada"
TAIL = "0001-ada"


async def test_a_failed_sign_in_can_be_traced_to_its_user_and_cause(
    settings: Settings, clock: FakeClock, capfd: pytest.CaptureFixture[str]
) -> None:
    async with service(settings, clock) as client:
        host = Host(client)
        await host.login(UUID)
        session = await host.signed_in(UUID)
        await host.login(UUID, "wrong")
        await host.refresh(UUID)
        await host.rekey(UUID, "new")
        await host.login(UUID)
        await client.post("/api/auth/logout", json={"uuid": UUID}, headers=PLUGIN)
        await client.post("/api/auth/logout", headers=session)
        await client.post("/api/auth/logout", headers=token("nonsense"))
        await client.post("/api/auth/refresh", json={"uuid": UUID}, headers={"X-SVC-Plugin-Secret": "wrong"})
        await client.post("/api/auth/login", json={"uuid": UUID}, headers=PLUGIN)
        await client.post("/api/auth/login", content=b"{", headers=PLUGIN | {"Content-Type": "application/json"})
    logged = capfd.readouterr().err
    lines = [json.loads(line) for line in logged.splitlines()]
    assert [
        (line["route"].removeprefix("/api/auth/"), line["status"], line["user"], line.get("code"))
        for line in lines
        if "/auth/" in line.get("route", "")
    ] == [
        ("login", 401, TAIL, "user-not-provisioned"),
        ("login", 200, TAIL, None),
        ("login", 401, TAIL, "key-rejected"),
        ("refresh", 401, TAIL, "key-not-cached"),
        ("rekey", 409, TAIL, "old-key-required"),
        ("login", 200, TAIL, None),
        ("logout", 204, TAIL, None),
        ("logout", 401, TAIL, "session-token-revoked"),
        ("logout", 401, "", "session-token-invalid"),
        ("refresh", 401, "", "plugin-secret-invalid"),
        ("login", 400, "", "invalid-input"),
        ("login", 400, "", "malformed"),
    ]
    assert UUID not in logged
    assert key_of(UUID) not in logged
