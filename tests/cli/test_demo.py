"""The demonstration: from an empty folder to a verdict, with exit code 0 only if all of it happened."""

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from carrel.cli import demo
from carrel.cli.demo import DemoFailed
from carrel.cli.main import main

TOPICS = ("harbour", "orchard", "library", "foundry", "theatre", "glacier", "bakery", "railway", "observatory", "mill")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Ten short texts, each with some sentences worth choosing from."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, topic in enumerate(TOPICS):
        sections = [
            f"## Part {part}\n\nThe {topic} opened in {1800 + 17 * number + part} and employed {40 + part} people.\n"
            f"Visitors of the {topic} remember the long winter of year {part}, when the {topic} stood still.\n"
            f"Later the owners of the {topic} decided to rebuild its {('roof', 'gate', 'hall')[part % 3]} in stone.\n"
            for part in range(1, 7)
        ]
        (folder / f"{number}.md").write_text(f"# The {topic}\n\n" + "\n".join(sections))
    return folder


def test_the_whole_demonstration_happens(texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["demo", "--docs", str(texts / "*.md"), "--out", str(out)])
    assert done.exit_code == 0, done.output
    for words in ("10 documents", "run completed", "Verdict", "95 % interval", "unreadable at rest", "stopped"):
        assert words in done.output
    for name in demo.GENERATORS:
        assert name in done.output
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    with zipfile.ZipFile(out / "export.zip") as archive:
        assert archive.testzip() is None


def test_the_projects_own_guides_are_at_least_ten_documents_of_real_prose() -> None:
    documents = demo.documents_of(None)
    assert len(documents) >= demo.ENOUGH_DOCUMENTS
    assert all(len(document.body.split()) > 150 for document in documents)
    assert len({document.name for document in documents}) == len(documents)


def test_documents_can_be_named_by_path_and_glob_and_count_once(texts: Path) -> None:
    documents = demo.documents_of(f"{texts / '3.md'} '{texts}/[0-4].md'")
    assert [document.name for document in documents] == ["3.md", "0.md", "1.md", "2.md", "4.md"]


@pytest.mark.parametrize("given", ["", "nowhere.md", "*.nothing", "empty.md", "binary.md"])
def test_documents_that_cannot_be_used_are_told(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "binary.md").write_bytes(b"\xff\xff")
    with pytest.raises(DemoFailed):
        demo.documents_of(given)


def test_a_demonstration_that_fails_says_why_in_one_line() -> None:
    failed = CliRunner().invoke(main, ["demo", "--docs", "nowhere.md"])
    assert failed.exit_code == 1
    assert "nowhere.md cannot be read" in failed.output
    assert "Traceback" not in failed.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demonstration_leaves_no_service_and_no_folder(
    texts: Path, tmp_path: Path, number: signal.Signals
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = [sys.executable, "-c", "from carrel.cli.main import main; main()", "demo"]
    process = subprocess.Popen(
        [*program, "--docs", str(texts / "*.md"), "--out", str(tmp_path / "out")],
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Whoever runs the tests in the background may have them ignore Ctrl-C, which children inherit.
        preexec_fn=_heed_interrupts,  # noqa: PLW1509  # it runs one system call
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "documents" in line:
            break
    process.send_signal(number)
    process.stdout.read()
    process.stdout.close()
    assert process.wait(60) != 0
    assert list(scratch.iterdir()) == []
    deadline = time.monotonic() + 60
    while _alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(process.pid)


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
