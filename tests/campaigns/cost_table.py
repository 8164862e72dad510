"""What the cost campaign writes: every line as CSV, and a page of the documentation with one line an operation."""

import csv
import io
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from tests.campaigns import climb
from tests.campaigns.cost import (
    DOCUMENT_BYTES,
    DOCUMENT_MS,
    MAX_OTHERS_MS,
    MOVED,
    READ_MS,
    READ_TIMES,
    STARTED,
    Cost,
    share,
)
from tests.support import soak

PAGE: Final = Path("docs/cost.md")
LINES: Final = Path("docs/cost.csv")


class Line(NamedTuple):
    """One request, as the file has it."""

    operation: str
    case: str
    status: int
    loop_ms: float
    threads_ms: float
    workers_ms: float
    memory_mb: float
    answer_mb: float
    streamed: str
    moved_mb: float
    tasks: int
    sent_mb: float
    others_wait_ms: str
    share: float
    beyond: str


def line_of(cost: Cost) -> Line:
    """A measured request."""
    used = cost.spent
    return Line(
        cost.case.operation,
        cost.case.name,
        cost.status,
        round(used.loop_ms, 1),
        round(used.threads_ms, 1),
        round(used.workers_ms, 1),
        round(used.memory_bytes / 1e6, 1),
        round(cost.answer_bytes / 1e6, 2),
        "streamed" if cost.streamed else "",
        round(cost.moved_bytes / 1e6, 2),
        cost.tasks,
        round(cost.sent_bytes / 1e6, 2),
        "" if cost.others_ms is None else f"{cost.others_ms:.0f}",
        round(share(cost), 3),
        " ".join(cost.faults),
    )


def write(found: Iterable[Cost], *, is_whole: bool) -> None:
    """Write both files. Lines that were not measured now stay, unless everything was, and the page says so."""
    measured = [*map(line_of, found)]
    lines = {} if is_whole else {(one.operation, one.case): one for one in read(LINES.read_text())}
    lines |= {(one.operation, one.case): one for one in measured}
    LINES.write_text(written(lines.values()))
    now = f"on {datetime.now(UTC):%Y-%m-%d}, at\ncommit {soak.commit()}"
    before = _WHEN.search(PAGE.read_text())
    whole, again = (now, "") if is_whole or before is None else (before[0], _AGAIN.format(len(measured), now))
    PAGE.write_text(page(list(lines.values()), whole, again))


def written(lines: Iterable[Line]) -> str:
    """The lines as CSV."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(Line._fields)
    rows.writerows(lines)
    return file.getvalue()


def read(text: str) -> list[Line]:
    """The lines in such a file."""
    kinds = Line.__annotations__
    return [
        Line(**{name: kinds[name](value) for name, value in row.items()}) for row in csv.DictReader(io.StringIO(text))
    ]


def verdict(lines: list[Line]) -> str:
    """How many lines exceed what a request may cost."""
    operations = len({line.operation for line in lines})
    beyond = sum(1 for line in lines if line.beyond)
    return f"{beyond} of {len(lines):,} requests, of {operations} operations, are beyond the budget"


_WHEN: Final = re.compile(r"on [0-9-]{10}, at\ncommit [0-9a-f]+")
_AGAIN: Final = "{} of these lines were measured again {}.\n"
_PAGE: Final = """# What one request costs

`CARREL_COST_TABLE=1 make soak CAMPAIGN=cost` measured this with a real service on a machine of two cores, {whole},
and wrote this page and [every line](cost.csv); without the variable it only prints them.
`python -m tests.campaigns.cost WORD ...` measures only the lines whose operation or case has one of the words.
A request may take 250 ms of the event loop, 2 s in threads, 2 s in workers, 64 MB of memory in service and workers
together, and 8 MB of answer (a receipt 16), unless that is streamed; and nobody else may wait longer than
{others:.0f} ms.
Three kinds of requests may take so much besides:

- **Files that are read** (uploads of documents and tables): {read_ms:.0f} ms in threads and in workers for each
  megabyte, and memory of {read_times} times the file. The service holds it, the worker that reads it holds it again,
  and a damaged PDF is put together once more.
  A document's worker, of a kind of its own and at the lowest priority, takes {document_seconds:.0f} s and
  {document_mb:.0f} MB at most: libraries make objects of everything; a Word file of 872 pages needs 7 s and 280 MB.
- **Files in and out** (exports of a workspace and of a run, imports, originals, backups): {moved_loop:.0f} ms of the
  loop and {moved_threads:.0f} ms in threads and in workers for each megabyte as it is unpacked, and no more memory.
  The work is done in pieces that take turns with others' work, and ends when the client leaves; the export of a run
  is made after its answer, also in pieces, and ends when nobody wants it any more.
- **Starts of runs** (status 202): {started_loop:.0f} ms of the loop and {started_threads:.0f} ms in threads and
  in workers for each task of the run, which goes on after the answer and takes turns.

**{verdict}.**
{again}
The requests of an operation are these:

- one over data as fat as is quick to store, and those with the largest or dearest data that are known: runs of 96,000
  calls, a million metered calls, 150 MB of texts, the fattest rows of lists, the largest imports and files;
- for what reads runs and contents, the dearest of up to {data_steps} random changes of what is stored
  (`tests/campaigns/climb.py`);
- for what takes a body, a file or a query, inputs that are nothing but one thing, as large and as many as they may be:
  unknown keys, empty lists, digits, one text, brackets within brackets, spaces; in place of the body and of each of its
  fields; files of one row, cell or element; packages that unpack to far more (`tests/campaigns/shapes.py` makes them
  from `openapi.json`). Beside these a stranger asks all the time, whose longest wait is the column *others wait*.

Each column has the most that any request of the operation took; *dearest* names the one that took the greatest share of
what it may. Without the network, what GitHub would have to say is 503. `read-too-long` is the limit of a single read:
503.

| operation | requests | loop, ms | threads, ms | workers, ms | memory, MB | answer, MB | others wait, ms | dearest |\
 beyond |
|---|---|---|---|---|---|---|---|---|---|
{rows}
"""


def page(lines: list[Line], whole: str, again: str = "") -> str:
    """The page of the documentation; it says when all lines were measured, and which of them again."""
    operations: dict[str, list[Line]] = {}
    for line in lines:
        operations.setdefault(line.operation, []).append(line)
    return _PAGE.format(
        whole=whole,
        again=again,
        others=MAX_OTHERS_MS,
        verdict=verdict(lines),
        data_steps=climb.DATA_STEPS,
        rows="\n".join(_row(operation, operations[operation]) for operation in sorted(operations)),
        read_times=READ_TIMES,
        read_ms=READ_MS,
        document_seconds=DOCUMENT_MS / 1000,
        document_mb=DOCUMENT_BYTES / 1024**2,
        moved_loop=MOVED.loop_ms,
        moved_threads=MOVED.threads_ms,
        started_loop=STARTED.loop_ms,
        started_threads=STARTED.threads_ms,
    )


def _row(operation: str, lines: list[Line]) -> str:
    waits = [int(line.others_wait_ms) for line in lines if line.others_wait_ms]
    plain = [line.answer_mb for line in lines if not line.streamed]
    dearest = max(lines, key=lambda line: line.share)
    cells = (
        f"`{operation}`",
        len(lines),
        *(f"{max(getattr(line, name) for line in lines):.0f}" for name in ("loop_ms", "threads_ms", "workers_ms")),
        f"{max(line.memory_mb for line in lines):.0f}",
        f"{max(plain):.1f}" if plain else "streamed",
        max(waits) if waits else "",
        dearest.case.replace("|", "\\|"),
        sum(1 for line in lines if line.beyond) or "",
    )
    return f"| {' | '.join(map(str, cells))} |"
