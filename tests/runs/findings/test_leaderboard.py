"""`/evaluation/leaderboard`, and `/evaluation/judges` over several runs: several runs as if they were one."""

from typing import Any

import pytest

from carrel.config import Settings
from carrel.providers.base import Answer, CompareMatter, GenerateMatter, ModelRequest, ScoreMatter
from tests.support.busy import Reader, busy_service
from tests.support.clock import FakeClock
from tests.support.models import TestModels, honest, said_json

JUDGED = {"comparison": {"judges": [{"model": "test:judge"}, {"model": "test:jury"}]}}


def by_length(request: ModelRequest) -> Answer:
    """The longer name of a model wins; `jury` believes whatever it sees first."""
    matter = request.matter
    if isinstance(matter, CompareMatter):
        won = "first" if request.model == "jury" or len(matter.first) > len(matter.second) else "second"
        return said_json({"reason": "", "winner": "tie" if len(matter.first) == len(matter.second) else won})
    if isinstance(matter, ScoreMatter):
        return said_json({"reason": "", "scores": {c.name: 3 for c in matter.criteria}})
    return honest(request)


async def done(ada: Reader, *models: str, **changes: Any) -> str:
    run = await ada.started(models=models, documents=changes.pop("documents", 5), **(JUDGED | changes))
    await ada.until(run, "completed")
    return run


async def test_runs_that_share_inputs_and_judges_are_ranked_as_one(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with busy_service(settings, clock, TestModels(by_length), monkeypatch) as busy:
        ada = await busy.reader()
        assert await ada.get("/evaluation/leaderboard") == {
            "runs": [],
            "documents": 0,
            "judges": [],
            "verdict": None,
            "ranking": None,
            "candidates": [],
            "human": None,
            "people": None,
            "note": None,
            "others": [],
            "left_out": 0,
        }
        first = await done(ada, "one", "three")
        alone = await ada.get("/evaluation/leaderboard")
        assert alone["note"] is None
        assert alone["ranking"] == (await ada.get(f"/runs/{first}/ranking"))["ranking"]
        second = await done(ada, "three", "two")
        other = await done(ada, "one", "two", documents=2)
        board = await ada.get(f"/evaluation/leaderboard?like={first}")
        assert [run["id"] for run in board["runs"]] == [second, first]
        assert (board["documents"], board["judges"]) == (5, ["test:judge", "test:jury"])
        rows = board["ranking"]["rows"]
        assert sorted(row["candidate"] for row in rows) == ["test:one", "test:three", "test:two"]
        assert rows[0]["candidate"] == "test:three"
        # Every comparison of both runs, each once: 5 documents, 2 judges, both orders as one.
        assert sum(row["comparisons"] for row in rows) == 2 * 2 * 5 * 2
        assert board["note"].startswith("Exploratory")
        assert [[run["id"] for run in one["runs"]] for one in board["others"]] == [[other]]
        assert board["others"][0]["labels"] == ["test:one", "test:two"]
        assert [run["id"] for run in (await ada.get("/evaluation/leaderboard"))["runs"]] == [other]
        pending = await ada.made()
        assert (await ada.ask("GET", f"/evaluation/leaderboard?like={pending}")).status_code == 404


async def test_each_candidate_has_its_checks_time_and_runs_over_all_of_them(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_by_name(request: ModelRequest) -> Answer:
        clock.advance(len(request.model) if isinstance(request.matter, GenerateMatter) else 0.0)
        return by_length(request)

    async with busy_service(settings, clock, TestModels(slow_by_name), monkeypatch) as busy:
        ada = await busy.reader()
        one_at_a_time = {"limits": {"concurrency": 1}}
        plain = await done(ada, "one", "three", documents=4, **one_at_a_time)
        has_three: dict[str, Any] = {"checks": [{"kind": "contains", "texts": ["three"], "required": True}]}
        checked = await done(ada, "three", "two", documents=4, repeats=4, **one_at_a_time | has_three)
        board = await ada.get("/evaluation/leaderboard")
        three, two, one = board["candidates"]
        assert (three["candidate"], three["model"], three["runs"]) == ("test:three", "test:three", [checked, plain])
        assert (two["runs"], one["runs"]) == ([checked], [plain])
        # 4 answers of the first run and 16 of the second: enough to name the slowest twentieth.
        assert (three["answers"], three["delivered"], two["answers"], one["answers"]) == (20, 20, 16, 4)
        assert (three["median_latency_ms"], three["p95_latency_ms"]) == (5_000, 5_000)
        assert (two["median_latency_ms"], two["p95_latency_ms"]) == (3_000, None)
        assert (three["passes"]["share"], two["passes"]["share"], one["passes"]) == (1.0, 0.0, None)
        assert (three["cost_per_answer"], three["mean_words"]) == ("0", 5.0)
        assert [run["preset_id"] for run in board["runs"]] == [None, None]


async def test_each_judge_is_told_over_all_runs(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with busy_service(settings, clock, TestModels(by_length), monkeypatch) as busy:
        ada = await busy.reader()
        assert await ada.get("/evaluation/judges") == {"items": [], "runs": 0}
        await done(ada, "one", "three")
        await done(ada, "three", "four", documents=3)
        found = await ada.get("/evaluation/judges")
        judge, jury = found["items"]
        assert (found["runs"], judge["model"], judge["runs"], judge["family"]) == (2, "test:judge", 2, "family-judge")
        assert (judge["health"]["flips"], judge["health"]["agreed"]) == (0, 8)
        assert (jury["health"]["flips"], jury["health"]["flips_to_first"]) == (8, 8)
        assert judge["health"]["own_family_lift"]["reason"] == "no candidate of its family"
        (pair,) = judge["agreement"]
        assert (pair["first"], pair["second"], pair["same"], pair["of"]) == ("test:judge", "test:jury", 0, 8)
        assert judge["health"]["scores_given"] == 16
