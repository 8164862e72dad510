"""`/runs/{id}/…` (specification, section 4.2): the ranking and the answers of a run.

Report and export have routes of their own in `carrel.reports`.
"""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.evaluation.classes import ClassResults
from carrel.evaluation.gate import GateResult
from carrel.evaluation.replacement import Replacement
from carrel.evaluation.split import Split
from carrel.http.answers import accept
from carrel.http.answers.etag import etag
from carrel.http.answers.response import JSON, Response
from carrel.http.requests.describe import produces
from carrel.http.requests.parameters import RoundNumber
from carrel.http.requests.routing import Header, Query, Router, get
from carrel.kit.processes.pool import WorkerPool
from carrel.providers.registry import canonical
from carrel.runs.findings import classes, gate, replacements, splits
from carrel.runs.model.schemas import GeneratedDocument, RankingOut
from carrel.runs.model.setup import RunId
from carrel.runs.tasks import answers
from carrel.runs.tasks.answers import GeneratedId
from carrel.runs.verdicts import whatif
from carrel.runs.verdicts.whatif import MAX_CHARACTERS, WhatIfQuestion
from carrel.vault.workspace import Workspace

MARKDOWN = "text/markdown"


@get("/ranking", guards=[guard.session], opt=scopes.READ)
async def read_ranking(
    run_id: RunId,
    workspace: Workspace,
    workers: WorkerPool,
    round_number: RoundNumber = None,
    without_judge: Annotated[
        str | None, Query(max_length=300, reads=canonical, description="As it would be without this judge.")
    ] = None,
    weights: Annotated[
        str | None,
        Query(max_length=MAX_CHARACTERS, description='With other weights, as JSON: `{"local:reader": 2}`.'),
    ] = None,
    with_human: Annotated[
        bool, Query(description="With the person's blind votes among the judges, as judge `human`.")
    ] = False,
) -> RankingOut:
    """The ranking in words and figures. With other judges or weights it costs no calls and is marked as exploratory."""
    return await whatif.ranking(
        workspace, workers, run_id, WhatIfQuestion(round_number, without_judge, weights, with_human)
    )


@get("/generated/{generated_id:str}", guards=[guard.session], opt=scopes.READ | produces(JSON, MARKDOWN))
async def read_generated(
    run_id: RunId,
    generated_id: GeneratedId,
    workspace: Workspace,
    wanted: Annotated[str | None, Header(name="Accept")] = None,
) -> Response[GeneratedDocument | str]:
    """One answer: as JSON with its scores, or its text alone as Markdown."""
    kind = accept.choose(wanted, (JSON, MARKDOWN))
    found = await workspace.scan(answers.get, run_id, generated_id)
    if kind == MARKDOWN:
        return Response(found.body, etag=etag(1, "md"), media_type=MARKDOWN)
    return Response(found, etag=etag(found.version))


@get("/gate", guards=[guard.session], opt=scopes.READ)
async def read_gate(
    run_id: RunId,
    workspace: Workspace,
    workers: WorkerPool,
    baseline: Annotated[str, Query(max_length=100, description="The label of the candidate to compare with.")],
    candidate: Annotated[
        str | None, Query(max_length=100, description="Its label; else the only other candidate.")
    ] = None,
    margin: Annotated[float, Query(gt=0, lt=1, description="How much worse is too much; 0.05 is five points.")] = 0.05,
    round_number: RoundNumber = None,
) -> GateResult:
    """Whether a candidate is worse than its baseline by a margin, by judges and by checks. It costs no calls."""
    question = gate.GateQuestion(baseline, margin, candidate, round_number)
    return await gate.answer(workspace, workers, run_id, question)


@get("/split", guards=[guard.session], opt=scopes.READ)
async def read_split(
    run_id: RunId,
    workspace: Workspace,
    workers: WorkerPool,
    column: Annotated[
        str | None,
        Query(max_length=200, description="A metadata column, or `group`; else only which columns there are."),
    ] = None,
    round_number: RoundNumber = None,
) -> Split:
    """The results by the values of a column: rows, shares preferred, pass rates of checks. It costs no calls.

    The 20 most frequent values are parts of their own; the rows of all others are one part.
    """
    return await splits.answer(workspace, workers, run_id, column, round_number)


@get("/classes", guards=[guard.session], opt=scopes.READ)
async def read_classes(run_id: RunId, workspace: Workspace, workers: WorkerPool) -> ClassResults:
    """Precision, recall, F1 and confusion, where the expected answers are classes. It costs no calls."""
    return await classes.answer(workspace, workers, run_id)


@get("/replacement", guards=[guard.session], opt=scopes.READ)
async def read_replacement(
    run_id: RunId,
    workspace: Workspace,
    workers: WorkerPool,
    baseline: Annotated[str, Query(max_length=100, description="The label of the candidate that is used today.")],
    calls_per_month: Annotated[int, Query(ge=0, le=1_000_000_000, description="How often it is called in a month.")],
    margin: Annotated[float, Query(gt=0, lt=1, description="How much worse is too much; 0.05 is five points.")] = 0.05,
    costs: Annotated[
        str | None,
        Query(
            max_length=MAX_CHARACTERS,
            description='Dollars for an answer where calls do not tell, as JSON: `{"today": "0.002"}`.',
        ),
    ] = None,
) -> Replacement:
    """The cheapest candidate that is not worse than today's by the margin, over all candidates together.

    It costs no calls.
    """
    return await replacements.answer(
        workspace, workers, run_id, replacements.Wanted(baseline, margin, calls_per_month, costs)
    )


router = Router(
    "/runs/{run_id:str}",
    route_handlers=[read_ranking, read_gate, read_split, read_classes, read_replacement, read_generated],
    tags=["Run artifacts"],
)
