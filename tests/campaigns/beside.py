"""Requests in every shape, measured while a stranger asks the service for a little all the time."""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.campaigns import cost, operations, shapes
from tests.campaigns.cases import Case
from tests.campaigns.cost import Cost
from tests.campaigns.process import all_resident_bytes
from tests.campaigns.shared import Shared, sharing
from tests.campaigns.user import Request, User
from tests.support.soak import size

_GROWN_BYTES = 8 * 1024 * 1024


class Stranger:
    """A process that asks all the time."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def longest_ms(self) -> float:
        """The longest wait since this was asked last, in milliseconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


@contextmanager
def stranger(shared: Shared) -> Iterator[Stranger]:
    """A stranger for as long as the block takes."""
    token = shared.new_user().session["X-SVC-Session-Token"]
    arguments = [sys.executable, "-m", "tests.campaigns.poller", str(shared.running.port), token]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        found = Stranger(process)
        found.longest_ms()
        try:
            yield found
        finally:
            assert process.stdin is not None
            process.stdin.close()


def measured_shapes(words: list[str]) -> Iterator[Cost]:
    """What the shapes of every operation's inputs cost, and how long the stranger waits.

    Each operation has a service of its own, and memory counts beyond what that held when it was ready. A service that
    has grown is replaced, because it keeps some of what earlier requests took.
    """
    for operation in operations.every():
        names = [name for name, _ in shapes.of(operation, Request("", ""))]
        wanted = [name for name in names if not words or any(word in f"{operation} {name}" for word in words)]
        left = random.Random(operation).sample(wanted, size(len(wanted))) if wanted else []
        while left:
            yield from _of_operation(operation, left)


def _of_operation(operation: str, left: list[str]) -> Iterator[Cost]:
    """Measure the shapes of these names, one at least, and take them away; until the service has grown."""
    with cost.service() as running, sharing(running) as shared:
        cost.warm(shared)
        user = shared.new_user()
        user.shared = shared
        made = dict(shapes.of(operation, operations.prepared(operation, user)))
        with stranger(shared) as other:
            held_bytes = all_resident_bytes(running.pid)
            while left and all_resident_bytes(running.pid) < held_bytes + _GROWN_BYTES:
                name = left.pop(0)
                yield _least(shared, user, Case(operation, name, _nothing), made[name](), held_bytes, other)
                if not user.is_signed_in():
                    user.sign_in()


def _nothing(_: User) -> Request:
    return Request("", "")


def _least(shared: Shared, user: User, case: Case, request: Request, held_bytes: int, other: Stranger) -> Cost:
    """The least of up to three measurements if the first is beyond: other programs make waits longer, never shorter."""
    found: list[Cost] = []
    while not found or (found[-1].faults and len(found) < 3):
        other.longest_ms()
        one = cost.measured_request(shared, user, case, request, held_bytes)
        found.append(one._replace(others_ms=other.longest_ms()))
    return min(found, key=cost.share)
