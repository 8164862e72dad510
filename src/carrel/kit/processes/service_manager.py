"""What systemd is told about this process, if it started it (sd_notify(3))."""

import os
import socket
from contextlib import suppress

_VARIABLE = "NOTIFY_SOCKET"
_TIMEOUT_SECONDS = 1.0
"""For a service manager that reads nothing, because its queue of messages is full."""


def tell(*assignments: str) -> None:
    """Send these lines, such as `READY=1`. Without a service manager, or if it does not listen, nothing happens."""
    address = os.environ.get(_VARIABLE, "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, suppress(OSError):
            manager.settimeout(_TIMEOUT_SECONDS)
            # A name that begins with @ is in the abstract namespace.
            manager.sendto("\n".join(assignments).encode(), f"\0{address[1:]}" if address[0] == "@" else address)
