"""What a stranger notices of four attackers: `python -m tests.campaigns.stranger [WORD]`, the name of a case.

`make soak CAMPAIGN=stranger` measures every case, and holds each against what the security guide promises.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import httpx

from tests.campaigns.attackers import ENCODING
from tests.campaigns.cases import CASES, KNOWN, Case
from tests.campaigns.cost import service
from tests.campaigns.process import quiet
from tests.campaigns.shared import Shared, sharing
from tests.campaigns.user import Request, User
from tests.support.service import Service

ATTACKERS = 4
_CONNECTIONS = 4
"""Of each attacker."""
_SECONDS = 8.0
MAX_P99_MS = 25.0
"""The longest that all but one of a hundred requests of the stranger may take."""
MAX_MS = 250.0
"""The longest that a stranger may ever wait."""
BESIDE: tuple[Case, ...] = (*KNOWN, *(case for case in CASES if case.operation == "POST /users/me/import"))
"""What attackers send: the dearest requests that are known, and imports, which are read in threads, too."""


class Waits(NamedTuple):
    """Milliseconds for `GET /users/me`: the median, the slowest of a hundred, the slowest."""

    median: float
    p99: float
    slowest: float


class Measured(NamedTuple):
    """What the stranger waited alone and beside the attackers, and the statuses that these got, with their numbers."""

    idle: Waits
    attacked: Waits
    answers: dict[str, int]

    @property
    def is_beyond(self) -> bool:
        """Whether the stranger waited longer than is promised."""
        return self.attacked.p99 > MAX_P99_MS or self.attacked.slowest > MAX_MS


def waits(shared: Shared, case: Case) -> Measured:
    """The stranger's waits while nobody else is there, and while attackers send the case's request without a pause."""
    running = shared.running
    with httpx.Client(base_url=running.url, timeout=600) as client:
        stranger = User.new(client, running.plugin_secret, "stranger")
        requests = []
        for _ in range(ATTACKERS):
            user = User.new(client, running.plugin_secret)
            user.shared = shared
            requests.append(_as_sent(client, user, case.prepare(user)))
        quiet(running.pid)
        idle = _timed(running, stranger)
        with subprocess.Popen(
            [sys.executable, "-m", "tests.campaigns.attackers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as attackers:
            assert attackers.stdin is not None
            attackers.stdin.write(json.dumps([running.port, _CONNECTIONS, requests]) + "\n")
            attackers.stdin.flush()
            time.sleep(1)
            attacked = _timed(running, stranger)
            answers = json.loads(attackers.communicate()[0])
    return Measured(idle, attacked, answers)


def settled(shared: Shared, case: Case, tell: Callable[[str], None]) -> Measured:
    """The same, and twice more if it is beyond what is promised: of three, the one in the middle.

    A 99th percentile of some hundred requests depends on a handful of them.
    """
    found = [waits(shared, case)]
    tell(line(case, found[0]))
    while found[0].is_beyond and len(found) < 3:
        found.append(waits(shared, case))
        tell(line(case, found[-1]))
    return sorted(found, key=lambda one: one.attacked.p99)[len(found) // 2]


def _as_sent(client: httpx.Client, user: User, request: Request) -> str:
    """The request as it goes over the wire."""
    headers = {**user.session, **request.headers}
    path = f"/api{request.path}"
    built = client.build_request(request.method, path, headers=headers, json=request.json, content=request.content)
    lines = [f"{built.method} {built.url.raw_path.decode()} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in built.headers.items()]
    return "\r\n".join((*lines, "", built.content.decode(ENCODING)))


def _timed(running: Service, stranger: User) -> Waits:
    arguments = [str(running.port), stranger.session["X-SVC-Session-Token"], str(_SECONDS)]
    polled = subprocess.run(
        [sys.executable, "-m", "tests.campaigns.poller", *arguments], check=True, capture_output=True
    )
    found = sorted(json.loads(polled.stdout))
    return Waits(found[len(found) // 2], found[int(len(found) * 0.99)], found[-1])


def line(case: Case, measured: Measured) -> str:
    """One line of the table."""
    idle, attacked, answers = measured
    found = "  ".join(f"{count} x {status}" for status, count in sorted(answers.items()))
    figures = " ".join(f"{one:7.1f}" for one in (*idle, *attacked))
    return f"{case.operation:44} {case.name:26} {figures}  {found}"


def main(words: list[str]) -> None:
    """Measure and print."""
    with service() as running, sharing(running) as shared:
        for case in BESIDE:
            if not words or any(word in f"{case.operation} {case.name}" for word in words):
                print(line(case, waits(shared, case)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
