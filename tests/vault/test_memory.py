"""When a key has gone, no copy of it is left in the process's memory: neither raw nor as digits, not even half."""

import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.memory import traces

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 30.0
"""The process waits at its step, so what is left then stays; only a thread that has not had its turn may still go."""


class Holder:
    """The other process, and the keys that it was given."""

    def __init__(self, folder: Path) -> None:
        self.keys = {name: secrets.token_bytes(32) for name in ("old", "new", "wrong", "last")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.key_holder", str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    def send(self, *names: str) -> None:
        self._write(b"".join(self.keys[name] for name in names))

    def reach(self, step: str) -> None:
        """Wait until it has come to `step`, where it stays."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline().decode().strip() == step

    def go_on(self, *names: str) -> None:
        """Let it go on, with further keys."""
        self._write(b".")
        self.send(*names)

    def _write(self, content: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(content)

    def traces(self, *names: str) -> dict[str, int]:
        """Where the named keys are: raw, and as digits."""
        raw = {name: self.keys[name] for name in names}
        digits = {f"{name} in hex": self.keys[name].hex().encode() for name in names}
        return traces(self._process.pid, raw | digits)

    def forgets(self, *names: str) -> None:
        """No trace is left of the named keys."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while (found := self.traces(*names)) and time.monotonic() < deadline:
            pass
        assert found == {}

    def end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Holder]:
    holder = Holder(tmp_path)
    yield holder
    holder.end()


def test_no_key_outlives_its_eviction_rejection_rekey_deletion_or_the_service(holder: Holder) -> None:
    holder.send("old")
    holder.reach("working")
    assert holder.traces("old")["old"] >= 2, "the search would not find a key that is there"
    holder.go_on()
    holder.reach("evicted")
    holder.forgets("old")
    holder.go_on("old")
    holder.reach("back")
    holder.go_on("wrong")
    holder.reach("rejected")
    holder.forgets("old", "wrong")
    holder.go_on("old")
    holder.reach("about to rekey")
    holder.go_on("old", "new")
    holder.reach("rekeyed")
    holder.forgets("old")
    assert holder.traces("new")["new"] >= 2
    holder.go_on()
    holder.reach("destroyed")
    holder.forgets("old", "new", "wrong")
    holder.go_on("last")
    holder.reach("about to end")
    holder.go_on()
    holder.reach("closed")
    holder.forgets("old", "new", "wrong", "last")
