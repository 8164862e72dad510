"""`/runs/{id}/criteria-proposal`: what people's reasons and notes say the judges should look at."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.requests.routing import Query, Router, get
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import criteria_proposal
from carrel.runs.verdicts.criteria_proposal import CriteriaProposal
from carrel.vault.workspace import Workspace

OnHalf = Annotated[
    bool,
    Query(
        description="Read only what is about half of the documents. The votes on the other half then test what these "
        "criteria gain: `since` in `votes/against-judges`."
    ),
]


@get("", guards=[guard.session], opt=scopes.READ)
async def propose_criteria(run_id: RunId, workspace: Workspace, half: OnHalf = False) -> CriteriaProposal:
    """Criteria proposed from the reasons of the votes and the notes on the answers.

    It calls no model, costs nothing and stores nothing. The quotes tell the documents, but not whose answers they were
    about.
    """
    return await workspace.scan(criteria_proposal.propose, run_id, half=half)


router = Router("/runs/{run_id:str}/criteria-proposal", route_handlers=[propose_criteria], tags=["Run votes"])
