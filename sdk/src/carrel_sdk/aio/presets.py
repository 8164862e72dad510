"""Written by `sdk/generate.py` from `carrel_sdk.presets`. Change that, and run it again."""

from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.models import (
    Alternatives,
    DocumentGroups,
    Draft,
    Drafts,
    DraftSummary,
    Estimate,
    ExportedSuite,
    ImportedSuite,
    Preset,
    PresetDraft,
    PresetSummary,
    Rows,
    Run,
    Trends,
)
from carrel_sdk.presets import _draft_path, _order, _path


class AsyncPresets:
    """The routes under `/presets` and `/preset-drafts`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(self, draft: PresetDraft | Mapping[str, object]) -> Preset:
        """A new preset; every content that it names must exist. A mapping, read from a file, goes out as it is."""
        return await self._calls.post("/presets", Preset, draft)

    def each(self) -> AsyncIterator[PresetSummary]:
        """Every preset, newest first."""
        return self._calls.each("/presets", PresetSummary)

    async def get(self, preset_id: str) -> Preset:
        """One preset."""
        return await self._calls.get(_path(preset_id), Preset)

    async def save(self, preset: Preset) -> Preset:
        """Write a changed preset back.

        Raises:
            VersionMismatch: somebody else saved it since this one was read.
        """
        draft = msgspec.convert(preset, PresetDraft, from_attributes=True)
        return await self._calls.put(_path(preset.id), Preset, draft, if_match=preset.etag or None)

    async def replace(
        self, preset_id: str, draft: PresetDraft | Mapping[str, object], *, if_match: str | None = None
    ) -> Preset:
        """Put a whole draft in a preset's place; a mapping, read from a file, goes out as it is.

        Raises:
            VersionMismatch: the preset is not the one of the ETag `if_match` any more.
        """
        return await self._calls.put(_path(preset_id), Preset, draft, if_match=if_match)

    async def delete(self, preset_id: str, *, if_match: str | None = None) -> None:
        """Delete it; its runs stay."""
        await self._calls.delete(_path(preset_id), if_match=if_match)

    async def duplicate(self, preset_id: str) -> Preset:
        """A copy under a new id."""
        return await self._calls.post(f"{_path(preset_id)}/duplicate", Preset)

    async def import_suite(
        self,
        config: str,
        *,
        name: str | None = None,
        files: Mapping[str, str] | None = None,
        models: Mapping[str, str] | None = None,
    ) -> ImportedSuite:
        """Make a data set and a preset of the text of a `promptfooconfig.yaml`. Nothing of it is executed.

        `files` are the texts of files that it names, by their paths beside it; `models` say what to call instead of a
        provider that Carrel cannot call. Where no provider is left, there is an unfinished set-up and no preset.
        """
        given = {"name": name, "files": files, "models": models}
        body = {"config": config} | {field: value for field, value in given.items() if value is not None}
        return await self._calls.post("/suites", ImportedSuite, body)

    async def export_suite(self, preset_id: str) -> ExportedSuite:
        """A preset as the text of a `promptfooconfig.yaml`."""
        return await self._calls.get(f"{_path(preset_id)}/suite", ExportedSuite)

    async def execute(
        self,
        preset_id: str,
        *,
        name: str | None = None,
        variables: Mapping[str, str] | None = None,
        inputs: Sequence[str] | None = None,
        rows: Rows | None = None,
        groups: DocumentGroups | None = None,
        economy: bool | None = None,
        reuse: bool | None = None,
        trial: bool = False,
        idempotency_key: str | None = None,
    ) -> Run:
        """Make a run of it and start it.

        `variables` fill the placeholders that are open; `inputs` or `rows`, and `groups`, replace its own. So does
        `economy`: whether calls go in batches at half the price; and `reuse`: whether results of earlier
        runs are taken. In a `trial` every candidate answers the first input once, and nobody judges.
        """
        body = _order(name, variables, inputs, rows, groups, economy, reuse, trial=trial)
        return await self._calls.post_once(f"{_path(preset_id)}/execute", Run, body, key=idempotency_key)

    async def trends(
        self, preset_id: str, *, candidate: str | None = None, baseline: str | None = None, margin: float = 0.05
    ) -> Trends:
        """One candidate over the newest finished runs, and the last good one. Costs no calls.

        Both are labels; without a `candidate` it is the first one that is not the baseline.
        """
        query = {"candidate": candidate, "baseline": baseline, "margin": str(margin)}
        return await self._calls.get(f"{_path(preset_id)}/trends", Trends, query)

    async def alternatives(self, preset_id: str, *, baseline: str) -> Alternatives:
        """Models that could take the place of a candidate, the cheapest first. Costs no calls."""
        return await self._calls.get(f"{_path(preset_id)}/alternatives", Alternatives, {"baseline": baseline})

    async def estimate(
        self,
        preset_id: str,
        *,
        variables: Mapping[str, str] | None = None,
        inputs: Sequence[str] | None = None,
        rows: Rows | None = None,
        groups: DocumentGroups | None = None,
        economy: bool | None = None,
    ) -> Estimate:
        """What executing it would take, and what its number of documents can decide. Nothing is spent."""
        path, body = (f"{_path(preset_id)}/execute", _order(None, variables, inputs, rows, groups, economy))
        return await self._calls.post(path, Estimate, body, {"dry_run": True})

    async def drafts(self) -> list[DraftSummary]:
        """Every unfinished set-up, the last changed one first."""
        return (await self._calls.get("/preset-drafts", Drafts)).items

    async def get_draft(self, draft_id: str) -> Draft:
        """One unfinished set-up."""
        return await self._calls.get(_draft_path(draft_id), Draft)

    async def save_draft(
        self,
        draft_id: str,
        name: str,
        body: Mapping[str, object],
        *,
        form: str = "preset",
        preset_id: str | None = None,
        if_match: str | None = None,
    ) -> Draft:
        """Keep an unfinished set-up under a UUID that you make, new or in place of what is kept there.

        The app goes on with it on the page `form`, "comparison" or "preset". `preset_id` is the preset that it changes.

        Raises:
            Conflict: `too-many-drafts`, there are 50 already.
            VersionMismatch: it is not the one of the ETag `if_match` any more.
        """
        sent = {"name": name, "form": form, "preset_id": preset_id, "body": body}
        return await self._calls.put(_draft_path(draft_id), Draft, sent, if_match=if_match)

    async def delete_draft(self, draft_id: str, *, if_match: str | None = None) -> None:
        """Remove an unfinished set-up."""
        await self._calls.delete(_draft_path(draft_id), if_match=if_match)
