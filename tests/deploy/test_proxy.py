"""Caddy, nginx and HAProxy, each as its file in `deploy` says, in front of a service."""

import subprocess
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from carrel_sdk import CarrelApiError, CarrelUnreachable, Host, Workspace
from carrel_sdk.models import Candidate, Configuration, Generation, Judge, Scoring

from tests.deploy.proxies import CADDYFILE, caddy, in_front
from tests.support.service import Service

DOCUMENT = "The harbour kept a ledger. It named every ship. The storms were written in red."
PASSWORD = "a pass word for one test"
CLOSED = ("/api/admin/users", "/api/admin/backup", "/api/admin", "/api/metrics")
PROXIES = [pytest.param(name, marks=pytest.mark.program(name)) for name in ("caddy", "nginx", "haproxy")]


@pytest.mark.program("caddy")
def test_the_file_is_valid_and_formatted_as_caddy_formats_it(tmp_path: Path) -> None:
    said, _ = caddy("validate", folder=tmp_path, CARREL_SITE="carrel.example.com").communicate(timeout=60)
    assert "Valid configuration" in said
    formatted = subprocess.run(["caddy", "fmt", CADDYFILE], capture_output=True, text=True, check=True).stdout
    assert formatted == CADDYFILE.read_text()


@pytest.mark.parametrize("name", PROXIES)
def test_events_and_files_pass_the_operators_routes_do_not_and_an_absence_is_told(name: str, tmp_path: Path) -> None:
    service = Service(tmp_path / "service", settings={"CARREL_LOG_ADDRESSES": "forwarded"})
    service.start()
    with (
        in_front(name, service.port, tmp_path / name) as site,
        closing(Host(site, service.plugin_secret)) as host,
    ):
        uuid = str(uuid4())
        host.sign_up(uuid, membership="paid", password=PASSWORD)
        with Workspace(site, lambda: str(host.session(uuid))) as workspace:
            assert _first_event(workspace) == "run-created"
            line = b"The harbour kept a ledger of every ship.\n"
            with pytest.raises(CarrelApiError) as too_long:
                workspace.documents.upload("ledger.txt", line * (20 * 1024 * 1024 // len(line)))
            assert too_long.value.code not in ("unexpected-answer", "upload-too-large"), (
                "it came as far as Carrel's reader"
            )
        for path in CLOSED:
            answer = httpx.get(f"{site}{path}", headers={"X-SVC-Admin-Secret": service.admin_secret})
            assert (answer.status_code, answer.json()["code"]) == (404, "route-unknown"), path
            assert httpx.get(f"{service.url}{path}").status_code != 404
        forged = {"X-Forwarded-For": "203.0.113.9"}
        assert httpx.get(f"{site}/api/users/me", headers=forged).status_code == 401
        assert service.stop() == 0
        assert '"address":"127.0.0.0/24"' in service.log()
        assert "203.0.113" not in service.log()
        with pytest.raises(CarrelUnreachable) as away:
            host.change_password(uuid, PASSWORD, "another one")
        assert away.value.sent is False, "so the website need not keep the change pending"
        service.start()
        assert host.sign_in(uuid, PASSWORD)
    assert service.stop() == 0


def _first_event(workspace: Workspace) -> str:
    text = workspace.contents.create("Ledger", "input_document", DOCUMENT)
    criteria = workspace.contents.create("Criteria", "criteria", "- name: coverage\n")
    instructions = workspace.contents.create("Summarise", "generation_instructions", "Summarise.")
    configuration = Configuration(
        inputs=[text.id],
        instructions=instructions.id,
        generation=Generation(candidates=[Candidate(label="lead", model="local:lead")]),
        scoring=Scoring(judges=[Judge(model="local:reader")], criteria=criteria.id),
    )
    run = workspace.runs.create(configuration=configuration, name="Not started")
    return next(iter(workspace.runs.events(run.id))).kind
