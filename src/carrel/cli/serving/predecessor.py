"""The process before this one, which hands over to it in a hot restart. Its other side is `successor`."""

import os
import socket
from collections.abc import MutableMapping
from typing import Final, NamedTuple

import msgspec

from carrel import config
from carrel.app.hot_restart import HandOver, Terms
from carrel.auth.handed_over import HandedUser
from carrel.cli.serving import messages
from carrel.vault.key_memory import KeyMemory

READY: Final = b"ready"


class PredecessorGone(Exception):
    """It has ended, or needs no successor any more."""


class Taken(NamedTuple):
    """What the predecessor handed over."""

    listener: socket.socket
    connections: list[socket.socket]
    """Those on which no request was under way."""
    hand_over: HandOver


class Predecessor:
    """A process that still serves, until `take` returns."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    @classmethod
    def of(cls, environ: MutableMapping[str, str]) -> "Predecessor":
        """The one that `environ` names, where it is removed.

        Raises:
            PredecessorGone: the variable names no socket.
        """
        try:
            channel = socket.socket(fileno=int(environ.pop(config.PREDECESSOR)))
        except (OSError, ValueError):
            raise PredecessorGone from None
        os.set_inheritable(channel.fileno(), False)
        return cls(channel)

    def offer(self, terms: Terms) -> None:
        """Say that this process could go on. The predecessor judges by the terms.

        Raises:
            PredecessorGone
        """
        try:
            messages.send(self._channel, msgspec.json.encode(terms))
        except OSError:
            raise PredecessorGone from None

    def take(self) -> Taken:
        """Wait for all that the predecessor has. It has closed the data folder then.

        Raises:
            PredecessorGone, KeyMemoryRefused
        """
        try:
            body, (listener, keys, *connections) = messages.receive(self._channel)
        except (OSError, EOFError):
            raise PredecessorGone from None
        users = msgspec.json.decode(body, type=list[HandedUser])
        return Taken(
            socket.socket(fileno=listener),
            [socket.socket(fileno=connection) for connection in connections],
            HandOver(KeyMemory(keys), users),
        )

    def confirm(self, keys: KeyMemory) -> None:
        """Say that everything is open here, and return when the predecessor can take nothing back any more."""
        keys.close()
        try:
            messages.send(self._channel, READY)
            messages.receive(self._channel)
        except (OSError, EOFError):
            # It has closed its end, or it was killed.
            self._channel.close()
