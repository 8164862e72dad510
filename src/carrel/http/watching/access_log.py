"""The access log: one line for each request, with the route's template and never its path or query.

It is buffered apart from the other log: a system call for each line would cost more than all the rest of the outermost
layer.
"""

import asyncio
import sys
from contextlib import suppress
from ipaddress import ip_address, ip_network
from typing import Final, Literal

import msgspec
from msgspec import UNSET, UnsetType
from starlette.types import Scope

from carrel.kit.clock import Clock, rfc3339

_DELAY_SECONDS = 0.1
"""How long a line waits for others. A killed process loses its last lines; nothing depends on them."""
_NETWORK_BITS: Final = {4: 24, 6: 48}
"""What is left of an address, so that it tells where an attack comes from and not who somebody is."""
_REFUSED: Final = (401, 403, 429)
_encode = msgspec.json.Encoder().encode


class AccessLine(msgspec.Struct, frozen=True):
    """One request as the log shows it. `user` is a `tail`; `ms` the time until its answer was out.

    `code` is the error's, if the answer tells of one. `address` is the network of a client that was refused.
    """

    time: str
    method: str
    route: str
    status: int
    ms: float
    request_id: str
    user: str = ""
    code: str | UnsetType = UNSET
    address: str | UnsetType = UNSET
    level: str = "info"
    event: str = "request"


class AccessLog:
    """Collects lines and writes them a tenth of a second later.

    `addresses` says whether and where to find the address of a client that is refused: that of its connection, or the
    one that a proxy has added to X-Forwarded-For.
    """

    def __init__(self, clock: Clock, addresses: Literal["off", "connection", "forwarded"] = "off") -> None:
        self._clock = clock
        self._addresses = addresses
        self._lines: list[bytes] = []
        self._second = -1
        self._date_and_time = ""

    def add(
        self,
        scope: Scope,
        method: str,
        route: str,
        status: int,
        ms: float,
        request_id: str,
        user: str,
        code: str | UnsetType,
    ) -> None:
        """Note one request."""
        address = UNSET if self._addresses == "off" or status not in _REFUSED else self._network_of(scope)
        if not self._lines:
            asyncio.get_running_loop().call_later(_DELAY_SECONDS, self.flush)
        self._lines.append(
            _encode(AccessLine(self._now(), method, route, status, round(ms, 2), request_id, user, code, address))
        )

    def flush(self) -> None:
        """Write what is waiting."""
        lines, self._lines = self._lines, []
        if lines:
            # The reader of the log may have gone. The service continues without it.
            with suppress(OSError):
                sys.stderr.buffer.write(b"\n".join(lines) + b"\n")
                sys.stderr.buffer.flush()

    def _network_of(self, scope: Scope) -> str | UnsetType:
        if self._addresses == "forwarded":
            # The last one is the proxy's own word; the client may have sent others.
            lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"] or [b""]
            text = lines[-1].decode("latin-1").rpartition(",")[2].strip()
        else:
            text = (scope.get("client") or ("",))[0]
        try:
            address = ip_address(text)
        except ValueError:
            return UNSET
        address = getattr(address, "ipv4_mapped", None) or address
        return str(ip_network((address, _NETWORK_BITS[address.version]), strict=False))

    def _now(self) -> str:
        # Most lines are of the same second as the one before.
        seconds = self._clock.now()
        second = int(seconds)
        if second != self._second:
            self._second = second
            self._date_and_time = rfc3339(second)[:-4]
        return f"{self._date_and_time}{int((seconds - second) * 1000):03d}Z"
