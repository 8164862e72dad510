"""The Caddyfile, with Caddy itself in front of a service."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen
from uuid import uuid4

import pytest
from carrel_sdk import Host, Workspace
from carrel_sdk.models import Candidate, Configuration, Generation, Judge, Scoring

from tests.support.service import Service, free_port

pytestmark = pytest.mark.program("caddy")

CADDYFILE = Path(__file__).parents[2] / "deploy" / "Caddyfile"
DOCUMENT = "The harbour kept a ledger. It named every ship. The storms were written in red."


def caddy(*arguments: str, folder: Path, **environment: str) -> "subprocess.Popen[str]":
    command = ["caddy", arguments[0], "--config", str(CADDYFILE), "--adapter", "caddyfile", *arguments[1:]]
    # It keeps its certificates and its configuration in the home of whoever starts it.
    own = {"PATH": os.environ["PATH"], "HOME": str(folder), **environment}
    return subprocess.Popen(command, cwd=folder, env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@contextmanager
def in_front_of(service: Service, folder: Path) -> Iterator[str]:
    """Caddy as the Caddyfile says, without TLS; its address."""
    site = f"http://127.0.0.1:{free_port()}"
    upstream = f"127.0.0.1:{service.port}"
    with caddy("run", folder=folder, CARREL_SITE=site, CARREL_UPSTREAM=upstream) as process:
        try:
            for _ in range(600):
                assert process.poll() is None, process.stdout and process.stdout.read()
                try:
                    with urlopen(f"{site}/api/health", timeout=60):
                        break
                except (URLError, ConnectionError):
                    time.sleep(0.1)
            yield site
        finally:
            # Not asked to end, for then it would wait for streams that are still open.
            process.kill()
            process.communicate(timeout=60)


def test_the_file_is_valid_and_formatted_as_caddy_formats_it(tmp_path: Path) -> None:
    said, _ = caddy("validate", folder=tmp_path, CARREL_SITE="carrel.example.com").communicate(timeout=60)
    assert "Valid configuration" in said
    formatted = subprocess.run(["caddy", "fmt", CADDYFILE], capture_output=True, text=True, check=True).stdout
    assert formatted == CADDYFILE.read_text()


def test_events_of_a_run_arrive_through_it_while_the_run_has_not_ended(tmp_path: Path) -> None:
    service = Service(tmp_path / "service")
    service.start()
    try:
        with in_front_of(service, tmp_path) as site, closing(Host(site, service.plugin_secret)) as host:
            uuid = str(uuid4())
            host.sign_up(uuid, membership="paid")
            host.sign_in(uuid, "a pass word for one test")
            with Workspace(site, lambda: str(host.session(uuid))) as workspace:
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
                first = next(iter(workspace.runs.events(run.id)))
        assert first.kind == "run-created"
    finally:
        assert service.stop() == 0
