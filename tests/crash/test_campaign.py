"""Campaigns of `make soak`: SIGKILL at every commit of a run of sixty tasks, and at random in the 900-call job.

Everything goes over HTTP: the service, its models, the host's calls. `CARREL_SEED` chooses the instants. A share of the
size takes every so many-th commit only.
"""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.support import soak
from tests.support.campaign import JOB, SIXTY, Campaign, KillCounts, Outcome, campaign
from tests.support.soak import Figure
from tests.support.warm_service import ServiceStarter

PARTS = 8
JOB_PARTS = 5
"""Of each campaign: one that is ended early keeps the figures of the parts that it did."""
JOB_KILLS = soak.size(100 // JOB_PARTS)
EVERY = round(1 / soak.SHARE)
SEED = int(os.environ.get("CARREL_SEED", "1"))


def undisturbed(under: Campaign) -> Outcome:
    run = under.make()
    assert under.go_on(run)
    assert under.ended(run)
    found = under.outcome(run)
    assert (found.counts.completed, found.lost_calls) == (under.work.calls, 0)
    return found


@pytest.mark.soak(campaign="runs")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("part", range(PARTS))
def test_sigkill_at_any_commit_changes_nothing_in_the_end(tmp_path: Path, when: str, part: int, figure: Figure) -> None:
    kill_counts = KillCounts()
    number = tmp_path / "at"
    with ServiceStarter() as starter, campaign(tmp_path / "service", SIXTY, starter=starter) as under:
        expected = undisturbed(under)
        under.service.stop()
        under.service.program = ["tests.crash.dying_service", str(number), when]
        under.come_back()
        for at in range(1 + part, 1000, EVERY * PARTS):
            run = under.make()
            number.write_text(str(at))
            os.kill(under.service.pid, signal.SIGUSR1)
            under.go_on(run)
            died = not under.ended(run)
            if died:
                assert under.service.process is not None
                assert under.service.process.wait(60) == -signal.SIGKILL
                kill_counts.kills += 1
                under.come_back()
                under.go_on(run)
                assert under.ended(run)
            under.hold(run, expected, kill_counts)
            if not died:
                break
    assert kill_counts.repeated == 0
    assert kill_counts.kills >= 30 // (EVERY * PARTS)
    tell(figure, f"SIGKILL before and after every commit of a run of {SIXTY.calls} calls, then resumed", kill_counts)


@pytest.mark.soak(campaign="runs")
@pytest.mark.parametrize("part", range(JOB_PARTS))
def test_random_kills_of_the_evaluation_job_change_nothing_in_the_end(
    tmp_path: Path, part: int, figure: Figure
) -> None:
    chance = random.Random(f"{SEED} {part}")
    kill_counts = KillCounts()
    slowest = 0.0
    with ServiceStarter() as starter, campaign(tmp_path, JOB, latency_ms=20, starter=starter) as under:
        began = time.monotonic()
        expected = undisturbed(under)
        whole = time.monotonic() - began
        while kill_counts.kills < JOB_KILLS:
            run = under.make()
            assert under.go_on(run)
            while kill_counts.kills < JOB_KILLS:
                time.sleep(chance.uniform(0, whole / 4))
                if under.run(run)["state"] != "running":
                    break
                under.service.kill()
                kill_counts.kills += 1
                under.come_back()
                if chance.random() < 0.1:
                    # Once more, when what the first kill left has just been written down.
                    under.service.kill()
                    kill_counts.kills += 1
                    under.come_back()
                assert under.run(run)["pause_reason"] == "service-restarted"
                slowest = max(slowest, under.resumed(run))
            assert under.ended(run)
            under.hold(run, expected, kill_counts)
    assert kill_counts.repeated == 0
    tell(figure, f"random SIGKILL of a job of {JOB.calls} calls, then resumed", kill_counts)
    figure("the same, from resume to the first call", seconds_at_most=slowest)


def tell(figure: Figure, what: str, kill_counts: KillCounts) -> None:
    figure(
        what,
        kills=kill_counts.kills,
        completed_calls_repeated=kill_counts.repeated,
        lost_in_flight_and_on_the_books=kill_counts.lost,
    )
