"""Debian's Prometheus reads what a service counts, and its alerts and the dashboard find what they ask for."""

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from tests.support.service import Service, free_port
from tests.support.web_runs import carried_out, content, ended

pytestmark = [pytest.mark.program("prometheus"), pytest.mark.program("promtool")]

DEPLOY = Path(__file__).parents[2] / "deploy/prometheus"
RULES = DEPLOY / "rules.yml"
GUIDE = Path(__file__).parents[2] / "docs/operator-guide.md"
SECRET = "metrics-secret-for-tests-0123456789abcdef"


def test_each_alert_fires_when_it_should_and_rests_otherwise(tmp_path: Path) -> None:
    cases = tmp_path / "cases.yml"
    cases.write_text((Path(__file__).parent / "prometheus_rules_test.yml").read_text().replace("RULES", str(RULES)))
    for command in (["check", "rules", str(RULES)], ["test", "rules", str(cases)]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    tried = {case["alertname"] for case in yaml.safe_load(cases.read_text())["tests"][0]["alert_rule_test"]}
    assert tried == {rule["alert"] for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]}


@asynccontextmanager
async def prometheus(folder: Path, service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """One that is set up as the guide says, but asks each second."""
    block = GUIDE.read_text().partition("```yaml\nscrape_configs:")[2].partition("```")[0]
    secret = folder / "secret"
    secret.write_text(SECRET)
    said = f"scrape_configs:{block}".replace("/etc/prometheus/carrel-metrics-secret", str(secret))
    said = said.replace("127.0.0.1:8400", f"127.0.0.1:{service.port}")
    file = folder / "prometheus.yml"
    file.write_text(f"global: {{scrape_interval: 1s}}\nrule_files: [{RULES}]\n{said}")
    address = f"127.0.0.1:{free_port()}"
    command = ["prometheus", f"--config.file={file}", f"--storage.tsdb.path={folder}/kept"]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address={address}"], stdout=log, stderr=log)
    try:
        async with httpx.AsyncClient(base_url=f"http://{address}/api/v1") as client:
            yield client
    finally:
        process.kill()
        process.wait()


async def found(client: httpx.AsyncClient, question: str) -> list[dict[str, str]]:
    """The labels of the series that answer it with a number, as soon as there are any."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            answer = await client.get("/query", params={"query": question})
            # While it reads its log it answers 503.
            series = answer.raise_for_status().json()["data"]["result"]
        except httpx.HTTPError:
            series = []
        if any(one["value"][1] != "NaN" for one in series):
            return [one["metric"] for one in series]
        await asyncio.sleep(0.2)
    raise AssertionError(question)


async def test_every_panel_has_series_after_work_and_what_fails_is_told(tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    settings = {"CARREL_METRICS_SECRET": SECRET, "CARREL_FREE_PLAN": "full", "CARREL_PROVIDER_HOSTS": nowhere[7:]}
    service = Service(tmp_path / "service", settings=settings)
    await asyncio.to_thread(service.start)
    (tmp_path / "prometheus").mkdir()
    try:
        async with prometheus(tmp_path / "prometheus", service) as asked:
            await found(asked, "up == 1")
            async with httpx.AsyncClient(base_url=service.url, timeout=60) as client:
                plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
                await client.post("/api/users", json={"uuid": "ada"}, headers=plugin)
                key = {"uuid": "ada", "db_key_hex": "ab" * 32}
                answer = await client.post("/api/auth/login", json=key, headers=plugin)
                session = {"X-SVC-Session-Token": answer.json()["session_token"]}
                await ended(client, session)
                client.headers.update(session)
                assert (await client.get("/api/contents/none")).status_code == 404
                access = {"provider": "openai", "key": "sk-canary-0123456789", "base_url": nowhere}
                stored = await client.post("/api/provider-keys", json=access)
                assert stored.is_success, stored.text
                configuration = {
                    "inputs": [await content(client, session, "input_document", "A text.")],
                    "instructions": await content(client, session, "generation_instructions", "Say it."),
                    "generation": {"candidates": [{"model": "openai:gpt-5"}]},
                    "limits": {"max_attempts": 1},
                }
                failed = await carried_out(client, configuration)
                assert failed["state"] == "failed"
                backup = {"X-SVC-Admin-Secret": service.admin_secret}
                assert (await client.post("/api/admin/backup", headers=backup)).status_code == 200
                await found(asked, "carrel_last_backup_timestamp_seconds")
                # Rates need a change between two readings.
                await ended(client, session)
            for panel in json.loads((DEPLOY / "dashboard.json").read_text())["panels"]:
                for target in panel["targets"]:
                    assert await found(asked, target["expr"]), target
            unreachable = 'carrel_provider_calls_total{provider="openai", outcome!="answered"} > 0'
            assert [one["outcome"] for one in await found(asked, unreachable)] == ["provider-unreachable"]
            assert await found(asked, 'carrel_runs_total{state="failed"} == 1')
            assert '"event":"run-halted","level":"warning"' in service.log()
    finally:
        service.stop()
