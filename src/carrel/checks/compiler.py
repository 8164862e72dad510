"""Whether what users write can be compiled: a worker tries it before it is kept, and its findings are remembered."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from carrel.checks import work
from carrel.checks.definition import Check
from carrel.checks.work import MAX_SCHEMA_BYTES, MESSAGES, CompileResult, Kind, TextFault
from carrel.errors import BadInput, FieldError, Unavailable
from carrel.http.requests.validation import join
from carrel.kit.processes.jobs import MIB, CallLimits, WorkerDied, WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.rows import as_json

CPU_SECONDS: Final = 1.0
"""For all texts of a request: one takes 0.1 ms, a schema of as many large patterns as the memory allows 0.2 s."""
BOUNDS: Final = CallLimits(call=MIB, answer=MIB, cpu_seconds=CPU_SECONDS)
COMPILE_SECONDS: Final = 20.0
"""For one text, on the clock of the wall, where others have the processor, too."""
MAX_REMEMBERED: Final = 4_096
_TAKES_TOO_LONG: Final = "takes too much time or memory to compile, alone or with the others"


class SourceText(NamedTuple):
    """A text that is to be compiled, and the path of the field that has it."""

    path: str
    kind: Kind
    text: str


def of_checks(checks: Sequence[Check]) -> Iterator[SourceText]:
    """What the checks have to be compiled for."""
    for index, check in enumerate(checks):
        if check.kind == "regex" and check.pattern:
            yield SourceText(f"checks[{index}].pattern", _kind(check), check.pattern)
        if check.kind == "json_schema" and check.schema_:
            yield of_schema(f"checks[{index}].schema", check.schema_)


def of_schema(path: str, schema: dict[str, Any]) -> SourceText:
    """The schema at this path.

    Raises:
        BadInput: it is nested too deeply to be written as JSON.
    """
    try:
        return SourceText(path, "schema", as_json(schema))
    except RecursionError:
        raise BadInput.at(path, MESSAGES["depth"]) from None


class Compiler:
    """Has workers compile. It remembers what they found by a hash of the text, for each user on their own."""

    def __init__(self, workers: WorkerPool) -> None:
        self._workers = workers
        self._remembered: OrderedDict[bytes, TextFault | None] = OrderedDict()

    async def require(self, user: str, sources: Iterable[SourceText]) -> None:
        """Go on only if everything can be compiled.

        Raises:
            BadInput: with the path of every fault. After a text that takes too much time or memory, no further one is
                tried.
            Unavailable: the service ends.
        """
        faults: list[FieldError] = []
        cpu_seconds = 0.0
        for source in sources:
            key = _key(user, source)
            if key in self._remembered:
                self._remembered.move_to_end(key)
                found = self._remembered[key]
            else:
                tried = await self._tried(user, source) if cpu_seconds < CPU_SECONDS else None
                if tried is None:
                    raise BadInput(errors=(*faults, FieldError(source.path, _TAKES_TOO_LONG)))
                cpu_seconds += tried.cpu_seconds
                found = tried.found
                self._remember(key, found)
            if found is not None:
                faults.append(FieldError(join(source.path, found.at), MESSAGES[found.fault]))
        if faults:
            raise BadInput(errors=tuple(faults))

    async def _tried(self, user: str, source: SourceText) -> CompileResult | None:
        """What a worker found; `None` if it took too much time or memory."""
        if source.kind == "schema" and len(source.text.encode()) > MAX_SCHEMA_BYTES:
            return CompileResult(0.0, TextFault("", "size"))
        try:
            async with self._workers.turn(user) as worker:
                with suppress(WorkerError):
                    return await worker.run(work.compiles, source.kind, source.text, timeout_seconds=COMPILE_SECONDS)
        except WorkerDied:
            raise Unavailable from None
        return None

    async def stop(self) -> None:
        """End the processes that compile."""
        await self._workers.close()

    def _remember(self, key: bytes, fault: TextFault | None) -> None:
        self._remembered[key] = fault
        if len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)


def _kind(check: Check) -> Kind:
    return "pattern_in_any_case" if check.ignore_case else "pattern"


def _key(user: str, source: SourceText) -> bytes:
    return hashlib.sha256(f"{user}\n{source.kind}\n{source.text}".encode()).digest()
