"""`make bench`: measure every row, print the table, write `benchmarks/results.json` and the table in the docs.

python -m benchmarks [ROW …]
"""

import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import catalogue, fairness, job, kills, lists, many, nodes, rows, size, writes
from benchmarks.rows import Figure

ROWS: dict[str, Callable[[Path], list[Figure]]] = {
    "1": rows.reads,
    "2": lists.lists,
    "3": writes.writes,
    "4": rows.logins,
    "5": rows.encryption,
    "6": many.many,
    "7": job.evaluation_job,
    "8": size.size,
    "9": fairness.fairness,
    "10": kills.kills,
    "11": job.results,
    "12": rows.start,
    "13": nodes.nodes,
    "models": catalogue.models,
}
RESULTS = Path(__file__).with_name("results.json")
DOCUMENT = Path(__file__).parent.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: make bench -->", "<!-- end of figures -->"


def main() -> None:
    """Measure the rows named on the command line, or all."""
    chosen = sys.argv[1:] or list(ROWS)
    os.sched_setaffinity(0, {rows.LOAD_CORE})
    figures: list[Figure] = []
    for row in chosen:
        with tempfile.TemporaryDirectory() as folder:
            figures += ROWS[row](Path(folder))
        show(figures[-1:])
    show(figures)
    if chosen == list(ROWS):
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        RESULTS.write_text(
            json.dumps({"machine": machine, "figures": [figure._asdict() for figure in figures]}, indent=1) + "\n"
        )
        _write_table(machine, figures)


def show(figures: list[Figure]) -> None:
    """The figures as a table on the terminal."""
    table = Table("row", "what", "value", "goal", "met")
    for figure in figures:
        table.add_row(figure.row, figure.what, figure.value, figure.goal, _verdict(figure))
    Console(width=120).print(table)


def _verdict(figure: Figure) -> str:
    return "" if figure.met is None else "yes" if figure.met else "NO"


def _write_table(machine: str, figures: list[Figure]) -> None:
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [f"Measured on: {machine}.", "", "| row | what | value | goal | met |", "|---|---|---|---|---|"]
    lines += [f"| {f.row} | {f.what} | {f.value} | {f.goal} | {_verdict(f)} |" for f in figures]
    DOCUMENT.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
