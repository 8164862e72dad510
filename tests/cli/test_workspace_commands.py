"""The whole workspace in the terminal: out as a zip, back in, and what must never happen to files on the way."""

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from carrel_sdk import LOCKED, CarrelUnreachable, Host, SessionEnded, Workspace
from click.testing import Result

from carrel.cli.interface import watching
from tests.support.service import Service

Terminal = Callable[..., Result]


@pytest.fixture
def filled(signed_in: Terminal, tmp_path: Path) -> Terminal:
    """A workspace with one text."""
    (tmp_path / "a.md").write_text("A text.")
    assert signed_in("content", "add", str(tmp_path / "a.md")).exit_code == 0
    return signed_in


def told(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout, type=dict[str, object])


def test_a_workspace_is_shown_taken_out_and_brought_in_elsewhere(
    filled: Terminal, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "1 content, " in filled("workspace", "show").output
    zipped = tmp_path / "workspace.zip"
    assert told(filled("workspace", "export", "-o", str(zipped), "--json"))["bytes"] == zipped.stat().st_size
    assert stat.S_IMODE(zipped.stat().st_mode) == 0o600
    assert "README.txt" in zipfile.ZipFile(zipped).namelist()
    host = Host(service.url, service.plugin_secret)
    monkeypatch.setenv("CARREL_TOKEN", host.sign_up("cli-mover", membership="paid", password="pw").token)
    host.close()
    assert told(filled("workspace", "import", str(zipped), "--json")) == {"contents": 1, "presets": 0, "data_sets": 0}
    assert "a.md" in filled("content", "list").output


def test_no_file_is_replaced_unasked(filled: Terminal, tmp_path: Path) -> None:
    zipped = tmp_path / "workspace.zip"
    zipped.write_text("mine")
    refused = filled("workspace", "export", "-o", str(zipped))
    assert (refused.exit_code, zipped.read_text()) == (1, "mine")
    assert "--force" in refused.stderr
    assert filled("workspace", "export", "-o", str(zipped), "--force").exit_code == 0
    assert zipfile.is_zipfile(zipped)
    assert stat.S_IMODE(zipped.stat().st_mode) == 0o600


def test_a_file_that_came_meanwhile_is_not_replaced_either(
    filled: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zipped = tmp_path / "workspace.zip"
    monkeypatch.setattr(Workspace, "export_to", lambda _, file: (file.write(b"PK"), zipped.write_text("theirs")))
    assert filled("workspace", "export", "-o", str(zipped)).exit_code == 1
    assert zipped.read_text() == "theirs"


@pytest.mark.parametrize(
    ("error", "code"), [(CarrelUnreachable("in the middle", sent=True), 6), (KeyboardInterrupt(), 130)]
)
def test_nothing_stays_of_an_export_that_ends_in_the_middle(
    filled: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()

    def torn(_: object, file: object) -> None:
        assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]
        raise error

    monkeypatch.setattr(Workspace, "export_to", torn)
    assert filled("workspace", "export", "-o", str(folder / "workspace.zip")).exit_code == code
    assert list(folder.iterdir()) == []


def test_a_zip_goes_into_a_pipe_alone(filled: Terminal, tmp_path: Path) -> None:
    piped = filled("workspace", "export", "-o", "-")
    (tmp_path / "piped.zip").write_bytes(piped.stdout_bytes)
    assert "contents.jsonl" in zipfile.ZipFile(tmp_path / "piped.zip").namelist()


def test_what_cannot_be_read_or_written_is_one_line(filled: Terminal, tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_text("no zip")
    for words, code in (
        (("export", "-o", str(tmp_path / "a.md" / "workspace.zip")), 1),
        (("export", "-o", str(tmp_path / "nowhere" / "workspace.zip")), 1),
        (("import", str(tmp_path / "nowhere.zip")), 1),
        (("import", str(tmp_path / "no.zip")), 1),
    ):
        refused = filled("workspace", *words)
        assert (refused.exit_code, len(refused.stderr.splitlines())) == (code, 1), refused.output


def test_ctrl_c_says_that_a_run_goes_on(signed_in: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "snapshots", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    left = signed_in("run", "watch", "some-run")
    assert left.exit_code == 130
    assert "carrel run watch some-run" in left.stderr


def test_sessions_are_listed_and_ended_one_by_one_and_together(
    signed_in: Terminal, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(service.url, service.plugin_secret)
    uuid = "cli-leaver"
    first = host.sign_up(uuid, password="pw").token
    # A second later, because sessions of the same second are one.
    second = first
    while second == first:
        second = host.sign_in(uuid, "pw").token
    monkeypatch.setenv("CARREL_TOKEN", second)
    rows = [told_line(line) for line in signed_in("workspace", "sessions", "--json").stdout.splitlines()]
    assert [row["is_this_one"] for row in rows] == [True] + [False] * (len(rows) - 1)
    table = signed_in("workspace", "sessions")
    assert "this one" in table.output
    assert "there may be others" in table.stderr
    assert signed_in("workspace", "end-session", str(rows[-1]["session"])).exit_code == 0
    assert signed_in("workspace", "end-session", str(rows[-1]["session"])).exit_code == 4
    with Workspace(service.url, first) as ended, pytest.raises(SessionEnded, match="session-token-revoked"):
        ended.me()
    assert signed_in("workspace", "sign-out").exit_code == 0
    with Workspace(service.url, second) as ended, pytest.raises(SessionEnded):
        ended.me()
    host.sign_in(uuid, "pw")
    host.sign_out(uuid)
    host.sign_out(uuid)
    assert host.session(uuid) is LOCKED
    host.sign_out("cli-nobody")
    host.close()


def told_line(line: str) -> dict[str, object]:
    return msgspec.json.decode(line, type=dict[str, object])
