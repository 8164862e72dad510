"""What the tests of sign-in share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from carrel.vault.keyring import UserUuid
from tests.support.auth_stack import AuthStack, auth_stack
from tests.support.clock import FakeClock


@pytest.fixture
async def stack(tmp_path: Path, clock: FakeClock) -> AsyncIterator[AuthStack]:
    """All of sign-in without HTTP, and the user `ada`, who has never signed in."""
    async with auth_stack(tmp_path / "data", clock) as stack:
        await stack.create(UserUuid("ada"))
        yield stack
