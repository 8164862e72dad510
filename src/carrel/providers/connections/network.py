"""What all calls of other servers share: the thread that reads their answers, and the memory that these may take."""

from typing import Final

from carrel.kit.concurrency.loop_thread import LoopThread
from carrel.providers.answer_room import AnswerRoom

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024


class Network:
    """Owned by the event loop of the service.

    Whatever a server sends is received, unpacked and decoded in one thread beside that loop.
    `max_answer_bytes` is how long an answer may be when it is unpacked.
    """

    def __init__(self, max_answer_bytes: int = MAX_ANSWER_BYTES) -> None:
        self.max_answer_bytes = max_answer_bytes
        self.thread = LoopThread("answers")
        self.room = AnswerRoom(max_answer_bytes)

    async def close(self) -> None:
        """End the thread."""
        await self.thread.close()
