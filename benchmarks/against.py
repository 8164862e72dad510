"""`make bench AGAINST=folder`: this checkout against another one, request by request, on the same core.

A machine's speed may change by a quarter from one minute to the next, so two full runs of the table cannot show a
difference of a few percent. Here both programs run at once and take turns in short blocks, and each block is compared
with its neighbour.

python -m benchmarks.against FOLDER
"""

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import load, rows
from benchmarks.load import Request
from benchmarks.rows import Server

_BLOCKS = 40
_NOTES = 60
"""Contents of the user whose lists are read."""


def main() -> None:
    """Print, for each kind of request, this checkout's CPU per request over the other's."""
    (other,) = sys.argv[1:]
    os.sched_setaffinity(0, {rows.LOAD_CORE})
    with tempfile.TemporaryDirectory() as folder, rows.carrel(Path(folder) / "here") as here:
        program = [str(Path(other).resolve() / ".venv/bin/carrel")]
        with rows.carrel(Path(folder) / "there", program=program) as there:
            table = Table("request", "here, CPU ms", "there, CPU ms", "here over there", "quarters")
            ours, theirs = _requests(here), _requests(there)
            for name, (request, count) in ours.items():
                table.add_row(name, *_compared((here, request), (there, theirs[name][0]), count))
            Console(width=120).print(table)


def _requests(server: Server) -> dict[str, tuple[Request, int]]:
    """The kinds of requests, with how many make a block that takes some tenth of a second."""
    token = rows.sign_in(server, "writer")
    for _ in range(_NOTES):
        load.call(server.port, rows.content_request(token), 201)
    session = (("X-SVC-Session-Token", token),)
    plugin = (("X-SVC-Plugin-Secret", server.plugin_secret),)
    return {
        "GET /api/contents/{id}": (rows.own_read(server), 600),
        "GET /api/contents?limit=50": (Request("GET", "/api/contents?limit=50", session), 200),
        "GET /api/models": (Request("GET", "/api/models", session), 100),
        "POST /api/contents": (rows.content_request(token), 200),
        "POST /api/auth/refresh": (
            Request("POST", "/api/auth/refresh", plugin, json.dumps({"uuid": "writer"}).encode()),
            400,
        ),
    }


def _compared(ours: tuple[Server, Request], theirs: tuple[Server, Request], count: int) -> list[str]:
    """The two medians, the median ratio of neighbouring blocks, and the quarters between which half of them lie."""
    here: list[float] = []
    there: list[float] = []
    for block in range(_BLOCKS):
        # The one that begins changes, so that a speed that drifts favours nobody.
        for (server, request), costs in [(ours, here), (theirs, there)][:: 1 if block % 2 else -1]:
            done = load.run(server.port, server.pid, load.always(request), requests=count, connections=4)
            costs.append(done.cpu_ms)
    ratios = [a / b for a, b in zip(here, there, strict=True) if b]
    low, middle, high = statistics.quantiles(ratios, n=4)
    medians = [f"{statistics.median(costs):.3f}" for costs in (here, there)]
    return [*medians, f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]


if __name__ == "__main__":
    main()
