"""The campaigns of `make soak`: what one request costs at worst, and what answers hold that nobody reads."""

import json
import re
from pathlib import Path

import pytest

from tests.campaigns import cost, operations, unread
from tests.campaigns.cases import CASES
from tests.campaigns.shared import sharing


@pytest.mark.soak
def test_no_known_request_costs_more_than_the_budget(capsys: pytest.CaptureFixture[str]) -> None:
    with cost.service() as running, sharing(running) as shared:
        cost.warm(shared)
        found = [cost.measured(shared, case) for case in CASES]
    with capsys.disabled():
        print("", cost.HEAD, *map(cost.line, found), cost.verdict(found), sep="\n")
    assert [cost.line(one) for one in found if one.faults] == []


@pytest.mark.soak
def test_ten_thousand_unread_answers_hold_less_than_200_megabytes(capsys: pytest.CaptureFixture[str]) -> None:
    with cost.service() as running:
        held = unread.unread(running, 10_000)
    with capsys.disabled():
        print("", held, sep="\n")
    assert held.waiting_bytes < unread.MAX_BYTES


def test_every_operation_has_a_good_request_in_the_cost_campaign() -> None:
    schema = json.loads(Path("openapi.json").read_text())["paths"]
    needing = {
        f"{method.upper()} {path.removeprefix('/api')}"
        for path, methods in schema.items()
        for method, operation in methods.items()
        if operation.get("requestBody", {}).get("required")
    }
    assert {case.operation for case in CASES} == set(operations.every())
    assert needing - operations.WITH_BODY == set()
    named = {name for operation in operations.every() for name in re.findall(r"\{\w+\}", operation)}
    assert named == operations.NAMED


def test_a_few_unread_answers_hold_no_more_than_their_bytes() -> None:
    """The short form, which also tries the driver."""
    with cost.service() as running:
        held = unread.unread(running, 60, users=2)
        (case,) = [case for case in CASES if case.name == "chain of 4 MB"]
        with sharing(running) as shared:
            assert cost.measured(shared, case).status == 400
    assert held.waiting_bytes - held.before_bytes < 45_000_000
