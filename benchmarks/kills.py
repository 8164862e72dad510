"""Row 10: the evaluation job is killed with SIGKILL, the service restarted, the run resumed, until it ends."""

import os
import time
from pathlib import Path

from benchmarks import rows
from benchmarks.rows import Figure
from tests.support.campaign import JOB, KillCounts, campaign

KILLED_AT = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The shares of the job that are done at the kills."""
_LATENCY_MS = 20


def kills(folder: Path) -> list[Figure]:
    """How soon the first call goes out after the resumption, and how many calls are made again."""
    pinned = os.sched_getaffinity(0)
    # The service is started anew here, and inherits: it is to have both cores, as its users' would.
    os.sched_setaffinity(0, {rows.SERVER_CORE, rows.LOAD_CORE})
    kill_counts = KillCounts()
    waits: list[float] = []
    downs: list[float] = []
    try:
        with campaign(folder, JOB, latency_ms=_LATENCY_MS) as under:
            whole = under.make()
            under.go_on(whole)
            under.ended(whole)
            expected = under.outcome(whole)
            run = under.make()
            under.go_on(run)
            for share in KILLED_AT:
                while under.run(run)["progress"]["succeeded"] < share * JOB.calls:
                    time.sleep(0.005)
                under.service.kill()
                killed = time.perf_counter()
                kill_counts.kills += 1
                under.come_back()
                waits.append(under.resumed(run))
                downs.append(time.perf_counter() - killed)
            under.ended(run)
            under.hold(run, expected, kill_counts)
    finally:
        os.sched_setaffinity(0, pinned)
    return [
        rows.at_most(
            "10", f"{kill_counts.kills} SIGKILLs in {JOB.calls} calls: resume to first call, worst, s", max(waits), 2
        ),
        rows.stated("10", "kill to first call, with restart and login, worst, s", f"{max(downs):.2f}"),
        Figure("10", "completed calls repeated", str(kill_counts.repeated), "0", kill_counts.repeated == 0),
        rows.stated("10", "calls in flight at the kills, shown as unknown-outcome", str(kill_counts.lost)),
    ]
