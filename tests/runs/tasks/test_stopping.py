"""A run that may stop early looks at fixed places and stops when it is decided, whatever happens on its way."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from carrel.config import Settings
from carrel.providers.base import Answer, CompareMatter, ModelRequest
from tests.support.busy import Busy, Reader, busy_service
from tests.support.clock import FakeClock
from tests.support.leaning_judges import CLEAR, CLOSE, Ladder, Preferring
from tests.support.models import TestModels, fails

Json = dict[str, Any]
DOCUMENTS = 18
"""Looks at 10, 15 and 18."""


def wanted(stops: bool = True, **comparison: Any) -> Json:
    return {"judges": [{"model": "test:judge"}], "stop_when_decided": stops} | comparison


@pytest.fixture
async def busy(settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Busy]:
    async with busy_service(settings, clock, TestModels(Preferring(CLEAR)), monkeypatch) as made:
        yield made


def early(**changes: Any) -> Json:
    return {"documents": DOCUMENTS, "scoring": None, "comparison": wanted()} | changes


async def ended(ada: Reader, **changes: Any) -> Json:
    run = await ada.started(**early(**changes))
    return await ada.until(run, "completed", "completed_with_errors", "failed")


async def looks(ada: Reader, run: str) -> list[str | None]:
    found: list[str | None] = []
    cursor = ""
    while True:
        page = await ada.get(f"/runs/{run}/logs?limit=200{cursor}")
        found += [item["code"] for item in page["items"] if item["event"] == "look-taken"]
        if page["next_cursor"] is None:
            return found[::-1]
        cursor = f"&cursor={page['next_cursor']}"


async def report_of(ada: Reader, run: str, query: str = "") -> Json:
    report: Json = await ada.get(f"/runs/{run}/report?format=json{query}")
    return report


def found_in(report: Json) -> Json:
    return {key: value for key, value in report.items() if key != "run"}


async def test_a_run_with_a_clear_winner_stops_early_and_spends_less(busy: Busy) -> None:
    ada = await busy.reader()
    whole = await ended(ada, comparison=wanted(False))
    calls = len(busy.models.asked)
    stopped = await ended(ada)
    assert (calls, len(busy.models.asked) - calls) == (36 + 36, 20 + 20)
    assert stopped["progress"] == whole["progress"] | {
        "total": 40, "succeeded": 40, "saved": 32, "saved_cost": "0",
    }  # fmt: skip
    assert (stopped["state"], await looks(ada, stopped["id"])) == ("completed", ["decided"])
    assert stopped["verdict"].startswith("test:one is best: it won 100 % of its pairs on 10 documents (repeated")
    assert " Stopped after 10 of 18 documents: decided. " in stopped["verdict"]
    report = await report_of(ada, stopped["id"])
    assert report["ranking"]["look"] == {
        "number": 1, "of": 3, "before": 0, "documents": 10, "planned": 18, "part": pytest.approx(0.1142, abs=1e-4),
        "stopped": True, "beaten": [],
    }  # fmt: skip
    assert report["ranking"]["counts"]["missing"] == report["ranking"]["bounds"]["open_verdicts"] == 0
    assert sum(bool(document["verdicts"]) for document in report["documents"]) == 10
    assert (report["troubles"], report["progress"]["total"]) == ([], 40)
    page = (await ada.ask("GET", f"/runs/{stopped['id']}/report?format=html")).text
    assert "Stopped after 10 of 18 documents: decided." in page
    assert "(95 %, at all looks of the run together)" in page
    assert (report["progress"]["saved"], report["progress"]["saved_cost"]) == (32, "0")
    assert "Looks on the way saved 32 of 72 tasks" in page
    assert [(look["documents"], look["decided"], look["saved"]) for look in report["looks"]] == [(10, True, 32)]
    assert "is best: the run ended" in page


async def test_a_close_one_goes_to_its_end_and_is_stricter_than_a_run_that_looks_once(busy: Busy) -> None:
    busy.models.script = Preferring(CLOSE)
    ada = await busy.reader()
    once, early_ = await ended(ada, comparison=wanted(False)), await ended(ada)
    assert await looks(ada, early_["id"]) == ["undecided", "undecided"]
    assert early_["progress"] == once["progress"]
    wide, narrow = [(await report_of(ada, run["id"]))["ranking"] for run in (early_, once)]
    assert (wide["best"], narrow["best"], wide["look"]["stopped"]) == (None, None, False)
    assert wide["rows"][0]["win_share"] == narrow["rows"][0]["win_share"]
    assert wide["rows"][0]["low"] < narrow["rows"][0]["low"]
    assert "Intervals are repeated ones" in " ".join(
        (await ada.get(f"/runs/{early_['id']}/ranking"))["verdict"]["notes"]
    )


async def test_a_run_that_is_decided_at_a_later_look_goes_on_until_then(busy: Busy) -> None:
    busy.models.script = Preferring(88)
    ada = await busy.reader()
    run = await ended(ada, documents=30)
    codes = await looks(ada, run["id"])
    assert codes[-1] == "decided"
    assert codes[:-1] == ["undecided"] * (len(codes) - 1)
    assert 0 < len(codes) - 1 < 4
    documents = 10 + 5 * (len(codes) - 1)
    assert f"Stopped after {documents} of 30 documents: decided." in run["verdict"]
    assert len([one for one in busy.models.asked if isinstance(one.matter, CompareMatter)]) == 2 * documents


async def test_every_round_looks_for_itself(busy: Busy) -> None:
    busy.models.script = Preferring(CLOSE)
    ada = await busy.reader()
    run = (await ended(ada))["id"]
    first = found_in(await report_of(ada, run))
    busy.models.script = Preferring(CLEAR)
    await ada.post(f"/runs/{run}/reevaluate", {"judges": [{"model": "test:jury"}]})
    again = await ada.until(run, "completed")
    assert (again["round"], again["progress"]["total"]) == (2, 20)
    assert await looks(ada, run) == ["undecided", "undecided", "decided"]
    kept = found_in(await report_of(ada, run, "&round=1"))
    assert (kept["ranking"], kept["documents"]) == (first["ranking"], first["documents"])


async def test_a_further_round_judges_the_answers_that_a_stopped_run_has(busy: Busy) -> None:
    ada = await busy.reader()
    run = (await ended(ada))["id"]
    await ada.post(f"/runs/{run}/reevaluate", {"judges": [{"model": "test:jury"}]})
    again = await ada.until(run, "completed")
    assert (again["round"], again["progress"]["total"], await looks(ada, run)) == (2, 20, ["decided"])
    assert (await report_of(ada, run))["ranking"]["documents"] == 10


async def test_a_run_whose_answers_are_wanted_elsewhere_saves_comparisons_only(busy: Busy) -> None:
    ada = await busy.reader()
    run = await ended(ada, output={"destination": "library"})
    assert (run["progress"]["total"], await looks(ada, run["id"])) == (36 + 20, ["decided"])
    outputs = await ada.get("/contents?type=output_document&limit=100")
    assert len(outputs["items"]) == DOCUMENTS
    assert [look["saved"] for look in (await report_of(ada, run["id"]))["looks"]] == [run["progress"]["saved"]]


async def test_who_is_beaten_at_a_look_is_called_no_more(busy: Busy) -> None:
    busy.models.script = Ladder(70)
    ada = await busy.reader()
    run = await ended(ada, models=("one", "two", "three"))
    tasks = [(task["kind"], task["candidate"], task["opponent"]) for task in await ada.tasks(run["id"])]
    of_three = [kind for kind, candidate, opponent in tasks if "test:three" in (candidate, opponent)]
    # Fifteen answers, and as many documents with two rivals in two orders. The others go on to the end.
    assert Counter(of_three) == {"generate": 15, "compare": 60}
    assert Counter(kind for kind, *_ in tasks) == {"generate": 36 + 15, "compare": 36 + 60}
    assert run["progress"]["total"] == len(tasks)
    assert run["progress"]["saved"] == 18 * (3 + 6) - len(tasks)
    report = await report_of(ada, run["id"])
    ranking = report["ranking"]
    assert ranking["look"]["beaten"] == [{"candidate": "test:three", "by": "test:one", "documents": 15}]
    assert [row["candidate"] for row in ranking["rows"]] == ["test:one", "test:two", "test:three"]
    assert [row["documents"] for row in ranking["rows"]] == [18, 18, 15]
    assert [lead["beaten_after"] for lead in ranking["contrasts"]] == [None, 15]
    assert (ranking["counts"]["missing"], report["troubles"]) == (0, [])
    first, second = report["looks"]
    assert (first["documents"], first["dropped"], first["saved"]) == (10, [], 0)
    assert second == {
        "number": 2, "documents": 15, "leader": "test:one", "dropped": ["test:three"], "decided": False,
        "saved": run["progress"]["saved"],
    }  # fmt: skip
    assert (await ada.get(f"/runs/{run['id']}/ranking"))["looks"] == report["looks"]
    page = (await ada.ask("GET", f"/runs/{run['id']}/report?format=html")).text
    assert "Looks on the way" in page
    assert f'<td>{"<bdi>test:three</bdi>"}</td><td class="figure">{second["saved"]}</td>' in page


async def test_what_each_look_saved_adds_up(busy: Busy) -> None:
    busy.models.script = Ladder(88)
    ada = await busy.reader()
    run = await ended(ada, models=("one", "two", "three"), documents=30)
    found = (await report_of(ada, run["id"]))["looks"]
    # Of three, ten documents that all say the same rule nobody out yet.
    assert ([look["dropped"] for look in found[:2]], found[-1]["decided"]) == ([[], ["test:three"]], True)
    assert len([look for look in found if look["saved"]]) > 1
    assert sum(look["saved"] for look in found) == run["progress"]["saved"]
    # A further round looks for itself, and the looks of the first one stay as they were.
    await ada.post(f"/runs/{run['id']}/reevaluate", {"judges": [{"model": "test:jury"}]})
    again = await ada.until(run["id"], "completed")
    later = (await report_of(ada, run["id"]))["looks"]
    assert sum(look["saved"] for look in later) == again["progress"]["saved"]
    assert (await report_of(ada, run["id"], "&round=1"))["looks"] == found


async def test_a_further_round_over_combined_answers_compares_everybody_at_once_and_may_stop(busy: Busy) -> None:
    ada = await busy.reader()
    merged = {"candidates": [{"model": "test:four", "label": "merged"}]}
    run = (await ended(ada, combination=merged))["id"]
    assert await looks(ada, run) == []
    await ada.post(f"/runs/{run}/reevaluate", {"judges": [{"model": "test:jury"}]})
    again = await ada.until(run, "completed")
    assert (await looks(ada, run), again["progress"]["total"]) == (["decided"], 10 * 3 * 2)
    assert "Stopped after 10 of 18 documents: decided." in again["verdict"]


async def test_other_weights_and_fewer_judges_ask_what_was_compared(busy: Busy) -> None:
    ada = await busy.reader()
    judges = [{"model": "test:judge"}, {"model": "test:jury"}]
    run = (await ended(ada, comparison=wanted(judges=judges)))["id"]
    without = await ada.get(f"/runs/{run}/ranking?without_judge=test:jury")
    assert without["ranking"]["documents"] == 10
    assert without["ranking"]["look"]["stopped"]
    assert without["ranking"]["exploratory"]
    assert without["ranking"]["best"] == "test:one"


async def test_a_person_votes_where_the_judges_did(busy: Busy) -> None:
    ada = await busy.reader()
    whole, stopped = await ended(ada, comparison=wanted(False)), await ended(ada)
    left = [(await ada.get(f"/runs/{run['id']}/votes/count"))["left"] for run in (whole, stopped)]
    assert left == [18, 10]


async def test_the_leaderboard_is_as_strict_as_the_runs_in_it(busy: Busy) -> None:
    ada = await busy.reader()
    await ended(ada)
    board = await ada.get("/evaluation/leaderboard")
    assert board["ranking"]["look"]["part"] == pytest.approx(0.1142, abs=1e-4)
    assert not board["ranking"]["look"]["stopped"]
    assert "Stopped" not in board["verdict"]["sentence"]


async def test_only_finalists_have_to_be_told_apart(busy: Busy) -> None:
    ada = await busy.reader()
    scoring = {"judges": [{"model": "test:judge"}], "criteria": await ada.content("criteria", "- name: Coverage")}
    run = await ended(ada, models=("one", "two", "three"), scoring=scoring, comparison=wanted(finalists=2))
    pairs = {(task["candidate"], task["opponent"]) for task in await ada.tasks(run["id"], kind="compare")}
    assert len(pairs) == 1
    assert run["progress"]["pending"] == 0


async def test_verdicts_that_never_came_are_missing_and_documents_beyond_the_stop_are_not(busy: Busy) -> None:
    clear = Preferring(CLEAR)

    def broken(request: ModelRequest) -> Answer:
        if isinstance(request.matter, CompareMatter) and "number 7." in request.matter.document:
            return fails("provider-error", retryable=False)
        return clear(request)

    busy.models.script = broken
    ada = await busy.reader()
    run = await ended(ada)
    ranking = (await report_of(ada, run["id"]))["ranking"]
    compared = {task["document"] for task in await ada.tasks(run["id"], kind="compare")}
    assert ranking["counts"]["missing"] == int(7 in compared)
    assert ranking["look"]["stopped"]


async def test_where_nothing_could_be_compared_nothing_is_decided_at_a_look(busy: Busy) -> None:
    ada = await busy.reader()
    busy.models.script = lambda request: (
        fails("provider-error", retryable=False)
        if isinstance(request.matter, CompareMatter)
        else Preferring(CLEAR)(request)
    )
    run = await ended(ada)
    assert (run["state"], await looks(ada, run["id"])) == ("failed", ["undecided", "undecided"])


@pytest.mark.parametrize(
    "changes",
    [
        {"documents": 12},
        {"combination": {"candidates": [{"model": "test:four", "label": "merged"}]}},
    ],
    ids=["few documents", "combined answers"],
)
async def test_where_it_cannot_stop_early_it_is_a_run_like_any_other(busy: Busy, changes: Json) -> None:
    ada = await busy.reader()
    plain, wished = await ended(ada, **changes, comparison=wanted(False)), await ended(ada, **changes)
    assert await looks(ada, wished["id"]) == []
    ours, theirs = [found_in(await report_of(ada, run["id"])) for run in (wished, plain)]
    assert ours["ranking"] == theirs["ranking"]
    assert ours["ranking"]["look"] is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"documents": 30},
            "It may stop after 10, 15, 20 or 25 of 30 documents, if one is best by then; calls and costs are"
            " those of the whole run.",
        ),
        (
            {"documents": 13},
            "It may stop after 10 of 13 documents, if one is best by then; calls and costs are those of the whole run.",
        ),
        ({"documents": 12}, "It compares everything: fewer than 13 documents are too few to decide earlier."),
        (
            {"combination": {"candidates": [{"model": "test:four", "label": "merged"}]}},
            "It compares everything, because all comparisons together decide which answers are combined.",
        ),
    ],
)
async def test_a_dry_run_says_when_it_may_stop(busy: Busy, changes: Json, said: str) -> None:
    ada = await busy.reader()
    wished, plain = [
        await ada.run(await ada.made(**early(**changes, comparison=wanted(stops)))) for stops in (True, False)
    ]
    told, silent = [
        await ada.post("/runs?dry_run=true", {"configuration": run["configuration"]}) for run in (wished, plain)
    ]
    assert (told["stopping"], silent["stopping"]) == (said, None)
    assert (told["calls"], told["worst_cost"]) == (silent["calls"], silent["worst_cost"])
    looks_early = said.startswith("It may")
    assert (told["saving"] is not None) is looks_early
    assert silent["saving"] is None
    if looks_early:
        assert 0 < told["saving"]["calls"] < told["calls"]["total"]
        assert told["saving"]["cost"] == "0"
    # Looks have a price: it finds less, and says so.
    assert (told["power"]["chance"] < silent["power"]["chance"]) is looks_early
    assert wished["progress"] == plain["progress"]
