"""What a stranger notices of four attackers: `python -m tests.campaigns.stranger [WORD]`, the name of a case."""

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import NamedTuple

import httpx

from tests.campaigns.cases import KNOWN, Case
from tests.campaigns.cost import service
from tests.campaigns.user import User
from tests.support.service import Service

ATTACKERS = 4
_CONNECTIONS = 4
"""Of each attacker."""
_SECONDS = 8.0


class Waits(NamedTuple):
    """Milliseconds for `GET /users/me`: the median, the slowest of a hundred, the slowest."""

    median: float
    p99: float
    slowest: float


def waits(running: Service, case: Case) -> tuple[Waits, Waits]:
    """The stranger's waits while nobody else is there, and while attackers send the case's request without a pause."""
    ended = threading.Event()
    with httpx.Client(base_url=running.url, timeout=600) as client:
        stranger = User.new(client, running.plugin_secret, "stranger")
        requests = []
        for _ in range(ATTACKERS):
            user = User.new(client, running.plugin_secret)
            requests.append((user, case.prepare(user)))
        idle = _timed(running, stranger)

        def attack(number: int) -> None:
            user, request = requests[number % ATTACKERS]
            with httpx.Client(base_url=running.url, timeout=600) as own:
                attacker = User(own, user.session)
                while not ended.is_set():
                    # An answer that is not read fast enough is given up when all together hold too much.
                    with suppress(httpx.TransportError), attacker.open(request) as answer:
                        answer.read()

        threads = [threading.Thread(target=attack, args=(number,)) for number in range(ATTACKERS * _CONNECTIONS)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        attacked = _timed(running, stranger)
        ended.set()
        for thread in threads:
            thread.join()
    return idle, attacked


def _timed(running: Service, stranger: User) -> Waits:
    arguments = [str(running.port), stranger.session["X-SVC-Session-Token"], str(_SECONDS)]
    polled = subprocess.run(
        [sys.executable, "-m", "tests.campaigns.poller", *arguments], check=True, capture_output=True
    )
    found = sorted(json.loads(polled.stdout))
    return Waits(found[len(found) // 2], found[int(len(found) * 0.99)], found[-1])


def main(words: list[str]) -> None:
    """Measure and print."""
    with service() as running:
        for case in KNOWN:
            if not words or any(word in f"{case.operation} {case.name}" for word in words):
                idle, attacked = waits(running, case)
                print(f"{case.operation:44} {case.name:26}", *(f"{one:7.1f}" for one in (*idle, *attacked)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
