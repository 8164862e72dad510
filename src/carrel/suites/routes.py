"""`/suites`: a promptfoo configuration becomes a data set and a preset, and a preset a configuration."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.checks.compiler import Compiler, SourceText, of_checks
from carrel.config import Settings
from carrel.datasets import refusals
from carrel.datasets.readers import TableReaders
from carrel.datasets.schemas import TableUpload
from carrel.errors import BadInput
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, get, post
from carrel.models import listing
from carrel.presets.check import BudgetUnpriced, CriterionNotSupported
from carrel.presets.drafts import TooManyDrafts
from carrel.providers import prices
from carrel.providers.catalogue import KNOWN
from carrel.providers.recent_lists import RecentLists
from carrel.providers.registry import Registry
from carrel.suites import config, export, store
from carrel.suites.schemas import ExportedSuite, ImportedSuite, SuiteIn
from carrel.suites.suite import Suite
from carrel.vault.ids import PresetId
from carrel.vault.workspace import Workspace

_MOST_PATTERNS = 200
_REFUSALS = (CriterionNotSupported, BudgetUnpriced, *refusals.TABLE_REFUSALS, TooManyDrafts)


@post("/suites", guards=[guard.full], opt=scopes.WRITE | raises(*_REFUSALS))
async def import_suite(
    data: SuiteIn,
    workspace: Workspace,
    registry: Registry,
    settings: Settings,
    tables: TableReaders,
    compiler: Compiler,
    recent: RecentLists,
) -> ImportedSuite:
    """Make a data set and a preset of a configuration. Assertions become checks, rubrics criteria; the others count."""
    suite = await asyncio.to_thread(config.read, data.config, data.files, data.models, frozenset({*KNOWN, "local"}))
    suite = await _compiled(suite, workspace.uuid, compiler)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in suite.rows).encode("utf-8", "replace")
    table = await tables.read(workspace.uuid, TableUpload(data.name, "jsonl", bytearray(lines), suite.roles))
    models: Sequence[str] = ()
    if suite.criteria and suite.grader is None:
        await prices.ready()
        models = await listing.found(registry, recent, workspace)
    return await workspace.write(store.keep, data.name, suite, table, len(lines), models, registry, settings)


@get("/presets/{preset_id:str}/suite", guards=[guard.session], opt=scopes.READ)
async def export_suite(preset_id: PresetId, workspace: Workspace) -> ExportedSuite:
    """A preset as the text of a `promptfooconfig.yaml`, with its tests and its checks as assertions."""
    return await workspace.scan(export.written, preset_id)


async def _compiled(suite: Suite, user: str, compiler: Compiler) -> Suite:
    """The suite without patterns and schemas that cannot be compiled, which are counted.

    Raises:
        Unavailable: the service ends.
    """

    async def compiles(sources: Iterable[SourceText]) -> bool:
        try:
            await compiler.require(user, sources)
        except BadInput:
            return False
        return True

    checks = [check for check in suite.checks if await compiles(of_checks([check]))]
    suite.dropped.add("assertion whose pattern or schema cannot be compiled", len(suite.checks) - len(checks))
    cells = (row[column] for column in suite.patterns for row in suite.rows)
    written = dict.fromkeys(cell for cell in cells if cell is not None)
    good = {text for text in list(written)[:_MOST_PATTERNS] if await compiles([SourceText("", "pattern", text)])}
    for column in suite.patterns:
        for row in suite.rows:
            if row[column] is not None and row[column] not in good:
                row[column] = None
                suite.dropped.add("assertion whose pattern or schema cannot be compiled")
    return replace(suite, checks=checks)


router = Router("/", route_handlers=[import_suite, export_suite], tags=["Suites"])
