"""A run that has ended: made once for the tests of a file, each of which has a copy of the folder in which it is."""

from pathlib import Path

import httpx
import pytest

from tests.runs.verdicts.voting import LABELS, MODELS
from tests.support import begun
from tests.support.host import Host
from tests.support.web_runs import ended

Ended = tuple[Path, str]


@pytest.fixture(scope="module")
def ended_run(begun_once: None, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The folder in which `ada` has the run, and the run's id."""

    async def live(client: httpx.AsyncClient) -> str:
        session = await Host(client).signed_in("ada")
        return await ended(client, session, documents=3, models=MODELS, labels=LABELS)

    settings = begun.settings_in(tmp_path_factory.mktemp("ended"))
    return settings.data_dir, begun.left_by(settings, live)


@pytest.fixture
def run(ended_run: Ended) -> str:
    return f"/api/runs/{ended_run[1]}"
