"""A host's calls: the plugin secret goes with each, a limit holds for the whole of it, failures are returned."""

from typing import Final

import httpx

from carrel_sdk.deadline import within
from carrel_sdk.errors import CarrelApiError, CarrelError, CarrelUnreachable
from carrel_sdk.transport import Answer, Request, Transport

CONNECT_SECONDS: Final = 1.0
CALL_SECONDS: Final = 10.0


class HostCalls:
    """One transport that proves itself with the plugin secret."""

    def __init__(
        self,
        base_url: str,
        plugin_secret: str,
        *,
        call_seconds: float,
        allow_http: bool,
        http: httpx.BaseTransport | None,
    ) -> None:
        if not plugin_secret or not all("!" <= character <= "~" for character in plugin_secret):
            raise ValueError("plugin_secret must be visible ASCII characters")
        self._call_seconds = call_seconds
        self._transport = Transport(
            base_url,
            headers={"X-SVC-Plugin-Secret": plugin_secret},
            connect_seconds=CONNECT_SECONDS,
            read_seconds=call_seconds,
            allow_http=allow_http,
            http=http,
        )
        self.base_url = self._transport.base_url

    def __repr__(self) -> str:
        return f"HostCalls({self.base_url!r})"

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def send(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        *,
        idempotency_key: str | None = None,
        within_seconds: float | None = None,
    ) -> Answer | CarrelUnreachable:
        """Send once, or once more under an Idempotency-Key if nobody answered; never raises."""
        headers = {"Content-Type": "application/json"} if content is not None else {}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        limit = within_seconds or self._call_seconds
        request = Request(method, path, headers=headers, content=content, read_seconds=limit)
        result = self._exchange(request, limit)
        if idempotency_key is not None and isinstance(result, CarrelUnreachable):
            # Under the same key it is carried out at most once all the same.
            result = self._exchange(request, limit)
        return result

    def _exchange(self, request: Request, seconds: float) -> Answer | CarrelUnreachable:
        """Send once; `seconds` limit the whole call, name look-up included."""
        result = within(seconds, lambda: self._transport.exchange(request))
        return CarrelUnreachable("the service did not answer in time", sent=True) if result is None else result


def failure(result: Answer | CarrelUnreachable) -> CarrelError | None:
    """What went wrong, if anything did."""
    return result if isinstance(result, CarrelUnreachable) else result.error()


def good(result: Answer | CarrelUnreachable) -> Answer:
    """The answer, if it is a good one.

    Raises:
        CarrelUnreachable, CarrelApiError
    """
    if isinstance(result, CarrelUnreachable):
        raise result
    error = result.error()
    if error is not None:
        raise error
    return result


def code_of(error: CarrelError) -> str | None:
    """The stable code of a refusal."""
    return error.code if isinstance(error, CarrelApiError) else None
