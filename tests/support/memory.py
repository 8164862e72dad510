"""Looks for keys in the memory of another process, as whoever steals a core dump would."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_UNREADABLE = ("[vvar]", "[vvar_vclock]", "[vsyscall]")


def traces(pid: int, secrets: dict[str, bytes]) -> Counter[str]:
    """How often each secret, or either half of it, stands in the memory of the process; only those that do.

    Halves count, since freed memory is often overwritten in part.
    """
    halves = [
        (name, secret[start : start + len(secret) // 2])
        for name, secret in secrets.items()
        for start in (0, len(secret) // 2)
    ]
    found: Counter[str] = Counter()
    for content in _regions(pid):
        for name, half in halves:
            count = content.count(half)
            if count:
                found[name] += count
    return found


def _regions(pid: int) -> Iterator[bytes]:
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) (....) \S+ \S+ \S+ *(.*)", line)
            assert match is not None
            # What cannot be written to holds no secret.
            if not match[3].startswith("rw") or match[4] in _UNREADABLE:
                continue
            memory.seek(int(match[1], 16))
            try:
                yield memory.read(int(match[2], 16) - int(match[1], 16))
            except OSError:
                # Reserved, but without content.
                continue
