"""`/preset-drafts`: set-ups that are not finished, so that they cannot be saved as presets yet."""

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.answers.etag import IfMatch
from carrel.http.answers.response import Response, tagged
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, delete, get, put
from carrel.presets import drafts
from carrel.presets.drafts import Draft, DraftIn, Drafts, TooManyDrafts
from carrel.vault.ids import DraftId
from carrel.vault.workspace import Workspace


@get("", guards=[guard.session], opt=scopes.READ)
async def list_preset_drafts(workspace: Workspace) -> Drafts:
    """Every unfinished set-up, the last changed one first, without their bodies."""
    return Drafts(workspace.read(drafts.listed))


@get("/{draft_id:str}", guards=[guard.session], opt=scopes.READ)
async def read_preset_draft(draft_id: DraftId, workspace: Workspace) -> Response[Draft]:
    """One unfinished set-up with its body."""
    return tagged(await workspace.scan(drafts.get, draft_id))


@put("/{draft_id:str}", guards=[guard.full], opt=scopes.WRITE | raises(TooManyDrafts))
async def replace_preset_draft(
    draft_id: DraftId,
    data: DraftIn,
    workspace: Workspace,
    if_match: IfMatch,
) -> Response[Draft]:
    """Keep an unfinished set-up under a UUID that you make, new or in place of what is kept there."""
    return tagged(await workspace.write(drafts.put, draft_id, data, if_match))


@delete("/{draft_id:str}", guards=[guard.session], opt=scopes.WRITE)
async def delete_preset_draft(draft_id: DraftId, workspace: Workspace, if_match: IfMatch) -> None:
    """Remove an unfinished set-up, because it is finished or given up."""
    await workspace.write(drafts.delete, draft_id, if_match)


router = Router(
    "/preset-drafts",
    route_handlers=[list_preset_drafts, read_preset_draft, replace_preset_draft, delete_preset_draft],
    tags=["Presets"],
)
