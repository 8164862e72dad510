"""Credits are exact under a kill: many calls at once, a balance that covers a quarter, SIGKILL in the middle."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.kit.money import micros_of, text_of
from tests.support.model_server import Running, model_server
from tests.support.service import Service

MODEL = "gpt-5-mini"
WORDS = "The harbour office counted the ships in the spring, and every captain signed the ledger. " * 200
RUNS = 4
"""A run has at most 64 calls at once, so several share the balance."""
CALLS = int(os.environ.get("CARREL_SOAK_CREDIT_CALLS", "200"))


@pytest.fixture
def server() -> Iterator[Running]:
    with model_server(models=(MODEL,), latency_ms=30) as server:
        yield server


@pytest.fixture
def service(tmp_path: Path, server: Running) -> Iterator[Service]:
    settings = {"CARREL_PROVIDER_HOSTS": server.host, "CARREL_MAX_PROVIDER_CALLS": "256", "CARREL_CREDIT_MARKUP": "1.3"}
    service = Service(tmp_path, settings=settings)
    service.start()
    yield service
    if service.process is not None and service.process.poll() is None:
        service.kill()


class PaidUser:
    """A user whose runs credits pay for, over HTTP."""

    def __init__(self, uuid: str, service: Service, client: httpx.Client) -> None:
        self.uuid = uuid
        self.client = client
        self.plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}

    def sign_in(self) -> None:
        body = {"uuid": self.uuid, "db_key_hex": "5a" * 32}
        answer = self.client.post("/auth/login", json=body, headers=self.plugin)
        assert answer.status_code == 200, answer.text
        self.client.headers["X-SVC-Session-Token"] = answer.json()["session_token"]

    def made(self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
        answer = self.client.post(path, json=body or None, headers=headers)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def top_up(self, micros: int) -> None:
        self.made("/credits/add", {"uuid": self.uuid, "amount": text_of(micros)}, self.plugin)

    def content(self, kind: str, body: str) -> str:
        return str(self.made("/contents", {"name": "A content", "type": kind, "body": body})["id"])

    def run_of(self, documents: int) -> str:
        candidate = {"model": f"openai:{MODEL}", "parameters": {"max_output_tokens": 100}}
        judges = {"judges": [{"model": "local:reader"}], "criteria": self.content("criteria", "- name: coverage\n")}
        configuration = {
            "inputs": [self.content("input_document", f"Document {n}. {WORDS}") for n in range(documents)],
            "instructions": self.content("generation_instructions", "Summarise {{document}}"),
            "generation": {"candidates": [candidate]},
            "scoring": judges,
            "limits": {"concurrency": 64},
            "billing": "credits",
        }
        run_id = str(self.made("/runs", {"name": "Paid", "configuration": configuration})["id"])
        self.made(f"/runs/{run_id}/start", {})
        return run_id

    def until_halted(self, run_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            assert not self.balance()["balance"].startswith("-")
            run: dict[str, Any] = self.client.get(f"/runs/{run_id}").json()
            if run["state"] != "running":
                return run
            time.sleep(0.05)
        raise AssertionError("the run did not come to rest")

    def gone_on(self, runs: list[str]) -> list[dict[str, Any]]:
        """Every run, resumed where it stands still and taken as far as it goes now."""
        for run_id in runs:
            run = self.client.get(f"/runs/{run_id}").json()
            if run["state"] == "paused":
                self.made(f"/runs/{run_id}/resume", {})
        return [self.until_halted(run_id) for run_id in runs]

    def made_limit(self) -> None:
        """So many calls at once as the process makes."""
        answer = self.client.put("/rate-limits/openai", json={"concurrency": 256})
        assert answer.is_success, answer.text

    def balance(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/credits").json()
        return found

    def items(self, path: str) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            page = self.client.get(path, params={"limit": "200"} | ({"cursor": cursor} if cursor else {})).json()
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def hold_the_books(self) -> dict[str, int]:
        """In millionths; fails unless they agree exactly."""
        deadline = time.monotonic() + 60
        while self.balance()["reserved"] != "0":
            assert time.monotonic() < deadline, "something is held back for calls that are over"
            time.sleep(0.02)
        sums = {"add": 0, "reserve": 0, "release": 0, "settle": 0}
        for entry in self.items("/credits/ledger"):
            amount = entry["amount"]
            sums[entry["kind"]] += -micros_of(amount[1:]) if amount.startswith("-") else micros_of(amount)
            assert not entry["balance"].startswith("-")
        balance = micros_of(self.balance()["balance"])
        usage = self.client.get("/metering/usage").json()["total"]
        rows = list(self.items("/metering/calls"))
        assert balance == sum(sums.values())
        assert sums["reserve"] == -sums["release"]
        charged = sum(micros_of(row["charged"]) for row in rows if row["charged"] is not None)
        assert -sums["settle"] == charged == micros_of(usage["charged"])
        assert sum(micros_of(row["cost"]) for row in rows if row["cost"] is not None) == micros_of(usage["cost"])
        return {"balance": balance, "charged": charged}


def go_through(service: Service, server: Running, documents: int, latency_ms: float) -> None:
    with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
        user = PaidUser("ada", service, client)
        key = {"provider": "openai", "key": server.key, "base_url": server.base_url}
        user.made("/admin/system-keys", key, {"X-SVC-Admin-Secret": service.admin_secret})
        user.made("/users", {"uuid": "ada", "membership": "paid"}, user.plugin)
        user.sign_in()
        user.top_up(1_000_000)
        assert user.until_halted(user.run_of(1))["state"] == "completed"
        one = user.hold_the_books()
        assert one["charged"] > 0
        covered = one["charged"] * (documents // 4)
        user.made("/users", {"uuid": "bob", "membership": "paid"}, user.plugin)
        bob = PaidUser("bob", service, client)
        bob.sign_in()
        bob.top_up(covered)
        bob.made_limit()
        server.forget()
        server.latency(latency_ms)
        runs = [bob.run_of(documents // RUNS) for _ in range(RUNS)]
        deadline = time.monotonic() + 60
        while server.counts().completed < documents // 20:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        service.kill()
        service.start()
        bob.sign_in()
        assert {run["pause_reason"] for run in bob.gone_on(runs)} <= {"credits", None}
        found = bob.hold_the_books()
        assert 0 <= found["balance"] < covered
        assert found["charged"] + found["balance"] == covered
        bob.top_up(10_000_000)
        assert {run["state"] for run in bob.gone_on(runs)} == {"completed"}
        ended = bob.hold_the_books()
        assert ended["charged"] + ended["balance"] == covered + 10_000_000
        answered = [row for row in bob.items("/metering/calls") if row["provider"] == "openai"]
        assert sum(row["outcome"] == "answered" for row in answered) == documents
        lost = sum(row["outcome"] == "unknown-outcome" for row in answered)
        print(f"\n{documents} calls, {lost} lost by the kill, most at once {server.counts().most_in_flight}")


def test_a_kill_among_calls_that_credits_pay_for_costs_nobody_a_millionth(service: Service, server: Running) -> None:
    go_through(service, server, 40, 100)


@pytest.mark.soak
def test_200_calls_at_once_against_a_balance_that_covers_50(service: Service, server: Running) -> None:
    go_through(service, server, CALLS, 700)
