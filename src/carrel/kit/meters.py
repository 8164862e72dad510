"""What this process counts besides requests, for its operator's monitoring, with Prometheus' own client library.

Labels are Carrel's own words (states, codes, names of known providers), never a part of what a user wrote or named.
"""

from typing import Final

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Histogram

PROCESS: Final = CollectorRegistry()
"""Everything below. It is one for the process, as the metrics of a process are."""

prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]

RUNS: Final = Counter("carrel_runs", "Runs that ended or paused", ["state", "reason"], registry=PROCESS)
CALLS: Final = Counter("carrel_provider_calls", "Calls of models that ended", ["provider", "outcome"], registry=PROCESS)
CALL_SECONDS: Final = Histogram(
    "carrel_provider_call_seconds",
    "Time from a call of a model to its end",
    ["provider"],
    buckets=(0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
    registry=PROCESS,
)
COST: Final = Counter("carrel_provider_cost_usd", "Known cost of calls of models", ["provider"], registry=PROCESS)
COMMIT_SECONDS: Final = Histogram(
    "carrel_commit_seconds",
    "Time of a transaction of a workspace until it is on the disk",
    buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10),
    registry=PROCESS,
)
WORKERS: Final = Counter("carrel_workers_started", "Worker processes that were started", ["kind"], registry=PROCESS)
