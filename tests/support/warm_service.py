"""Starts services by forking a process that has everything imported: the tests start hundreds of them.

That takes a tenth of the processor time of an operator's start, which is for the tests of starts, memory and processes.

The forking process opens no database, no socket and no loop, so nothing that must not be shared goes through a fork.
"""

import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from carrel.kit.processes import allocator, private_memory
from tests.support.kills import ROOT, leave


class ForkedService:
    """One service: as much of `subprocess.Popen` as tests use."""

    def __init__(self, starter: "ServiceStarter", pid: int) -> None:
        self.pid = pid
        self._starter = starter
        self._ending = os.pidfd_open(pid)
        self._returned: int | None = None

    def poll(self) -> int | None:
        """The exit code, negative for a signal, once it has ended."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        returned = self._look(timeout)
        if returned is None:
            raise subprocess.TimeoutExpired("carrel", timeout or 0)
        return returned

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            # Not by its id: that is somebody else's once it has ended.
            signal.pidfd_send_signal(self._ending, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout: float | None) -> int | None:
        if self._returned is None and select.select([self._ending], [], [], timeout)[0]:
            self._returned = self._starter.ended(self.pid)
            os.close(self._ending)
        return self._returned


class ServiceStarter:
    """The process that forks services, from the first on. `launch` stands where a `Service` has `subprocess.Popen`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._turn = threading.Lock()

    def __enter__(self) -> "ServiceStarter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate(timeout=60)

    def launch(self, command: list[str], env: dict[str, str], cwd: Path, log: Path) -> ForkedService:
        """`command` begins with the module whose `main` is the program."""
        return ForkedService(self, self._ask("start", command, env | allocator.ENVIRONMENT, str(cwd), str(log)))

    def ended(self, pid: int) -> int:
        """The exit code of a service that has ended."""
        return self._ask("ended", pid)

    def _ask(self, *question: Any) -> int:
        with self._turn:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.support.warm_service"],
                    cwd=ROOT,
                    env=os.environ | allocator.ENVIRONMENT,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())


# In the process that forks --------------------------------------------------------------------------------------------


def _child(command: list[str], env: dict[str, str], cwd: str, log: str) -> NoReturn:
    status = 70
    # Nobody else would end it if the tests were killed.
    private_memory.end_with_parent()
    try:
        with open(os.devnull) as nothing, open(log, "a") as written:
            os.dup2(nothing.fileno(), 0)
            os.dup2(written.fileno(), 1)
            os.dup2(written.fileno(), 2)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        gc.unfreeze()
        sys.argv = command
        import_module(command[0]).main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        if sys.exc_info()[0] is not None:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        leave(status)


def _serve() -> None:
    for module in (
        "carrel.app",
        "carrel.cli.operators.serve",
        "carrel.cli.serving.uvicorn_server",
        "carrel.cluster.etcd",
        "tests.crash.dying_service",
    ):
        import_module(module)
    gc.freeze()
    for line in sys.stdin:
        what, *arguments = json.loads(line)
        if what == "ended":
            print(os.waitstatus_to_exitcode(os.waitpid(arguments[0], 0)[1]), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            _child(*arguments)
        print(pid, flush=True)


if __name__ == "__main__":
    _serve()
