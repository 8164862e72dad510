"""A client that leaves in the middle of a check, over a real connection to the real service."""

import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from carrel.judges import bench
from carrel.judges.checking import AT_ONCE
from tests.support.campaign import SIXTY, Campaign, campaign

JUDGE = "openai:judge-one"


def leave(made: Campaign) -> None:
    """Ask for a check, and close the connection once its first calls are under way."""
    body = msgspec.json.encode({"judge": {"model": JUDGE}})
    address = urlsplit(made.service.url)
    head = (
        f"POST /api/evaluation/judges/check HTTP/1.1\r\nHost: {address.netloc}\r\nX-SVC-Session-Token: {made.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        connection.sendall(head.encode() + body)
        made.models.until_in_flight(AT_ONCE)


def kept(made: Campaign) -> dict[str, Any]:
    headers = {"X-SVC-Session-Token": made.token}
    answer = httpx.get(f"{made.service.url}/api/evaluation/judges/{JUDGE}", headers=headers, timeout=60)
    found: dict[str, Any] = answer.json().get("check") or {}
    return found


def test_a_client_that_leaves_in_the_middle_of_a_check_loses_nothing_that_was_paid_for(tmp_path: Path) -> None:
    with campaign(tmp_path, SIXTY) as made:
        made.models.hold()
        leave(made)
        made.models.latency(0)
        deadline = time.monotonic() + 60
        while not kept(made).get("finished_at"):
            assert time.monotonic() < deadline
        assert kept(made)["asked"] == bench.WORDS
        assert made.models.counts().started == bench.WORDS
