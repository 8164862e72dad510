"""A whole run against somebody else's OpenAI-compatible server, LiteLLM's proxy, while everything goes wrong by plan.

What the proxy was asked is counted at its door, and the metering is held to that count, call by call.
"""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import pytest
from carrel_sdk import CarrelApiError, Workspace
from carrel_sdk.models import (
    CallRow,
    Candidate,
    Comparison,
    Configuration,
    Generation,
    Judge,
    Parameters,
    Run,
    RunLimits,
    Scoring,
    Task,
)

from tests.proxy.conftest import Entry, Proxy
from tests.proxy.plan import FAULTS, JUDGED, NEVER_JUDGED, NEVER_WRITTEN, TIMEOUT_SECONDS, WAIT_SECONDS, WRITTEN
from tests.support.run_setup import text_of

pytestmark = pytest.mark.proxy

DOCUMENTS = 10
BEST, NANO, GAMMA = "openai:gpt-4.1-mini", "openai:gpt-4.1-nano", "compatible:gamma"
MODELS = (BEST, NANO, GAMMA)
JUDGES = ("openai:gpt-4.1", "compatible:judge-two")
CRITERIA = "- name: Coverage\n- name: Clarity\n"


class Seen(NamedTuple):
    """A run at its end, as the workspace shows it and as the proxy saw it."""

    run: Run
    tasks: list[Task]
    rows: list[CallRow]
    journal: list[Entry]


@pytest.fixture(scope="module")
def seen(workspace: Workspace, proxy: Proxy) -> Seen:
    texts = [text_of(number) for number in range(1, DOCUMENTS + 1)]
    texts[7] += f"\nThis is the story of {NEVER_WRITTEN}.\n"
    texts[8] += f"\nThis is the story of {NEVER_JUDGED}.\n"
    parameters = Parameters(temperature=0.5, max_output_tokens=500, seed=7)
    judges = [Judge(model=model) for model in JUDGES]
    configuration = Configuration(
        inputs=[workspace.contents.create(f"Text {n}", "input_document", text).id for n, text in enumerate(texts, 1)],
        instructions=workspace.contents.create("Prompt", "generation_instructions", "Summarise {{document}}").id,
        generation=Generation(
            candidates=[Candidate(model=name, parameters=parameters) for name in (BEST, NANO, GAMMA)]
        ),
        scoring=Scoring(judges=judges, criteria=workspace.contents.create("Criteria", "criteria", CRITERIA).id),
        comparison=Comparison(judges=judges),
        limits=RunLimits(concurrency=8, timeout_seconds=TIMEOUT_SECONDS, max_attempts=4),
    )
    run_id = workspace.runs.create(configuration=configuration, name="Through the proxy").id
    workspace.runs.start(run_id)
    list(workspace.runs.events(run_id))
    found = Seen(
        workspace.runs.get(run_id),
        list(workspace.runs.tasks(run_id)),
        list(workspace.metering.calls(run_id=run_id)),
        proxy.journal(),
    )
    print(figures(found))
    return found


def figures(seen: Seen) -> str:
    """What was counted, for whoever runs this."""
    states = Counter[str](task.state for task in seen.tasks)
    reasons = Counter(task.error.code for task in seen.tasks if task.state == "failed" and task.error is not None)
    outcomes = Counter(f"{row.outcome} {row.code or ''}".strip() for row in seen.rows)
    faults = Counter(entry.fault or "answered as asked" for entry in seen.journal)
    return "\n".join(
        [
            f"\n{len(seen.tasks)} tasks, {seen.run.state}: {told(states)}; failed for {told(reasons)}",
            f"calls that the proxy counted: {len(seen.journal)} ({told(faults)})",
            f"rows of the metering:         {len(seen.rows)} ({told(outcomes)})",
            f"spent {seen.run.spend.cost} USD and {seen.run.spend.unknown_calls} calls of unknown cost",
        ]
    )


def told(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def expected(entry: Entry) -> tuple[str, str | None]:
    return (JUDGED if entry.judges else WRITTEN)[entry.fault]


def tokens(rows: Sequence[CallRow]) -> tuple[int, int]:
    return sum(row.input_tokens or 0 for row in rows), sum(row.output_tokens or 0 for row in rows)


def test_every_fault_befell_the_run(seen: Seen) -> None:
    happened = Counter(entry.fault for entry in seen.journal)
    assert set(happened) == {"", *FAULTS.values()}
    assert min(happened.values()) >= 2


def test_every_task_is_done_or_reported_with_a_code(seen: Seen) -> None:
    assert {task.state for task in seen.tasks} == {"succeeded", "failed", "skipped"}
    assert seen.run.state == "completed_with_errors"
    failed = [task for task in seen.tasks if task.state == "failed"]
    codes = {code for outcome, code in (*WRITTEN.values(), *JUDGED.values()) if outcome != "answered"}
    assert all(task.error is not None and task.error.code in codes for task in failed)
    skipped = [task for task in seen.tasks if task.state == "skipped"]
    assert all(task.error is not None and task.error.code == "answer-missing" for task in skipped)
    never = {
        (task.kind, task.error.code)
        for task in failed
        if task.error and (task.document, task.candidate, task.kind) == (8, NANO, "generate")
    }
    assert never == {("generate", "provider-overloaded")}
    # A judge is named with its host.
    by_second = [task for task in seen.tasks if task.judge is not None and task.judge.startswith(JUDGES[1])]
    silent = [task for task in by_second if task.document == 9 and task.attempts]
    assert len(silent) > DOCUMENTS / 2
    assert {task.error.code if task.error else None for task in silent} == {"reply-not-json"}


def test_the_calls_that_the_proxy_counted_are_the_rows_of_the_metering(seen: Seen) -> None:
    assert all(entry.forwarded for entry in seen.journal)
    assert Counter((row.outcome, row.code) for row in seen.rows) == Counter(expected(entry) for entry in seen.journal)
    assert len(seen.rows) == len(seen.journal) == sum(task.attempts for task in seen.tasks)
    attempts = Counter(row.task_key for row in seen.rows)
    assert {task.key: task.attempts for task in seen.tasks if task.attempts} == attempts


def test_tokens_and_costs_are_those_of_the_answers_that_arrived(seen: Seen, workspace: Workspace) -> None:
    whole = [entry.tokens for entry in seen.journal if entry.tokens is not None]
    assert tokens(seen.rows) == (sum(read for read, _ in whole), sum(written for _, written in whole))
    assert sum(row.input_tokens is not None for row in seen.rows) == len(whole)
    known = [Decimal(row.cost) for row in seen.rows if row.cost is not None]
    assert Decimal(seen.run.spend.cost) == sum(known) > 0
    assert seen.run.spend.unknown_calls == len(seen.rows) - len(known)
    total = next(item.totals for item in workspace.metering.usage(group_by=["run"]).items if item.run_id == seen.run.id)
    assert (total.calls, total.input_tokens, total.output_tokens) == (len(seen.rows), *tokens(seen.rows))
    assert (Decimal(total.cost), total.unknown_calls) == (sum(known), len(seen.rows) - len(known))


def test_a_wait_that_the_proxy_passes_on_is_waited(seen: Seen) -> None:
    waits = [
        later.at - entry.at
        for entry in seen.journal
        if entry.fault == "rate-limited"
        for later in seen.journal[entry.number :]
        if (later.model, later.prompt) == (entry.model, entry.prompt)
    ]
    assert waits
    assert min(waits) >= WAIT_SECONDS


def test_the_better_model_leads_in_spite_of_it_all(seen: Seen, workspace: Workspace) -> None:
    ranking = workspace.runs.ranking(seen.run.id).ranking
    assert ranking.rows[0].candidate == BEST
    assert ranking.documents == DOCUMENTS


def test_a_model_that_the_proxy_does_not_have_is_called_unknown(workspace: Workspace, seen: Seen) -> None:
    assert "gpt-4.1-mini" in workspace.provider_keys.test("openai").models
    with pytest.raises(CarrelApiError) as caught:
        workspace.single.generate("openai:gpt-4.1-giant", "Is anybody there?")
    assert caught.value.code == "model-call-refused"
    assert [row.code for row in workspace.metering.calls(model="openai:gpt-4.1-giant")] == ["model-unknown"]


def test_a_key_that_the_proxy_does_not_take_is_rejected(workspace: Workspace, proxy: Proxy) -> None:
    workspace.provider_keys.store("vllm", "sk-somebody-else-0123456789", base_url=proxy.base_url)
    tested = workspace.provider_keys.test("vllm")
    assert (tested.ok, tested.code) == (False, "provider-key-rejected")
