"""Texts and waiting, for tests that take a run through the real service."""

import time
from collections.abc import Callable
from typing import TypeVar

import httpx

T = TypeVar("T")

_SENTENCES = (
    "The harbour office counted {n} ships in the spring of {y}, and every captain signed the ledger by hand.",
    "A north wind kept the smaller boats at the quay for {n} days while the pilots waited in the tower.",
    "The new lamp on the breakwater was lit in {y} after the engineers had tested its mirror twice.",
    "Merchants from the valley sold {n} barrels of apples before the market closed that evening.",
    "The council decided that the old bridge should carry no carts heavier than {n} hundredweight.",
    "In {y} the school moved into the granary, where the windows look out over the whole bay.",
    "Fishermen mended their nets with hemp from {n} farms along the river and paid in salted cod.",
    "The chronicle of the town says little about the flood, although {n} houses were lost in one night.",
    "A painter from the capital stayed for {n} weeks and left the portrait of the harbour master behind.",
    "Since {y} the lighthouse keeper has written down the weather every hour, also on feast days.",
    "The customs house burned down and was rebuilt from brick with {n} arched windows on the ground floor.",
    "Travellers praise the bakery near the gate, whose ovens have not gone cold since {y}.",
)


def text_of(number: int, canary: str = "") -> str:
    """A document of two sections, different for each number; `canary` stands in every sentence."""
    lines = [
        sentence.format(n=number * 7 + i * 3 + 2, y=1800 + number * 11 + i) for i, sentence in enumerate(_SENTENCES)
    ]
    if canary:
        lines = [line.replace("the ", f"the {canary} ", 1) for line in lines]
    return "# The town\n\n" + " ".join(lines[:6]) + "\n\n# The bay\n\n" + " ".join(lines[6:]) + "\n"


def finished(client: httpx.Client, session: dict[str, str], run: object, timeout_seconds: float = 60.0) -> str:
    """Wait for the run's end; its state."""

    def state() -> str | None:
        answer = client.get(f"/runs/{run}", headers=session)
        assert answer.status_code == 200, answer.text
        found = str(answer.json()["state"])
        return None if found in ("pending", "running") else found

    return _awaited(state, timeout_seconds, "the run did not end in time")


def exported(client: httpx.Client, session: dict[str, str], run: object, timeout_seconds: float = 60.0) -> bytes:
    """Wait for the run's export, which was asked for; the zip."""

    def zipped() -> bytes | None:
        answer = client.get(f"/runs/{run}/export", headers=session)
        if answer.status_code == 200:
            return answer.content
        assert answer.json()["code"] == "export-not-ready", answer.text
        return None

    return _awaited(zipped, timeout_seconds, "the export did not come in time")


def _awaited(ask: Callable[[], T | None], timeout_seconds: float, late: str) -> T:
    deadline = time.monotonic() + timeout_seconds
    while time.monotonic() < deadline:
        found = ask()
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError(late)
