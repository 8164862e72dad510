"""The group of commands."""

import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

import carrel.cli
from carrel import __version__
from carrel.cli.main import COMMANDS, main


def test_every_command_is_there_and_has_a_help() -> None:
    runner = CliRunner()
    assert set(COMMANDS) >= {"serve", "init", "openapi"}
    overview = runner.invoke(main, ["--help"])
    assert overview.exit_code == 0
    for name in COMMANDS:
        assert name in overview.output
        assert runner.invoke(main, [name, "--help"]).exit_code == 0


def test_every_module_of_the_package_is_a_command() -> None:
    folder = Path(carrel.cli.__file__).parent
    files = {file.stem for part in (".", "operators", "users") for file in (folder / part).glob("*.py")}
    commands = {name.replace("-", "_") for name in COMMANDS}
    # `run_vote` is `carrel run vote`, and so on; those of clusters have parts of `carrel cluster` and `carrel admin`.
    parts = {"run_vote", "preset_replacement", "admin_users", "cluster_adopt", "cluster_backup", "cluster_moves"}
    assert files == commands | {"__init__", "main", "program"} | parts


def test_what_commands_share_imports_no_command() -> None:
    shared = {"interface", "serving", "demonstration"}
    for file in (file for name in shared for file in (Path(carrel.cli.__file__).parent / name).glob("*.py")):
        imported = re.findall(r"^(?:from|import) carrel\.cli\.?(\w*)", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(imported) <= shared, file.name


def test_an_unknown_command_is_exit_code_2() -> None:
    assert CliRunner().invoke(main, ["nonsense"]).exit_code == 2


def test_the_version_is_told() -> None:
    assert __version__ in CliRunner().invoke(main, ["--version"]).output


def test_a_command_is_imported_only_when_it_runs() -> None:
    code = "import sys, carrel.cli.main; print(sorted({'starlette', 'uvicorn', 'carrel.app'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_service_starts_without_what_it_does_not_need_yet() -> None:
    heavy = {"pydantic", "numpy", "jinja2", "aiohttp", "httpx", "polyfactory"}
    code = (
        "import sys; from carrel.app import create_app; from carrel.config import Secret, Settings; "
        "create_app(Settings(plugin_secret=(Secret(b'a'),), service_key=Secret(bytes(32)))); "
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == "[]\n"
