"""`/api/metrics`: numbers for the operator's monitoring, in the text format that Prometheus reads (version 0.0.4).

Labels are route templates, methods, statuses, codes, states and known providers: nothing about a user, not even a part
of a uuid.
"""

import asyncio
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from carrel import __version__
from carrel.accounts import roster
from carrel.accounts.service import ServiceDatabase
from carrel.app.health import VITALS, Vitals
from carrel.auth import guard
from carrel.backup.live import MADE
from carrel.errors import CarrelError
from carrel.http.answers.response import Response
from carrel.http.request import Request
from carrel.http.requests.routing import Router, get
from carrel.http.watching.request_metrics import BOUNDS_SECONDS, RequestMetrics
from carrel.kit import meters

METERS: Final = "carrel.meters"
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Meters:
    """The sources of the numbers, besides the vitals and what the process counts."""

    requests: RequestMetrics
    open_workspaces: Callable[[], int]
    open_streams: Callable[[], int]
    waiting_calls: Callable[[], int]
    data_dir: Path


@get("/metrics", guards=[guard.metrics], include_in_schema=False)
async def read_metrics(request: Request, service: ServiceDatabase) -> Response[bytes]:
    """Every metric, as it is now."""
    vitals: Vitals = request.state[VITALS]
    found: Meters = request.state[METERS]
    used = resource.getrusage(resource.RUSAGE_SELF)
    gauges = {
        "uptime_seconds": ("Seconds since the process started", vitals.clock.monotonic() - vitals.started),
        "active_runs": ("Runs in progress", vitals.active_runs()),
        "waiting_provider_calls": ("Calls of models that wait for their turn", found.waiting_calls()),
        "event_streams": ("Open streams of progress", found.open_streams()),
        "cached_keys": ("Users whose keys are in memory", vitals.cached_keys()),
        "open_workspaces": ("Open user databases", found.open_workspaces()),
        "resident_peak_bytes": ("Peak resident memory of the process", used.ru_maxrss * 1024),
    }
    with suppress(CarrelError):
        gauges["users"] = ("Users of this data folder", await service.run(roster.count))
    gauges |= await asyncio.to_thread(_of_disk, found.data_dir)
    families = _Families(
        [
            _version(),
            *(GaugeMetricFamily(f"carrel_{name}", help_text, value) for name, (help_text, value) in gauges.items()),
            CounterMetricFamily("carrel_cpu_seconds", "CPU time without workers", used.ru_utime + used.ru_stime),
            *_requests(found.requests),
            *meters.PROCESS.collect(),
        ]
    )
    return Response(generate_latest(families), media_type=MEDIA_TYPE)


class _Families(list[Metric]):
    """What the library asks a registry."""

    def collect(self) -> Iterator[Metric]:
        return iter(self)


def _version() -> Metric:
    info = GaugeMetricFamily("carrel_info", "The running version", labels=["version"])
    info.add_metric([__version__], 1)
    return info


def _of_disk(folder: Path) -> dict[str, tuple[str, float]]:
    """What the disk tells; nothing if it does not answer, so that the other numbers are still shown."""
    gauges: dict[str, tuple[str, float]] = {}
    with suppress(OSError):
        disk = os.statvfs(folder)
        gauges["disk_free_bytes"] = "Free space on the file system of the data folder", disk.f_bavail * disk.f_frsize
        gauges["disk_total_bytes"] = "Size of the file system of the data folder", disk.f_blocks * disk.f_frsize
        made = (folder / MADE).stat().st_mtime
        gauges["last_backup_timestamp_seconds"] = "When the last backup of the running service was complete", made
    return gauges


def _requests(requests: RequestMetrics) -> Iterator[Metric]:
    answers = CounterMetricFamily(
        "carrel_requests",
        "Requests by route, method and status; 0 is a client that went away",
        labels=["method", "route", "status"],
    )
    for (route, status), count in sorted(requests.answers.items()):
        answers.add_metric([route.method, route.template, str(status)], count)
    yield answers
    refusals = CounterMetricFamily("carrel_refusals", "Answers that tell of an error, by its code", labels=["code"])
    for code, count in sorted(requests.refusals.items()):
        refusals.add_metric([code], count)
    yield refusals
    times = HistogramMetricFamily(
        "carrel_request_seconds",
        "Time from a request to the end of its response, streams included",
        labels=["method", "route"],
    )
    bounds = (*map(str, BOUNDS_SECONDS), "+Inf")
    for route, of_route in sorted(requests.times.items()):
        buckets = list(zip(bounds, accumulate(of_route.buckets), strict=True))
        times.add_metric([route.method, route.template], buckets, of_route.seconds)
    yield times


router = Router("/", route_handlers=[read_metrics], tags=["Admin"])
