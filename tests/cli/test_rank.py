"""`carrel rank`: a table becomes a verdict, and nothing stays of the service that it starts."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import Result

from carrel.cli.demonstration.own_service import own_service
from tests.support.run_setup import text_of
from tests.support.spreadsheets import text, xlsx

Terminal = Callable[..., Result]
RANK = ("rank", "--input", "question", "--candidates", "long,short", "--judge", "local:reader")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Twelve questions with two answers each; the third row has only one."""
    rows = []
    for number in range(1, 13):
        text = text_of(number)
        sentences = text.replace("\n", " ").split(". ")
        rows.append(
            {"id": f"q{number}", "question": text, "long": ". ".join(sentences[1:4]) + ".", "short": sentences[2]}
        )
    del rows[2]["short"]
    file = tmp_path / "outputs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, which has to be empty in the end. No address and no key is in the environment."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    for name in ("CARREL_URL", "CARREL_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def started(*words: str) -> subprocess.Popen[str]:
    program = [sys.executable, "-c", "from carrel.cli.program import run; run()", *words]
    return subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ), start_new_session=True
    )


def test_a_table_becomes_a_verdict_and_nothing_stays(table: Path, temporary: Path) -> None:
    process = started(*RANK, str(table), "--id", "id")
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "Verdict" in output
    assert "long is best" in output
    assert list(temporary.iterdir()) == []


def test_labels_need_no_judge_and_everything_agrees(signed_in: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "cls.csv"
    rows = [("spam" if number % 3 else "ham", number % 20, number % 4) for number in range(80)]
    lines = [f"{label},{label if good else 'no'},{label if fair else 'no'}" for label, good, fair in rows]
    file.write_text("\n".join(["label,a,b", *lines]))
    rank = ("rank", str(file), "--expected", "label", "--candidates", "a,b")
    ranked = signed_in(*rank, "--json")
    assert ranked.exit_code == 0, ranked.stderr
    found = json.loads(ranked.stdout)
    assert (found["ranking"]["best"], found["ranking"]["measure"]) == ("a", "accuracy")
    assert found["verdict"]["sentence"] == (
        "a is best: it is right on 95 % of 80 documents (95 % interval 88 % to 98 %)."
    )
    run = json.loads(signed_in("run", "list", "--json").stdout.splitlines()[0])["id"]
    assert signed_in("run", "watch", run, "--decided").exit_code == 0
    assert "a is better than b" in signed_in("gate", "--run", run, "--baseline", "b").stdout
    assert signed_in("rank", str(file), "--candidates", "a,b").exit_code == 2
    replaced = ("run", "replacement", run, "--baseline", "b", "--calls", "10000")
    told = json.loads(signed_in(*replaced, "--cost", "b=0.0021", "--cost", "a=0.0004", "--json").stdout)
    assert (told["chosen"], told["options"][0]["saves_per_month"], told["cost_per_month"]) == ("a", "17", "21")
    assert told["sentence"] == (
        "a is not worse than b by 5 points or more. 1,000 answers cost $0.40 instead of $2.10, which saves $17.00 a"
        " month at 10,000 calls."
    )
    assert "a is not worse than b" in signed_in(*replaced).stdout
    assert signed_in(*replaced, "--cost", "nobody=1").exit_code != 0
    by_f1 = json.loads(signed_in(*rank, "--by", "macro-f1", "--json").stdout)
    assert by_f1["verdict"]["sentence"].startswith("a is best: its macro F1 is")
    assert by_f1["ranking"]["majority"] == 0.398496
    run = json.loads(signed_in("run", "list", "--json").stdout.splitlines()[0])["id"]
    assert "a is better than b: its macro F1 differs" in " ".join(
        signed_in("gate", "--run", run, "--baseline", "b").stdout.split()
    )
    classes = json.loads(signed_in("run", "classes", run, "--json").stdout)
    assert (classes["classes"], classes["majority"]) == (["ham", "spam"], "spam")
    assert classes["rows"][0]["classes"][0]["confused"] == [25, 0, 2]
    assert [row["accuracy"]["share"] for row in classes["rows"]] == [0.95, 0.75, 0.6625]


def test_a_model_is_tried_in_place_of_todays_answers(signed_in: Terminal, table: Path) -> None:
    today = ("--input", "question", "--candidates", "long", "--judge", "local:reader")
    found = signed_in("rank", str(table), *today, "--try", "local:lead", "--cost", "0.01", "--calls", "500", "--json")
    assert found.exit_code == 0, found.stderr
    ranked = json.loads(found.stdout)
    assert ranked["verdict"]["sentence"]
    replaced = ranked["replacement"]
    assert (replaced["baseline"], replaced["cost_per_month"], replaced["options"][0]["saves_per_month"]) == (
        "long",
        "5",
        "5",
    )


def test_ctrl_c_ends_the_service_too_and_nothing_stays(table: Path, temporary: Path) -> None:
    process = started(*RANK, str(table))
    deadline = time.monotonic() + 60
    while not list(temporary.glob("carrel-*/data/service.db")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert list(temporary.iterdir()) == []
    # No process of the group is left. One that has ended counts as gone, also where nobody collects it.
    ended = {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    running = [one for one in psutil.process_iter(["status"]) if one.info["status"] not in ended]
    assert [one for one in running if _group_of(one.pid) == process.pid] == []


def test_the_folder_goes_also_if_a_process_that_was_killed_still_writes_there_for_a_moment() -> None:
    ends = time.monotonic() + 0.2

    def write(folder: Path) -> None:
        for number in count():
            if time.monotonic() > ends:
                return
            with suppress(OSError):
                (folder / f"{number}").mkdir()

    with own_service() as service:
        writer = threading.Thread(target=write, args=(service.folder,))
        writer.start()
        while len(list(service.folder.iterdir())) < 100:
            pass
    writer.join()
    assert not service.folder.exists()


def _group_of(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


def test_a_service_where_somebody_is_signed_in_keeps_the_table_and_the_run(signed_in: Terminal, table: Path) -> None:
    ranked = signed_in(*RANK, str(table), "--json")
    assert ranked.exit_code == 0, ranked.stderr
    ranking = json.loads(ranked.stdout)
    assert {row["candidate"] for row in ranking["ranking"]["rows"]} == {"long", "short"}
    assert ranking["verdict"]["sentence"]
    assert "outputs.jsonl" in signed_in("data-set", "list").output
    assert "Ranking of outputs.jsonl" in signed_in("run", "list").output


def test_what_cannot_be_ranked_is_refused_in_words(signed_in: Terminal, table: Path) -> None:
    refused = signed_in("rank", str(table), "--input", "nothing", "--candidates", "long", "--judge", "local:reader")
    assert (refused.exit_code, "columns.nothing: is missing in the file" in refused.stderr) == (1, True)
    twice = signed_in("rank", str(table), "--input", "long", "--candidates", "long,short", "--judge", "local:reader")
    assert (twice.exit_code, "a column is named twice" in twice.stderr) == (2, True)


@pytest.mark.usefixtures("temporary")
def test_a_judge_of_a_provider_needs_its_key(terminal: Terminal, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARREL_URL")
    refused = terminal(
        "rank", str(table), "--input", "question", "--candidates", "long,short", "--judge", "openai:gpt-5"
    )
    assert (refused.exit_code, "OPENAI_API_KEY" in refused.stderr) == (2, True)


def test_results_of_promptfoo_are_ranked_without_naming_columns(signed_in: Terminal, table: Path) -> None:
    results = [
        {"testIdx": test, "promptIdx": prompt, "vars": {"question": row["question"]}, "provider": {"id": label}}
        | {"prompt": {"label": "p"}, "response": {"output": row.get(label)}}
        for test, row in enumerate(map(json.loads, table.read_text().splitlines()))
        for prompt, label in enumerate(("long", "short"))
    ]
    file = table.with_name("outputs.json")
    file.write_text(json.dumps({"results": {"version": 3, "results": results}}))
    ranked = signed_in("rank", str(file), "--judge", "local:reader", "--json")
    assert ranked.exit_code == 0, ranked.stderr
    assert {row["candidate"] for row in json.loads(ranked.stdout)["ranking"]["rows"]} == {"long", "short"}
    refused = signed_in("rank", str(file), "--candidates", "gpt", "--judge", "local:reader")
    assert "no candidate is called gpt; there are long; short" in refused.stderr


def test_answers_in_further_files_are_joined_by_id(signed_in: Terminal, table: Path) -> None:
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    folder = table.parent

    def written(name: str, column: str) -> None:
        lines = [json.dumps({"id": row["id"], "answer": row.get(column)}) + "\n" for row in reversed(rows)]
        (folder / name).write_text("".join(lines))

    (folder / "questions.jsonl").write_text(
        "".join(json.dumps({"id": row["id"], "question": row["question"]}) + "\n" for row in rows)
    )
    written("long.jsonl", "long")
    written("short=.jsonl", "short")
    rank = ("rank", str(folder / "questions.jsonl"), "--id", "id", "--input", "question", "--judge", "local:reader")
    ranked = signed_in(*rank, "--with", f"long={folder}/long.jsonl", "--with", f"{folder}/short=.jsonl", "--json")
    assert ranked.exit_code == 0, ranked.stderr
    assert {row["candidate"] for row in json.loads(ranked.stdout)["ranking"]["rows"]} == {"long", "answer"}
    (folder / "few.jsonl").write_text('{"id": "q1", "few": "x"}\n')
    refused = signed_in(*rank, "--with", f"{folder}/few.jsonl")
    assert (refused.exit_code, "few.jsonl: the id 'q2' and 10 more are missing" in refused.stderr) == (1, True)
    (folder / "broken.json").write_text('{"a": 1}')
    assert "broken.json: the file is no array of rows" in signed_in(*rank, "--with", f"{folder}/broken.json").stderr
    (folder / "broken.csv").write_text("id,a\n1,2,3\n")
    assert "broken.csv: rows[1] has too many columns" in signed_in(*rank, "--with", f"{folder}/broken.csv").stderr
    assert "nothing.csv cannot be read" in signed_in(*rank, "--with", f"{folder}/nothing.csv").stderr


FILES = Path(__file__).parents[1] / "datasets/files"
COMPARE = ("--input", "question", "--candidates", "gpt,claude", "--judge", "local:reader", "--json")


def ranked(signed_in: Terminal, name: str, *words: str) -> dict[str, Any]:
    answer = signed_in("rank", str(FILES / name), *words)
    assert answer.exit_code == 0, answer.stderr
    verdict: dict[str, Any] = json.loads(answer.stdout)["verdict"]
    return verdict


def test_names_that_nobody_gave_have_no_meaning(signed_in: Terminal) -> None:
    more = ("--with", str(FILES / "topic_more.csv"), "--id", "n")
    sentences = {
        ranked(signed_in, name, *COMPARE, *words)["sentence"]
        for name, words in (("theme.csv", ()), ("topic.csv", ()), ("topic_id.csv", more))
    }
    assert len(sentences) == 1
    assert "groups" not in sentences.pop()
    grouped = ranked(signed_in, "theme.csv", *COMPARE, "--group", "theme")
    assert "2 groups" in grouped["sentence"]


@pytest.mark.parametrize("name", ["conv.csv", "topiclong.csv", "iddup.csv", "pandas.csv", "trail.csv", "nan.jsonl"])
def test_columns_that_nobody_named_stop_nothing_and_what_is_left_out_is_said(signed_in: Terminal, name: str) -> None:
    answer = signed_in("rank", str(FILES / name), *COMPARE)
    assert (answer.exit_code, bool(json.loads(answer.stdout)["verdict"]["sentence"])) == (0, True)
    assert ("pandas.csv: Column 1 has no name" in answer.stderr) == (name == "pandas.csv")


def test_each_candidates_option_names_one_or_several(signed_in: Terminal) -> None:
    rank = ("--input", "question", "--judge", "local:reader", "--json")
    for words in (("--candidates", "gpt, warm,gpt, cold"), ("--candidates", "gpt, warm", "--candidates", "gpt, cold")):
        assert ranked(signed_in, "commas.csv", *rank, *words)["sentence"]


def test_a_sheet_that_is_named_is_ranked(signed_in: Terminal, tmp_path: Path) -> None:
    rows = [[text(word) for word in ("right", "gpt", "claude")], *[[text(word) for word in ("a", "a", "b")]] * 12]
    book = tmp_path / "answers.xlsx"
    book.write_bytes(xlsx({"Notes": [[text("right")], [text("x")]], "Answers": rows}))
    rank = ("rank", str(book), "--candidates", "gpt,claude", "--expected", "right", "--json")
    answer = signed_in(*rank, "--sheet", "Answers")
    assert answer.exit_code == 0, answer.stderr
    assert "gpt" in json.loads(answer.stdout)["verdict"]["sentence"]
    assert "answers.xlsx: sheet is not in the file" in signed_in(*rank, "--sheet", "None").stderr


def test_a_table_without_two_answers_in_a_row_says_so(signed_in: Terminal) -> None:
    answer = signed_in(
        "rank", str(FILES / "two.csv"), "--input", "question", "--candidates", "a,b", "--judge", "local:reader"
    )
    assert (answer.exit_code, "two.csv: no row has the answers of two candidates" in answer.stderr) == (1, True)


def test_a_file_for_each_model_with_the_same_columns_is_joined(signed_in: Terminal) -> None:
    folder = Path(__file__).parents[1] / "datasets" / "result_files" / "files"
    rank = ("rank", str(folder / "a.jsonl"), "--id", "id", "--input", "question", "--judge", "local:reader", "--json")
    for given in (f"b={folder}/b.jsonl", f"b={folder}/b.jsonl:answer"):
        answer = signed_in(*rank, "--with", given)
        assert answer.exit_code == 0, answer.stderr
        assert {row["candidate"] for row in json.loads(answer.stdout)["ranking"]["rows"]} == {"answer", "b"}
