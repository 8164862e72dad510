"""Keeps an imported suite: contents, data set and preset in one transaction, so that a fault leaves nothing behind."""

from collections.abc import Iterable
from itertools import product

import msgspec

from carrel.config import Settings
from carrel.contents import store as contents
from carrel.contents.schemas import ContentIn
from carrel.datasets import store as data_sets
from carrel.datasets.store import TableInfo
from carrel.http.answers.etag import ANY_VERSION
from carrel.kit.sqlite.database import Connection
from carrel.kit.structs import narrowed
from carrel.presets import drafts
from carrel.presets import store as presets
from carrel.presets.configuration import MAX_CANDIDATES, MAX_LABEL_CHARACTERS, Candidate, Generation, Rows
from carrel.presets.drafts import DraftIn, DraftSummary
from carrel.presets.schemas import PresetIn
from carrel.providers.base import Parameters
from carrel.providers.registry import Registry
from carrel.suites.schemas import ImportedSuite
from carrel.suites.suite import Drops, Suite, SuiteProvider
from carrel.vault.ids import ContentId, DraftId


def keep(
    conn: Connection, name: str, suite: Suite, table: Iterable[bytes], size: int, registry: Registry, settings: Settings
) -> ImportedSuite:
    """Keep a suite, whose rows come in the batches that a worker has made of `size` bytes.

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
    wanted = PresetIn(
        name=name,
        description=suite.description,
        rows=Rows(data_set=data_set.id),
        generation=Generation(candidates=(callable_ or candidates)[:MAX_CANDIDATES]),
        checks=suite.checks,
        dropped=dropped.listed(),
    )
    preset = presets.create(conn, wanted, registry) if callable_ else None
    draft = None if callable_ else _draft(conn, wanted)
    return ImportedSuite(data_set, prompts, preset, draft, wanted.dropped)


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


def _draft(conn: Connection, wanted: PresetIn) -> DraftSummary:
    body = {"value": msgspec.to_builtins(wanted)}
    data = DraftIn(name=wanted.name, form="preset", body=body)
    return narrowed(DraftSummary, drafts.put(conn, DraftId(conn.new_id()), data, ANY_VERSION))
