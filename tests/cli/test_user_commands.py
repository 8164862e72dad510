"""The user's commands against the real service: output for people and programs, and every exit code."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml
from carrel_sdk import Host
from click.testing import Result

from carrel.cli.interface import tokens
from tests.documents import files
from tests.support.service import Service, free_port

Terminal = Callable[..., Result]

CRITERIA = "- name: coverage\n  description: Holds the main points.\n"


def lines(result: Result) -> list[dict[str, object]]:
    """What a command printed with `--json`."""
    assert result.exit_code == 0, result.output
    return [msgspec.json.decode(line, type=dict[str, object]) for line in result.stdout.splitlines()]


def only(result: Result) -> dict[str, object]:
    (line,) = lines(result)
    return line


def add(terminal: Terminal, folder: Path, name: str, text: str, *options: str) -> str:
    file = folder / name
    file.write_text(text)
    return str(only(terminal("content", "add", str(file), "--json", *options))["id"])


# Sign-in ----------------------------------------------------------------------------------------------------------


def test_login_checks_the_token_and_keeps_it_for_the_other_commands(
    terminal: Terminal, token: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert terminal("content", "list").exit_code == 3
    told = terminal("login", "--token-stdin", stdin=f"{token}\n")
    assert told.exit_code == 0
    assert "paid membership" in told.output
    assert token not in told.output
    monkeypatch.delenv("CARREL_URL")
    assert terminal("content", "counts", "--json").exit_code == 0
    # The kept token is for that address only.
    assert terminal("content", "counts", "--url", "http://127.0.0.1:1").exit_code == 3
    assert terminal("login", "--forget").exit_code == 0
    assert terminal("content", "counts", "--url", service.url).exit_code == 3
    assert not tokens.login_file().exists()


def test_a_token_that_is_none_is_not_kept(terminal: Terminal) -> None:
    refused = terminal("login", "--token-stdin", stdin="a.b\n")
    assert refused.exit_code == 3
    assert "session-token-invalid" in refused.stderr
    assert terminal("login", "--token-stdin", stdin="\n").exit_code == 2
    assert terminal("login").exit_code == 2
    assert not tokens.login_file().exists()


def test_a_token_from_a_command_is_fetched_and_fetched_again(
    terminal: Terminal, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(token)
    monkeypatch.setenv("CARREL_TOKEN_COMMAND", f"cat {file}")
    assert terminal("content", "counts").exit_code == 0
    monkeypatch.setenv("CARREL_TOKEN_COMMAND", "false")
    assert terminal("content", "counts").exit_code == 3


# Contents and presets ---------------------------------------------------------------------------------------------


def test_the_service_reads_pdf_and_word_files_that_are_added(signed_in: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(files.pdf("A line of text."))
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04")
    made = only(signed_in("content", "add", str(tmp_path / "a.pdf"), "--tag", "t", "--json"))
    assert (made["name"], made["body"], made["tags"]) == ("a.pdf", "A line of text.", ["t"])
    refused = signed_in("content", "add", str(tmp_path / "broken.docx"))
    assert (refused.exit_code, "damaged" in refused.stderr) == (1, True)


def test_contents_are_added_listed_shown_replaced_and_deleted(signed_in: Terminal, tmp_path: Path) -> None:
    made = add(signed_in, tmp_path, "a.md", "Dear {{WHO}}\n", "--type", "fragment", "--tag", "letters")
    assert signed_in("content", "show", made).stdout == "Dear {{WHO}}\n"
    assert signed_in("content", "add", "-", "--name", "Noted", stdin="from stdin").exit_code == 0
    (found,) = lines(signed_in("content", "list", "--tag", "letters", "--json"))
    assert (found["id"], found["name"], found["body_bytes"]) == (made, "a.md", 13)
    assert "Noted" in signed_in("content", "list").output
    assert only(signed_in("content", "counts", "--json"))["total"] == 2
    (tmp_path / "b.md").write_text("Hello {{WHO}}")
    assert only(signed_in("content", "replace", made, str(tmp_path / "b.md"), "--json"))["version"] == 2
    assert [line["version"] for line in lines(signed_in("content", "versions", made, "--json"))] == [2, 1]
    assert signed_in("content", "show", made, "--version", "1").stdout == "Dear {{WHO}}\n"
    assert "13 B" in signed_in("content", "versions", made).output
    assert "fragment" in signed_in("content", "counts").output
    assert signed_in("content", "delete", made).exit_code == 0
    assert signed_in("content", "show", made).exit_code == 4


def test_of_many_files_the_one_that_is_refused_is_named(signed_in: Terminal, tmp_path: Path) -> None:
    for name, text in (("a.md", "Good."), ("b.yaml", "- no: criteria\n"), ("c.md", "Never reached.")):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("a.md", "b.yaml", "c.md")]
    (tmp_path / "a.md").write_text(CRITERIA)
    refused = signed_in("content", "add", *files, "--type", "criteria")
    assert (refused.exit_code, "at " + files[1] in refused.stderr) == (1, True)
    assert only(signed_in("content", "counts", "--json"))["total"] == 1
    assert "stdin" in signed_in("content", "add", "-", stdin="A text.").output


def test_placeholders_are_resolved_and_open_ones_named(signed_in: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("{{A}}")
    made = str(only(signed_in("content", "add", str(file), "--type", "fragment", "--json"))["id"])
    assert signed_in("content", "resolve", made).exit_code == 0
    assert signed_in("content", "resolve", made, "--set", "broken").exit_code == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("content", "add", "nowhere.md"), 1),
        (("content", "add", "binary.bin"), 1),
        (("content", "add", "a.md", "b.md", "--name", "one"), 2),
        (("content", "show", "no-such-id"), 4),
        (("preset", "show", "no-such-id"), 4),
        (("preset", "create", "--name", "x"), 2),
        (("preset", "create", "--file", "binary.bin"), 1),
        (("preset", "create", "--file", "list.yaml"), 1),
        (("preset", "create", "--file", "broken.yaml"), 1),
        (("preset", "create", "--file", "wrong.yaml"), 1),
    ],
)
def test_what_cannot_be_done_has_its_exit_code_and_one_clear_line(
    signed_in: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "list.yaml").write_text("- a\n")
    (tmp_path / "broken.yaml").write_text("a: [")
    (tmp_path / "wrong.yaml").write_text("name: 3\nunknown: true\n")
    refused = signed_in(*words)
    assert refused.exit_code == code
    assert refused.stderr.startswith("carrel: ")
    assert "Traceback" not in refused.output


def test_a_refusal_for_programs_is_json_on_stderr(signed_in: Terminal) -> None:
    refused = signed_in("content", "show", "no-such-id", "--json")
    error = msgspec.json.decode(refused.stderr, type=dict[str, dict[str, object]])["error"]
    assert (error["status"], error["code"]) == (404, "not-found")
    assert refused.stdout == ""


def test_options_make_presets_that_only_generate_or_only_score(signed_in: Terminal, tmp_path: Path) -> None:
    document = add(signed_in, tmp_path, "1.md", "A first sentence. A second one. A third one.")
    criteria = add(signed_in, tmp_path, "c.yaml", CRITERIA, "--type", "criteria")
    prompt = add(signed_in, tmp_path, "p.md", "Summarise.", "--type", "generation_instructions")
    create = (
        *("preset", "create", "--name", "One", "--input", document),
        *("--instructions", prompt, "--candidate", "local:lead"),
    )
    answers = only(signed_in(*create, "--json"))
    assert (answers.get("scoring"), answers.get("comparison")) == (None, None)
    assert "nobody will be called best" in signed_in("preset", "estimate", str(answers["id"])).stdout
    judged = ("--judge", "local:reader", "--criteria", criteria)
    scored = only(signed_in(*create, *judged, "--scores-only", "--json"))
    assert scored["scoring"] is not None
    assert scored.get("comparison") is None
    for words in (("--criteria", criteria), ("--scores-only", "--judge", "local:reader"), ("--finalists", "2")):
        assert signed_in(*create, *words).exit_code == 2
    executed = signed_in("preset", "execute", str(answers["id"]), "--watch")
    assert executed.exit_code == 0, executed.output
    assert "the run only made answers" in executed.output


def test_a_preset_is_made_from_options_and_again_from_what_show_prints(signed_in: Terminal, tmp_path: Path) -> None:
    for number in (1, 2):
        add(signed_in, tmp_path, f"{number}.md", f"Text {number}.", "--tag", "set")
    criteria = add(signed_in, tmp_path, "c.yaml", CRITERIA, "--type", "criteria")
    prompt = add(signed_in, tmp_path, "p.md", "Summarise.", "--type", "generation_instructions")
    made = only(
        signed_in(
            *("preset", "create", "--name", "Which?", "--tagged", "set", "--criteria", criteria, "--json"),
            *(
                "--instructions",
                prompt,
                "--candidate",
                "local:lead",
                "--candidate",
                "local:random",
                "--judge",
                "local:reader",
            ),
        )
    )
    assert len(msgspec.convert(made["inputs"], list[str])) == 2
    shown = signed_in("preset", "show", str(made["id"]))
    file = tmp_path / "preset.yaml"
    file.write_text(shown.stdout)
    again = only(signed_in("preset", "create", "--file", str(file), "--json"))
    assert {name: again[name] for name in yaml.safe_load(shown.stdout)} == {
        name: made[name] for name in yaml.safe_load(shown.stdout)
    }
    file.write_text(shown.stdout.replace("Which?", "Which now?"))
    replaced = only(signed_in("preset", "replace", str(again["id"]), str(file), "--json"))
    assert (replaced["id"], replaced["name"], replaced["version"]) == (again["id"], "Which now?", 2)
    file.write_text("name: 3\nunknown: true\n")
    assert signed_in("preset", "replace", str(again["id"]), str(file)).exit_code == 1
    doubled = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    for hostile in ("a0: &a0 x\n" + doubled, "a: &a [*a]\n", "a: " + "[" * 2_000):
        file.write_text(hostile)
        refused = signed_in("preset", "replace", str(again["id"]), str(file))
        assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1)
    copy = only(signed_in("preset", "duplicate", str(made["id"]), "--json"))
    assert len(lines(signed_in("preset", "list", "--json"))) == 3
    assert signed_in("preset", "delete", str(copy["id"]), str(again["id"])).exit_code == 0
    in_use = signed_in("content", "delete", criteria)
    assert in_use.exit_code == 5
    assert "content-in-use" in in_use.stderr


# The rest of the exit codes ---------------------------------------------------------------------------------------


def test_an_unreachable_service_is_exit_code_6(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_TOKEN", "a.b")
    refused = terminal("content", "counts", "--url", f"http://127.0.0.1:{free_port()}", "--json")
    assert refused.exit_code == 6
    assert "error" in msgspec.json.decode(refused.stderr, type=dict[str, object])


def test_an_address_without_https_is_exit_code_2(signed_in: Terminal) -> None:
    assert signed_in("content", "counts", "--url", "http://carrel.example").exit_code == 2


def test_an_ended_session_is_exit_code_3(terminal: Terminal, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(service.url, service.plugin_secret)
    monkeypatch.setenv("CARREL_TOKEN", host.sign_up("short-lived", password="pw").token)
    host.change_password("short-lived", "pw", "new")
    host.close()
    ended = terminal("content", "counts")
    assert ended.exit_code == 3
    assert "session-token-revoked" in ended.stderr


def test_names_that_would_command_the_terminal_are_shown_harmlessly(signed_in: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("x")
    signed_in("content", "add", str(file), "--name", "[bold]evil[/] \x1b[31m\u202e")
    shown = signed_in("content", "list").output
    assert "[bold]evil[/]" in shown
    assert "\x1b[31m" not in shown
    assert "\u202e" not in shown
