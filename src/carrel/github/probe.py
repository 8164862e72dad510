"""Trying a connection: one real call that costs nothing."""

from carrel.github import repository, store
from carrel.github.client import Github
from carrel.github.refusals import OF_GITHUB
from carrel.github.schemas import ConnectionId, ConnectionTest
from carrel.vault.workspace import Workspace


async def probe(github: Github, workspace: Workspace, connection_id: ConnectionId) -> ConnectionTest:
    """Ask GitHub what the token gives access to, and store whether it worked.

    Raises:
        NotFound: there is no such connection.
    """
    version = workspace.read(store.get, connection_id).version
    target = workspace.read(store.target, connection_id)
    begun = github.clock.monotonic()
    try:
        found = await repository.about(github, target)
    except OF_GITHUB as error:
        outcome = ConnectionTest(ok=False, code=error.code)
    else:
        outcome = ConnectionTest(
            ok=True,
            latency_ms=round((github.clock.monotonic() - begun) * 1000),
            default_branch=found.default_branch,
            private=found.private,
            can_write=found.permissions.push,
        )
    await workspace.write(store.tested, connection_id, version, ok=outcome.ok)
    return outcome
