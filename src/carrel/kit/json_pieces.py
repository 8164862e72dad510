"""JSON that was encoded piece by piece. It is sent without being put together: to copy megabytes takes milliseconds."""

from collections.abc import Iterator, Sequence
from typing import Final

SENT_AT_ONCE: Final = 64 * 1024
"""Short pieces are joined until they have so many bytes, because each costs a call of the system."""


class JsonPieces:
    """JSON as UTF-8, in pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self._length = sum(map(len, pieces))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[bytes]:
        """The pieces, short ones joined to some that are worth a call of the system."""
        some: list[bytes] = []
        size = 0
        for piece in self._pieces:
            some.append(piece)
            size += len(piece)
            if size >= SENT_AT_ONCE:
                yield b"".join(some)
                some.clear()
                size = 0
        if some:
            yield b"".join(some)
