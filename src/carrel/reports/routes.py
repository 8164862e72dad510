"""`/runs/{id}/report`, `/answers` and `/export` (specification, section 4.2): a run to read, and a run to take away."""

from typing import Annotated, Final, Literal, cast

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.errors import DiskFull
from carrel.http.answers import accept
from carrel.http.answers.response import JSON, Response
from carrel.http.request import Request
from carrel.http.requests.describe import produces, raises, versioned
from carrel.http.requests.parameters import RoundNumber
from carrel.http.requests.routing import Header, Path, Query, Router, get, post
from carrel.kit.processes.pool import WorkerPool
from carrel.reports import export_store, rendering
from carrel.reports.archive import ExportTooLarge
from carrel.reports.download import MEDIA_TYPE, ExportDownload
from carrel.reports.export_store import Export, ExportNotReady
from carrel.reports.exports import Exports
from carrel.reports.grid import beginnings, figures, whole_document
from carrel.reports.grid.beginnings import Beginnings
from carrel.reports.grid.figures import Figures
from carrel.reports.rendering import ReportRequest
from carrel.reports.report import DocumentReport, Report
from carrel.runs.model.setup import RunId
from carrel.vault.workspace import Workspace

HTML: Final = "text/html"
_KINDS: Final = {"json": JSON, "html": HTML, "memo": HTML}
_FORMS: Final = {"json": rendering.as_json, "html": rendering.as_page, "memo": rendering.as_memo}
_POLICY: Final = (
    b"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
"""Whatever an answer might have smuggled into the page: nothing runs, nothing is fetched, nothing is in our origin."""


@get("/report", guards=[guard.session], opt=scopes.READ | produces(JSON, HTML))
async def read_report(
    run_id: RunId,
    workspace: Workspace,
    workers: WorkerPool,
    form: Annotated[
        Literal["json", "html", "memo"] | None,
        Query(name="format", description="Wins over the Accept header; `memo` is a page of one or two sides."),
    ] = None,
    round_number: RoundNumber = None,
    against: Annotated[RunId | None, Query(max_length=100, description="Set it beside this other run.")] = None,
    split: Annotated[
        str | None,
        Query(max_length=200, description="With the results by the values of this column, or by `group`."),
    ] = None,
    documents: Annotated[
        bool,
        Query(description="With every document and its answers, of 15,000 at most; else the report stays small."),
    ] = True,
    wanted: Annotated[str | None, Header(name="Accept")] = None,
) -> Response[Report]:
    """The report as JSON or as one page of HTML; a run that has not ended is reported as far as it has come.

    Ids, times and lost calls stand under `run`; the rest follows from configuration, texts and answers alone.
    """
    chosen = form or ("html" if accept.choose(wanted, (JSON, HTML)) == HTML else "json")
    kind = _KINDS[chosen]
    report = await rendering.made(
        workspace, workers, ReportRequest(run_id, round_number, against, split, documents), _FORMS[chosen]
    )
    headers = ((b"content-security-policy", _POLICY), (b"referrer-policy", b"no-referrer")) if kind == HTML else ()
    # Bytes already; the type is what they hold.
    return Response(cast(Report, report), media_type=kind, headers=headers)


@post("/export", guards=[guard.session], status_code=202, opt=scopes.READ)
async def make_export(run_id: RunId, workspace: Workspace, exports: Exports) -> Export:
    """Export everything about the run as a zip; an earlier export that is out of date is replaced."""
    return await exports.want(workspace, run_id)


@get(
    "/export",
    guards=[guard.session],
    opt=scopes.READ | produces(MEDIA_TYPE) | raises(ExportNotReady, ExportTooLarge, DiskFull) | versioned(),
)
async def read_export(run_id: RunId, workspace: Workspace) -> Response[bytes]:
    """The zip: report, configuration, documents, answers, scores, comparisons, calls and log."""
    return ExportDownload(workspace, run_id, workspace.read(export_store.ready, run_id))


@get("/answers", guards=[guard.session], opt=scopes.READ)
async def read_answers(
    run_id: RunId,
    workspace: Workspace,
    workers: WorkerPool,
    request: Request,
    round_number: RoundNumber = None,
) -> Response[Figures]:
    """The figures of all answers without their texts, a list for each candidate: for a grid of many rows."""
    is_packed = accept.takes_gzip(request.header(b"accept-encoding"))
    found = await figures.answer(workspace, workers, run_id, round_number, is_packed=is_packed)
    headers = ((b"vary", b"Accept-Encoding"), *([(b"content-encoding", b"gzip")] if is_packed else []))
    # Bytes already; the type is what they hold.
    return Response(cast(Figures, found), headers=headers)


@get("/answers/beginnings", guards=[guard.session], opt=scopes.READ)
async def read_beginnings(
    run_id: RunId,
    workspace: Workspace,
    documents: Annotated[
        str | None,
        Query(max_length=1_000, description="The numbers of up to 100 documents, such as `3,17,18`."),
    ] = None,
    words: Annotated[
        str,
        Query(
            max_length=beginnings.MAX_CHARACTERS,
            description="Also the numbers of all documents whose name or answers hold these words.",
        ),
    ] = "",
    answers: Annotated[bool, Query(description="With the beginnings of their answers; else the names alone.")] = True,
) -> Beginnings:
    """Names of documents with the beginnings of their answers, and the documents that hold some words."""
    wanted = beginnings.numbers(documents)
    return await workspace.scan(beginnings.read, run_id, wanted, words, has_answers=answers)


@get("/answers/{document:int}", guards=[guard.session], opt=scopes.READ)
async def read_run_document(
    run_id: RunId,
    document: Annotated[int, Path(ge=1, lt=1 << 31)],
    workspace: Workspace,
    round_number: RoundNumber = None,
) -> DocumentReport:
    """One document, by its number from 1, with everything about it: answers, marks, and what judges said."""
    return await workspace.scan(whole_document.read, run_id, document, round_number)


router = Router(
    "/runs/{run_id:str}",
    route_handlers=[read_report, read_answers, read_beginnings, read_run_document, make_export, read_export],
    tags=["Run artifacts"],
)
