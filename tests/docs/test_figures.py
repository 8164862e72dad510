"""The table of campaigns in the security guide: each is in it, with what came of it, when, and of what code."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIGURE = re.compile(r"[^,].*\d.*, \d{1,2} [A-Z][a-z]{2} 20\d\d, [0-9a-f]{7}")
ROWS = [
    [cell.strip() for cell in row.strip("|").split("|")]
    for row in re.findall(r"^\| [\d–]+ \| `.*$", (ROOT / "docs/security.md").read_text(), re.MULTILINE)
]
ELSEWHERE = {"verdicts"}
"""Campaigns whose figures another guide tells."""


def test_every_figure_has_its_day_and_commit() -> None:
    assert len(ROWS) > 20
    assert [row for row in ROWS if len(row) != 5 or not FIGURE.fullmatch(row[4])] == []


def test_every_campaign_of_the_tests_is_in_the_table() -> None:
    sources = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    named = {name for source in sources for name in re.findall(r"soak\(campaign=\"(\w+)\"", source)}
    assert named - ELSEWHERE == {row[1].strip("`") for row in ROWS}
