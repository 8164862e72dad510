"""What one request costs the service at worst, measured on a real process: `python -m tests.campaigns.cost [WORD ...]`.

`cases.CASES` is the table: an operation, and a function that stores data and returns the request. To add a case, add a
function there. Each word of the command line picks the cases whose names contain it.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import httpx

from tests.campaigns.cases import CASES, Case
from tests.campaigns.process import Spent, spent
from tests.campaigns.user import Request, User
from tests.support.service import Service

MAX_LOOP_MS = 250.0
MAX_THREADS_MS = 2_000.0
"""In threads and workers together."""
MAX_MEMORY_BYTES = 64 * 1024 * 1024
MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Of an answer that is not streamed."""


MAX_STREAMED_MS = 1.0
"""Of the loop, for each megabyte of an answer that is streamed, besides."""
OUTSIDE = "github-unavailable"
"""Without the network, this is what somebody else's server has to say."""
WHOLE_RUN = tuple(f"POST /runs/{{run_id}}/{verb}" for verb in ("start", "resume", "reevaluate"))
"""The answer comes at once. What is measured is the run of 560 tasks that follows, which takes turns."""


class Cost(NamedTuple):
    """One request, measured."""

    case: Case
    status: int
    code: str
    spent: Spent
    answer_bytes: int
    streamed: bool

    @property
    def faults(self) -> list[str]:
        """Which limits it exceeds."""
        streamed_ms = MAX_STREAMED_MS * self.answer_bytes / 1e6 if self.streamed else 0.0
        is_run = self.case.operation in WHOLE_RUN
        found = {
            "loop": self.spent.loop_ms > MAX_LOOP_MS + streamed_ms and not is_run,
            "threads": self.spent.threads_ms + self.spent.workers_ms > MAX_THREADS_MS and not is_run,
            "memory": self.spent.memory_bytes > MAX_MEMORY_BYTES,
            "answer": self.answer_bytes > MAX_ANSWER_BYTES and not self.streamed,
            "status": self.status >= 500 and self.status != 507 and self.code != OUTSIDE,
            "refused": self.status == 400 and not self.case.name,
        }
        return [name for name, is_exceeded in found.items() if is_exceeded]


@contextmanager
def service() -> Iterator[Service]:
    """A service of its own, over an empty data folder."""
    with tempfile.TemporaryDirectory(prefix="carrel-cost-") as folder:
        found = Service(Path(folder))
        found.start()
        try:
            yield found
        finally:
            found.stop()


def measured(running: Service, case: Case) -> Cost:
    """Store what the case needs under a new user, and measure its request."""
    with httpx.Client(base_url=running.url, timeout=600) as client:
        user = User.new(client, running.plugin_secret, admin_secret=running.admin_secret)
        # Whatever is made at first use is there: threads, connections, imports.
        user.get("/users/me")
        request = case.prepare(user)
        return _measured(running, user, case, request)


def _measured(running: Service, user: User, case: Case, request: Request) -> Cost:
    answers: list[tuple[httpx.Response, int]] = []

    def send() -> None:
        with user.open(request) as answer:
            if not answer.is_stream_consumed:
                for _ in answer.iter_raw():
                    if answer.headers["content-type"].startswith("text/event-stream"):
                        break  # it goes on for as long as the run does
            answers.append((answer, answer.num_bytes_downloaded))

    cost = spent(running.pid, send)
    ((answer, size),) = answers
    return Cost(
        case, answer.status_code, user.last_code, cost, size, answer.headers.get("transfer-encoding") == "chunked"
    )


_PAGE = """# What one request costs

`CARREL_COST_TABLE=docs/cost.md python -m tests.campaigns.cost` measured this on {date}, at commit {commit},
with a real service on a machine of two cores.
Each line is one request of one user over the data that its case stores.
A name stands beside the cases that were looked for because they are dear; the others show what an operation costs with
data as long as is quick to store.
A request may take 250 ms of the event loop, 2 s in threads and workers, 64 MB of memory, and 8 MB of answer, unless
that is streamed: then a further millisecond of the loop for each megabyte; the last column names what was exceeded.
What starts a run answers at once, and its line shows the 560 tasks that follow.
Without the network, what GitHub would have to say is 503.

| operation | case | status | loop, ms | threads, ms | workers, ms | memory, MB | answer, MB | beyond |
|---|---|---|---|---|---|---|---|---|
{rows}
"""
HEAD = (
    f"{'operation':44} {'case':26} {'status':>6} {'loop':>8} {'threads':>8} {'workers':>8} {'memory':>8} {'answer':>9}"
)


def line(cost: Cost) -> str:
    """One line of the table."""
    used, case = cost.spent, cost.case
    streamed = "+" if cost.streamed else " "
    return (
        f"{case.operation:44} {case.name:26} {cost.status:>6} {used.loop_ms:>5.0f} ms {used.threads_ms:>5.0f} ms"
        f" {used.workers_ms:>5.0f} ms {used.memory_bytes / 1e6:>5.1f} MB {cost.answer_bytes / 1e6:>5.2f} MB{streamed}"
        f" {' '.join(cost.faults)}"
    )


def main(words: list[str]) -> None:
    """Measure and print; `CARREL_COST_TABLE` names the file that gets the table, too."""
    print(HEAD)
    found = []
    with service() as running:
        for case in CASES:
            if not words or any(word in f"{case.operation} {case.name}" for word in words):
                found.append(measured(running, case))
                print(line(found[-1]), flush=True)
    table = os.environ.get("CARREL_COST_TABLE")
    if table:
        Path(table).write_text(page(found))


def page(found: list[Cost]) -> str:
    """The table as a page of the documentation."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True).stdout
    rows = [
        f"| `{cost.case.operation}` | {cost.case.name} | {cost.status} | {cost.spent.loop_ms:.0f}"
        f" | {cost.spent.threads_ms:.0f} | {cost.spent.workers_ms:.0f} | {cost.spent.memory_bytes / 1e6:.1f}"
        f" | {cost.answer_bytes / 1e6:.2f}{' (streamed)' if cost.streamed else ''} | {' '.join(cost.faults)} |"
        for cost in found
    ]
    return _PAGE.format(date=f"{datetime.now(UTC):%Y-%m-%d}", commit=commit.strip(), rows="\n".join(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
