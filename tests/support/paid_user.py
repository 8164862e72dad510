"""A user of a real service whose runs credits pay for, and the check of both books."""

import time
from collections.abc import Iterator
from typing import Any

import httpx

from carrel.kit.money import micros_of, text_of
from tests.support.service import Service

MODEL = "gpt-5-mini"
WORDS = "The harbour office counted the ships in the spring, and every captain signed the ledger. " * 200


class PaidUser:
    """A user whose runs credits pay for, over HTTP."""

    def __init__(self, uuid: str, service: Service, client: httpx.Client, model: str = MODEL) -> None:
        self.uuid = uuid
        self.model = model
        self.client = client
        self._texts: dict[str, str] = {}
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

    def _shared(self, kind: str, body: str) -> str:
        if kind not in self._texts:
            self._texts[kind] = self.content(kind, body)
        return self._texts[kind]

    def content(self, kind: str, body: str) -> str:
        return str(self.made("/contents", {"name": "A content", "type": kind, "body": body})["id"])

    def run_of(self, documents: int) -> str:
        """A run that was started, of one paid call for each document."""
        texts = [self.content("input_document", f"Document {n}. {WORDS}") for n in range(documents)]
        return self.start(texts, {"max_output_tokens": 100}, {"concurrency": 64})

    def start(self, inputs: list[str], parameters: dict[str, int], limits: dict[str, int]) -> str:
        """A run of these documents that was started."""
        candidate = {"model": f"openai:{self.model}", "parameters": parameters}
        judges = {"judges": [{"model": "local:reader"}], "criteria": self._shared("criteria", "- name: coverage\n")}
        configuration = {
            "inputs": inputs,
            "instructions": self._shared("generation_instructions", "Summarise {{document}}"),
            "generation": {"candidates": [candidate]},
            "scoring": judges,
            "limits": limits,
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
        sums = {"add": 0, "reserve": 0, "release": 0, "settle": 0, "refund": 0}
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
        ledger = -sums["settle"] - sums["refund"]
        assert (ledger, charged) == (charged, micros_of(usage["charged"])), self.uuid
        assert sum(micros_of(row["cost"]) for row in rows if row["cost"] is not None) == micros_of(usage["cost"])
        return {"balance": balance, "charged": charged}
