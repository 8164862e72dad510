"""`carrel init`."""

import stat
from pathlib import Path

from click.testing import CliRunner

from carrel import config
from carrel.cli.main import main


def test_it_makes_a_file_that_only_its_owner_reads_and_that_serve_takes(tmp_path: Path) -> None:
    file = tmp_path / "carrel.env"
    done = CliRunner().invoke(main, ["init", "--file", str(file), "--data-dir", "/srv/carrel"])
    assert done.exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    settings = config.load({}, env_file=file)
    assert settings.data_dir == Path("/srv/carrel")
    assert settings.free_plan == "limited"
    assert settings.admin_secret is not None
    assert not [secret for secret in secrets_of(settings) if secret in done.output]


def test_every_file_has_secrets_of_its_own(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        CliRunner().invoke(main, ["init", "--file", str(file)])
    one, other = (set(secrets_of(config.load({}, env_file=file))) for file in files)
    assert not one & other


def test_personal_is_the_full_plan(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    assert CliRunner().invoke(main, ["init", "--file", str(file), "--personal"]).exit_code == 0
    assert config.load({}, env_file=file).free_plan == "full"


def test_an_existing_file_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("mine")
    done = CliRunner().invoke(main, ["init", "--file", str(file)])
    assert done.exit_code == 2
    assert done.stderr == f"carrel: {file} exists already and was not changed\n"
    assert file.read_text() == "mine"


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["init", "--file", str(tmp_path / "nowhere" / ".env")])
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1


def secrets_of(settings: config.Settings) -> list[str]:
    """Every secret as it would stand in a text."""
    assert settings.admin_secret is not None
    given = [*settings.plugin_secret, settings.admin_secret]
    return [*(secret.reveal().decode() for secret in given), settings.service_key.reveal().hex()]
