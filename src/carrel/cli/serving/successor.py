"""The process that takes this one's place in a hot restart: this program, read anew from the disk.

1. It starts, reads its settings and sends its terms. Until then nothing changes here, whatever becomes of it.
2. This process pauses runs, lets requests end, closes every database and lets go of the data folder.
3. It sends listener, idle connections and keys. The successor opens the data folder and says that it is ready.
4. This process wipes the keys, closes the socket and ends. Then the successor begins to serve.

If the successor ends before step 4, or takes too long, this process has everything that it needs to go on.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Final

import msgspec

from carrel import config
from carrel.app.hot_restart import HandOver, Terms
from carrel.cli.serving import messages
from carrel.cli.serving.predecessor import READY

PREPARE_SECONDS: Final = 60.0
"""For step 1, in which nobody waits."""
START_SECONDS: Final = 15.0
"""For step 3, in which everybody waits."""


class HotRestartRefused(Exception):
    """Everything stays as it is. The text is one line for the operator."""


class Successor:
    """A process that this one has started, and the end of its channel."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self._process = process
        self._channel = channel

    @classmethod
    async def start(cls, environ: Mapping[str, str], ours: Terms) -> "Successor":
        """A process that is ready to take over. `environ` are the variables that this process was started with.

        Raises:
            HotRestartRefused: it did not become ready, or could not go on with our keys and data.
        """
        if os.getpid() == 1:
            raise HotRestartRefused("this is the first process of a container, which ends with it")
        successor = cls(*_started(environ))
        with ExitStack() as undo:
            undo.callback(successor.kill)
            await successor._check(ours)
            undo.pop_all()
        return successor

    async def _check(self, ours: Terms) -> None:
        try:
            async with asyncio.timeout(PREPARE_SECONDS):
                body = await _first_message(self._channel)
            terms = msgspec.json.decode(body, type=Terms)
        except TimeoutError:
            raise HotRestartRefused(f"the successor was not ready after {PREPARE_SECONDS:.0f} s") from None
        except (OSError, EOFError):
            raise HotRestartRefused("the successor ended before it was ready; the lines above say why") from None
        except msgspec.DecodeError:
            raise HotRestartRefused("the versions hand keys over differently") from None
        differences = list(ours.differences(terms))
        if differences:
            raise HotRestartRefused(f"{'; '.join(differences)}: this needs an ordinary restart")

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def takes(self, listener: socket.socket, connections: Sequence[socket.socket], hand_over: HandOver) -> bool:
        """Hand everything over. False if the successor did not open the data folder; then it has ended.

        It serves nobody before `release`.
        """
        descriptors = [listener.fileno(), hand_over.keys.descriptor, *(one.fileno() for one in connections)]
        self._channel.settimeout(START_SECONDS)
        try:
            messages.send(self._channel, msgspec.json.encode(hand_over.users), descriptors)
            said, _ = messages.receive(self._channel)
        except (OSError, EOFError):
            said = b""
        if said != READY:
            self.kill()
        return said == READY

    def release(self) -> None:
        """Let it serve. This process has nothing any more."""
        self._channel.close()

    def kill(self) -> None:
        """End it, and return when it has ended."""
        self._channel.close()
        self._process.kill()
        self._process.wait()


def _started(environ: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], socket.socket]:
    channel, theirs = socket.socketpair()
    try:
        with theirs:
            process = subprocess.Popen(  # noqa: S603  # this program, with the arguments that it has
                sys.orig_argv,
                executable=sys.executable,
                env={**environ, config.PREDECESSOR: str(theirs.fileno())},
                pass_fds=[theirs.fileno()],
            )
    except OSError:
        channel.close()
        raise HotRestartRefused("the program could not be started") from None
    return process, channel


async def _first_message(channel: socket.socket) -> bytes:
    # In a thread it could not be cancelled. Only the first message is awaited, which has no descriptors.
    loop = asyncio.get_running_loop()
    channel.setblocking(False)
    ready = asyncio.Event()
    loop.add_reader(channel, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(channel)
    # It is sent at once, and fits into the socket's buffer.
    channel.settimeout(PREPARE_SECONDS)
    return messages.receive(channel)[0]
