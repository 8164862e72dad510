"""`/runs/{id}/notes`: a person's stars and notes on the answers of a run."""

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, get, put
from carrel.kit.sqlite.paging import Page, Paging
from carrel.runs.engine.engine import Engine
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import answer_notes
from carrel.runs.verdicts.answer_notes import AnswerNote, AnswerNoteIn, TooManyNotes
from carrel.vault.workspace import Workspace


@put("", guards=[guard.full], opt=scopes.WRITE | raises(TooManyNotes))
async def note_answer(
    run_id: RunId,
    data: AnswerNoteIn,
    workspace: Workspace,
    engine: Engine,
) -> AnswerNote:
    """Star an answer or note something on it, in place of what was there. Neither of them removes both."""
    return await engine.write(workspace, answer_notes.write, run_id, data)


@get("", guards=[guard.session], opt=scopes.READ)
async def list_notes(run_id: RunId, workspace: Workspace, paging: Paging) -> Page[AnswerNote]:
    """The stars and notes, newest first."""
    return await workspace.scan(answer_notes.page, run_id, paging)


router = Router("/runs/{run_id:str}/notes", route_handlers=[note_answer, list_notes], tags=["Run notes"])
