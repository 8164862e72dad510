"""`/contents` (specification, section 4.2): contents, their versions, and their placeholders replaced."""

from typing import Annotated

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.config import Settings
from carrel.contents import criteria, search, store, versions
from carrel.contents.budget import ResolveBudget
from carrel.contents.criteria import CriteriaRows
from carrel.contents.resolve import ResultTooLarge, VariableCycle, VariableDepth
from carrel.contents.schemas import (
    Content,
    ContentChange,
    ContentCounts,
    ContentIn,
    ContentSummary,
    ContentType,
    ContentVersion,
    CriteriaIn,
    Resolution,
    ResolveIn,
)
from carrel.contents.search import ContentFilters
from carrel.contents.store import ContentInUse
from carrel.http.answers.etag import IfMatch
from carrel.http.answers.response import Response, tagged
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Path, Query, Router, delete, get, post, put
from carrel.kit.sqlite.paging import Page, Paging
from carrel.vault.ids import ContentId
from carrel.vault.workspace import Workspace

PathVersion = Annotated[int, Path(ge=1, lt=1 << 31)]


@post("", guards=[guard.full], opt=scopes.WRITE)
async def create_content(data: ContentIn, workspace: Workspace, settings: Settings) -> Response[Content]:
    """Save a new content."""
    return tagged(await workspace.write(store.create, data, settings))


@get("", guards=[guard.session], opt=scopes.READ)
async def list_contents(
    workspace: Workspace,
    paging: Paging,
    kind: Annotated[ContentType | None, Query(name="type", description="Only this type.")] = None,
    tag: Annotated[str | None, Query(max_length=50, description="Only with this tag.")] = None,
    q: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Only with words that begin with each of these. "
            "In a body, a word of one or two letters has to be there as it is.",
        ),
    ] = None,
) -> Page[ContentSummary]:
    """The contents, newest first."""
    filters = ContentFilters(kind, tag, q)
    if filters.bounded:
        return workspace.read(search.find, filters, paging)
    return await workspace.scan(search.find, filters, paging)


@get("/counts", guards=[guard.session], opt=scopes.READ)
async def count_contents(workspace: Workspace) -> ContentCounts:
    """How many contents there are, in all and of each type."""
    return await workspace.scan(store.counts)


@post("/criteria-rows", guards=[guard.session], status_code=200, opt=scopes.READ)
async def read_criteria(data: CriteriaIn, workspace: Workspace, settings: Settings) -> CriteriaRows:
    """Criteria in YAML as rows, each value as it was written. Nothing is saved, and the values are not checked."""
    return await workspace.scan(lambda _: criteria.rows(data.body, settings.max_criteria_bytes))


@get("/{content_id:str}", guards=[guard.session], opt=scopes.READ)
async def read_content(content_id: ContentId, workspace: Workspace) -> Response[Content]:
    """One content with its body."""
    content = workspace.read(store.get_short, content_id)
    if content is None:
        content = await workspace.scan(store.get, content_id)
    return tagged(content)


@put("/{content_id:str}", guards=[guard.full], opt=scopes.WRITE | raises(VariableCycle))
async def replace_content(
    content_id: ContentId,
    data: ContentChange,
    workspace: Workspace,
    settings: Settings,
    if_match: IfMatch,
) -> Response[Content]:
    """Save a new version; earlier ones stay readable, and the type cannot change."""
    return tagged(await workspace.write(store.replace, content_id, data, if_match, settings))


@delete("/{content_id:str}", guards=[guard.session], opt=scopes.WRITE | raises(ContentInUse))
async def delete_content(content_id: ContentId, workspace: Workspace, if_match: IfMatch) -> None:
    """Remove a content with all its versions, unless a preset or another content uses it."""
    await workspace.write(store.delete, content_id, if_match)


@post(
    "/{content_id:str}/resolve",
    guards=[guard.session],
    status_code=200,
    opt=scopes.READ | raises(VariableCycle, VariableDepth, ResultTooLarge, ResolveBudget),
)
async def resolve_content(
    content_id: ContentId,
    data: ResolveIn,
    workspace: Workspace,
    settings: Settings,
) -> Response[Resolution]:
    """The body as a run would see it: every placeholder replaced once. Nothing is saved."""
    shown = await workspace.scan(store.shown, content_id, data.variables, settings)
    return Response(shown)  # type: ignore[arg-type]  # it is JSON already


@post("/{content_id:str}/duplicate", guards=[guard.full], opt=scopes.WRITE)
async def duplicate_content(content_id: ContentId, workspace: Workspace, settings: Settings) -> Response[Content]:
    """A copy of the current version."""
    return tagged(await workspace.write(store.duplicate, content_id, settings))


@get("/{content_id:str}/versions", guards=[guard.session], opt=scopes.READ)
async def list_versions(content_id: ContentId, workspace: Workspace, paging: Paging) -> Page[ContentVersion]:
    """The versions, newest first, the present one included."""
    return workspace.read(versions.page, content_id, paging)


@get("/{content_id:str}/versions/{version:int}", guards=[guard.session], opt=scopes.READ)
async def read_version(content_id: ContentId, version: PathVersion, workspace: Workspace) -> Response[Content]:
    """The content as it was when this version was saved."""
    return tagged(await workspace.scan(versions.get, content_id, version))


router = Router(
    "/contents",
    route_handlers=[
        create_content,
        list_contents,
        count_contents,
        read_criteria,
        read_content,
        replace_content,
        delete_content,
        resolve_content,
        duplicate_content,
        list_versions,
        read_version,
    ],
    tags=["Contents"],
)
