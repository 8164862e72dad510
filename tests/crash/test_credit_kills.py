"""Credits are exact under a kill: many calls at once, a balance that covers a quarter, SIGKILL in the middle."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support import soak
from tests.support.model_server import Running, model_server
from tests.support.paid_user import MODEL, PaidUser
from tests.support.service import Service
from tests.support.soak import Figure

RUNS = 4
"""A run has at most 64 calls at once, so several share the balance."""


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


@pytest.mark.soak(campaign="credits")
def test_200_calls_at_once_against_a_balance_that_covers_50(service: Service, server: Running, figure: Figure) -> None:
    calls = max(RUNS * 10, soak.size(200))
    go_through(service, server, calls, 700)
    figure("calls of four runs at once, killed, against a balance for a quarter", calls=calls, millionths_wrong=0)
