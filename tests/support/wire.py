"""A wire in place of the network outside: scripted answers, and what was sent for them."""

from collections.abc import Callable, Iterable

import httpx
import msgspec

Step = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Wire(httpx.MockTransport):
    """Answers each request with the next step; the last one repeats. An exception stands for a broken network."""

    def __init__(self, *steps: Step) -> None:
        self.requests: list[httpx.Request] = []
        self._steps = list(steps)
        super().__init__(self._answer)

    @property
    def bodies(self) -> list[dict[str, str]]:
        return [msgspec.json.decode(request.content) for request in self.requests]

    @property
    def paths(self) -> list[str]:
        return [request.url.path.removeprefix("/api") for request in self.requests]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        if isinstance(step, Exception):
            raise step
        if callable(step):
            return step(request)
        # A response is consumed by whoever reads it; each request gets a fresh one.
        return httpx.Response(step.status_code, headers=step.headers, content=step.content)


def problem(status: int, code: str, *, headers: dict[str, str] | None = None) -> httpx.Response:
    """An error in the service's shape."""
    body = {"type": f"/api/errors/{code}", "title": "", "status": status, "detail": "No.", "code": code}
    body["request_id"] = "r-1"
    return httpx.Response(status, headers=headers, content=msgspec.json.encode(body))


def page(items: Iterable[object], next_cursor: str | None = None) -> httpx.Response:
    """One page of a list."""
    return httpx.Response(200, content=msgspec.json.encode({"items": list(items), "next_cursor": next_cursor}))
