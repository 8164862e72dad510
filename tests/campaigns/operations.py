"""A request for every operation of `openapi.json`, over data as fat as the limits allow where that is quick to store.

`cases.CASES` holds what is known to be dear. These are the other operations, so that none is without a figure.
"""

import json
import secrets
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.campaigns import packages
from tests.campaigns.user import Json, Request, User
from tests.documents import files

MAX_BODY: Final = 1024 * 1024
_DOCUMENTS, _CANDIDATES = 20, 4
_KEY: Final = "sk-" + "k" * 60
_TEXT: Final = "The river rose in 1824, and the mill at its bank stood still for a year. " * 9_000
_JUDGE: Final = {"model": "local:reader"}
_CRITERIA: Final = "- name: Coverage"
_ENDED: Final = ("completed", "completed_with_errors", "failed", "cancelled")
_BOUNDARY: Final = "limit"


def every() -> list[str]:
    """The operations, as `METHOD /path` below `/api`."""
    paths = json.loads(Path("openapi.json").read_text())["paths"]
    return sorted(f"{method.upper()} {path.removeprefix('/api')}" for path in paths for method in paths[path])


def prepared(operation: str, user: User) -> Request:
    """Store what the operation needs, and return a good request."""
    method, path = operation.split(" ")
    run = ""
    if "{run_id}" in path:
        run = _RUNS.get(operation, _ended)(user)
        path = path.replace("{run_id}", run)
        for parameter, within in _WITHIN.items():
            if parameter in path:
                path = path.replace(parameter, within(user, run))
    for parameter, make in (_PLACES | _PARAMETERS).items():
        if parameter in path:
            path = path.replace(parameter, make(user))
    make_body = _BODIES.get(operation)
    found = Request(method, path, headers=_headers(user, path))
    if operation in _OF_RUNS:
        found = found._replace(json=_OF_RUNS[operation](user, run))
    elif make_body is not None:
        body = make_body(user)
        if isinstance(body, Request):
            return found._replace(content=body.content, headers=body.headers)
        found = found._replace(json=body)
    return found._replace(path=path + _QUERIES.get(operation, ""))


def _headers(user: User, path: str) -> dict[str, str]:
    if path.startswith("/admin") or path == "/metrics":
        return user.admin
    if path.startswith(("/auth", "/credits/add")) or path == "/users" or path.endswith("activate"):
        return user.plugin
    if path == f"/users/{user.uuid}":
        return user.plugin
    return {}


# What a path names ----------------------------------------------------------------------------------------------------


def _content(user: User) -> str:
    target = user.content("fragment", "")
    variables = {f"V{number:063}": target for number in range(100)}
    tags = [f"{number:050}" for number in range(20)]
    return user.content("fragment", "x" * MAX_BODY, variables, description="d" * 2_000, tags=tags)


def _configuration(user: User) -> Json:
    """Answers that are there already, so that a run of them only judges."""
    documents = [user.content("input_document", f"{_TEXT[:4_000]} {number}") for number in range(_DOCUMENTS)]
    candidates = [
        {
            "label": f"c{number}",
            "existing": {one: user.content("output_document", f"{number} {_TEXT[:4_000]}") for one in documents},
        }
        for number in range(_CANDIDATES)
    ]
    return {
        "inputs": documents,
        "generation": {"candidates": candidates},
        "scoring": {"judges": [_JUDGE], "criteria": user.content("criteria", _CRITERIA)},
        "comparison": {"judges": [_JUDGE]},
    }


def _preset(user: User) -> str:
    return str(user.post("/presets", {"name": "n" * 200, **_configuration(user)})["id"])


def _pending(user: User) -> str:
    return str(user.post("/runs", {"name": "n" * 200, "configuration": _configuration(user)})["id"])


def _begun(user: User) -> str:
    run = _pending(user)
    user.post(f"/runs/{run}/start", None)
    return run


def _ended(user: User) -> str:
    run = _begun(user)
    while user.get(f"/runs/{run}")["state"] not in _ENDED:
        time.sleep(0.1)
    return run


def _exported(user: User) -> str:
    run = _ended(user)
    user.post(f"/runs/{run}/export", None)
    while user.status(f"/runs/{run}/export") != 200:
        time.sleep(0.1)
    return run


def _paused(user: User) -> str:
    run = _begun(user)
    user.post(f"/runs/{run}/pause", None)
    return run


def _answer(user: User, run: str) -> str:
    tasks = user.get(f"/runs/{run}/tasks?kind=generate&limit=1")["items"]
    return str(tasks[0]["generated_id"])


def _ballot(user: User, run: str) -> Json:
    pair = user.post(f"/runs/{run}/votes/next", None)["pair"]
    return {"pair": pair, "verdict": "tie", "reason": "r" * 500}


def _votes_table(user: User, run: str) -> Json:
    first, second, *_ = (row["candidate"] for row in user.get(f"/runs/{run}/ranking")["ranking"]["rows"])
    return {"csv": f"document,first,second,verdict,reason\n1,{first},{second},tie,{'r' * 500}\n"}


def _note(user: User, run: str) -> Json:
    candidate = user.get(f"/runs/{run}/ranking")["ranking"]["rows"][0]["candidate"]
    return {"document": 1, "candidate": candidate, "starred": True, "note": "n" * 2_000}


def _vote(user: User, run: str) -> str:
    return str(user.post(f"/runs/{run}/votes", _ballot(user, run))["id"])


def _document(user: User, form: Request | None = None) -> str:
    form = form or _upload(user)
    made = user.client.post("/api/documents", content=form.content, headers={**user.session, **form.headers})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def _page(user: User) -> str:
    """One with ten thousand lines of text over each other."""
    lines = ") Tj 0 -0.07 Td (".join(f"The river rose in {year}." for year in range(10_000))
    return f"/documents/{_document(user, packages.form('a.pdf', files.pdf(lines)))}/pages/1"


def _data_set(user: User) -> str:
    form = _table(user)
    made = user.client.post("/api/data-sets", content=form.content, headers={**user.session, **form.headers})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def _connection(user: User) -> str:
    return str(user.post("/github-connections", _connection_body(user))["id"])


def _provider(user: User) -> str:
    user.post("/provider-keys", _key_body(user))
    # Also the operator's, for the operations of the operator.
    user.client.post("/api/admin/system-keys", json=_key_body(user), headers=user.admin)
    return "openai"


def _priced(user: User) -> str:
    path = "/model-prices/openai:" + "m" * 200
    body = {"input_per_million": "0.5", "output_per_million": "1.5"}
    answer = user.client.put(f"/api{path}", json=body, headers=user.session)
    assert answer.status_code == 200, answer.text
    return path


def _draft_body(user: User) -> Json:
    """As many ids and texts as a draft may have."""
    return {"name": "n" * 200, "form": "preset", "body": {"ids": [secrets.token_hex(16) for _ in range(29_000)]}}


def _draft(user: User) -> str:
    draft_id = str(uuid.uuid4())
    path = f"/api/preset-drafts/{draft_id}"
    answer = user.client.put(path, json=_draft_body(user), headers=user.session)
    assert answer.status_code == 200, answer.text
    return draft_id


def _share(user: User) -> str:
    return str(user.post(f"/runs/{_ended(user)}/share-logs", None)["share_id"])


_PARAMETERS: Final[dict[str, Callable[[User], str]]] = {
    "{content_id}": _content,
    "{version}": lambda user: "1",
    "{document_id}": _document,
    "{data_set_id}": _data_set,
    "{preset_id}": _preset,
    "{draft_id}": _draft,
    "{connection_id}": _connection,
    "{model}": lambda user: "local:lead",
    "{share_id}": _share,
    "{uuid}": lambda user: user.uuid,
    "{number}": lambda user: str(user.get("/users/me/sessions")["items"][0]["session"]),
    "{provider}": _provider,
    "{program_key_id}": lambda user: str(_program_key(user)["id"]),
}

_PLACES: Final[dict[str, Callable[[User], str]]] = {
    "/documents/{document_id}/pages/{number}": _page,
    "/model-prices/{model}": _priced,
}
"""Paths in which a parameter has another value than elsewhere."""

_RUNS: Final[dict[str, Callable[[User], str]]] = {
    "GET /runs/{run_id}/export": _exported,
    "POST /runs/{run_id}/cancel": _begun,
    "POST /runs/{run_id}/pause": _begun,
    "POST /runs/{run_id}/resume": _paused,
    "POST /runs/{run_id}/start": _pending,
    "POST /runs/{run_id}/tasks/{task_key}/skip": _paused,
}
_WITHIN: Final[dict[str, Callable[[User, str], str]]] = {
    "{document}": lambda user, run: "1",
    "{generated_id}": _answer,
    "{task_key}": lambda user, run: str(user.get(f"/runs/{run}/tasks?state=pending&limit=1")["items"][0]["key"]),
    "{text_name}": lambda user, run: str(next(iter(user.get(f"/runs/{run}/receipt")["receipt"]["texts"]))),
    "{vote_id}": _vote,
}

# Bodies ---------------------------------------------------------------------------------------------------------------


def _upload(user: User) -> Request:
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    content = f"{head}{_TEXT}\r\n--{_BOUNDARY}--\r\n".encode()
    return Request("POST", "", content=content, headers={"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"})


def _table(user: User) -> Request:
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    text = _TEXT[:600].replace('"', "'")
    rows = "".join(f'{number},"{text}"\r\n' for number in range(1_000))
    content = f"{head}id,text\r\n{rows}\r\n--{_BOUNDARY}--\r\n".encode()
    return Request("POST", "", content=content, headers={"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"})


def _package(user: User) -> Request:
    for _ in range(20):
        _content(user)
    answer = user.client.get("/api/users/me/export", headers=user.session)
    return Request("POST", "", content=answer.content, headers={"Content-Type": "application/zip"})


def _connection_body(user: User) -> Json:
    return {"name": "n", "repository": "nobody/nothing", "token": "t" * 40}


def _content_body(user: User) -> Json:
    target = user.content("fragment", "")
    return {
        "name": "n" * 200,
        "type": "fragment",
        "body": "{{word}} [a](b) " * (MAX_BODY // 16),
        "variables": {f"V{number:063}": target for number in range(100)},
    }


def _new_user(user: User) -> Json:
    return {"uuid": f"new-{secrets.token_hex(8)}", "membership": "paid"}


def _key_body(user: User) -> Json:
    return {"provider": "openai", "key": _KEY}


def _program_key_body(_: User) -> Json:
    return {"name": "n" * 100, "scopes": ["read", "run", "write"], "days": 365}


def _program_key(user: User) -> Json:
    return dict(user.post("/users/me/program-keys", _program_key_body(user)))


def _pair(user: User) -> Json:
    return {"judge": _JUDGE, "document": _TEXT, "a": _TEXT, "b": _TEXT[::-1]}


_SUITE: Final = (
    "prompts: ['{{a}}']\nproviders: [openai:gpt-5]\ntests:\n- vars: {a: x}\n  assert: [{type: equals, value: x}]\n"
)

_BODIES: Final[dict[str, Callable[[User], object]]] = {
    "POST /admin/system-keys": _key_body,
    "POST /auth/login": lambda user: {"uuid": user.uuid, "db_key_hex": user.key},
    "POST /auth/logout": lambda user: {"uuid": user.uuid},
    "POST /auth/program": lambda user: {"program_key": _program_key(user)["program_key"]},
    "POST /auth/refresh": lambda user: {"uuid": user.uuid},
    "POST /auth/rekey": lambda user: {"uuid": user.uuid, "new_db_key_hex": secrets.token_hex(32)},
    "POST /contents": _content_body,
    "PUT /contents/{content_id}": _content_body,
    "POST /contents/{content_id}/resolve": lambda user: {},
    "POST /credits/add": lambda user: {"uuid": user.uuid, "amount": "1", "reason": "r" * 200},
    "POST /data-sets": _table,
    "POST /data-sets/preview": _table,
    "POST /data-sets/{data_set_id}/versions": _table,
    "PUT /data-sets/{data_set_id}": lambda user: {
        "name": "m" * 200,
        "columns": [{"name": "id", "role": "id"}, {"name": "text", "role": "variable"}],
    },
    "POST /documents": _upload,
    "POST /evaluation/compare": _pair,
    "POST /evaluation/score": lambda user: {
        "judge": _JUDGE,
        "document": _TEXT,
        "answer": _TEXT,
        "criteria": _CRITERIA,
    },
    "POST /generation": lambda user: {"model": "local:submodular", "prompt": _TEXT},
    "POST /github-connections": _connection_body,
    "POST /evaluation/judges/check": lambda user: {"judge": _JUDGE},
    "PUT /github-connections/{connection_id}": lambda user: {"name": "m", "repository": "nobody/nothing"},
    "POST /github-connections/{connection_id}/export": lambda user: {"contents": [user.content("fragment", "x")]},
    "POST /github-connections/{connection_id}/import": lambda user: {"paths": ["a.md"]},
    "PUT /admin/users/{uuid}/quota": lambda user: {"workspace_megabytes": 10},
    "POST /suites": lambda user: {"name": "n", "config": _SUITE},
    "POST /presets": lambda user: {"name": "n", **_configuration(user)},
    "PUT /presets/{preset_id}": lambda user: {"name": "n", **_configuration(user)},
    "PUT /preset-drafts/{draft_id}": _draft_body,
    "POST /provider-keys": _key_body,
    "PUT /rate-limits/{provider}": lambda user: {"concurrency": 3},
    "PUT /model-prices/{model}": lambda user: {"input_per_million": "0.5", "output_per_million": "1.5"},
    "POST /runs": lambda user: {"configuration": _configuration(user)},
    "DELETE /runs/bulk": lambda user: {"ids": [_ended(user)]},
    "POST /contents/criteria-rows": lambda user: {"body": _CRITERIA},
    "PUT /settings": lambda user: {"theme": "dark"},
    "POST /users": _new_user,
    "POST /users/me/import": _package,
    "POST /users/me/program-keys": _program_key_body,
    "PUT /runs/{run_id}": lambda user: {"name": "m" * 200},
    "POST /runs/{run_id}/reevaluate": lambda user: {},
}
_QUERIES: Final = {
    "POST /presets/{preset_id}/execute": "?dry_run=true",
    "GET /presets": "?limit=200",
    "GET /presets/{preset_id}/alternatives": "?baseline=c0",
    "GET /runs/{run_id}/gate": "?baseline=c0&candidate=c1",
    "GET /runs/{run_id}/replacement": "?baseline=c0&calls_per_month=1000",
    "GET /evaluation/judges/check-cost": "?model=local:reader",
    "GET /models/endings": "?model=openai:gpt-5-mini&model=local:reader",
}
_OF_RUNS: Final[dict[str, Callable[[User, str], Json]]] = {
    "POST /runs/{run_id}/votes": _ballot,
    "PUT /runs/{run_id}/notes": _note,
    "POST /runs/{run_id}/votes/import": _votes_table,
}
WITH_BODY: Final = {*_BODIES, *_OF_RUNS}
NAMED: Final = {"{run_id}", *_WITHIN, *_PARAMETERS}
"""The parameters of paths for which there is a value."""
