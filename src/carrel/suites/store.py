"""Keeps an imported suite: contents, data set and preset in one transaction, so that a fault leaves nothing behind."""

from collections.abc import Iterable, Sequence
from itertools import product

import msgspec
import yaml

from carrel.config import Settings
from carrel.contents import store as contents
from carrel.contents.schemas import ContentIn
from carrel.datasets import store as data_sets
from carrel.datasets.store import TableInfo
from carrel.http.answers.etag import ANY_VERSION
from carrel.judges.passports import default_judges
from carrel.kit.sqlite.database import Connection
from carrel.kit.structs import narrowed
from carrel.presets import drafts
from carrel.presets import store as presets
from carrel.presets.configuration import (
    MAX_CANDIDATES,
    MAX_LABEL_CHARACTERS,
    Candidate,
    Generation,
    Judge,
    Rows,
    Scoring,
)
from carrel.presets.drafts import DraftIn, DraftSummary
from carrel.presets.schemas import PresetIn
from carrel.providers.base import Parameters
from carrel.providers.registry import Registry, is_built_in
from carrel.suites.schemas import ImportedSuite
from carrel.suites.suite import Drops, Suite, SuiteProvider
from carrel.vault.ids import ContentId, DraftId


def keep(
    conn: Connection,
    name: str,
    suite: Suite,
    table: Iterable[bytes],
    size: int,
    models: Sequence[str],
    registry: Registry,
    settings: Settings,
) -> ImportedSuite:
    """Keep a suite, whose rows come in the batches that a worker has made of `size` bytes.

    `models` were found at the servers of the stored keys; of them are the judges that it may need.

    Raises:
        BadInput: as presets and contents say.
        TooManyDrafts: it needs one, as Carrel can call none of its providers.
    """
    data_set = data_sets.create(conn, TableInfo(name, suite.description, "jsonl", size), table)
    prompts = [
        contents.create(
            conn,
            ContentIn(
                name=f"{name}: {prompt.label}"[: settings.max_name_characters],
                type="generation_instructions",
                body=prompt.text,
            ),
            settings,
        ).id
        for prompt in suite.prompts
    ]
    candidates = _candidates(suite, prompts)
    callable_ = [one for one in candidates if one.model is not None]
    # This may run more than once.
    dropped = Drops(suite.dropped.counts.copy())
    dropped.add("candidate beyond 20", max(0, len(callable_) - MAX_CANDIDATES))
    criteria = _criteria(conn, name, suite, settings) if suite.criteria else None
    scoring = None if criteria is None else _scoring(conn, suite, criteria, callable_, models, registry)
    if criteria is not None and scoring is None:
        dropped.add("judge for the rubrics, which are kept as criteria")
    wanted = PresetIn(
        name=name,
        description=suite.description,
        rows=Rows(data_set=data_set.id),
        generation=Generation(candidates=(callable_ or candidates)[:MAX_CANDIDATES]),
        scoring=scoring,
        checks=suite.checks,
        dropped=dropped.listed(),
    )
    preset = presets.create(conn, wanted, registry) if callable_ else None
    draft = None if callable_ else _draft(conn, wanted, prompts)
    return ImportedSuite(data_set, prompts, criteria, preset, draft, wanted.dropped)


def _criteria(conn: Connection, name: str, suite: Suite, settings: Settings) -> ContentId:
    listed = [{"name": one.name, "description": one.description} for one in suite.criteria]
    body = yaml.safe_dump(listed, sort_keys=False, allow_unicode=True, width=120)
    title = f"{name}: rubrics"[: settings.max_name_characters]
    return contents.create(conn, ContentIn(name=title, type="criteria", body=body), settings).id


def _scoring(
    conn: Connection,
    suite: Suite,
    criteria: ContentId,
    candidates: list[Candidate],
    models: Sequence[str],
    registry: Registry,
) -> Scoring | None:
    """Who scores: the model that graded, else the default judges of these candidates, which may be nobody."""
    if suite.grader is not None:
        return Scoring(judges=[Judge(model=suite.grader)], criteria=criteria)
    competing = [one.model for one in candidates if one.model is not None]
    found = default_judges(conn, registry, models, competing).judges if competing else []
    # The built-in ones judge by no such criteria.
    judges = [Judge(model=one.model) for one in found if not is_built_in(one.model)]
    return Scoring(judges=judges, criteria=criteria) if judges else None


def _candidates(suite: Suite, prompts: list[ContentId]) -> list[Candidate]:
    """Every provider with every prompt; without a provider, every prompt with a model that is to be chosen."""
    found: list[Candidate] = []
    labels: set[str] = set()
    providers = suite.providers or [SuiteProvider("", None, Parameters())]
    for provider, (prompt, content) in product(providers, zip(suite.prompts, prompts, strict=True)):
        parts = [provider.label] if len(prompts) == 1 else [provider.label, prompt.label]
        full = ", ".join(part for part in parts if part)[: MAX_LABEL_CHARACTERS - 4] or "model"
        number, named = 2, full
        while named in labels:
            named, number = f"{full} {number}", number + 1
        labels.add(named)
        found.append(Candidate(label=named, model=provider.model, parameters=provider.parameters, instructions=content))
    return found


def _draft(conn: Connection, wanted: PresetIn, prompts: list[ContentId]) -> DraftSummary:
    """What the app's page of a new comparison goes on with: the prompts are shared, because the library keeps them."""
    preset = msgspec.to_builtins(wanted)
    kept = [{"text": "", "contentId": prompt, "isShared": True} for prompt in prompts]
    body = {
        "name": wanted.name,
        "rows": preset["rows"],
        "prompts": kept or [{"text": ""}],
        "more": {part: preset[part] for part in ("description", "scoring", "checks", "dropped")},
    }
    data = DraftIn(name=wanted.name, form="comparison", body=body)
    return narrowed(DraftSummary, drafts.put(conn, DraftId(conn.new_id()), data, ANY_VERSION))
