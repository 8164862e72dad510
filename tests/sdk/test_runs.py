"""Runs through the user's client, against the real service: made, steered, watched, read, deleted."""

import json
import zipfile
from collections.abc import Iterator
from io import BytesIO
from uuid import uuid4

import msgspec
import pytest
from carrel_sdk import CarrelApiError, Conflict, Host, NotFound, Workspace
from carrel_sdk.models import (
    Candidate,
    Choice,
    Comparison,
    Configuration,
    Generation,
    Judge,
    Preset,
    PresetDraft,
    Run,
    RunLimits,
    Scoring,
)

from tests.support.service import Service

CRITERIA = "- name: coverage\n  description: Holds the main points.\n"
LABELS = ["lead", "lexrank", "random"]


def text(topic: str) -> str:
    sentences = [
        f"The {topic} number {part} was opened in {1900 + part} by {20 + part} people from the valley. "
        f"Its keeper wrote about the {topic} every {('morning', 'evening', 'night')[part % 3]} of that year."
        for part in range(1, 9)
    ]
    return f"# The {topic}\n\n" + "\n\n".join(sentences)


@pytest.fixture(scope="module")
def workspace(service: Service) -> Iterator[Workspace]:
    host = Host(service.url, service.plugin_secret)
    uuid = f"runs-{uuid4()}"
    host.sign_up(uuid, membership="paid", password="pw")
    with Workspace(service.url, lambda: str(host.session(uuid))) as workspace:
        yield workspace
    host.close()


@pytest.fixture(scope="module")
def preset(workspace: Workspace) -> Preset:
    topics = ("harbour", "orchard", "library", "foundry", "theatre")
    judges = [Judge(model="local:reader"), Judge(model="local:statistician")]
    return workspace.presets.create(
        PresetDraft(
            name="Which summary?",
            inputs=[workspace.contents.create(topic, "input_document", text(topic)).id for topic in topics],
            instructions=workspace.contents.create(
                "Prompt", "generation_instructions", "Summarise for {{WHO}}.", variables={"WHO": None}
            ).id,
            generation=Generation(candidates=[Candidate(label=label, model=f"local:{label}") for label in LABELS]),
            scoring=Scoring(judges=judges, criteria=workspace.contents.create("Criteria", "criteria", CRITERIA).id),
            comparison=Comparison(judges=judges),
            limits=RunLimits(concurrency=4),
        )
    )


VARIABLES = {"WHO": "a colleague"}


@pytest.fixture(scope="module")
def finished(workspace: Workspace, preset: Preset) -> Run:
    """A run that was executed and followed to its end."""
    run = workspace.presets.execute(preset.id, name="Followed", variables=VARIABLES)
    assert run.state == "running"
    list(workspace.runs.events(run.id))
    return workspace.runs.get(run.id)


def test_an_estimate_tells_calls_cost_and_chance(workspace: Workspace, preset: Preset) -> None:
    estimate = workspace.presets.estimate(preset.id, variables=VARIABLES)
    assert estimate.calls.total == estimate.calls.generate + estimate.calls.score + estimate.calls.compare
    assert (estimate.calls.generate, estimate.documents, estimate.candidates) == (15, 5, 3)
    assert estimate.worst_cost == "0"
    assert estimate.power.sentence
    unsaved = Configuration(
        inputs=preset.inputs,
        instructions=preset.instructions,
        generation=Generation(candidates=preset.generation.candidates[:2]),
        scoring=preset.scoring,
    )
    fewer = workspace.runs.estimate(unsaved, variables=VARIABLES)
    assert (fewer.calls.generate, fewer.candidates) == (10, 2)


def test_open_variables_are_refused_before_anything_is_made(workspace: Workspace, preset: Preset) -> None:
    before = workspace.runs.count().total
    with pytest.raises(CarrelApiError) as caught:
        workspace.presets.execute(preset.id)
    assert caught.value.status == 400
    assert workspace.runs.count().total == before


def test_events_lead_to_the_end_of_the_run(workspace: Workspace, finished: Run) -> None:
    assert finished.state == "completed"
    assert finished.ended
    assert finished.progress.percent == 100
    assert finished.progress.done == finished.progress.total
    assert finished.verdict
    again = list(workspace.runs.events(finished.id))
    numbers = [int(event.id) for event in again if event.id]
    assert numbers == sorted(numbers)
    later = list(workspace.runs.events(finished.id, last_event_id=again[5].id))
    assert [event.id for event in later][:3] == [event.id for event in again if event.id > again[5].id][:3]


def test_the_ranking_names_every_candidate_and_costs_nothing_to_vary(workspace: Workspace, finished: Run) -> None:
    found = workspace.runs.ranking(finished.id)
    assert {row.candidate for row in found.ranking.rows} == set(LABELS)
    assert finished.verdict is not None
    assert found.verdict.sentence in finished.verdict
    assert found.ranking.judges == ["local:reader", "local:statistician"]
    assert workspace.runs.ranking(finished.id, without_judge="local:reader").ranking.judges == ["local:statistician"]
    moved = workspace.runs.ranking(finished.id, weights={"local:reader": 3.0, "local:statistician": 1.0})
    assert moved.ranking.exploratory


def test_the_report_is_a_page_and_its_json(workspace: Workspace, finished: Run) -> None:
    assert workspace.runs.report_html(finished.id).lower().startswith("<!doctype html>")
    assert json.loads(workspace.runs.report_json(finished.id))


def test_the_export_is_a_whole_zip_of_everything(workspace: Workspace, finished: Run) -> None:
    with zipfile.ZipFile(BytesIO(workspace.runs.export(finished.id))) as archive:
        assert archive.testzip() is None
        names = " ".join(archive.namelist())
    for part in ("report", "documents", "scores", "comparisons", "calls", "logs", "configuration"):
        assert part in names


def test_tasks_answers_and_logs_can_be_read(workspace: Workspace, finished: Run) -> None:
    tasks = list(workspace.runs.tasks(finished.id, kind="generate"))
    assert len(tasks) == 15
    answer_id = tasks[0].generated_id
    assert answer_id is not None
    answer = workspace.runs.generated(finished.id, answer_id)
    assert answer.body
    assert answer.scores
    assert answer.body in workspace.runs.generated_markdown(finished.id, answer_id)
    logs = list(workspace.runs.logs(finished.id))
    assert workspace.runs.logs_count(finished.id) == len(logs)
    assert {entry.task_key for entry in workspace.runs.logs(finished.id, task_key=tasks[0].key)} == {tasks[0].key}
    shared = workspace.runs.share_logs(finished.id)
    assert shared.share_id
    assert "body" not in shared.fields


def test_a_run_is_made_started_once_and_cannot_be_started_again(workspace: Workspace, preset: Preset) -> None:
    run = workspace.runs.create(preset_id=preset.id, name="Made", variables=VARIABLES, inputs=preset.inputs[:2])
    assert run.state == "pending"
    assert run.configuration.inputs == preset.inputs[:2]
    key = str(uuid4())
    first = workspace.runs.start(run.id, idempotency_key=key)
    assert workspace.runs.start(run.id, idempotency_key=key).id == first.id
    with pytest.raises(Conflict) as caught:
        workspace.runs.start(run.id)
    assert caught.value.code == "run-state"
    list(workspace.runs.events(run.id))
    assert workspace.runs.get(run.id).state == "completed"


def test_a_run_that_waits_can_be_cancelled_and_deleted(workspace: Workspace, preset: Preset) -> None:
    run = workspace.runs.create(preset_id=preset.id, variables=VARIABLES)
    assert [found.id for found in workspace.runs.find(state="pending")] == [run.id]
    checkpoint = workspace.runs.checkpoint(run.id)
    assert (checkpoint.state, checkpoint.quiesced) == ("pending", True)
    assert checkpoint.counts.pending == len(checkpoint.remaining) + checkpoint.unlisted + checkpoint.unplanned
    assert checkpoint.unplanned > 0
    assert workspace.runs.cancel(run.id).state == "cancelled"
    workspace.runs.delete(run.id)
    with pytest.raises(NotFound):
        workspace.runs.get(run.id)


def test_many_runs_are_deleted_at_once_and_strangers_refused(workspace: Workspace, preset: Preset) -> None:
    made = [workspace.runs.create(preset_id=preset.id, variables=VARIABLES).id for _ in range(3)]
    gone = workspace.runs.delete_many(made[:1])
    assert gone.deleted == made[:1]
    assert set(workspace.runs.delete_many(state="pending").deleted) == set(made[1:])


def test_a_run_is_judged_anew_by_another_judge(workspace: Workspace, finished: Run) -> None:
    again = workspace.runs.reevaluate(finished.id, judges=[Judge(model="local:statistician")])
    assert (again.round, again.state) == (2, "running")
    list(workspace.runs.events(again.id))
    assert workspace.runs.ranking(again.id).ranking.judges == ["local:statistician"]


def test_a_person_votes_blind_and_is_set_beside_the_judges(workspace: Workspace, finished: Run) -> None:
    before = workspace.runs.ranking(finished.id)
    while (ballot := workspace.votes.next(finished.id)) is not None:
        longer: Choice = "first" if len(ballot.first) > len(ballot.second) else "second"
        workspace.votes.cast(finished.id, ballot.pair, longer, reason="It holds more facts.")
    count = workspace.votes.count(finished.id)
    assert count.left == 0
    votes = list(workspace.votes.each(finished.id))
    assert len(votes) == count.votes > 3
    with pytest.raises(Conflict) as refused:
        workspace.votes.cast(finished.id, votes[0].id, "tie")
    assert refused.value.code == "vote-counted"
    assert {vote.reason for vote in votes} == {"It holds more facts."}
    [proposed] = workspace.votes.criteria_proposal(finished.id).proposals
    assert (proposed.criterion.name, proposed.votes, len(proposed.quotes)) == ("coverage", len(votes), 1)
    beside = workspace.runs.ranking(finished.id)
    # The votes change no figure; they tell that the judge names the other answer.
    figures = [msgspec.structs.replace(one.ranking, distrust=[]) for one in (before, beside)]
    assert figures[0] == figures[1]
    assert len(beside.ranking.distrust) > len(before.ranking.distrust)
    assert beside.human is not None
    assert beside.human.votes == count.votes
    together = workspace.runs.ranking(finished.id, with_human=True)
    assert "human" in together.ranking.judges
    for vote in votes:
        workspace.votes.withdraw(finished.id, vote.id)
    assert workspace.runs.ranking(finished.id) == before
