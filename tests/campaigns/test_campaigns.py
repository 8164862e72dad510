"""The campaigns of `make soak`: what one request costs at worst, and what answers hold that nobody reads."""

import json
import random
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.campaigns import answers, climb, cost, cost_table, operations, shapes, stranger, unread
from tests.campaigns.cases import CASES, Case
from tests.campaigns.process import Spent, spent
from tests.campaigns.shared import sharing
from tests.campaigns.stored import Shape
from tests.campaigns.user import Request, User
from tests.support import soak


@pytest.mark.soak(campaign="cost", alone=True)
def test_no_request_costs_more_than_the_budget(capsys: pytest.CaptureFixture[str], figure: soak.Figure) -> None:
    with capsys.disabled():
        # Not to the standard output, which pytest's workers keep to themselves.
        tell = partial(print, file=sys.stderr, flush=True)
        tell("", cost.HEAD, sep="\n")
        found = cost.measure_all([], lambda one: tell(cost.line(one)))
        cost.tell(found, to=sys.stderr)
    beyond = [one for one in found if one.faults]
    figure(
        "requests of every operation, the dearest known and found, and inputs in every shape",
        requests=len(found),
        beyond=len(beyond),
        loop_ms=max(one.spent.loop_ms for one in found),
        threads_ms=max(one.spent.threads_ms + one.spent.workers_ms for one in found),
        memory_mb=max(one.spent.memory_bytes for one in found) / 1e6,
        others_wait_ms=max(one.others_ms or 0.0 for one in found),
    )
    assert [cost.line(one) for one in beyond] == []


@pytest.mark.soak(campaign="stranger", alone=True)
def test_a_stranger_waits_no_longer_than_promised_beside_four_attackers(
    capsys: pytest.CaptureFixture[str], figure: soak.Figure
) -> None:
    found: dict[str, stranger.Measured] = {}
    with capsys.disabled(), cost.service() as running, sharing(running) as shared:
        for case in stranger.BESIDE:
            tell = partial(print, file=sys.stderr, flush=True)
            found[f"{case.operation} {case.name}"] = stranger.settled(shared, case, tell)
    beyond = [name for name, one in found.items() if one.is_beyond]
    figure(
        "a stranger's waits beside four attackers",
        cases=len(found),
        beyond=len(beyond),
        p99_ms=max(one.attacked.p99 for one in found.values()),
        slowest_ms=max(one.attacked.slowest for one in found.values()),
    )
    assert beyond == []


@pytest.mark.soak(campaign="unread", alone=True)
def test_ten_thousand_unread_answers_hold_less_than_200_megabytes(figure: soak.Figure) -> None:
    with cost.service() as running:
        held = unread.unread(running, 10_000)
    figure(
        "answers that nobody reads, and the memory of the service with and without them",
        connections=held.connected,
        with_mb=held.waiting_bytes / 1e6,
        without_mb=held.before_bytes / 1e6,
        slowest_ms_of_a_stranger=held.slowest_ms,
    )
    assert held.waiting_bytes < unread.MAX_BYTES


@pytest.mark.soak(campaign="answers", alone=True)
def test_hostile_answers_cost_a_stranger_no_time_and_the_service_little_memory(
    capsys: pytest.CaptureFixture[str], figure: soak.Figure
) -> None:
    found: dict[str, answers.Held] = {}
    for name in answers.ANSWERS:
        found[name] = answers.held(name)
        with capsys.disabled():
            print(answers.line(name, found[name]), file=sys.stderr, flush=True)
    figure(
        "hostile answers of a model's server, 64 at once: a stranger's longest wait, and what the service grew by",
        kinds=len(found),
        slowest_ms=max(one.slowest_ms for one in found.values()),
        grown_mb=max(one.grown_bytes for one in found.values()) / 1e6,
    )
    assert [name for name, one in found.items() if one.slowest_ms > answers.MAX_MS] == []
    assert [name for name, one in found.items() if one.grown_bytes > answers.MAX_BYTES] == []


def test_a_request_is_not_charged_with_what_an_earlier_one_left_behind() -> None:
    program = "import time\nprint('begun', flush=True)\nwhile time.process_time() < 0.4: pass\ninput()"
    busy = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with busy:
        assert busy.stdin
        assert busy.stdout
        busy.stdout.readline()
        assert spent(busy.pid, lambda: None).loop_ms < 50
        busy.stdin.write(b"\n")


def test_the_search_for_dearer_data_is_the_same_again_and_stays_within_the_limits() -> None:
    def walked(seed: int) -> list[Shape]:
        draw, shape = random.Random(seed), Shape()
        return [shape := climb.other_shape(draw, shape) for _ in range(200)]

    assert walked(1) == walked(1) != walked(2)
    assert len(set(walked(1))) > 100
    assert all(one.calls <= climb.MOST_CALLS for one in walked(1))


def test_every_operation_that_takes_a_body_gets_it_in_every_shape() -> None:
    schema = json.loads(Path("openapi.json").read_text())["paths"]
    takers = {
        f"{method.upper()} {path.removeprefix('/api')}": operation["requestBody"]["content"]
        for path, methods in schema.items()
        for method, operation in methods.items()
        if "requestBody" in operation
    }
    for operation, kinds in takers.items():
        made = dict(shapes.of(operation, Request("", "", json={"name": "n"})))
        assert made, operation
        if "application/json" in kinds:
            whole = {name: make().content or b"" for name, make in made.items() if name in shapes.WHOLE}
            assert whole.keys() == shapes.WHOLE.keys(), operation
            assert all(0.9 < len(content) / shapes.MAX_BODY <= 1 for content in whole.values()), operation


def test_a_shape_stands_where_its_name_says() -> None:
    good = {"name": "n", "generation": {"candidates": [{"label": "a"}]}}
    made = dict(shapes.of("POST /presets", Request("POST", "/presets", json=good)))
    body = json.loads(made["generation.candidates[0].existing: 49,900 entries"]().content or b"")
    assert (body["name"], len(body["generation"]["candidates"][0]["existing"])) == ("n", 49_900)
    assert body["generation"]["candidates"][0]["label"] == "a"
    body = json.loads(made["49,900 unknown keys"]().content or b"")
    assert body.keys() > good.keys()
    assert len(body) == 49_902
    query = dict(shapes.of("GET /contents", Request("GET", "/contents?limit=1")))["?limit: digits"]()
    assert query.path == "/contents?limit=" + "9" * 8_000


def test_the_page_of_costs_has_one_line_for_each_operation() -> None:
    spent_ = Spent(1.0, 2.0, 3.0, 4_000_000, 0.1)
    cheap, dear = Case("GET /a", "", _nothing), Case("GET /a", "many | keys", _nothing)
    found = [
        cost.Cost(cheap, 200, "", spent_, 100, streamed=False),
        cost.Cost(dear, 400, "", spent_._replace(loop_ms=300.0), 100, streamed=False, others_ms=280.0),
        cost.Cost(Case("GET /b", "", _nothing), 200, "", spent_, 100, streamed=True),
    ]
    lines = [*map(cost_table.line_of, found)]
    assert cost_table.read(cost_table.written(lines)) == lines
    assert cost_table.verdict(lines) == "1 of 3 requests, of 2 operations, are beyond the budget"
    rows = [row for row in cost_table.page(lines, "today").splitlines() if row.startswith("| `")]
    assert rows == [
        "| `GET /a` | 2 | 300 | 2 | 3 | 4 | 0.0 | 280 | many \\| keys | 1 |",
        "| `GET /b` | 1 | 1 | 2 | 3 | 4 | streamed |  |  |  |",
    ]
    assert [line.beyond for line in lines] == ["", "loop others", ""]


def _nothing(_: User) -> Request:
    return Request("GET", "")


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
            found = cost.measured(shared, case)
    # Fifteen links lead to it, and none of them copies it.
    assert (found.status, found.faults) == (200, [])
    assert held.waiting_bytes - held.before_bytes < 30_000_000
