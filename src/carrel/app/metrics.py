"""`/api/metrics`: numbers for the operator's monitoring, in the text format that Prometheus reads (version 0.0.4).

Labels are route templates, methods and statuses. They hold nothing about a user, not even a part of a uuid.
"""

import asyncio
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from carrel import __version__
from carrel.app.health import VITALS, Vitals
from carrel.auth import guard
from carrel.http.answers.response import Response
from carrel.http.request import Request
from carrel.http.requests.routing import Router, get
from carrel.http.watching.request_metrics import BOUNDS_SECONDS, RequestMetrics

METERS: Final = "carrel.meters"
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Meters:
    """The sources of the numbers, besides the vitals."""

    requests: RequestMetrics
    open_workspaces: Callable[[], int]
    data_dir: Path


@get("/metrics", guards=[guard.admin], include_in_schema=False)
async def read_metrics(request: Request) -> Response[bytes]:
    """Every metric, as it is now."""
    vitals: Vitals = request.state[VITALS]
    meters: Meters = request.state[METERS]
    free_bytes = await asyncio.to_thread(_free_bytes, meters.data_dir)
    used = resource.getrusage(resource.RUSAGE_SELF)
    gauges = {
        "uptime_seconds": ("Seconds since the process started", vitals.clock.monotonic() - vitals.started),
        "active_runs": ("Runs in progress", vitals.active_runs()),
        "cached_keys": ("Users whose keys are in memory", vitals.cached_keys()),
        "open_workspaces": ("Open user databases", meters.open_workspaces()),
        "disk_free_bytes": ("Free space on the file system of the data folder", free_bytes),
        "resident_peak_bytes": ("Peak resident memory of the process", used.ru_maxrss * 1024),
    }
    lines = [*_head("info", "gauge", "The running version"), f'carrel_info{{version="{__version__}"}} 1']
    for name, (help_text, value) in gauges.items():
        if value is not None:
            lines += [*_head(name, "gauge", help_text), f"carrel_{name} {value:.15g}"]
    lines += _head("cpu_seconds_total", "counter", "CPU time of the process, without its workers")
    lines += [f"carrel_cpu_seconds_total {used.ru_utime + used.ru_stime:.15g}", *_answers(meters.requests)]
    lines += _times(meters.requests)
    return Response(("\n".join(lines) + "\n").encode(), media_type=MEDIA_TYPE)


def _free_bytes(folder: Path) -> int | None:
    """`None` if the disk does not answer, so that the other numbers are still shown."""
    with suppress(OSError):
        disk = os.statvfs(folder)
        return disk.f_bavail * disk.f_frsize
    return None


def _answers(requests: RequestMetrics) -> Iterator[str]:
    yield from _head("requests_total", "counter", "Requests by route, method and status; 0 is a client that went away")
    for (route, status), count in sorted(requests.answers.items()):
        yield f'carrel_requests_total{{method="{route.method}",route="{route.template}",status="{status}"}} {count}'


def _times(requests: RequestMetrics) -> Iterator[str]:
    yield from _head("request_seconds", "histogram", "Time from a request to the end of its response, streams included")
    for route, times in sorted(requests.times.items()):
        labels = f'method="{route.method}",route="{route.template}"'
        count = 0
        for bound, more in zip((*BOUNDS_SECONDS, "+Inf"), times.buckets, strict=True):
            count += more
            yield f'carrel_request_seconds_bucket{{{labels},le="{bound}"}} {count}'
        yield f"carrel_request_seconds_sum{{{labels}}} {times.seconds:.15g}"
        yield f"carrel_request_seconds_count{{{labels}}} {count}"


def _head(name: str, kind: str, help_text: str) -> list[str]:
    return [f"# HELP carrel_{name} {help_text}.", f"# TYPE carrel_{name} {kind}"]


router = Router("/", route_handlers=[read_metrics], tags=["Admin"])
