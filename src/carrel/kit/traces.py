"""Spans of what this process does, for the operator's OpenTelemetry collector; nothing is loaded without one.

A span holds times and Carrel's own words: route templates, statuses, codes, states, known providers. It holds no text,
id or name of a user or a client, so a trace that a client has begun is not continued either.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from threading import Thread
from typing import TYPE_CHECKING, Final, Literal

from carrel.kit import logs

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Tracer

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_NOTHING: Final = nullcontext()
_LAST_SECONDS: Final = 2.0
"""So long the last spans may take."""
_tracer: "Tracer | None" = None
"""One for the process, as its metrics are."""


def start(version: str) -> Callable[[], None]:
    """Send spans to the collector that a variable of `ENDPOINTS` names, if there is one, until the result is called.

    OpenTelemetry's own SDK sends them, and reads its other variables: OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS.
    """
    global _tracer  # noqa: PLW0603  # set when the process starts and when it ends
    if not any(map(os.environ.get, ENDPOINTS)):
        return lambda: None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        logs.warning("traces-not-installed")
        return lambda: None
    name = os.environ.get("OTEL_SERVICE_NAME", "carrel")
    provider = TracerProvider(
        resource=Resource.create({"service.name": name, "service.version": version}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _tracer = provider.get_tracer("carrel", version)

    def stop() -> None:
        global _tracer  # noqa: PLW0603
        _tracer = None
        # The SDK would try a collector that does not answer again, and the next process waits for the end of this one.
        sending = Thread(target=provider.shutdown, daemon=True)
        sending.start()
        sending.join(_LAST_SECONDS)

    return stop


def span(
    name: str, kind: Literal["SERVER", "CLIENT", "INTERNAL"] = "INTERNAL", within: "Context | None" = None
) -> AbstractContextManager[object]:
    """For the length of a block, a span, within the one that `current` named, or within that of the caller."""
    if _tracer is None:
        return _NOTHING
    from opentelemetry.trace import SpanKind

    # An error of the block has a text.
    return _tracer.start_as_current_span(
        name, within, SpanKind[kind], record_exception=False, set_status_on_exception=False
    )


def current() -> "Context | None":
    """The caller's span, for work that another thread does."""
    if _tracer is None:
        return None
    from opentelemetry.context import get_current

    return get_current()


def note(name: str, attributes: Mapping[str, str | int], *, failed: bool = False) -> None:
    """Call the caller's span `name`, and add what is known at its end."""
    if _tracer is None:
        return
    from opentelemetry.trace import StatusCode, get_current_span

    present = get_current_span()
    present.update_name(name)
    present.set_attributes(attributes)
    if failed:
        present.set_status(StatusCode.ERROR)
