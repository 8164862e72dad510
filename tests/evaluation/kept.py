"""Results of long campaigns that are kept cell by cell, so that a campaign that was broken off can go on.

A file in `soak-cells/` holds the result of one cell together with that of a trial: a few tournaments that take no time.
If the trial comes out otherwise than it did, the rules or the simulation changed, and the cell is drawn again.
"""

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

FOLDER = Path(os.environ.get("CARREL_SOAK_CELLS", "soak-cells"))
PROCESSES = min(2, os.cpu_count() or 1)

K = TypeVar("K")
R = TypeVar("R")


class _Kept(NamedTuple):
    """`seconds` are those of the processor."""

    trial: str
    seconds: float
    result: Any


def drawn(
    campaign: str,
    keys: Sequence[K],
    make: Callable[[K], R],
    trial: Callable[[K], object],
    kind: type[R],
) -> dict[K, R]:
    """The result of every key, in their order, by two processes; `make` and `trial` are functions of a module."""
    found: dict[K, R] = {}
    missing = []
    tried = {key: repr(trial(key)) for key in keys}
    for key in keys:
        kept = _read(_file(campaign, key))
        if kept is not None and kept.trial == tried[key]:
            found[key] = msgspec.convert(kept.result, kind)
        else:
            missing.append(key)
    if len(missing) == 1 or PROCESSES == 1:
        made: Iterator[tuple[K, R, float]] = ((key, *_timed(make, key)) for key in missing)
    else:
        made = _by_processes(make, missing)
    for number, (key, result, seconds) in enumerate(made, start=1):
        _write(_file(campaign, key), _Kept(tried[key], seconds, result))
        found[key] = result
        print(f"{campaign}: {number} of {len(missing)}: {key} {seconds:.1f} s", file=sys.stderr, flush=True)
    return {key: found[key] for key in keys}


def table(name: str, text: str) -> None:
    """Print the tables of a campaign and keep them in a file: what a worker of pytest prints is not seen."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.md").write_text(f"{text}\n")
    print(f"\n{text}")


def seconds(campaign: str, keys: Sequence[Any]) -> float:
    """How long the processor needed for these keys, whenever they were drawn."""
    return sum(kept.seconds for key in keys if (kept := _read(_file(campaign, key))) is not None)


def _by_processes(make: Callable[[K], R], keys: Sequence[K]) -> Iterator[tuple[K, R, float]]:
    if not keys:
        return
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        futures: dict[Future[tuple[R, float]], K] = {pool.submit(_timed, make, key): key for key in keys}
        for future in as_completed(futures):
            yield futures[future], *future.result()


def _timed(make: Callable[[K], R], key: K) -> tuple[R, float]:
    began = time.process_time()
    return make(key), time.process_time() - began


def _file(campaign: str, key: Any) -> Path:
    return FOLDER / campaign / f"{hashlib.sha256(repr(tuple(key)).encode()).hexdigest()[:24]}.json"


def _read(file: Path) -> _Kept | None:
    return msgspec.json.decode(file.read_bytes(), type=_Kept) if file.exists() else None


def _write(file: Path, kept: _Kept) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}")
    part.write_bytes(msgspec.json.encode(kept))
    part.rename(file)
