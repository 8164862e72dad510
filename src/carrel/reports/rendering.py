"""Makes a run's report as JSON or as a page: a scan reads the rows, and the worker makes the report from them."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from msgspec.structs import asdict, replace

from carrel.errors import BadInput, NotFound, Unavailable
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.reports import findings
from carrel.reports import report_input as report_inputs
from carrel.reports.report import Report
from carrel.reports.report_input import ReportInput, RunRound
from carrel.runs.findings import split_parts, splits
from carrel.runs.findings.split_parts import RowParts
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import evidence, judgement
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.workspace import Workspace

TIMEOUT_SECONDS = 60.0
MOST_TOGETHER = 50_000
"""How many scores and comparisons two runs may have together to be compared in one report: both are ranked for it."""
MOST_ANSWERS = 15_000
"""Of a run with more answers, the report leaves out the documents: each answer takes 400 bytes beside its text."""

_rest = msgspec.msgpack.Decoder(ReportInput)


class PackedReport(NamedTuple):
    """The data of a report on its way to a worker, packed in the scan: the event loop passes bytes on."""

    rest: bytes
    evidence: PackedEvidence
    cut: RowParts | None = None
    documents: bool = True


Form = Callable[[PackedReport, PackedReport | None], bytes]


class ReportRequest(NamedTuple):
    """A report of a run: its round (`None` for the present one), the run to compare with, the column to split by.

    Without `documents`, it is small however long the run is.
    """

    run_id: RunId
    round: int | None = None
    against: RunId | None = None
    split: str | None = None
    documents: bool = True


async def made(workspace: Workspace, workers: WorkerPool, wanted: ReportRequest, form: Form) -> bytes:
    """The report in one form, `as_json`, `as_page` or `as_memo`.

    Raises:
        NotFound: one of the runs does not exist, or has no such round.
        BadInput: the runs are too long to be compared, or the rows have no column to split by.
        Unavailable: the report takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        sent, other = await workspace.scan(gather, wanted)
        try:
            return await worker.run(form, sent, other, timeout_seconds=TIMEOUT_SECONDS)
        except WorkerError:
            # Do not try it in this process: what ended the worker would end this process, too, and it serves everybody.
            raise Unavailable from None


def gather(conn: Connection, wanted: ReportRequest) -> tuple[PackedReport, PackedReport | None]:
    """The data for the report, read in one snapshot.

    Raises:
        NotFound: as `made` says.
        BadInput: both runs together are too long, or there is no such column.
    """
    chosen = report_inputs.find(conn, wanted.run_id, wanted.round)
    if chosen is None:
        raise NotFound
    other = None if wanted.against is None else report_inputs.find(conn, wanted.against, None)
    if other is not None and _judgements(conn, chosen) + _judgements(conn, other) > MOST_TOGETHER:
        raise BadInput.at("against", f"must be a run with which this one has {MOST_TOGETHER:,} judgements at most")
    answers = conn.value("SELECT count(*) FROM generated WHERE run = ?", chosen.seq)
    has_documents = wanted.documents and answers <= MOST_ANSWERS
    sent = _sent(conn, chosen, wanted.split, has_documents=has_documents, has_digests=other is not None)
    return sent, None if other is None else _sent(conn, other, is_other=True)


def _judgements(conn: Connection, chosen: RunRound) -> int:
    found: int = conn.value(
        "SELECT count(*) FROM tasks WHERE run = ? AND round = ? AND kind IN ('score', 'compare')",
        *(chosen.seq, chosen.setup.round.number),
    )
    return found


def _sent(
    conn: Connection, chosen: RunRound, split: str | None = None, *, is_other: bool = False,
    has_documents: bool = True, has_digests: bool = True,
) -> PackedReport:  # fmt: skip
    rest = report_inputs.gather(
        conn, chosen.seq, chosen.setup, is_other=is_other, has_documents=has_documents, has_digests=has_digests
    )
    cut = None if split is None else splits.cut(conn, chosen.setup, split, "split")
    packed = evidence.packed(conn, chosen.setup, has_marks=rest.ranking is None)
    return PackedReport(msgspec.msgpack.encode(rest), packed, cut, has_documents)


def _unpacked(sent: PackedReport) -> ReportInput:
    return replace(_rest.decode(sent.rest), evidence=judgement.unpack(sent.evidence))


def _report(sent: PackedReport, other: PackedReport | None = None) -> Report:
    report_input = _unpacked(sent)
    # Two runs are compared by their documents.
    wanted = sent.documents or other is not None
    report = findings.build(report_input, None if other is None else _unpacked(other), has_documents=wanted)
    if not sent.documents:
        run = replace(report.run, contents=(), generated={}, outputs={})
        report = replace(report, run=run, documents=())
    return report if sent.cut is None else replace(report, split=split_parts.split(report_input.evidence, sent.cut))


def as_json(sent: PackedReport, other: PackedReport | None = None) -> bytes:
    """The report as JSON; the same rows give the same bytes."""
    return msgspec.json.encode(_report(sent, other))


def as_page(sent: PackedReport, other: PackedReport | None = None) -> bytes:
    """The report as one page of HTML."""
    # Imported here, so that only the worker pays for templates and Markdown, not the start of the service.
    from carrel.reports import page

    return page.render(_report(sent, other))


def as_memo(sent: PackedReport, other: PackedReport | None = None) -> bytes:
    """The report on one or two sides, as a page of HTML."""
    from carrel.reports import page

    return page.memo(_report(sent, other))


def as_entries(sent: PackedReport) -> dict[str, bytes]:
    """The entries of an export that come from the report."""
    from carrel.reports import page

    report = _report(sent)
    models = [(one.model, one.host) for one in report.candidates] + [(one.model, one.host) for one in report.judges]
    hosts = {model: host for model, host in models if host is not None}
    executed = {"as_executed": report.run.configuration, "hosts": hosts, "criteria": report.criteria}
    written = {**executed, **asdict(report.configuration)}
    return {
        "report.html": page.render(report),
        "report.json": msgspec.json.encode(report),
        "configuration.json": msgspec.json.format(msgspec.json.encode(written), indent=2) + b"\n",
    }
