"""Presets: configurations with a name, to be executed again and again."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from carrel_sdk.calls import Calls
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
from carrel_sdk.transport import segment


class Presets:
    """The routes under `/presets` and `/preset-drafts`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(self, draft: PresetDraft | Mapping[str, object]) -> Preset:
        """A new preset; every content that it names must exist. A mapping, read from a file, goes out as it is."""
        return self._calls.post("/presets", Preset, draft)

    def each(self) -> Iterator[PresetSummary]:
        """Every preset, newest first."""
        return self._calls.each("/presets", PresetSummary)

    def get(self, preset_id: str) -> Preset:
        """One preset."""
        return self._calls.get(_path(preset_id), Preset)

    def save(self, preset: Preset) -> Preset:
        """Write a changed preset back.

        Raises:
            VersionMismatch: somebody else saved it since this one was read.
        """
        draft = msgspec.convert(preset, PresetDraft, from_attributes=True)
        return self._calls.put(_path(preset.id), Preset, draft, if_match=preset.etag or None)

    def replace(
        self, preset_id: str, draft: PresetDraft | Mapping[str, object], *, if_match: str | None = None
    ) -> Preset:
        """Put a whole draft in a preset's place; a mapping, read from a file, goes out as it is.

        Raises:
            VersionMismatch: the preset is not the one of the ETag `if_match` any more.
        """
        return self._calls.put(_path(preset_id), Preset, draft, if_match=if_match)

    def delete(self, preset_id: str, *, if_match: str | None = None) -> None:
        """Delete it; its runs stay."""
        self._calls.delete(_path(preset_id), if_match=if_match)

    def duplicate(self, preset_id: str) -> Preset:
        """A copy under a new id."""
        return self._calls.post(f"{_path(preset_id)}/duplicate", Preset)

    def import_suite(
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
        return self._calls.post("/suites", ImportedSuite, body)

    def export_suite(self, preset_id: str) -> ExportedSuite:
        """A preset as the text of a `promptfooconfig.yaml`."""
        return self._calls.get(f"{_path(preset_id)}/suite", ExportedSuite)

    def execute(
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
        return self._calls.post_once(f"{_path(preset_id)}/execute", Run, body, key=idempotency_key)

    def trends(
        self, preset_id: str, *, candidate: str | None = None, baseline: str | None = None, margin: float = 0.05
    ) -> Trends:
        """One candidate over the newest finished runs, and the last good one. Costs no calls.

        Both are labels; without a `candidate` it is the first one that is not the baseline.
        """
        query = {"candidate": candidate, "baseline": baseline, "margin": str(margin)}
        return self._calls.get(f"{_path(preset_id)}/trends", Trends, query)

    def alternatives(self, preset_id: str, *, baseline: str) -> Alternatives:
        """Models that could take the place of a candidate, the cheapest first. Costs no calls."""
        return self._calls.get(f"{_path(preset_id)}/alternatives", Alternatives, {"baseline": baseline})

    def estimate(
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
        path, body = f"{_path(preset_id)}/execute", _order(None, variables, inputs, rows, groups, economy)
        return self._calls.post(path, Estimate, body, {"dry_run": True})

    def drafts(self) -> list[DraftSummary]:
        """Every unfinished set-up, the last changed one first."""
        return self._calls.get("/preset-drafts", Drafts).items

    def get_draft(self, draft_id: str) -> Draft:
        """One unfinished set-up."""
        return self._calls.get(_draft_path(draft_id), Draft)

    def save_draft(
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
        return self._calls.put(_draft_path(draft_id), Draft, sent, if_match=if_match)

    def delete_draft(self, draft_id: str, *, if_match: str | None = None) -> None:
        """Remove an unfinished set-up."""
        self._calls.delete(_draft_path(draft_id), if_match=if_match)


def _draft_path(draft_id: str) -> str:
    return f"/preset-drafts/{segment(draft_id)}"


def _path(preset_id: str) -> str:
    return f"/presets/{segment(preset_id)}"


def _order(
    name: str | None,
    variables: Mapping[str, str] | None,
    inputs: Sequence[str] | None,
    rows: Rows | None,
    groups: DocumentGroups | None,
    economy: bool | None,
    reuse: bool | None = None,
    *,
    trial: bool = False,
) -> dict[str, object]:
    given: dict[str, object | None] = {"name": name, "inputs": inputs, "rows": rows, "groups": groups}
    given |= {"economy": economy, "reuse": reuse, "trial": trial or None}
    given["variables"] = None if variables is None else dict(variables)
    return {field: value for field, value in given.items() if value is not None}
