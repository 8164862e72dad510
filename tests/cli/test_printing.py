"""What commands print: no word of a file or of a server commands the terminal, whoever wrote it."""

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from carrel_sdk import Workspace
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, PresetDraft
from click.testing import CliRunner, Result
from rich.console import Group
from rich.panel import Panel
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import carrel.cli
from carrel.cli.interface import printing, terminal
from carrel.cli.main import main
from tests.support.hostile_proxy import HOSTILE, TRACES, hostile_proxy
from tests.support.service import Service

_OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\r")
"""Colours, the cursor of a bar, and the beginning of its line."""


def is_harmless(output: str) -> bool:
    bare = _OWN.sub("", output)
    return not any(trace in output for trace in TRACES) and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", bare)


TEXTS = (
    *("Zwölf Boxkämpfer\n\tüber den Deich", "e\u0301", "日本語　全角", "1\u00a0000", "नमस्ते", "🇪🇺 👍🏽"),
    *("שלום", "مرحبا", "می\u200cخواهم"),
)


def test_texts_of_all_languages_stay_as_they_are() -> None:
    for text in TEXTS:
        assert printing.plain(text) == text


def test_a_line_is_one_line_and_ends_of_lines_of_other_systems_are_ends() -> None:
    assert printing.plain("a\r\nb") == "a\nb"
    assert printing.one_line("a\nb\r\nc\u2028d") == "a b c�d"


@pytest.mark.parametrize("text", [HOSTILE, "\ud800", "\U000e0041", "".join(map(chr, range(0x300)))])
def test_what_is_printed_is_harmless_in_words_and_means_the_same_as_json(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printing.say(text)
    printing.say(text, stderr=True)
    assert all(map(is_harmless, capsys.readouterr()))
    encoded = json.dumps({"a": text}, ensure_ascii=False)
    assert json.loads(printing.plain_json(encoded)) == {"a": text}
    assert is_harmless(printing.plain_json(encoded))


def test_a_console_prints_nothing_harmful_whatever_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = terminal.console()
    console.file = io.StringIO()
    table = Table(HOSTILE, title=HOSTILE)
    table.add_row(HOSTILE)
    table.add_row(Text(HOSTILE, style="red"))
    console.print(HOSTILE, Group(table, Panel(HOSTILE, title=HOSTILE)), Text("here", style="link https://x.example/"))
    console.rule(HOSTILE)
    with Progress(console=console) as bar:
        bar.add_task(HOSTILE)
        bar.console.print(HOSTILE)
    assert "FAKE" in console.file.getvalue()
    assert "\x1b[31m" in console.file.getvalue()
    assert is_harmless(console.file.getvalue())


def test_commands_print_in_no_other_way() -> None:
    """A console of one's own, a stream or `print` would print what anybody wrote as it is."""
    prints = re.compile(r"(?<![.\w])print\(|click\.s?echo\(|\bConsole\(|\bstd(?:out|err)\.(?:write|buffer)")
    folder = Path(carrel.cli.__file__).parent
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if prints.search(path.read_text("utf-8"))}
    # What files and programs get to the byte.
    assert found == {"interface/saving.py", "users/content.py"}


# Every command --------------------------------------------------------------------------------------------------------


@pytest.fixture
def made(service: Service, token: str) -> dict[str, str]:
    """The ids of one thing of each kind."""
    with Workspace(service.url, token) as workspace:
        contents = workspace.contents
        inputs = [contents.create(name, "input_document", f"Text {name}. And more.").id for name in "ab"]
        draft = PresetDraft(
            name="Small",
            inputs=inputs,
            instructions=contents.create("Prompt", "generation_instructions", "Summarise.").id,
            generation=Generation(candidates=[Candidate(model="local:lead"), Candidate(model="local:random")]),
            comparison=Comparison(judges=[Judge(model="local:reader")]),
        )
        preset = workspace.presets.create(draft)
        run = workspace.presets.execute(preset.id)
        workspace.runs.wait(run.id)
        table = workspace.data_sets.upload("t.csv", b"prompt,answer\nwhat,that\n", name="Table")
        workspace.provider_keys.store("openai", "sk-0123456789abcdef")
        workspace.program_keys.create("Key", "read")
        connected = workspace.github.connect("Texts", "octocat/texts", "github_pat_0123456789")
    return {"content": inputs[0], "preset": preset.id, "run": run.id, "table": table.id, "github": connected.id}


@pytest.fixture
def hostile(service: Service, token: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Result]]:
    """Runs `carrel …` against a service all of whose words are hostile, on a terminal with colours."""
    monkeypatch.setenv("CARREL_TOKEN", token)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(printing, "is_to_terminal", lambda: True)
    with hostile_proxy(service.port) as url:
        monkeypatch.setenv("CARREL_URL", url)
        yield lambda *words: CliRunner().invoke(main, list(words), catch_exceptions=False)


SHOWN = """
content list
content show {content}
content versions {content}
content resolve {content}
content counts
content show nothing
data-set list
data-set show {table}
preset list
preset show {preset}
preset estimate {preset}
preset trends {preset}
preset duplicate {preset}
preset execute {preset} --watch
run create {preset} --name x
run list
run show {run}
run watch {run}
run start {run}
run tasks {run}
run ranking {run}
run leaderboard
run report {run}
run logs {run}
run retry {run}
gate --run {run} --baseline local:lead
votes criteria {run}
models list
models show local:lead
judge list
judge show local:reader
keys list
keys test openai
github list
github tree {github}
github test {github}
rate-limits list
settings show
usage show
usage calls
usage credits
usage ledger
workspace show
workspace sessions
program-key list
"""
WITHOUT_WORDS = [
    *("content counts", "data-set show {table}", "run create {preset} --name x", "run report {run}"),
    *("votes criteria {run}", "settings show", "usage show", "usage credits", "usage ledger", "workspace show"),
    "workspace sessions",
]
"""What shows numbers, ids and codes alone."""


def test_no_word_of_a_server_commands_the_terminal(hostile: Callable[..., Result], made: dict[str, str]) -> None:
    without = []
    for words in SHOWN.split("\n")[1:-1]:
        command = words.format(**made).split()
        spoken, encoded = hostile(*command), hostile(*command, "--json")
        for output in (spoken.stdout, spoken.stderr, encoded.stdout, encoded.stderr):
            assert is_harmless(output), (words, output)
        if "FAKE" not in spoken.output:
            without.append(words)
    assert without == WITHOUT_WORDS


# Files ----------------------------------------------------------------------------------------------------------------


def _results(provider: str) -> dict[str, Any]:
    result = {
        "testIdx": 0,
        "promptIdx": 0,
        "vars": {provider: "a"},
        "provider": provider,
        "prompt": {"raw": "a"},
        "response": {"output": "x"},
    }
    return {"results": {"version": 3, "results": [result]}}


FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "a candidate": (json.dumps(_results(HOSTILE)), ("rank", "FILE", "--candidates", "nope", "--judge", "local:reader")),
    "a candidate and a variable": (json.dumps(_results(HOSTILE)), ("rank", "FILE", "--judge", "local:reader")),
    "a judge": ("q,a\n1,2\n", ("rank", "FILE", "--input", "q", "--candidates", "a", "--judge", f"x{HOSTILE}:y")),
    "an id": ("q,a\n1,2\n", ("rank", "FILE", "--with", "FILE", "--id", HOSTILE, "--judge", "local:reader")),
    "no receipt": (HOSTILE, ("verify-receipt", "FILE")),
    "no preset": (HOSTILE, ("preset", "create", "--file", "FILE")),
    "no option": ("", ("rank", f"--{HOSTILE}", "FILE")),
    "no command": ("", (f"x{HOSTILE}", "FILE")),
    "one argument too many": ("", ("verify-receipt", "FILE", HOSTILE)),
    "no such choice": ("", ("content", "add", "FILE", "--type", HOSTILE)),
    "no backup": (HOSTILE, ("verify", "FILE")),
    "no secrets": ("", ("backup", "FILE", "--env-file", f"no{HOSTILE}")),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("as_json", [False, True])
def test_no_word_of_a_file_or_of_its_name_commands_the_terminal(
    case: str, as_json: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, words = FILES[case]
    for name in ("CARREL_URL", "CARREL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    # No file's name has a slash or a NUL.
    file = tmp_path / f"{HOSTILE.replace('/', '').replace(chr(0), '')}.json"
    file.write_text(content, encoding="utf-8")
    command = [str(file) if word == "FILE" else word.replace(chr(0), "") for word in words] + ["--json"] * as_json
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert result.exit_code != 0
    assert result.stderr
    assert is_harmless(result.stdout), result.stdout
    assert is_harmless(result.stderr), result.stderr
