"""Whoever works in workspaces without a request, as the pool of workspaces sees it."""

from typing import Literal, Protocol

from carrel.vault.keyring import UserUuid

Closing = Literal["evicted", "rekey", "deleted"]
"""Why a workspace is about to close while work goes on in it."""


class Listener(Protocol):
    """Works in workspaces without a request, as the run engine does, and has to learn of openings and closings."""

    async def opened(self, uuid: UserUuid) -> None:
        """The user signed in, or a rekey is over: work that stopped without a key may go on."""
        ...

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop working in this workspace and release the lease before returning."""
        ...
