"""What goes into a ranking: whose votes there are, and whether weights were moved after results were seen."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from carrel.presets.configuration import Judge
from carrel.runs.engine import reevaluate
from carrel.runs.model import run_transitions
from carrel.runs.model import setup as setups
from carrel.runs.model.schemas import ReevaluateIn
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import ballots, evidence, votes
from carrel.runs.verdicts.judgement import Evidence
from carrel.runs.verdicts.votes import VoteIn
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels
from tests.support.workspace import SETTINGS

JUDGES = ("test:judge", "test:jury")


async def evidence_of(harness: EngineHarness, run_id: RunId) -> Evidence:
    def read(conn: Any) -> Evidence:
        setup = setups.load(conn, run_transitions.present(conn, run_id).seq)
        assert setup is not None
        return evidence.collect(conn, setup)

    found: Evidence = await harness.read(read)
    return found


async def judged_again(harness: EngineHarness, run_id: RunId, weights: dict[str, float]) -> None:
    judges = [Judge(model=model, weight=weight) for model, weight in weights.items()]
    await harness.write(reevaluate.reevaluate, run_id, ReevaluateIn(judges=judges), harness.registry, SETTINGS)
    await harness.ended(run_id)


@pytest.mark.parametrize(
    ("again", "exploratory"),
    [
        ({"test:judge": 1.0, "test:jury": 1.0}, False),
        ({"test:judge": 3.0, "test:jury": 3.0}, False),
        ({"test:judge": 1.0, "test:jury": 2.0}, True),
        ({"test:judge": 1.0}, True),
    ],
)
async def test_a_round_that_only_moves_weights_is_exploratory(
    tmp_path: Path, again: dict[str, float], exploratory: bool
) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = (await harness.finished(judges=JUDGES)).id
        assert not (await evidence_of(harness, run_id)).exploratory
        await judged_again(harness, run_id, again)
        assert (await evidence_of(harness, run_id)).exploratory is exploratory
        [(ranking,)] = await harness.rows("SELECT ranking FROM run_rankings WHERE round = 2")
        assert msgspec.json.decode(ranking)["exploratory"] is exploratory


async def test_a_new_judge_is_new_evidence(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = (await harness.finished(judges=("test:judge",))).id
        await judged_again(harness, run_id, {"test:jury": 1.0})
        assert not (await evidence_of(harness, run_id)).exploratory


async def test_votes_are_about_answers_and_stay_for_further_rounds(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = (await harness.finished(documents=3)).id
        for _ in range(2):
            shown = await harness.write(ballots.show, run_id, await harness.read(ballots.choose, run_id))
            await harness.write(votes.cast, run_id, VoteIn(pair=shown.pair, verdict="first"))
        before = await evidence_of(harness, run_id)
        assert len(before.votes) == 2
        assert all(vote.verdict.judge == "human" for vote in before.votes)
        assert not any(verdict.judge == "human" for verdict in before.verdicts)
        await judged_again(harness, run_id, {"test:jury": 1.0})
        assert (await evidence_of(harness, run_id)).votes == before.votes
        run = await harness.run(run_id)
        assert run.verdict is not None
        assert "a person has voted blind on some of them" in run.verdict


async def test_a_pair_that_another_window_has_shown_meanwhile_is_shown_once(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        run_id = (await harness.finished(documents=2)).id
        chosen = await harness.read(ballots.choose, run_id)
        first = await harness.write(ballots.show, run_id, chosen)
        assert await harness.write(ballots.show, run_id, chosen) == first._replace(left=chosen.left)
        await harness.write(votes.cast, run_id, VoteIn(pair=first.pair, verdict="tie"))
        with pytest.raises(ballots.NothingToVoteOn):
            await harness.write(ballots.show, run_id, chosen)
        assert len(await harness.rows("SELECT id FROM run_votes")) == 1
