"""`make profile`: where the service spends its time while it serves reads, writes or a run.

`carrel serve` runs under pyinstrument, which samples the thread of the event loop twice in a millisecond; what other
threads and the worker do appears as waiting. The tree is printed, and `profile-out/profile.html` can be explored.

    python -m benchmarks.profile [read | write | run]
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pyinstrument.renderers import ConsoleRenderer, HTMLRenderer
from pyinstrument.session import Session
from rich.console import Console

from benchmarks import job, load, rows
from benchmarks.rows import Server
from tests.support.model_server import model_server

OUT: Final = Path("profile-out")
INTERVAL_SECONDS: Final = 0.0005
READS, WRITES, CONNECTIONS = 4_000, 1_500, 8


def main() -> None:
    """Profile what the command line names; a run by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description=__doc__)
    parser.add_argument("what", nargs="?", choices=sorted(LOADS), default="run")
    what = parser.parse_args().what
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        session = profiled(Path(folder), LOADS[what])
    (OUT / "profile.html").write_text(HTMLRenderer().render(session), encoding="utf-8")
    tree = ConsoleRenderer(show_all=False, timeline=False, unicode=True, color=sys.stdout.isatty())
    sys.stdout.write(tree.render(session))
    Console().print(f"{session.sample_count:,} samples; {OUT / 'profile.html'} shows them in a browser")


def profiled(folder: Path, put_under_load: Callable[[Path, list[str]], None]) -> Session:
    """The samples of one service, from its start to its end."""
    kept = folder / "samples.pyisession"
    profiler = [sys.executable, "-m", "pyinstrument", "-i", str(INTERVAL_SECONDS), "-r", "pyisession", "-o", str(kept)]
    put_under_load(folder, [*profiler, str(Path(sys.executable).with_name("carrel"))])
    return Session.load(kept)


def _read(folder: Path, program: list[str]) -> None:
    with rows.carrel(folder, program=program) as server:
        request = rows.own_read(server)
        load.run(server.port, server.pid, lambda _: request, requests=READS, connections=CONNECTIONS)


def _write(folder: Path, program: list[str]) -> None:
    with rows.carrel(folder, program=program) as server:
        request = rows.content_request(rows.sign_in(server, "writer"))
        load.run(server.port, server.pid, lambda _: request, requests=WRITES, connections=CONNECTIONS)


def _run(folder: Path, program: list[str]) -> None:
    with model_server() as models, job.service(folder, models, program=program) as (server, token):
        _finish(server, token, job.make_run(server, token))


def _finish(server: Server, token: str, run_id: str) -> None:
    job.start(server, token, run_id)
    state = job.until_ended(server, token, run_id)
    if state != "completed":
        raise RuntimeError(f"the run is {state}")


LOADS: Final[dict[str, Callable[[Path, list[str]], None]]] = {"read": _read, "write": _write, "run": _run}

if __name__ == "__main__":
    main()
