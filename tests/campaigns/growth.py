"""How the cost of a user's requests grows with what is stored: `python -m tests.campaigns.growth [WORD ...]`.

The words are `contents`, `runs`, `tasks` and `transfer`; without one, all are measured. Each line has the processor
time of one request on the event loop and beside it, in threads and workers, at each size.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

import httpx

from tests.campaigns import cost, packages, stored
from tests.campaigns.cases import Case
from tests.campaigns.cost import Cost
from tests.campaigns.process import quiet
from tests.campaigns.shared import Shared, sharing
from tests.campaigns.stored import Shape
from tests.campaigns.user import Json, Request, User
from tests.support.soak import size

CONTENTS: Final = (1_000, 10_000, 100_000)
RUNS: Final = (50, 500, 2_000)
TASKS: Final = (1_000, 10_000, 99_600)
_BODY_BYTES: Final = 4_000
_MOVED_BYTES: Final = 10_000
"""Of a body that goes out and comes in: a hundred thousand are a gigabyte."""
_ROOM: Final = {"CARREL_MAX_WORKSPACE_MB": "8192"}
_RUN: Final = Shape(documents=8, candidates=3, compares=False, scores=True)
"""48 tasks, as a run of a few documents has."""
_CANDIDATES: Final = 6

_OF_CONTENTS: Final = {
    "GET /contents": "/contents?limit=50",
    "GET /contents, by a tag": "/contents?limit=50&tag=t7",
    "GET /contents, a common word": "/contents?limit=50&q=w1",
    "GET /contents, two letters": "/contents?limit=50&q=w1%20w2",
    "GET /contents, one letter": "/contents?limit=50&q=w",
    "GET /contents, a word without a hit in its type": "/contents?limit=50&q=w1&type=criteria",
    "GET /contents/counts": "/contents/counts",
    "GET /contents/{content_id}": "/contents/c1",
    "GET /users/me": "/users/me",
    "GET /users/me/export": "/users/me/export",
}
_OF_RUNS: Final = {
    "GET /runs": "/runs?limit=50",
    "GET /runs/count": "/runs/count",
    "GET /evaluation/leaderboard": "/evaluation/leaderboard",
    "GET /evaluation/judges": "/evaluation/judges",
    "GET /presets/{preset_id}/trends": "/presets/{preset}/trends",
    "GET /metering/usage": "/metering/usage",
    "GET /metering/usage by day": "/metering/usage?group_by=day",
    "GET /metering/usage by all": "/metering/usage?group_by=day,model,provider,run,phase",
    "GET /metering/calls": "/metering/calls?limit=50",
    "GET /users/me": "/users/me",
    "GET /users/me/export": "/users/me/export",
}
_OF_A_RUN: Final = {
    "GET /runs/{run_id}": "",
    "GET /runs/{run_id}/tasks": "/tasks?limit=200",
    "GET /runs/{run_id}/answers": "/answers",
    "GET /runs/{run_id}/ranking": "/ranking",
    "GET /runs/{run_id}/gate": "/gate?baseline=a0&candidate=a1",
    "GET /runs/{run_id}/report": "/report",
    "GET /runs/{run_id}/report, HTML": "/report?format=html",
    "GET /runs/{run_id}/report, without documents": "/report?documents=false",
    "GET /runs/{run_id}/receipt": "/receipt",
    "GET /runs/{run_id}/checkpoint": "/checkpoint",
    "GET /runs/{run_id}/logs": "/logs?limit=200",
}


class Step(NamedTuple):
    """One request at one size."""

    size: int
    operation: str
    cost: Cost

    @property
    def shown(self) -> str:
        """One line of the table."""
        used = self.cost.spent
        beside = used.threads_ms + used.workers_ms
        beyond = " beyond" if self.cost.faults else ""
        return (
            f"{self.size:>8,}  {self.operation:52} {self.cost.status} {used.loop_ms:6.0f} {beside:7.0f} ms"
            f" {used.seconds:6.2f} s {used.memory_bytes / 1e6:5.0f} {self.cost.answer_bytes / 1e6:7.2f} MB{beyond}"
        )


def _reads(shared: Shared, user: User, count: int, paths: dict[str, str]) -> Iterator[Step]:
    for operation, path in paths.items():
        case = Case(operation.partition(",")[0].partition(" by ")[0], operation, lambda _: Request("GET", ""))
        # The first time is another matter: it opens connections and fills caches.
        request = Request("GET", path, headers=user.session)
        if "export" not in path:
            user.status(path)
        yield Step(count, operation, cost.measured_request(shared, user, case, request))


# Contents -------------------------------------------------------------------------------------------------------------


def _library(shared: Shared, count: int, body_bytes: int = _BODY_BYTES) -> User:
    user = shared.new_user()
    draw = random.Random(count)
    words = [f"w{number}" for number in range(20_000)]
    chances = [1 / (number + 1) for number in range(len(words))]
    texts = [" ".join(draw.choices(words, chances, k=body_bytes // 5)) for _ in range(min(count, 2_000))]
    with stored.signed_out(shared.running, user) as conn:
        for number in range(1, count + 1):
            body = f"{number} {texts[number % len(texts)]}"
            conn.run(
                "INSERT INTO contents (id, name, type, description, tags, variables, version, created_at, updated_at,"
                " body_bytes, body_preview, body) VALUES (?, ?, 'fragment', '', ?, '{}', 1, ?, ?, ?, '', ?)",
                *(f"c{number}", f"Text {number}", f'["t{number % 50}"]'),
                *(stored.AT, stored.AT, len(body), body),
            )
    return user


def contents(shared: Shared) -> Iterator[Step]:
    """Lists, counts and searches of a library."""
    for count in map(size, CONTENTS):
        yield from _reads(shared, _library(shared, count), count, _OF_CONTENTS)


# Runs -----------------------------------------------------------------------------------------------------------------


def runs(shared: Shared) -> Iterator[Step]:
    """Lists, usage, leaderboard and trends over many runs of one preset."""
    for count in map(size, RUNS):
        user = shared.new_user()
        made_from = stored.configuration(user, _RUN)
        preset = user.post("/presets", {"name": "Growing", **made_from})["id"]
        run = stored.finished_run(shared.running, user, _RUN, made_from)
        with stored.signed_out(shared.running, user) as conn:
            conn.run("UPDATE runs SET preset_id = ? WHERE id = ?", preset, run)
            stored.copied(conn, run, count - 1)
            stored.metered(conn, run)
        yield from _reads(
            shared, user, count, {one: path.replace("{preset}", preset) for one, path in _OF_RUNS.items()}
        )


# Tasks ----------------------------------------------------------------------------------------------------------------


def _of_rows(user: User, count: int) -> Json:
    """A configuration with `count` tasks: half of them answers that exist, half their scores."""
    names = [f"a{number}" for number in range(_CANDIDATES)]
    rows = (",".join(f"answer {row} of {name}" for name in names) for row in range(count // (2 * _CANDIDATES)))
    table = "question," + ",".join(names) + "\n" + "".join(f"Question {row},{line}\n" for row, line in enumerate(rows))
    upload = packages.form("a.csv", table.encode(), "/data-sets")
    made = user.client.post("/api/data-sets", content=upload.content, headers={**user.session, **upload.headers})
    assert made.status_code == 201, made.text
    return {
        "rows": {"data_set": made.json()["id"]},
        "generation": {"candidates": [{"label": name, "column": name} for name in names]},
        "scoring": {
            "judges": [{"model": "local:reader"}],
            "criteria": user.content("criteria", "- name: Coverage"),
        },
    }


def tasks(shared: Shared) -> Iterator[Step]:
    """What belongs to one run, and its deletion."""
    for count in map(size, TASKS):
        user = shared.new_user()
        run = stored.finished_run(shared.running, user, _RUN, _of_rows(user, count))
        yield from _reads(shared, user, count, {one: f"/runs/{run}{path}" for one, path in _OF_A_RUN.items()})
        yield from _reads(shared, user, count, {"GET /evaluation/leaderboard": "/evaluation/leaderboard"})
        export = Request("POST", f"/runs/{run}/export", headers=user.session, until=f"/runs/{run}/export")
        yield _one(shared, user, count, "POST /runs/{run_id}/export", export)
        yield _one(shared, user, count, "GET /users/me/export", Request("GET", "/users/me/export"))
        yield _one(shared, user, count, "DELETE /runs/{run_id}", Request("DELETE", f"/runs/{run}"))


def _one(shared: Shared, user: User, count: int, operation: str, request: Request) -> Step:
    return Step(count, operation, cost.measured_request(shared, user, Case(operation, "", lambda _: request), request))


# Export and import ----------------------------------------------------------------------------------------------------


def transfer(shared: Shared) -> Iterator[Step]:
    """The export of a library comes in again, as a whole, and cut off ten times."""
    for count in map(size, CONTENTS):
        owner = _library(shared, count, _MOVED_BYTES)
        yield _one(shared, owner, count, "GET /users/me/export", Request("GET", "/users/me/export"))
        zipped = owner.client.get("/api/users/me/export", headers=owner.session).content
        taker = shared.new_user()
        whole = Request("POST", "/users/me/import", content=zipped, headers={"Content-Type": "application/zip"})
        yield _one(shared, taker, count, "POST /users/me/import", whole)
        assert taker.get("/contents/counts")["total"] == count
        taker = shared.new_user()
        last = _in_parts(shared, taker, zipped)
        yield _one(shared, taker, count, "POST /users/me/import, after ten cuts", last)
        assert taker.get("/contents/counts")["total"] == count


def _in_parts(shared: Shared, user: User, zipped: bytes) -> Request:
    """Send the zip, cut off ten times and taken up again each time; what is left of it."""
    headers = {**user.session, "Content-Type": "application/zip"}
    length = len(zipped)
    received = 0
    for number in range(10):
        part = {**headers, "Content-Range": f"bytes {received}-{length - 1}/{length}"}
        with suppress(httpx.HTTPError, _Cut):
            upload = _cut(zipped[received : length * (number + 1) // 11])
            user.client.post("/api/users/me/import", content=upload, headers=part)
        # What came before the cut is stored by then.
        quiet(shared.running.pid)
        asked = user.client.post("/api/users/me/import", headers={**headers, "Content-Range": f"bytes */{length}"})
        # Of less than a piece nothing is kept.
        received = asked.json()["received_bytes"] if asked.status_code == 202 else 0
    rest = {**headers, "Content-Range": f"bytes {received}-{length - 1}/{length}"}
    return Request("POST", "/users/me/import", content=zipped[received:], headers=rest)


class _Cut(Exception):
    """The line is cut."""


def _cut(body: bytes) -> Iterator[bytes]:
    yield body
    raise _Cut


PARTS: Final[dict[str, Callable[[Shared], Iterator[Step]]]] = {
    "contents": contents,
    "runs": runs,
    "tasks": tasks,
    "transfer": transfer,
}


def measured(words: list[str], tell: Callable[[str], None]) -> list[Step]:
    """Every line of these parts."""
    found = []
    for part in words or PARTS:
        with cost.service(_ROOM) as running, sharing(running) as shared:
            cost.warm(shared)
            began = time.monotonic()
            for step in PARTS[part](shared):
                tell(step.shown)
                found.append(step)
            tell(f"{part}: {time.monotonic() - began:.0f} s")
    return found


if __name__ == "__main__":
    measured(sys.argv[1:], partial(print, flush=True))
