"""The operations that read, over the largest data: runs of 100,000 calls, and lists of the most and fattest rows."""

import random
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Final, NamedTuple

from tests.campaigns import packages, stored
from tests.campaigns.shared import Shared
from tests.campaigns.stored import Shape
from tests.campaigns.user import Json, Request, User

Prepare = Callable[[Shared, User], Request]
COMPARED: Final = Shape(documents=240, candidates=20, said=200)
MANY_JUDGES: Final = Shape(documents=25, candidates=20, judges=10)
SCORED: Final = Shape(documents=1_000, candidates=10, judges=6, compares=False, scores=True, said=100)
POOLED: Final = SCORED._replace(documents=240)
"""Of which several are pooled, and a further one would be too much."""
MANY_CANDIDATES: Final = Shape(documents=50, candidates=20)
MANY_RUNS: Final = Shape(documents=250, candidates=2)
RUNS: Final = {"96,000 calls": COMPARED, "10 judges": MANY_JUDGES, "60,000 scores": SCORED}
_CALLS: Final = 1_000_000
_TEXT_MB: Final = 150


class Read(NamedTuple):
    """A request that changes nothing, or hardly anything: the operation, and the path with its query."""

    operation: str
    path: str
    json: Json | None = None


_HUNDRED: Final = ",".join(map(str, range(1, 101)))
_OF_A_RUN: Final = (
    Read("GET /runs/{run_id}", ""),
    Read("GET /runs/{run_id}/ranking", "/ranking?with_human=true"),
    Read("GET /runs/{run_id}/gate", "/gate?baseline=c0&candidate=c1"),
    Read("GET /runs/{run_id}/split", "/split"),
    Read("GET /runs/{run_id}/report", "/report"),
    Read("GET /runs/{run_id}/report", "/report?documents=false"),
    Read("GET /runs/{run_id}/answers", "/answers"),
    Read("GET /runs/{run_id}/answers/beginnings", "/answers/beginnings?words=river&documents=" + _HUNDRED),
    Read("GET /runs/{run_id}/answers/{document}", "/answers/240"),
    Read("GET /runs/{run_id}/report", "/report?format=html"),
    Read("GET /runs/{run_id}/report", "/report?against={run}"),
    Read("GET /runs/{run_id}/receipt", "/receipt"),
    Read("GET /runs/{run_id}/receipt/texts/{text_name}", "/receipt/texts/d240.c20.s1"),
    Read("GET /runs/{run_id}/tasks", "/tasks?limit=200"),
    Read("GET /runs/{run_id}/tasks", "/tasks?limit=200&document=1&state=failed"),
    Read("GET /runs/{run_id}/logs", "/logs?limit=200&level=error"),
    Read("GET /runs/{run_id}/logs/count", "/logs/count?level=error"),
    Read("GET /runs/{run_id}/logs/tail", "/logs/tail?level=error"),
    Read("GET /runs/{run_id}/events", "/events"),
    Read("GET /runs/{run_id}/checkpoint", "/checkpoint"),
    Read("GET /runs/{run_id}/votes", "/votes?limit=200"),
    Read("GET /runs/{run_id}/votes/count", "/votes/count"),
    Read("GET /runs/{run_id}/votes/against-judges", "/votes/against-judges"),
    Read("GET /runs/{run_id}/criteria-proposal", "/criteria-proposal"),
    Read("POST /runs/{run_id}/votes/next", "/votes/next"),
    Read("POST /runs/{run_id}/share-logs", "/share-logs"),
)
_BESIDE_A_RUN: Final = (
    Read("GET /evaluation/leaderboard", "/evaluation/leaderboard"),
    Read("GET /evaluation/judges", "/evaluation/judges"),
    Read("GET /evaluation/judges/{model}", "/evaluation/judges/local:reader"),
    Read("GET /metering/calls", "/metering/calls?limit=200&model=none"),
    Read("GET /users/me", "/users/me"),
)


def reads_of_a_run() -> tuple[Read, ...]:
    """The paths of what belongs to a run begin after its id; `{run}` stands for the id."""
    return tuple(one._replace(path=f"/runs/{{run}}{one.path}") for one in _OF_A_RUN) + _BESIDE_A_RUN


_RANKING: Final = tuple(
    read
    for read in reads_of_a_run()
    if any(word in read.path for word in ("ranking", "gate", "split", "report", "receipt", "evaluation", "judges"))
)
"""What depends on how many judges there are, and on whether they score."""
_BESIDE_RUNS: Final = tuple(read for read in _BESIDE_A_RUN if "evaluation" in read.path)
"""What pools the newest runs."""


def request(read: Read, user: User, run: str) -> Request:
    """The request of this user."""
    path = read.path.replace("{run}", run)
    return Request(read.operation.split(" ")[0], path, headers=user.session, json=read.json)


def _run(shape: Shape, shared: Shared, user: User) -> str:
    return stored.finished_run(shared.running, user, shape)


def _read_of_run(name: str, read: Read, shared: Shared, _: User) -> Request:
    owner, run = shared.once(name, partial(_run, RUNS[name]))
    return request(read, owner, run)


def _votes(name: str, shared: Shared, _: User) -> Request:
    """As many votes as a run may have."""
    owner, run = shared.once(name, partial(_run, RUNS[name]))
    pairs = [*combinations(range(20), 2)]
    words = ("first", "second", "tie")
    # Each names another document or another pair: a repeated vote would not count.
    drawn = ((1 + n % 240, pairs[n // 240], words[n * 7 % 11 % 3]) for n in range(10_000))
    lines = [f"{document},c{first},c{second},{word}" for document, (first, second), word in drawn]
    table = {"csv": "\n".join(["document,first,second,verdict", *lines])}
    return Request("POST", f"/runs/{run}/votes/import", json=table, headers=owner.session)


def _reasons(read: Read, shared: Shared, _: User) -> Request:
    """As many votes and notes as a run may have, each with as much text as is read, in words that begin a phrase."""
    owner, run = shared.once("reasons", partial(_run, COMPARED))
    with stored.signed_out(shared.running, owner) as conn:
        seq = conn.value("SELECT seq FROM runs WHERE id = ?", run)
        pairs = [*combinations(range(1, 21), 2)]
        for number in range(10_000):
            place = seq, 1 + number % 240
            said = "to " * 164 + str(number)
            conn.run(
                "INSERT INTO run_votes (id, run, document, candidate, opponent, repeat, presented, word, shown_at,"
                " voted_at, reason) VALUES (?, ?, ?, ?, ?, 1, 'ab', 'first', ?, ?, ?) ON CONFLICT DO NOTHING",
                *(f"vote-{number}", *place, *pairs[number // 240], stored.AT, stored.AT, said),
            )
            conn.run(
                "INSERT INTO run_notes (run, document, candidate, repeat, starred, note, updated_at)"
                " VALUES (?, ?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING",
                *(*place, 1 + number // 240 % 20, 1 + number // 4_800, said.ljust(2_000), stored.AT),
            )
    return request(read, owner, run)


def _whole_export(name: str, shared: Shared, _: User) -> Request:
    owner, _run_id = shared.once(name, partial(_run, RUNS[name]))
    return Request("GET", "/users/me/export", headers=owner.session)


def _pooled(read: Read, shared: Shared, _: User) -> Request:
    """Passports and leaderboards over as many scores of several runs as are pooled."""
    owner, run = shared.once("four runs", _four_runs)
    return request(read, owner, run)


def _four_runs(shared: Shared, user: User) -> str:
    # The same answers of other runs would count once.
    return [_run(POOLED._replace(answer=100 * (number + 1)), shared, user) for number in range(4)][-1]


def _many(read: Read, shared: Shared, _: User) -> Request:
    """As many runs with as many documents as are read together."""
    owner, run = shared.once("200 runs", _many_runs)
    return request(read, owner, run)


def _many_runs(shared: Shared, user: User) -> str:
    run = _run(MANY_RUNS, shared, user)
    with stored.signed_out(shared.running, user) as conn:
        stored.copied(conn, run, 199)
    return run


def _many_candidates(read: Read, shared: Shared, _: User) -> Request:
    """As many candidates as are ranked together."""
    owner, run = shared.once("60 candidates", _three_runs)
    return request(read, owner, run)


def _three_runs(shared: Shared, user: User) -> str:
    """Of 20 candidates each, which give other answers each time."""
    return [_run(MANY_CANDIDATES._replace(answer=100 * (number + 1)), shared, user) for number in range(3)][-1]


def _preset_with_runs(shared: Shared, user: User) -> str:
    """A preset with as many runs as a trend reads."""
    preset: str = user.post("/presets", {"name": "Trends", **stored.configuration(user, POOLED)})["id"]
    runs = [_run(POOLED, shared, user) for _ in range(3)]
    with stored.signed_out(shared.running, user) as conn:
        for run in runs:
            conn.run("UPDATE runs SET preset_id = ? WHERE id = ?", preset, run)
    return preset


def _run_export(shared: Shared, user: User) -> Request:
    owner, run = shared.once("96,000 calls", partial(_run, COMPARED))
    return Request("POST", f"/runs/{run}/export", headers=owner.session, until=f"/runs/{run}/export")


def _deleted(shape: Shape, shared: Shared, user: User) -> Request:
    return Request("DELETE", f"/runs/{_run(shape, shared, user)}", headers=user.session)


# Full workspaces ------------------------------------------------------------------------------------------------------


def _calls(shared: Shared, user: User) -> str:
    with stored.signed_out(shared.running, user) as conn:
        conn.run(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ?)"
            " INSERT INTO calls (id, run_id, task_key, attempt, provider, model, outcome, input_tokens, cached_tokens,"
            " output_tokens, cost_micros, latency_ms, started_at, finished_at, phase, written_tokens, price_id)"
            " SELECT printf('%032d', x), printf('%032d', x % 1000), 'r1.generate.d1.c1.s1', 1, 'openai',"
            " 'openai:m' || x % 50, 'running', 1, 0, 1, 7, 3,"
            " strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + x * 60, 'unixepoch'),"
            " '2026-11-01T10:00:00.000Z', 'generate', 0, 'p' FROM n",
            _CALLS,
        )
        conn.run("UPDATE calls SET outcome = 'answered' WHERE outcome = 'running'")
    return ""


def _texts(shared: Shared, user: User) -> str:
    draw = random.Random(1)
    words = [f"w{draw.randrange(10**5)}" for _ in range(50_000)]
    with stored.signed_out(shared.running, user) as conn:
        for number in range(_TEXT_MB):
            body = " ".join(draw.choices(words, k=150_000))
            conn.run(
                "INSERT INTO contents (id, name, type, description, tags, variables, version, created_at, updated_at,"
                " body_bytes, body_preview, body) VALUES (?, 'n', 'fragment', '', '[]', '{}', 1, ?, ?, ?, '', ?)",
                *(f"text-{number}", stored.AT, stored.AT, len(body), body),
            )
    return ""


def _rows(shared: Shared, user: User) -> str:
    """200 rows and more of every list, as fat as they may be; the id of the content with many versions."""
    target = user.content("fragment", "")
    fat: Json = {
        "variables": {f"V{number:063}": target for number in range(100)},
        "tags": [f"{number:050}" for number in range(20)],
        "description": "d" * 2_000,
    }
    document = user.content("input_document", "River.", **fat)
    instructions = user.content("generation_instructions", "Summarise.")
    for number in range(200):
        changed = {"name": "n" * 200, "type": "input_document", "body": str(number), **fat}
        assert user.client.put(f"/api/contents/{document}", json=changed, headers=user.session).status_code == 200
        candidates = [{"label": f"{one:0100}", "model": "local:lead"} for one in range(20)]
        preset: Json = {
            "name": "n" * 200,
            "inputs": [document],
            "instructions": instructions,
            "generation": {"candidates": candidates},
            "comparison": {"judges": [{"model": "local:reader"}]},
        }
        made = user.post("/presets", {**preset, "tags": fat["tags"], "description": fat["description"]})
        user.post("/runs", {"name": "n" * 200, "preset_id": made["id"]})
    return document


def _over(name: str, make: Callable[[Shared, User], str], path: str, shared: Shared, _: User) -> Request:
    owner, found = shared.once(name, make)
    return Request("GET", path.replace("{id}", found), headers=owner.session)


def _imported(make: Callable[[], bytes], shared: Shared, user: User) -> Request:
    headers = {"Content-Type": "application/zip"}
    return Request("POST", "/users/me/import", content=make(), headers=headers)


def _uploaded(name: str, make: Callable[[], bytes], shared: Shared, user: User) -> Request:
    return packages.form(name, make())


def _original(shared: Shared, user: User) -> Request:
    upload = packages.form("a.txt", packages.text(1_000_000))
    headers = {**user.session, **upload.headers}
    made = user.client.post("/api/documents", content=upload.content, headers=headers)
    assert made.status_code == 201, made.text
    return Request("GET", f"/documents/{made.json()['id']}/original")


def _table(name: str, make: Callable[[], bytes], shared: Shared, user: User) -> Request:
    return packages.form(name, make(), "/data-sets")


def _kept(user: User, table: bytes) -> Json:
    """A data set of this CSV file."""
    upload = packages.form("a.csv", table, "/data-sets")
    made = user.client.post("/api/data-sets", content=upload.content, headers={**user.session, **upload.headers})
    assert made.status_code == 201, made.text
    return dict(made.json())


def _long_rows(shared: Shared, user: User) -> Request:
    return Request("GET", f"/data-sets/{_kept(user, packages.long_rows())['id']}/rows?limit=200")


def _other_roles(shared: Shared, user: User) -> Request:
    """Each of the most columns of the most cells gets another role."""
    made = _kept(user, packages.wide_table())
    columns = [{"name": column["name"], "role": "variable"} for column in made["columns"]]
    return Request("PUT", f"/data-sets/{made['id']}", json={"name": "n", "columns": columns})


def _finished_answers(shared: Shared, user: User) -> Request:
    """As many texts and finished answers as a run may keep, each another text."""
    candidates = [{"label": f"c{number}", "column": f"a{number}"} for number in range(packages.ANSWERS)]
    configuration = {
        "rows": {"data_set": _kept(user, packages.finished_answers())["id"]},
        "generation": {"candidates": candidates},
        "checks": [{"kind": "contains", "texts": ["answer"]}],
    }
    return Request("POST", "/runs", json={"configuration": configuration})


_LISTS: Final = {
    "GET /presets": "/presets?limit=200",
    "GET /runs": "/runs?limit=200",
    "GET /contents/{content_id}/versions": "/contents/{id}/versions?limit=200",
    "GET /runs/count": "/runs/count",
    "GET /users/me": "/users/me",
}
_SEARCH: Final = "/contents?limit=200&q=" + "%20".join(f"w{number}" for number in range(10, 40))


def cases() -> list[tuple[str, str, Prepare]]:
    """Operations, names and what prepares each."""
    found: list[tuple[str, str, Prepare]] = []
    for name in RUNS:
        for read in reads_of_a_run() if name == "96,000 calls" else _RANKING:
            query = read.path.rpartition("?")[2] if "?" in read.path else ""
            shown = f"{name}, {query.replace('={run}', '')}" if query and "report" in read.path else name
            found.append((read.operation, shown, partial(_read_of_run, name, read)))
    found += [(read.operation, "4 runs of 12,000 scores", partial(_pooled, read)) for read in _BESIDE_RUNS]
    found += [(read.operation, "60 candidates of 3 runs", partial(_many_candidates, read)) for read in _BESIDE_RUNS]
    found += [(read.operation, "200 runs of 250 documents", partial(_many, read)) for read in _BESIDE_RUNS]
    trends = "/presets/{id}/trends?baseline=c0&candidate=c1"
    found.append(("GET /presets/{preset_id}/trends", "3 runs", partial(_over, "trends", _preset_with_runs, trends)))
    found.append(("GET /users/me/export", "60,000 scores", partial(_whole_export, "60,000 scores")))
    found.append(("POST /runs/{run_id}/votes/import", "10,000 votes", partial(_votes, "96,000 calls")))
    found.append(
        (
            "GET /runs/{run_id}/votes/count",
            "after 10,000 votes",
            partial(_read_of_run, "96,000 calls", _at("votes/count")),
        )
    )
    found += [
        (f"GET /runs/{{run_id}}/{end}", "after 10,000 votes", partial(_read_of_run, "96,000 calls", _at(end)))
        for end in ("ranking", "votes/against-judges")
    ]
    found += [
        (read.operation, "after 10,000 votes", partial(_read_of_run, "96,000 calls", read)) for read in _BESIDE_RUNS
    ]
    found += [
        (f"{method} /runs/{{run_id}}/{end}", "10,000 votes and notes, 500 characters each", partial(_reasons, _at(end)))
        for method, end in (("GET", "criteria-proposal"), ("GET", "ranking"))
    ]
    found.append(("POST /runs/{run_id}/export", "96,000 calls", _run_export))
    found.append(("DELETE /runs/{run_id}", "96,000 calls", partial(_deleted, COMPARED)))
    grouped = "/metering/usage?group_by=day,model,provider,run,phase"
    found.append(("GET /metering/usage", "1,000,000 calls", partial(_over, "calls", _calls, grouped)))
    found.append(
        ("GET /metering/calls", "1,000,000 calls", partial(_over, "calls", _calls, "/metering/calls?model=none"))
    )
    found.append(("GET /users/me/export", "1,000,000 calls", partial(_over, "calls", _calls, "/users/me/export")))
    found.append(("GET /contents", f"{_TEXT_MB} MB, searched", partial(_over, "texts", _texts, _SEARCH)))
    found.append(("GET /contents/counts", f"{_TEXT_MB} MB", partial(_over, "texts", _texts, "/contents/counts")))
    found.append(
        ("GET /users/me/export", f"{_TEXT_MB} MB of texts", partial(_over, "texts", _texts, "/users/me/export"))
    )
    found += [(operation, "200 fat rows", partial(_over, "rows", _rows, path)) for operation, path in _LISTS.items()]
    found += [("POST /users/me/import", name, partial(_imported, make)) for name, make in packages.IMPORTS.items()]
    found += [("POST /documents", name, partial(_uploaded, name, make)) for name, make in packages.FILES.items()]
    found.append(("GET /documents/{document_id}/original", "1 MB", _original))
    found += [("POST /data-sets", name, partial(_table, name, make)) for name, make in packages.TABLES.items()]
    found.append(("GET /data-sets/{data_set_id}/rows", "long rows", _long_rows))
    found.append(("PUT /data-sets/{data_set_id}", "200 roles of 25,000 rows", _other_roles))
    found.append(("POST /runs", "140,000 texts and answers", _finished_answers))
    return found


def _at(end: str) -> Read:
    return next(read for read in reads_of_a_run() if f"/{end}" in read.path)
