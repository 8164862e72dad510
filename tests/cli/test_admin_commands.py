"""The operator's commands against the real service."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from carrel_sdk import CarrelApiError, Host, Workspace
from click.testing import Result

from tests.support.service import Service

Terminal = Callable[..., Result]
KEY = "sk-canary-0123456789-wxyz"


@pytest.fixture
def operator(terminal: Terminal, service: Service, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("CARREL_ADMIN_SECRET", service.admin_secret)
    return terminal


def lines(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [msgspec.json.decode(line, type=dict[str, object]) for line in result.stdout.splitlines()]


def test_a_key_of_the_operators_goes_in_and_never_comes_out(operator: Terminal) -> None:
    assert operator("admin", "keys", "set", "openai").exit_code == 2
    stored = operator("admin", "keys", "set", "openai", "--key-stdin", stdin=f"{KEY}\n")
    listed = operator("admin", "keys", "list")
    assert (stored.exit_code, "wxyz" in listed.output, KEY in stored.output + listed.output) == (0, True, False)
    assert operator("admin", "keys", "delete", "openai").exit_code == 0
    assert lines(operator("admin", "keys", "list", "--json")) == []


def test_a_shared_log_is_listed_and_read(operator: Terminal, service: Service, token: str) -> None:
    with Workspace(service.url, token) as workspace:
        inputs = [
            workspace.contents.create("a", "input_document", "One sentence is not much to go by, but it is here.").id
        ]
        prompt = workspace.contents.create("p", "generation_instructions", "Summarise.").id
        preset = workspace.presets.create(
            {
                "name": "n",
                "inputs": inputs,
                "instructions": prompt,
                "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:random"}]},
                "comparison": {"judges": [{"model": "local:reader"}]},
            }
        )
        shared = workspace.runs.share_logs(workspace.runs.create(preset_id=preset.id).id)
    listed = lines(operator("admin", "logs", "list", "--json"))
    assert [log["share_id"] for log in listed].count(shared.share_id) == 1
    assert "run-created" in operator("admin", "logs", "show", shared.share_id).output
    assert operator("admin", "logs", "show", "none").exit_code == 4


def test_what_the_host_bore_is_shown(operator: Terminal) -> None:
    assert "in all 0 credits for 0 calls" in operator("admin", "write-offs", "--from", "2026-11-01").output
    assert lines(operator("admin", "write-offs", "--user", "nobody", "--json")) == [{"calls": 0, "credits": "0"}]
    assert operator("admin", "write-offs", "--to", "tomorrow").exit_code == 1


def test_metrics_are_printed_as_they_are(operator: Terminal) -> None:
    assert operator("admin", "metrics").stdout.startswith("# HELP carrel_info")


def test_whether_a_restart_is_safe_is_told_with_numbers(operator: Terminal) -> None:
    (state,) = lines(operator("admin", "safe-to-restart", "--json"))
    assert state.keys() == {"safe", "active_runs", "cached_keys"}
    assert "keys in memory" in operator("admin", "safe-to-restart").output


def test_a_user_is_found_suspended_and_limited(operator: Terminal, service: Service) -> None:
    host = Host(service.url, service.plugin_secret)
    for name in ("greedy", "modest"):
        host.sign_up(name, password="pw")
    host.add_credits("greedy", "5")
    listed = lines(operator("admin", "users", "list", "--by", "credits", "--json"))
    assert listed[0]["uuid"] == "greedy"
    assert "greedy" in operator("admin", "users", "list").output
    assert "suspended since" in operator("admin", "users", "suspend", "greedy").output
    assert [one["uuid"] for one in lines(operator("admin", "users", "list", "--suspended", "--json"))] == ["greedy"]
    with pytest.raises(CarrelApiError, match="suspended"):
        host.sign_in("greedy", "pw")
    assert "may sign in" in operator("admin", "users", "suspend", "greedy", "--undo").output
    assert "of 7 MB" in operator("admin", "users", "quota", "greedy", "--megabytes", "7").output
    assert operator("admin", "users", "quota", "greedy").exit_code == 2
    assert operator("admin", "users", "sessions", "end", "greedy").exit_code == 0
    assert operator("admin", "users", "show", "nobody").exit_code == 4
    host.close()


def test_a_user_is_deleted_only_when_that_is_said_twice(operator: Terminal, service: Service) -> None:
    host = Host(service.url, service.plugin_secret)
    host.sign_up("leaver", password="pw")
    host.close()
    assert operator("admin", "delete-user", "leaver").exit_code == 2
    assert operator("admin", "delete-user", "leaver", "--yes").exit_code == 0
    assert operator("admin", "delete-user", "leaver", "--yes").exit_code == 4


def test_without_the_secret_nothing_is_asked(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CARREL_ADMIN_SECRET", raising=False)
    assert terminal("admin", "metrics").exit_code == 2
    assert terminal("init").exit_code == 0
    # The secret of another service, from its `.env`.
    wrong = terminal("admin", "metrics")
    assert (wrong.exit_code, "admin-secret-invalid" in wrong.stderr) == (1, True)
    assert terminal("admin", "metrics", "--url", "http://example.com").exit_code == 2
