"""What one request costs the service at worst, measured on a real process: `python -m tests.campaigns.cost [WORD ...]`.

`cases.CASES` is the table: an operation, and a function that stores data and returns the request. To add a case, add a
function there. Each word of the command line picks the cases whose names contain it.
"""

import compileall
import importlib.util
import io
import json
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, TextIO

import httpx

from tests.campaigns import packages, stored
from tests.campaigns.cases import CASES, Case
from tests.campaigns.process import Spent, spent
from tests.campaigns.shared import Shared, sharing
from tests.campaigns.stored import Shape
from tests.campaigns.user import Request, User
from tests.support import soak
from tests.support.service import Service

_SHOWN_BYTES = 1_000_000
"""Longer answers are not read as JSON."""
MAX_LOOP_MS = 250.0
MAX_THREADS_MS = 2_000.0
"""In threads, and as much in workers."""
MAX_MEMORY_BYTES = 64 * 1024 * 1024
MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Of an answer that is not streamed."""
MAX_RECEIPT_BYTES = 16 * 1024 * 1024
"""Of a receipt: 82 bytes for each text, and 120 for each score."""
MAX_OTHERS_MS = 250.0
"""How long anybody else may wait."""


EXPECTED = ("github-unavailable", "read-too-long")
"""Without the network, the first is what somebody else's server has to say; the second is a limit."""


class Rate(NamedTuple):
    """What a megabyte or a task may take besides: milliseconds of the loop, and of threads and of workers."""

    loop_ms: float
    threads_ms: float


MOVED = Rate(1.0, 100.0)
"""For each megabyte that goes in or out, before it is packed."""
STARTED = Rate(1.0, 5.0)
"""For each task of a run that a request starts."""
READ_MS = 50.0
"""For each megabyte of a file that is uploaded and read: of threads, and of workers."""
READ_TIMES = 3
"""How many times its size such a file may take of memory besides."""
DOCUMENTS = (
    "POST /documents",
    "POST /documents/{document_id}/reread",
    "GET /documents/{document_id}/pages/{number}",
)
"""Kept libraries read their files and draw their pages, in a worker of its own kind at the lowest priority."""
DOCUMENT_MS = 20_000.0
"""What such a worker may take: `CARREL_MAX_READING_SECONDS` ends it."""
DOCUMENT_BYTES = 512 * 1024 * 1024
"""What it may take of memory: the kernel gives it no more."""
READS = ("POST /documents", "POST /data-sets", "POST /data-sets/preview", "POST /data-sets/{data_set_id}/versions")
"""Their files are read by a worker."""
MOVES = (
    "GET /users/me/export",
    "POST /users/me/import",
    "POST /runs/{run_id}/export",
    "GET /runs/{run_id}/export",
    "GET /documents/{document_id}/original",
    "POST /admin/backup",
)
"""They move as much data as their owner may store."""
STARTS = (
    "POST /presets/{preset_id}/execute",
    *(f"POST /runs/{{run_id}}/{verb}" for verb in ("start", "resume", "retry", "reevaluate")),
)
"""With 202 they answer at once, and a run goes on."""


class Cost(NamedTuple):
    """One request, measured."""

    case: Case
    status: int
    code: str
    spent: Spent
    answer_bytes: int
    streamed: bool
    moved_bytes: int = 0
    """Of the file that goes in or out, unpacked."""
    tasks: int = 0
    """Of the run that was started."""
    sent_bytes: int = 0
    """Of the file that was uploaded."""
    others_ms: float | None = None
    """The longest wait of a stranger meanwhile, if there was one."""

    @property
    def shares(self) -> dict[str, float]:
        """How much it took of what it may: 1 is all."""
        megabytes = self.moved_bytes / 1e6
        loop_ms = MAX_LOOP_MS + MOVED.loop_ms * megabytes + STARTED.loop_ms * self.tasks
        threads_ms = MAX_THREADS_MS + MOVED.threads_ms * megabytes + STARTED.threads_ms * self.tasks
        threads_ms += READ_MS * self.sent_bytes / 1e6
        memory_bytes = MAX_MEMORY_BYTES + READ_TIMES * self.sent_bytes
        workers_ms = threads_ms
        answer_bytes = MAX_RECEIPT_BYTES if self.case.operation.endswith("/receipt") else MAX_ANSWER_BYTES
        if self.case.operation in DOCUMENTS:
            workers_ms, memory_bytes = workers_ms + DOCUMENT_MS, memory_bytes + DOCUMENT_BYTES
        return {
            "loop": self.spent.loop_ms / loop_ms,
            "threads": self.spent.threads_ms / threads_ms,
            "workers": self.spent.workers_ms / workers_ms,
            "memory": self.spent.memory_bytes / memory_bytes,
            "answer": 0.0 if self.streamed else self.answer_bytes / answer_bytes,
            "others": (self.others_ms or 0.0) / MAX_OTHERS_MS,
        }

    @property
    def faults(self) -> list[str]:
        """Which limits it exceeds."""
        found = {
            **{name: share > 1 for name, share in self.shares.items()},
            "status": self.status >= 500 and self.status != 507 and self.code not in EXPECTED,
            "refused": self.status == 400 and not self.case.name,
        }
        return [name for name, is_exceeded in found.items() if is_exceeded]


def share(found: Cost) -> float:
    """How much of what a request may take it took: 1 is all of one kind; a little of every other kind counts, too."""
    return max(found.shares.values()) + 0.01 * sum(found.shares.values())


@contextmanager
def service(settings: dict[str, str] | None = None) -> Iterator[Service]:
    """A service of its own, over an empty data folder."""
    # As pip does when it installs: Python takes sixty megabytes to compile the list of prices.
    package = importlib.util.find_spec("genai_prices")
    for folder in (package and package.submodule_search_locations) or ():
        compileall.compile_dir(folder, quiet=2)
    with tempfile.TemporaryDirectory(prefix="carrel-cost-") as folder:
        found = Service(Path(folder), settings=settings or {})
        found.start()
        try:
            yield found
        finally:
            found.stop()


def measured(shared: Shared, case: Case) -> Cost:
    """Store what the case needs under a new user, and measure its request."""
    running = shared.running
    with httpx.Client(base_url=running.url, timeout=600) as client:
        user = User.new(client, running.plugin_secret, admin_secret=running.admin_secret)
        user.shared = shared
        # Whatever is made at first use is there: threads, connections, imports.
        user.get("/users/me")
        return measured_request(shared, user, case, case.prepare(user))


def warm(shared: Shared) -> None:
    """Start every worker, whose own memory is no request's."""
    made = shared.new_user()
    run = stored.finished_run(shared.running, made, Shape(documents=2, candidates=2))
    for path in (f"/runs/{run}/ranking?with_human=true", f"/runs/{run}/report?format=html"):
        made.get(path) if "ranking" in path else made.status(path)
    upload = packages.form("a.html", b"<p>River")
    made.client.post("/api/documents", content=upload.content, headers={**made.session, **upload.headers})
    made.post("/generation", {"model": "local:lexrank", "prompt": "The river rose. The mill stood still."})


def measured_request(shared: Shared, user: User, case: Case, request: Request, held_bytes: int | None = None) -> Cost:
    """What a request of this user costs that is ready to be sent. `held_bytes` is as for `spent`."""
    answers: list[httpx.Response] = []
    began = bytearray()
    with tempfile.TemporaryFile() as kept:

        def send() -> None:
            with user.open(request) as answer:
                if not answer.is_stream_consumed:
                    for piece in answer.iter_raw():
                        if answer.headers["content-type"].startswith("text/event-stream"):
                            break  # it goes on for as long as the run does
                        if len(began) < _SHOWN_BYTES:
                            began.extend(piece)
                        if is_zip(answer):
                            kept.write(piece)
                answers.append(answer)
            if request.until is not None:
                # What was begun goes on after the answer, and is part of the cost.
                until = Request("GET", request.until, headers=request.headers)
                while _status(user, until) == 409:
                    time.sleep(1.0)

        user.last_code = ""
        cost = spent(shared.running.pid, send, held_bytes)
        (answer,) = answers
        if request.until is not None:
            with user.open(Request("GET", request.until, headers=request.headers)) as made:
                for piece in made.iter_raw():
                    kept.write(piece)
        moved = 0
        if case.operation in MOVES and answer.status_code < 300:
            moved = _unpacked(kept) if request.content is None else _unpacked(io.BytesIO(request.content))
            moved = moved or answer.num_bytes_downloaded
    # A file in pieces tells its length if that is known.
    streamed = answer.headers.get("transfer-encoding") == "chunked" or "content-disposition" in answer.headers
    tasks = json.loads(began)["progress"]["total"] if case.operation in STARTS and answer.status_code == 202 else 0
    sent = len(request.content or b"") if case.operation in READS else 0
    size = answer.num_bytes_downloaded
    return Cost(case, answer.status_code, user.last_code, cost, size, streamed, moved, tasks, sent)


def is_zip(answer: httpx.Response) -> bool:
    """Whether a zip comes."""
    return str(answer.headers.get("content-type")) == "application/zip"


def _unpacked(file: IO[bytes]) -> int:
    """How many bytes the entries of a zip have; 0 for another file."""
    if not zipfile.is_zipfile(file):
        return 0
    with zipfile.ZipFile(file) as found:
        return sum(entry.file_size for entry in found.infolist())


def _status(user: User, request: Request) -> int:
    with user.open(request) as answer:
        return answer.status_code


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
        f" {f'{cost.moved_bytes / 1e6:.1f} MB moved' if cost.moved_bytes else ''}"
        f"{f'{cost.tasks} tasks' if cost.tasks else ''}"
        f"{'' if cost.others_ms is None else f'others {cost.others_ms:.0f} ms'} {' '.join(cost.faults)}"
    )


def main(words: list[str]) -> None:
    """Measure, search and print; with `CARREL_COST_TABLE`, write the page of the documentation, too."""
    print(HEAD)
    found = [*measure_all(words, lambda one: print(line(one), flush=True))]
    tell(found, is_whole=not words)


def tell(found: list[Cost], *, is_whole: bool = True, to: TextIO = sys.stdout) -> None:
    """Print how many lines are beyond the budget, and write the files if `CARREL_COST_TABLE` is set."""
    # Late, because they build on this module.
    from tests.campaigns import cost_table

    print(cost_table.verdict([*map(cost_table.line_of, found)]), file=to, flush=True)
    if os.environ.get("CARREL_COST_TABLE"):
        cost_table.write(found, is_whole=is_whole)


def measure_all(words: list[str], tell: Callable[[Cost], None]) -> list[Cost]:
    """The known cases, and beside them, with a service of its own, the search; then the shapes beside a stranger."""
    # Late, because they measure with this module.
    from tests.campaigns import beside, climb

    soak.commit()
    found = []
    with service() as running, sharing(running) as shared, ThreadPoolExecutor(1) as aside:
        searching = aside.submit(climb.searched, words)
        warm(shared)
        for case in CASES:
            if not words or any(word in f"{case.operation} {case.name}" for word in words):
                found.append(measured(shared, case))
                tell(found[-1])
        climbed = [one.cost for one in searching.result()]
    for one in climbed:
        tell(one)
    shaped = []
    for one in beside.measured_shapes(words):
        tell(one)
        shaped.append(one)
    return [*found, *climbed, *shaped]


if __name__ == "__main__":
    main(sys.argv[1:])
