"""`make seed`: a website that has just been started gets an account with documents, presets and finished runs."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import psutil
import pytest

from carrel_website.seed import seed_account
from tests.carrel_website.test_start import ROOT, started

pytestmark = pytest.mark.slow


def seed(website: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "carrel_website.seed", "--website", website]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.fixture
def quick_keys() -> None:
    """The website here is a process of its own, with the real derivation."""


def test_a_new_website_is_filled_once_and_what_it_says_opens_it(tmp_path: Path) -> None:
    with started(tmp_path) as (process, website):
        (service,) = psutil.Process(process.pid).children()
        first = seed(website)
        assert first.returncode == 0, first.stderr
        assert "10 documents, 3 presets and 6 runs are there" in first.stdout
        with seed_account(website) as workspace:
            states = Counter(run.state for run in workspace.runs.find())
            names = {preset.name for preset in workspace.presets.each()}
            votes = workspace.votes.count(next(run.id for run in workspace.runs.find() if run.pinned)).votes
        second = seed(website)
    assert not service.is_running(), "a test leaves nothing behind"
    assert states == {"completed": 4, "cancelled": 1, "pending": 1}
    assert len(names) == 3
    assert votes == 5
    assert second.returncode == 1
    assert second.stderr.startswith("seed: the workspace holds presets already")


def test_without_a_website_it_says_what_to_do() -> None:
    done = seed("http://127.0.0.1:9")
    assert done.returncode == 1
    assert done.stderr == "seed: no website answers at http://127.0.0.1:9: run make start in another terminal\n"
