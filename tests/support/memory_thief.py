"""A hostile process of the service's account, without any privilege: it opens the memory of others as early as it can.

Run as a program with the id of the process whose descendants it is after. It looks for new ones without a pause, opens
`/proc/<pid>/mem` of each as long as the kernel lets it, and keeps what it has opened. For each line on its standard
input, a JSON object of secrets in hex by name, it answers with one line: how many it has opened, and how often each
secret stands in what it can read now.
"""

import json
import os
import re
import resource
import select
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

_MOST = 2
"""Of one process: a program that starts itself anew has another memory, and the kernel tells nobody which is which."""
_PIECE_BYTES = 16 * 1024 * 1024


class Opened:
    """Memory and map of one process, in the order in which they were opened: the first, and the latest."""

    def __init__(self) -> None:
        self.descriptors: list[tuple[int, int]] = []

    def try_again(self, pid: int) -> bool:
        """Open both once more. Whether the kernel allowed it."""
        try:
            memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        except OSError:
            return False
        try:
            self.descriptors.append((memory, os.open(f"/proc/{pid}/maps", os.O_RDONLY)))
        except OSError:
            os.close(memory)
            return False
        if len(self.descriptors) > _MOST:
            for descriptor in self.descriptors.pop(1):
                os.close(descriptor)
        return True


def main() -> None:
    root = int(sys.argv[1])
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    before = set(os.listdir("/proc"))
    opened: dict[int, Opened] = {}
    strangers: set[str] = set()
    count = 0
    print("ready", flush=True)
    while True:
        for name in os.listdir("/proc"):
            if name in before or name in strangers or not name.isdigit():
                continue
            pid = int(name)
            if pid not in opened:
                if not _is_below(pid, {root, *opened}):
                    strangers.add(name)
                    continue
                opened[pid] = Opened()
            count += opened[pid].try_again(pid)
        if select.select([sys.stdin], [], [], 0)[0]:
            line = sys.stdin.readline()
            if not line:
                return
            wanted = {name: bytes.fromhex(secret) for name, secret in json.loads(line).items()}
            print(json.dumps({"opened": count, **_search(opened.values(), wanted)}), flush=True)


def _is_below(pid: int, known: set[int]) -> bool:
    """Whether one of `known` is an ancestor."""
    while pid > 1:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                pid = int(stat.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            return False
        if pid in known:
            return True
    return False


def _search(everything: Iterable[Opened], wanted: dict[str, bytes]) -> dict[str, object]:
    found: Counter[str] = Counter()
    read = 0
    for opened in everything:
        for memory, maps in opened.descriptors:
            for piece in _pieces(memory, maps):
                read += len(piece)
                for name, secret in wanted.items():
                    found[name] += piece.count(secret) + piece.count(secret.hex().encode())
    return {"bytes": read, "found": +found}


def _pieces(memory: int, maps: int) -> Iterator[bytes]:
    text = b""
    with suppress(OSError):
        os.lseek(maps, 0, os.SEEK_SET)
        while more := os.read(maps, 65536):
            text += more
    for line in text.decode().splitlines():
        region = re.match(r"([0-9a-f]+)-([0-9a-f]+) (r...) ", line)
        if region is None or line.endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
            continue
        start, end = int(region[1], 16), int(region[2], 16)
        while start < end:
            piece = b""
            with suppress(OSError):
                piece = os.pread(memory, min(_PIECE_BYTES, end - start), start)
            if not piece:
                break
            start += len(piece)
            yield piece


if __name__ == "__main__":
    main()
