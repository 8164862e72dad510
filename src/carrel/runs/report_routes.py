"""`/runs/{id}/report` and `/runs/{id}/export` (specification, section 4.2): a run to read, and a run to take away."""

from typing import Annotated, Final, Literal, cast

from litestar import Router, get
from litestar.di import NamedDependency
from litestar.params import FromPath, HeaderParameter, QueryParameter

from carrel.auth import guard
from carrel.kit import accept
from carrel.kit.answer import JSON, Answer
from carrel.kit.describe import produces
from carrel.kit.worker import Worker
from carrel.runs import rendering
from carrel.runs.rendering import Wanted
from carrel.runs.report import Report
from carrel.runs.setup import RunId
from carrel.vault.workspace import Workspace

HTML: Final = "text/html"
_KINDS: Final = {"json": JSON, "html": HTML}
_FORMS: Final = {JSON: rendering.as_json, HTML: rendering.as_page}
_POLICY: Final = (
    b"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
"""Whatever an answer might have smuggled into the page: nothing runs, nothing is fetched, nothing is in our origin."""


@get("/report", guards=[guard.session], opt=produces(JSON, HTML))
async def read_report(
    run_id: FromPath[RunId],
    workspace: NamedDependency[Workspace],
    worker: NamedDependency[Worker],
    form: Annotated[
        Literal["json", "html"] | None, QueryParameter(name="format", description="Wins over the Accept header.")
    ] = None,
    round_number: Annotated[
        int | None, QueryParameter(name="round", ge=1, description="Of this round; else of the present one.")
    ] = None,
    against: Annotated[
        RunId | None, QueryParameter(max_length=100, description="Set it beside this other run.")
    ] = None,
    wanted: Annotated[str | None, HeaderParameter(name="Accept")] = None,
) -> Answer[Report]:
    """The report as JSON or as one page of HTML; a run that has not ended is reported as far as it came.

    Ids, times and lost calls stand under `run`; the rest follows from configuration, texts and answers alone.
    """
    kind = _KINDS[form] if form is not None else accept.choose(wanted, (JSON, HTML))
    report = await rendering.made(workspace, worker, Wanted(run_id, round_number, against), _FORMS[kind])
    headers = ((b"content-security-policy", _POLICY), (b"referrer-policy", b"no-referrer")) if kind == HTML else ()
    # Bytes already; the type is what they hold.
    return Answer(cast(Report, report), media_type=kind, headers=headers)


router = Router("/runs/{run_id:str}", route_handlers=[read_report], tags=["Run artifacts"])
