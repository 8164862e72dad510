"""The user guide's table of exit codes has exactly those that commands end with."""

import re
from pathlib import Path

from carrel.cli.interface import terminal

GUIDE = (Path(__file__).parents[2] / "docs/user-guide/programs.md").read_text(encoding="utf-8")


def test_the_table_of_exit_codes_is_whole() -> None:
    table = GUIDE.partition("| exit code | means |\n|---|---|\n")[2].partition("\n\n")[0]
    written = [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]
    known = {getattr(terminal, name) for name in dir(terminal) if name.startswith("EXIT_")}
    assert written == sorted(known)
