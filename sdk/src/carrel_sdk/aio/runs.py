"""Written by `sdk/generate.py` from `carrel_sdk.runs`. Change that, and run it again."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import msgspec

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.aio.event_stream import follow
from carrel_sdk.calls import Query
from carrel_sdk.errors import CarrelUnreachable, Conflict, WaitTimeout
from carrel_sdk.models import (
    AnswerFigures,
    AnswerNote,
    Beginnings,
    Checkpoint,
    ClassResults,
    Configuration,
    Deleted,
    DocumentGroups,
    Estimate,
    GateResult,
    Generated,
    Judge,
    LogCount,
    LogEntry,
    Ranking,
    Recommendation,
    Replacement,
    Rows,
    Run,
    RunCount,
    RunState,
    RunSummary,
    SharedLog,
    Split,
    Task,
)
from carrel_sdk.run_events import RunEvent, ends, run_event
from carrel_sdk.runs import (
    _EXPORT_POLL_SECONDS,
    _FIRST_POLL_SECONDS,
    _LONGEST_POLL_SECONDS,
    _decided,
    _given,
    _path,
)
from carrel_sdk.transport import segment


class AsyncRuns:
    """The routes under `/runs`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(
        self,
        *,
        preset_id: str | None = None,
        configuration: Configuration | None = None,
        name: str | None = None,
        variables: Mapping[str, str] | None = None,
        inputs: Sequence[str] | None = None,
        rows: Rows | None = None,
        groups: DocumentGroups | None = None,
        economy: bool | None = None,
        reuse: bool | None = None,
        trial: bool = False,
        idempotency_key: str | None = None,
    ) -> Run:
        """A new run of a preset or of a configuration, exactly one of both, with a snapshot of every text.

        In a `trial` every candidate answers the first input once, and nobody judges.
        """
        body: dict[str, object] = {"name": name, "preset_id": preset_id, "configuration": configuration}
        body |= {"variables": None if variables is None else dict(variables), "inputs": inputs}
        body |= {"rows": rows, "groups": groups, "economy": economy, "reuse": reuse, "trial": trial or None}
        return await self._calls.post_once("/runs", Run, _given(body), key=idempotency_key)

    async def estimate(self, configuration: Configuration, *, variables: Mapping[str, str] | None = None) -> Estimate:
        """The cost of a run of this configuration, and what its number of documents can decide. No run is made."""
        body = _given({"configuration": configuration, "variables": None if variables is None else dict(variables)})
        return await self._calls.post("/runs", Estimate, body, {"dry_run": True})

    def find(
        self, *, state: RunState | None = None, tag: str | None = None, trial: bool = False
    ) -> AsyncIterator[RunSummary]:
        """Runs, newest first; with `state` or `tag`, only those; with `trial`, the trials in place of the others."""
        return self._calls.each("/runs", RunSummary, {"state": state, "tag": tag, "trial": trial or None})

    async def count(self) -> RunCount:
        """How many runs there are."""
        return await self._calls.get("/runs/count", RunCount)

    async def get(self, run_id: str) -> Run:
        """One run."""
        return await self._calls.get(_path(run_id), Run)

    async def replace(
        self, run_id: str, *, name: str, tags: Sequence[str] = (), pinned: bool = False, if_match: str | None = None
    ) -> Run:
        """Replace a run's name, tags and pin. A pinned run is not deleted after the days in the settings."""
        body = {"name": name, "tags": list(tags), "pinned": pinned}
        return await self._calls.put(_path(run_id), Run, body, if_match=if_match)

    async def delete(self, run_id: str, *, if_match: str | None = None) -> None:
        """Delete it with everything that came out of it.

        Raises:
            Conflict: `run-state`, it is running.
        """
        await self._calls.delete(_path(run_id), if_match=if_match)

    async def delete_many(self, ids: Sequence[str] | None = None, *, state: RunState | None = None) -> Deleted:
        """Delete the runs with these ids, or all runs in one state. Give exactly one of the two."""
        body = None if ids is None else {"ids": list(ids)}
        return await self._calls.delete_many("/runs/bulk", Deleted, body, {"state": state})

    async def start(self, run_id: str, *, idempotency_key: str | None = None) -> Run:
        """Start a pending run."""
        return await self._calls.post_once(f"{_path(run_id)}/start", Run, key=idempotency_key)

    async def pause(self, run_id: str) -> Run:
        """Pause a run: no further task begins. Calls in flight end, and then the run is `quiesced`."""
        return await self._calls.post(f"{_path(run_id)}/pause", Run)

    async def resume(self, run_id: str) -> Run:
        """Continue a paused run. A run that paused for lack of credits needs this after the top-up, too."""
        return await self._calls.post(f"{_path(run_id)}/resume", Run)

    async def cancel(self, run_id: str) -> Run:
        """End a run for good. Finished results stay."""
        return await self._calls.post(f"{_path(run_id)}/cancel", Run)

    async def skip(self, run_id: str, task_key: str) -> Task:
        """Skip one task."""
        return await self._calls.post(f"{_path(run_id)}/tasks/{segment(task_key)}/skip", Task)

    async def retry(self, run_id: str) -> Run:
        """Try the failed tasks of a run that has ended again. What succeeded is kept, and nothing is paid twice."""
        return await self._calls.post(f"{_path(run_id)}/retry", Run)

    async def reevaluate(
        self,
        run_id: str,
        *,
        judges: Sequence[Judge] | None = None,
        criteria: str | None = None,
        instructions: str | None = None,
    ) -> Run:
        """Judge the same answers again, in a new round. Earlier rounds stay readable."""
        body = {"judges": judges, "criteria": criteria, "instructions": instructions}
        return await self._calls.post(f"{_path(run_id)}/reevaluate", Run, _given(body))

    async def checkpoint(self, run_id: str) -> Checkpoint:
        """The durable state of the run."""
        return await self._calls.get(f"{_path(run_id)}/checkpoint", Checkpoint)

    async def wait(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> Run:
        """The run when it has ended or paused; its `state` and `pause_reason` say which. Nothing resumes a pause here.

        Asks ten times a second at first, and then less and less often, down to every two seconds.

        Raises:
            WaitTimeout: it has done neither within `timeout` seconds.
        """
        deadline = None if timeout is None else clock() + timeout
        pause = _FIRST_POLL_SECONDS
        while True:
            run = await self.get(run_id)
            if run.halted:
                return run
            left = _LONGEST_POLL_SECONDS if deadline is None else deadline - clock()
            if left <= 0:
                raise WaitTimeout(run_id)
            await sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_POLL_SECONDS)

    async def ranking(
        self,
        run_id: str,
        *,
        round: int | None = None,
        without_judge: str | None = None,
        weights: Mapping[str, float] | None = None,
        with_human: bool = False,
    ) -> Ranking:
        """The ranking. Options show it without a judge, with other weights, or with a person as one of the judges.

        Costs no calls. The person's blind votes count as those of a judge `human`.
        """
        moved = None if weights is None else msgspec.json.encode(dict(weights)).decode()
        query = {"round": round, "without_judge": without_judge, "weights": moved}
        query |= {"with_human": "true" if with_human else None}
        return await self._calls.get(f"{_path(run_id)}/ranking", Ranking, query)

    async def gate(
        self,
        run_id: str,
        *,
        baseline: str,
        candidate: str | None = None,
        margin: float = 0.05,
        round: int | None = None,
    ) -> GateResult:
        """Whether a candidate is worse than the baseline by the margin. Costs no calls.

        Both are labels; without a `candidate` it is the only other one.
        """
        query: Query = {"baseline": baseline, "candidate": candidate, "margin": str(margin), "round": round}
        return await self._calls.get(f"{_path(run_id)}/gate", GateResult, query)

    async def split(self, run_id: str, column: str | None = None, *, round: int | None = None) -> Split:
        """The results by the values of a metadata column, or by `group`. Costs no calls; exploratory.

        Without a column, only which columns there are.
        """
        return await self._calls.get(f"{_path(run_id)}/split", Split, {"column": column, "round": round})

    async def classes(self, run_id: str) -> ClassResults:
        """Precision, recall, F1 and confusion, where the expected answers are classes. Costs no calls."""
        return await self._calls.get(f"{_path(run_id)}/classes", ClassResults)

    async def replacement(
        self,
        run_id: str,
        *,
        baseline: str,
        calls_per_month: int,
        margin: float = 0.05,
        costs: Mapping[str, str] | None = None,
    ) -> Replacement:
        """The cheapest candidate that is not worse than the baseline, over all candidates together. Costs no calls.

        `costs` are dollars for an answer, by label, where calls do not tell.
        """
        given = None if costs is None else msgspec.json.encode(dict(costs)).decode()
        query: Query = {"baseline": baseline, "calls_per_month": calls_per_month, "margin": str(margin), "costs": given}
        return await self._calls.get(f"{_path(run_id)}/replacement", Replacement, query)

    async def figures(self, run_id: str, *, round: int | None = None) -> AnswerFigures:
        """The win shares, scores, checks and faults of all answers, without their texts."""
        return await self._calls.get(f"{_path(run_id)}/answers", AnswerFigures, {"round": round})

    async def beginnings(
        self, run_id: str, documents: Sequence[int] = (), *, words: str = "", answers: bool = True
    ) -> Beginnings:
        """Names of up to 100 documents with the beginnings of their answers, or the names alone.

        With `words`, also the numbers of all documents whose name or answers hold them.
        """
        query: Query = {"documents": ",".join(map(str, documents)), "words": words, "answers": answers}
        return await self._calls.get(f"{_path(run_id)}/answers/beginnings", Beginnings, query)

    async def document_json(self, run_id: str, document: int, *, round: int | None = None) -> bytes:
        """One document, by its number from 1, as the report as JSON has it: answers, marks, what judges said."""
        return await self._calls.get_bytes(f"{_path(run_id)}/answers/{document}", {"round": round})

    async def report_html(
        self, run_id: str, *, round: int | None = None, against: str | None = None, split: str | None = None
    ) -> str:
        """The report as one HTML page. `against` compares it with another run, `split` names a column to split by."""
        return (await self._report(run_id, "html", round, against, split)).decode()

    async def report_json(
        self,
        run_id: str,
        *,
        round: int | None = None,
        against: str | None = None,
        split: str | None = None,
        documents: bool = True,
    ) -> bytes:
        """The report as JSON, for programs that keep or read all of it. Without `documents` it stays small."""
        return await self._report(run_id, "json", round, against, split, documents=documents)

    async def decision(self, run_id: str, *, round: int | None = None) -> Recommendation:
        """What the report says first: which candidate to take, in everyday words with money, and how sure that is."""
        return _decided.decode(await self.report_json(run_id, round=round, documents=False)).decision

    async def report_memo(self, run_id: str) -> str:
        """The report on one or two sides, as an HTML page that prints well."""
        return (await self._report(run_id, "memo", None, None, None)).decode()

    async def _report(
        self,
        run_id: str,
        form: str,
        number: int | None,
        against: str | None,
        split: str | None,
        *,
        documents: bool = True,
    ) -> bytes:
        query = {"format": form, "round": number, "against": against, "split": split, "documents": documents}
        return await self._calls.get_bytes(f"{_path(run_id)}/report", query)

    async def receipt(self, run_id: str) -> bytes:
        """The signed receipt. Keep the bytes as they are: `carrel verify-receipt` finds every change.

        Raises:
            Conflict: `receipt-not-ready`, the run has no result.
        """
        return await self._calls.get_bytes(f"{_path(run_id)}/receipt")

    async def receipt_text(self, run_id: str, name: str) -> bytes:
        """One text that the receipt names, with the salt that proves it. It discloses no other text."""
        return await self._calls.get_bytes(f"{_path(run_id)}/receipt/texts/{segment(name)}")

    def tasks(
        self,
        run_id: str,
        *,
        state: str | None = None,
        kind: str | None = None,
        round: int | None = None,
        document: int | None = None,
    ) -> AsyncIterator[Task]:
        """Tasks in the order of the plan. With a filter, only those in the state, of the kind, round or document."""
        query = {"state": state, "kind": kind, "round": round, "document": document}
        return self._calls.each(f"{_path(run_id)}/tasks", Task, query)

    async def generated(self, run_id: str, generated_id: str) -> Generated:
        """One answer with its scores."""
        return await self._calls.get(f"{_path(run_id)}/generated/{segment(generated_id)}", Generated)

    async def generated_markdown(self, run_id: str, generated_id: str) -> str:
        """One answer as it was written."""
        path = f"{_path(run_id)}/generated/{segment(generated_id)}"
        return (await self._calls.get_bytes(path, accept="text/markdown")).decode()

    def logs(self, run_id: str, *, level: str | None = None, task_key: str | None = None) -> AsyncIterator[LogEntry]:
        """The entries of the log, newest first."""
        return self._calls.each(f"{_path(run_id)}/logs", LogEntry, {"level": level, "task_key": task_key})

    async def logs_count(self, run_id: str, *, level: str | None = None, task_key: str | None = None) -> int:
        """How many entries `logs` would return."""
        query = {"level": level, "task_key": task_key}
        return (await self._calls.get(f"{_path(run_id)}/logs/count", LogCount, query)).count

    async def logs_tail(
        self, run_id: str, *, level: str | None = None, task_key: str | None = None, last_event_id: str = ""
    ) -> AsyncIterator[LogEntry]:
        """The entries of the log, oldest first, and then new ones as they are committed, until the run has ended.

        It resumes by itself if the stream breaks.
        """
        query = {name: value for name, value in (("level", level), ("task_key", task_key)) if value is not None}
        async for event in follow(self._calls, f"{_path(run_id)}/logs/tail", last_event_id, ends, query=query):
            entry = run_event(event).entry
            if entry is not None:
                yield entry

    async def note(
        self, run_id: str, document: int, candidate: str, *, starred: bool = False, note: str = "", repeat: int = 1
    ) -> AnswerNote:
        """Write a star and a note on an answer in place of what was there; without either, none stays."""
        body = {"document": document, "candidate": candidate, "repeat": repeat, "starred": starred, "note": note}
        return await self._calls.put(f"{_path(run_id)}/notes", AnswerNote, body)

    def notes(self, run_id: str) -> AsyncIterator[AnswerNote]:
        """The stars and notes on its answers, newest first."""
        return self._calls.each(f"{_path(run_id)}/notes", AnswerNote)

    async def share_logs(self, run_id: str) -> SharedLog:
        """Let the operator read a copy of the log, without any text, for 14 days."""
        return await self._calls.post(f"{_path(run_id)}/share-logs", SharedLog)

    async def export(
        self, run_id: str, *, timeout_seconds: float = 300.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> bytes:
        """Download a zip of everything. Asks for it if there is none yet, and waits until it is ready.

        Raises:
            CarrelUnreachable: it was not ready within `timeout_seconds`.
        """
        path = f"{_path(run_id)}/export"
        await self._calls.post_nothing(path)
        for _ in range(max(1, round(timeout_seconds / _EXPORT_POLL_SECONDS))):
            try:
                return await self._calls.get_bytes(path)
            except Conflict as error:
                if error.code != "export-not-ready":
                    raise
            await sleep(_EXPORT_POLL_SECONDS)
        raise CarrelUnreachable("the export was not ready in time", sent=True)

    async def events(self, run_id: str, *, last_event_id: str = "", texts: bool = False) -> AsyncIterator[RunEvent]:
        """The events of the run so far, and then new ones as they are committed, until the run has ended.

        It resumes by itself if the stream breaks. `last_event_id` leaves out what an earlier reader has seen. With
        `texts`, parts of answers come while models write them; nothing keeps them, so a late reader misses some.
        """
        query = {"texts": "true"} if texts else {}
        async for event in follow(self._calls, f"{_path(run_id)}/events", last_event_id, ends, query=query):
            yield run_event(event)
