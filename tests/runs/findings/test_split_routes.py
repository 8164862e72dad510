"""Results by a column over HTTP: rows of a data set, judged by length and checked, split by what is known of them."""

import asyncio
import csv
import io
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from carrel.evaluation import split
from tests.support.host import Host
from tests.support.run_setup import text_of

LONG = "A long answer about desks, keys and readers in a great library of many rooms and many books."
ROWS = [
    # German rows have the longer answer from `new`, English ones from `today`; the last has no language.
    *[(f"g{n}", text_of(n), "de", f"t{n % 2}", LONG + f" {n}", "No.") for n in range(1, 7)],
    *[(f"e{n}", text_of(n + 10), "en", f"t{n % 2}", "No.", LONG + f" {n}") for n in range(1, 4)],
    ("x", text_of(30), "", "t0", LONG, ""),
]


async def data_set(ada: httpx.AsyncClient, rows: Sequence[tuple[str, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([("id", "question", "lang", "topic", "new", "today"), *rows])
    roles = '{"lang":"metadata","topic":"group","new":"output","today":"output"}'
    file = {"file": ("rows.csv", out.getvalue().encode())}
    answer = await ada.post("/api/data-sets", files=file, data={"columns": roles})
    assert answer.status_code == 201, answer.text
    made: str = answer.json()["id"]
    return made


async def run_over(ada: httpx.AsyncClient, table: str, **parts: Any) -> str:
    """The path of a run that has ended, of two columns with finished answers."""
    candidates = [{"label": "new", "column": "new"}, {"label": "today", "column": "today"}]
    body = {"rows": {"data_set": table}, "generation": {"candidates": candidates}, **parts}
    started = await ada.post("/api/runs", json={"configuration": body})
    assert started.status_code == 201, started.text
    run = f"/api/runs/{started.json()['id']}"
    assert (await ada.post(f"{run}/start")).status_code == 202
    async with asyncio.timeout(60):
        while (await ada.get(run)).json()["state"] == "running":
            await asyncio.sleep(0.02)
    return run


COMPARED: dict[str, Any] = {
    "comparison": {"judges": [{"model": "local:reader"}]},
    "checks": [
        {"kind": "length", "least": 5, "name": "long"},
        {"kind": "contains", "texts": ["desks"], "name": "desk"},
    ],
}


async def test_results_by_a_column_show_what_all_rows_together_hide(ada: httpx.AsyncClient) -> None:
    run = await run_over(ada, await data_set(ada, ROWS), **COMPARED)
    found = (await ada.get(f"{run}/split?column=lang")).json()
    assert (found["column"], found["columns"], found["basis"]) == ("lang", ["lang", "group"], "comparisons")
    assert [(one["kind"], one["value"], one["documents"]) for one in found["parts"]] == [
        ("value", "de", 6),
        ("value", "en", 3),
        ("none", None, 1),
    ]
    german, english, unknown = found["parts"]
    shares = [[row["preferred"]["share"] for row in part["rows"]] for part in (german, english)]
    assert shares == [[1.0, 0.0], [0.0, 1.0]]
    passed = [[row["passes"]["share"] for row in part["rows"]] for part in (german, english)]
    assert passed == [[1.0, 0.0], [0.0, 1.0]]
    assert [check["name"] for check in found["checks"]] == ["long", "desk"]
    assert len(german["rows"][0]["rates"]) == 2
    # The row without an answer of `today`: the verdict is missing, and so is the mark.
    assert (unknown["planned"], unknown["missing"]) == (1, 1)
    assert unknown["rows"][1]["passes"]["missing"] == 1
    assert all(one["few"] for one in found["parts"])
    assert found["notes"][0].startswith("Exploratory: ")
    assert "would miss by chance" in found["notes"][1]
    assert found["notes"][2] == "Every part has fewer than 20 rows and says little."


async def test_a_split_into_one_part_says_what_the_ranking_says(ada: httpx.AsyncClient) -> None:
    rows = [(*row[:2], "en", *row[3:]) for row in ROWS]
    run = await run_over(ada, await data_set(ada, rows), **COMPARED)
    (part,) = (await ada.get(f"{run}/split?column=lang")).json()["parts"]
    ranking = (await ada.get(f"{run}/ranking")).json()
    of_ranking = {row["candidate"]: row for row in ranking["ranking"]["rows"]}
    for row in part["rows"]:
        same = of_ranking[row["candidate"]]
        assert [row["preferred"][end] for end in ("share", "low", "high")] == [
            same[end] for end in ("win_share", "low", "high")
        ]
    assert [row["rates"] for row in part["rows"]] == [row["rates"] for row in ranking["checks"]["rows"]]


async def test_groups_split_as_well_and_a_single_group_has_no_interval(ada: httpx.AsyncClient) -> None:
    run = await run_over(ada, await data_set(ada, ROWS), **COMPARED)
    found = (await ada.get(f"{run}/split?column=group")).json()
    assert [(one["value"], one["documents"]) for one in found["parts"]] == [("t0", 5), ("t1", 5)]
    preferred = found["parts"][1]["rows"][0]["preferred"]
    assert (preferred["share"], preferred["low"], preferred["high"]) == (0.6, None, None)


async def test_rare_values_are_one_part_and_copies_in_two_parts_count_in_both(ada: httpx.AsyncClient) -> None:
    rows = [(f"r{n}", text_of(1), f"l{n:02}", "", LONG, "No.") for n in range(23)]
    run = await run_over(ada, await data_set(ada, rows), **COMPARED)
    found = (await ada.get(f"{run}/split?column=lang")).json()
    assert len(found["parts"]) == 21
    rest = found["parts"][-1]
    assert (rest["kind"], rest["value"], rest["values"], rest["documents"]) == ("others", None, 3, 3)
    # Three rows with one text tell as much as one.
    assert rest["rows"][0]["preferred"]["documents"] == 1
    assert all(part["rows"][0]["preferred"]["share"] == 1.0 for part in found["parts"])


async def test_scores_and_checks_alone_are_split_too(ada: httpx.AsyncClient) -> None:
    table = await data_set(ada, [(*row[:4], row[1], "No.") for row in ROWS])
    criteria = await ada.post("/api/contents", json={"name": "c", "type": "criteria", "body": "- name: Coverage"})
    scored = {"scoring": {"judges": [{"model": "local:reader"}], "criteria": criteria.json()["id"]}}
    found = (await ada.get(f"{await run_over(ada, table, **scored)}/split?column=lang")).json()
    assert found["basis"] == "scores"
    new, today = found["parts"][0]["rows"]
    assert new["preferred"]["share"] > today["preferred"]["share"]
    assert new["passes"] is None
    checked = await run_over(ada, table, checks=COMPARED["checks"])
    found = (await ada.get(f"{checked}/split?column=lang")).json()
    assert found["basis"] == "none"
    assert [row["preferred"] for row in found["parts"][0]["rows"]] == [None, None]


async def test_only_columns_of_the_rows_split_them_and_without_one_they_are_listed(
    ada: httpx.AsyncClient, host: Host
) -> None:
    run = await run_over(ada, await data_set(ada, ROWS), checks=COMPARED["checks"])
    listed = (await ada.get(f"{run}/split")).json()
    assert (listed["columns"], listed["parts"], listed["notes"]) == (["lang", "group"], [], [])
    for path, field in ((f"{run}/split?column=question", "column"), (f"{run}/report?split=question", "split")):
        refused = await ada.get(path)
        assert refused.status_code == 400
        assert [error["path"] for error in refused.json()["errors"]] == [field]
    assert (await ada.get(f"{run}/split?column=lang&round=2")).status_code == 404
    other = await host.signed_in("bob")
    assert (await ada.get(f"{run}/split?column=lang", headers=other)).status_code == 404


async def test_the_report_shows_the_split_that_is_asked_for_and_escapes_it(ada: httpx.AsyncClient) -> None:
    rows = [(*row[:2], "<b>&" if row[2] == "de" else row[2], *row[3:]) for row in ROWS]
    run = await run_over(ada, await data_set(ada, rows), **COMPARED)
    assert (await ada.get(f"{run}/report?format=json")).json()["split"] is None
    told = (await ada.get(f"{run}/report?format=json&split=lang")).json()
    assert told["split"] == (await ada.get(f"{run}/split?column=lang")).json()
    page = (await ada.get(f"{run}/report?format=html&split=lang")).text
    assert '<h2 id="split">By <bdi>lang</bdi></h2>' in page
    assert "<bdi>&lt;b&gt;&amp;</bdi>" in page
    assert "no value" in page


@pytest.mark.parametrize(
    ("few", "said"),
    [
        (1, "1 part has fewer than 20 rows and says little."),
        (2, "2 parts have fewer than 20 rows and say little."),
        (3, "Every part has fewer than 20 rows and says little."),
    ],
)
def test_parts_with_few_rows_are_counted_in_a_sentence(few: int, said: str) -> None:
    parts = [
        split.SplitPart(kind="value", value=str(n), values=1, documents=30, few=n < few, planned=0, missing=0, rows=())
        for n in range(3)
    ]
    assert split.notes(parts)[-1] == said
