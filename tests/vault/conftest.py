"""What every test of the vault needs: a form for files, keys, and a pool over a temporary folder."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from carrel.kit.concurrency.turns import Turns
from carrel.kit.ids import uuid7_factory
from carrel.vault import migrations
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid
from carrel.vault.pool import WorkspacePool
from tests.support.clock import FakeClock

MakePool = Callable[..., WorkspacePool]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def form(clock: FakeClock) -> Format:
    return Format(clock, uuid7_factory(clock))


@pytest.fixture
def path_of(tmp_path: Path) -> Callable[[UserUuid], Path]:
    def path(uuid: UserUuid) -> Path:
        folder = tmp_path / "workspaces" / uuid
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "workspace.db"

    return path


@pytest.fixture
async def make_pool(form: Format, path_of: Callable[[UserUuid], Path]) -> AsyncIterator[MakePool]:
    made: list[WorkspacePool] = []

    def make(*, max_open: int = 100, turns: Turns | None = None) -> WorkspacePool:
        made.append(WorkspacePool(Keyring(), path_of, form=form, max_open=max_open, turns=turns))
        return made[-1]

    yield make
    for pool in made:
        await pool.close()


@pytest.fixture
def pool(make_pool: MakePool) -> WorkspacePool:
    return make_pool()


@pytest.fixture
def small(form: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Format:
    """Workspaces with the first migration only, so that a failure of every single write can be tried."""
    package = tmp_path / "packages" / f"small_{tmp_path.name}"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    first = Path(migrations.__path__[0]) / "0001_user_meta.sql"
    (package / first.name).write_bytes(first.read_bytes())
    monkeypatch.syspath_prepend(str(package.parent))
    return form._replace(migrations=package.name)
