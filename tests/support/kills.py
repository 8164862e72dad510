"""Kills processes with SIGKILL at chosen instants, fast: a fork server with everything imported forks a child per kill.

The fork server never opens a database, so nothing that must not be shared goes through a fork.
"""

import contextlib
import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

ROOT = Path(__file__).parents[2]
_FAILED = 3


@dataclass(frozen=True)
class Run:
    """How a child ended; `marks` are the steps it had begun, `seconds` counts from the first of them."""

    marks: list[str]
    seconds: float
    killed: bool


class ForkServer:
    """Runs functions `fn(mark, *arguments)` of `module` in children of its own, to the end or to a SIGKILL.

    `mark(name)` says that a step begins. Before the first mark a child is not killed.
    """

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.kills", module],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def run(self, function: str, *arguments: Any, kill_after: float | None = None) -> Run:
        """Run `function`; kill it `kill_after` seconds after its first mark, if it is still there then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([function, arguments, kill_after]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert answer["status"] in (0, signal.SIGKILL), "the child failed by itself; its traceback is above"
        return Run(answer["marks"], answer["seconds"], answer["status"] == signal.SIGKILL)

    def duration(self, prepare: Callable[[], Any], function: str, *arguments: Any) -> float:
        """How long `function` takes undisturbed: the median of three."""
        found = []
        for _ in range(3):
            prepare()
            found.append(self.run(function, *arguments).seconds)
        return sorted(found)[1]


@dataclass
class KillCounts:
    """Where kills hit: how often in each step, and how often they came too late."""

    hits: Counter[str] = field(default_factory=Counter)
    too_late: int = 0
    seconds: float = 0.0
    """How long an undisturbed run took when it was last measured."""

    @property
    def kills(self) -> int:
        """Those that came in time."""
        return self.hits.total()

    def count(self, run: Run) -> None:
        if run.killed:
            self.hits[run.marks[-1]] += 1
        else:
            self.too_late += 1

    def __str__(self) -> str:
        hits = ", ".join(f"{step}: {count}" for step, count in self.hits.most_common())
        return f"{self.kills} kills over {self.seconds * 1000:.0f} ms, {self.too_late} more too late; hits: {hits}"


_MEASURED_EVERY = 50


def kill_at_random(
    server: ForkServer,
    chance: random.Random,
    kills: int,
    prepare: Callable[[], Any],
    check: Callable[[], Any],
    function: str,
    *arguments: Any,
) -> KillCounts:
    """Kill `function` at `kills` instants spread over all of its duration; `prepare` before each, `check` after it.

    A kill that comes too late does not count, and another one is made. Because a machine is not equally busy all the
    time, the duration is measured again and again.
    """
    counts = KillCounts()
    while counts.kills < kills:
        counts.seconds = server.duration(prepare, function, *arguments)
        before = counts.kills
        for _ in range(_MEASURED_EVERY):
            prepare()
            run = server.run(function, *arguments, kill_after=chance.uniform(0, counts.seconds))
            counts.count(run)
            try:
                check()
            except Exception as error:
                error.add_note(f"{function}, after {run}; so far {counts}")
                raise
            if counts.kills == kills:
                break
        assert counts.kills > before, f"{_MEASURED_EVERY} runs ended before their instants: {counts}"
    return counts


Mark = Callable[[str], None]


@contextlib.contextmanager
def marking(mark: Mark, *steps: tuple[Any, str, str]) -> Iterator[None]:
    """For each (owner, attribute, name): mark `name` when that function begins and `name done` when it has ended."""
    usual = [(owner, attribute, getattr(owner, attribute)) for owner, attribute, _ in steps]
    for (owner, attribute, name), (_, _, function) in zip(steps, usual, strict=True):
        setattr(owner, attribute, _marked(function, mark, name))
    try:
        yield
    finally:
        for owner, attribute, function in usual:
            setattr(owner, attribute, function)


def _marked(function: Callable[..., Any], mark: Mark, name: str) -> Callable[..., Any]:
    @wraps(function)
    def marked(*args: Any, **kwargs: Any) -> Any:
        mark(name)
        try:
            return function(*args, **kwargs)
        finally:
            mark(f"{name} done")

    return marked


# In the fork server --------------------------------------------------------------------------------------------------


def _serve(module: str) -> None:
    functions = import_module(module)
    # Children share these objects; a collection would copy their pages.
    gc.freeze()
    for line in sys.stdin:
        name, arguments, kill_after = json.loads(line)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            _child(getattr(functions, name), arguments, writing)
        os.close(writing)
        print(json.dumps(_attend(pid, reading, kill_after)), flush=True)


def _child(function: Callable[..., None], arguments: list[Any], writing: int) -> NoReturn:
    def mark(name: str) -> None:
        os.write(writing, f"{name}\n".encode())

    status = _FAILED
    try:
        function(mark, *arguments)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        leave(status)


def leave(status: int) -> NoReturn:
    """End a forked process. Not a normal exit: what its parent has to clean up is not its own."""
    os._exit(status)


def _attend(pid: int, reading: int, kill_after: float | None) -> dict[str, Any]:
    with os.fdopen(reading, "rb") as marks:
        first = marks.readline()
        started = time.perf_counter()
        if kill_after is not None:
            time.sleep(kill_after)
            # Its own parent: the number cannot belong to anybody else before it is waited for.
            os.kill(pid, signal.SIGKILL)
        names = [first, *marks.readlines()]
    seconds = time.perf_counter() - started
    _, status = os.waitpid(pid, 0)
    return {
        "marks": [name.decode().strip() for name in names],
        "seconds": seconds,
        "status": os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
    }


if __name__ == "__main__":
    _serve(sys.argv[1])
