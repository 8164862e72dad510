"""Tables in the terminal."""

import re
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Terminal = Callable[..., Result]


def test_a_table_is_added_shown_and_deleted(signed_in: Terminal, tmp_path: Path) -> None:
    table = tmp_path / "questions.csv"
    table.write_text("question,answer\nWhat?,That\nWho?,They\n")
    added = signed_in("data-set", "add", str(table), "--role", "answer=expected")
    assert added.exit_code == 0, added.output
    assert "version 1: 2 rows of question (variable), answer (expected)" in added.output
    data_set_id = re.split(r"\s", added.output)[0]
    table.write_text("question,answer\nWhat?,That\n")
    assert "version 2: 1 row " in signed_in("data-set", "add", str(table), "--to", data_set_id).output
    assert "questions.csv" in signed_in("data-set", "list").output
    shown = signed_in("data-set", "show", data_set_id, "--version", "1", "--rows", "1").output
    assert "question: What?  answer: That" in shown
    assert "Who?" not in shown
    assert signed_in("data-set", "delete", data_set_id).exit_code == 0
    assert signed_in("data-set", "show", data_set_id).exit_code == 4


def test_a_fault_names_row_and_column(signed_in: Terminal, tmp_path: Path) -> None:
    table = tmp_path / "questions.csv"
    table.write_text("id,question\na,What?\na,\n")
    refused = signed_in("data-set", "add", str(table), "--role", "id=id")
    assert refused.exit_code == 1
    assert "rows[2].id" in refused.stderr
    assert signed_in("data-set", "add", str(table), "--role", "question").exit_code == 2
    assert signed_in("data-set", "add", str(table), "--role", "question=asked").exit_code == 2
    assert signed_in("data-set", "add", str(table), "--name", "n", "--to", "x").exit_code == 2
