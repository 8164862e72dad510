"""`carrel doctor` and `carrel serve --check`: what is wrong, told beside a running service and without changing it."""

import os
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from carrel.cli.main import main
from carrel.cli.serving import examination
from carrel.kit.clock import SystemClock
from tests.support.service import Service


class Found(msgspec.Struct, frozen=True):
    what: str
    state: str
    words: str


def examine(service: Service, *words: str, **environment: str) -> tuple[int, list[Found]]:
    given = {name: None for name in os.environ if name.startswith("CARREL_")} | service.environment() | environment
    done = CliRunner().invoke(main, ["doctor", "--json", "--data-dir", str(service.data_dir), *words], env=given)
    return done.exit_code, [msgspec.json.decode(line, type=Found) for line in done.stdout.splitlines()]


def test_beside_a_running_service_everything_is_looked_at_and_nothing_is_touched(service: Service) -> None:
    before = sorted(path.name for path in service.data_dir.iterdir())
    code, found = examine(service, "--url", service.url)
    assert code == 0, found
    assert {one.what for one in found} >= {
        "version",
        "memory",
        "configuration",
        "data",
        "disk",
        "clock",
        "backup",
        "proxy",
    }
    assert next(one.words for one in found if one.what == "proxy").startswith("the operator's routes can be reached")
    assert sorted(path.name for path in service.data_dir.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "environment", "told"),
    [
        ((), {"CARREL_SERVICE_KEY": "0123456789abcdef" * 4}, "is not the key that this data folder was sealed with"),
        ((), {"CARREL_CORS_ORIGIN": "https://a.example"}, "the nearest is CARREL_CORS_ORIGINS"),
        ((), {"CARREL_PLUGIN_SECRET": "short"}, "must have at least 32 characters"),
        (("--url", "http://127.0.0.1:9"), {}, "does not answer"),
    ],
)
def test_what_is_wrong_is_said_and_is_an_exit_code(
    service: Service, words: tuple[str, ...], environment: dict[str, str], told: str
) -> None:
    code, found = examine(service, *words, **environment)
    assert code == 1
    assert [one for one in found if one.state == "bad" and told in one.words], found


def test_a_clock_that_went_back_and_a_file_that_all_can_read_are_found(
    service: Service, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Behind(SystemClock):
        def now(self) -> float:
            return super().now() - 86_400

    assert token, "somebody has signed in"
    monkeypatch.setattr(examination, "SystemClock", Behind)
    file = tmp_path / "carrel.env"
    file.write_text("CARREL_LOG_LEVEL=error\n")
    file.chmod(0o644)
    _, found = examine(service, "--env-file", str(file))
    assert {one.what for one in found if one.state == "bad"} == {"clock", "secrets"}


def test_a_check_before_a_restart_needs_no_free_folder_and_no_free_port(service: Service, tmp_path: Path) -> None:
    def check(*words: str, **environment: str) -> int:
        given = {name: None for name in os.environ if name.startswith("CARREL_")} | service.environment() | environment
        command = ["serve", "--check", "--port", str(service.port), "--data-dir", str(service.data_dir), *words]
        return CliRunner().invoke(main, command, env=given).exit_code

    assert check() == 0
    assert check(CARREL_FREE_PLAN="ful") == 2
    certificate = tmp_path / "none.pem"
    certificate.write_text("")
    assert check("--tls-cert", str(certificate), "--tls-key", str(certificate)) == 2
