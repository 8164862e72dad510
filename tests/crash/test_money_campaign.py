"""Users start paid runs and cancel them, let them time out, make them long, and the service is killed in between.

The provider counts what it bills. In the end users have paid for it, but for what the host bore.
`CARREL_SEED` chooses the events.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple, TypeVar

import httpx
import pytest

from carrel.kit.money import micros_of
from carrel.providers.base import Usage
from carrel.providers.prices import price_of
from tests.support import soak
from tests.support.model_server import Bill, Fault, Running, model_server
from tests.support.paid_user import WORDS, PaidUser
from tests.support.service import Service
from tests.support.soak import Figure

T = TypeVar("T")

SEED = int(os.environ.get("CARREL_SEED", "2026"))
BOUND = Decimal("0.02")
"""What the host bears for each user and day. The test is small, and so is its provider's bill."""
MODEL = "gpt-5.1-codex-mini"
"""Answers in the Responses API alone, and reasons out of sight."""
ENDED = frozenset({"completed", "completed_with_errors", "failed", "cancelled"})
FATES = ("cancel", "skip", "time-out", "overrun")
LONG = "write as much as you may"
SLOW_MS, FAST_MS = 1_400, 150
"""Longer and shorter than the shortest time limit of a run, one second."""
KILLS = 0.4
"""The share of rounds in which the service is killed."""


class Found(NamedTuple):
    """The sums at the end, in millionths."""

    events: Counter[str]
    bill: Bill
    cost: int
    charged: int
    borne: int
    calls: int
    unknown: int


class Campaign:
    """One service, one provider that counts, and some users."""

    def __init__(self, service: Service, server: Running, users: list[PaidUser], seed: int) -> None:
        self.service, self.server, self.users = service, server, users
        self.rng = random.Random(seed)
        self.events: Counter[str] = Counter()
        self.pool = ThreadPoolExecutor(len(users))
        self.inputs = dict(zip(users, self.each(user_inputs), strict=True))

    def each(self, do: Callable[[PaidUser], T]) -> list[T]:
        return list(self.pool.map(do, self.users))

    def round(self) -> None:
        """Every user starts a run, and something happens to each."""
        slow, begun = self.rng.random() < 0.5, self.server.started()
        self.server.latency(SLOW_MS if slow else FAST_MS)
        fates = {
            user: self.rng.choice(FATES if slow else [one for one in FATES if one != "time-out"]) for user in self.users
        }
        sizes = {user: self.rng.randint(1, 3) for user in self.users}
        runs = dict(zip(self.users, self.each(lambda user: self.start(user, fates[user], sizes[user])), strict=True))
        # Some runs may wait for credits, and call nobody.
        deadline = time.monotonic() + 3
        while self.server.started() < begun + len(self.users) // 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(self.rng.uniform(0, (SLOW_MS if slow else FAST_MS) / 1000))
        self.each(lambda user: self.disturb(user, runs[user], fates[user]))
        if self.rng.random() < KILLS:
            self.service.kill()
            self.service.start()
            self.each(PaidUser.sign_in)
            self.events["kill"] += 1
        self.each(lambda user: self.finish(user, runs[user]))
        self.events.update(fates.values())

    def start(self, user: PaidUser, fate: str, size: int) -> str:
        plain, long = self.inputs[user]
        limits = {"concurrency": 8, "max_attempts": 2}
        if fate == "overrun":
            # Without a limit of its own: the model writes as much as the service lets it.
            return user.start([long], {}, limits)
        seconds = {"timeout_seconds": 1} if fate == "time-out" else {}
        return user.start(plain[:size], {"max_output_tokens": 400}, limits | seconds)

    def disturb(self, user: PaidUser, run_id: str, fate: str) -> None:
        if fate == "cancel":
            user.client.post(f"/runs/{run_id}/cancel")
        elif fate == "skip":
            user.client.post(f"/runs/{run_id}/tasks/r1.generate.d1.c1.s1/skip")

    def finish(self, user: PaidUser, run_id: str) -> None:
        while True:
            run = user.until_halted(run_id)
            if run["state"] in ENDED:
                return
            if run["pause_reason"] == "credits":
                user.top_up(100_000)
            assert run["pause_reason"] in ("credits", "unknown-costs", "service-restarted"), run["pause_reason"]
            user.client.post(f"/runs/{run_id}/resume")

    def found(self) -> Found:
        """What the books say once nothing is under way any more."""
        self.server.latency(0)
        sums = self.each(PaidUser.hold_the_books)
        self.pool.shutdown()
        bill, price = self.server.bill(), price_of(f"openai:{MODEL}", time.time())
        assert price is not None
        rows = [row for user in self.users for row in user.items("/metering/calls") if row["provider"] == "openai"]
        assert all(row["charged"] == row["cost"] for row in rows if row["cost"] is not None), "no call exceeds its hold"
        # A row without a call is possible, a call without a row is not.
        assert bill.calls <= len(rows)
        secret = {"X-SVC-Admin-Secret": self.service.admin_secret}
        borne = micros_of(self.users[0].client.get("/admin/write-offs", headers=secret).json()["total"]["credits"])
        return Found(
            events=self.events,
            bill=bill,
            cost=price.cost_micros(Usage(input_tokens=bill.input_tokens, output_tokens=bill.output_tokens)),
            charged=sum(one["charged"] for one in sums),
            borne=borne,
            calls=len(rows),
            unknown=sum(row["cost"] is None for row in rows),
        )


def user_inputs(user: PaidUser) -> tuple[list[str], str]:
    """Documents that are answered shortly, and one that is answered at length."""
    plain = [user.content("input_document", f"Document {number}. {WORDS}") for number in range(3)]
    return plain, user.content("input_document", f"Please {LONG}.")


@contextmanager
def campaign(folder: Path, server: Running, users: int, seed: int) -> Iterator[Campaign]:
    settings = {
        "CARREL_PROVIDER_HOSTS": server.host,
        "CARREL_MAX_PROVIDER_CALLS": "256",
        "CARREL_UNKNOWN_COSTS_PER_DAY": str(BOUND),
    }
    service = Service(folder, settings=settings)
    service.start()
    try:
        with ExitStack() as stack:
            people = []
            for number in range(users):
                client = stack.enter_context(httpx.Client(base_url=f"{service.url}/api", timeout=120))
                people.append(PaidUser(f"user-{number}", service, client, MODEL))
            key = {"provider": "openai", "key": server.key, "base_url": server.base_url}
            people[0].made("/admin/system-keys", key, {"X-SVC-Admin-Secret": service.admin_secret})
            for user in people:
                user.made("/users", {"uuid": user.uuid, "membership": "paid"}, user.plugin)
                user.sign_in()
                # Some never have enough for long.
                user.top_up(100_000)
            yield Campaign(service, server, people, seed)
    finally:
        if service.process is not None and service.process.poll() is None:
            service.kill()


def held(folder: Path, events: int, users: int, seed: int) -> Found:
    """Let so many events happen, and check what must be true of the sums."""
    with (
        model_server(Fault("long", match=LONG), models=(MODEL,)) as server,
        campaign(folder, server, users, seed) as running,
    ):
        while running.events.total() < events:
            running.round()
        found = running.found()
    assert found.cost > 0
    assert found.charged + found.borne >= found.cost, "what nobody was charged for, the host knows"
    assert found.borne <= users * BOUND * 1_000_000
    return found


def test_what_the_provider_bills_is_charged_whatever_users_do(tmp_path: Path) -> None:
    # Two rounds, which this seed makes of all kinds.
    assert set(held(tmp_path, 8, 4, seed=2076).events) == {*FATES, "kill"}


@pytest.mark.soak(campaign="credits")
def test_a_thousand_cancels_time_outs_kills_and_overruns_are_charged(tmp_path: Path, figure: Figure) -> None:
    found = held(tmp_path, soak.size(1_000), 16, SEED)
    for kind, events in sorted(found.events.items()):
        figure("a provider that counts, with cancels, time-outs, kills and overruns", **{f"of {kind}": events})
    figure(
        "the same, in millionths of a US dollar",
        billed=found.cost,
        charged=found.charged,
        borne_by_the_host=found.borne,
        calls_of_unknown_cost=found.unknown,
    )
    assert found.charged >= 0.98 * found.cost
