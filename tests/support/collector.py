"""An OpenTelemetry collector that keeps the spans that it is sent."""

from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.webhook_host import posts


class Spans:
    """What came; protobuf keeps texts as they are."""

    url = ""

    def __init__(self) -> None:
        self.raw: list[bytes] = []
        """Heads and bodies."""
        self.by_id: dict[bytes, Span] = {}

    @property
    def names(self) -> set[str]:
        """Of all spans."""
        return {span.name for span in self.by_id.values()}

    def parents(self, name: str) -> set[str]:
        """In which spans those with this name are; "" stands for none."""
        inside = [span.parent_span_id for span in self.by_id.values() if span.name == name]
        return {self.by_id[parent].name if parent else "" for parent in inside}


@contextmanager
def collector() -> Iterator[Spans]:
    """A server on loopback."""
    spans = Spans()

    def take(headers: Message, body: bytes) -> int:
        spans.raw += [str(headers).encode(), body]
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            spans.by_id |= {span.span_id: span for scope in resource.scope_spans for span in scope.spans}
        return 200

    with posts(take) as port:
        spans.url = f"http://127.0.0.1:{port}"
        yield spans
