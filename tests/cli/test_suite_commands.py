"""`carrel preset import` and `export`: a suite with the files beside it, and nothing from elsewhere."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

CONFIG = """
prompts: [file://prompts.txt, file://../secret.txt]
providers: [exec:mine.sh]
tests: tests.csv
"""


def test_a_suite_is_imported_with_the_files_beside_it_and_exported(
    signed_in: Callable[..., Result], tmp_path: Path
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("Secret {{q}}")
    (folder / "prompts.txt").write_text("Say {{q}}")
    (folder / "tests.csv").write_text("q,__expected\na,icontains: x\nb,python: True\n")
    (folder / "config.yaml").write_text(CONFIG)
    made = signed_in("preset", "import", str(folder / "config.yaml"), "--model", "exec:mine.sh=local:lead", "--json")
    assert made.exit_code == 0, made.stderr
    found = json.loads(made.stdout)
    assert (found["preset"]["name"], found["data_set"]["row_count"], len(found["prompts"])) == ("shop", 2, 1)
    assert {part["kind"] for part in found["dropped"]} == {"assertion python", "prompt in a file that was not sent"}
    exported = signed_in("preset", "export", found["preset"]["id"])
    assert "type: icontains" in exported.stdout
    assert "left out: candidate without a model of a provider (1)" in exported.stderr
    unfinished = signed_in("preset", "import", str(folder / "config.yaml"))
    assert "unfinished set-up" in unfinished.stdout
