"""One run beside another: the same candidates, known by their labels, in both. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from carrel.evaluation.words import counted
from carrel.providers.hosts import ModelAt
from carrel.reports import paired
from carrel.reports.against_report import (
    Against,
    AgainstChanges,
    AgainstRow,
    ModelChange,
    OnlyIn,
    OtherRun,
    PromptChange,
    QuestionChange,
    Scale,
    Standing,
)
from carrel.reports.paired import MOST_DOCUMENTS, Pairs, Side
from carrel.reports.report import CandidateReport, JudgeReport, Report
from carrel.reports.report_input import ReportInput


def against(here: Report, ours: ReportInput, there: Report, theirs: ReportInput) -> Against:
    """`here` set against `there`; candidates in the order of `here`'s plan, then those that only `there` has."""
    mine, yours = _side(here, ours), _side(there, theirs)
    shared = len(set(mine.texts) & set(yours.texts))
    changes = _changes(mine, ours, yours, theirs)
    standings = _standings(here), _standings(there)
    both = [label for label in standings[0] if label in standings[1]]
    scores, shares = paired.by_scores(mine, yours), paired.by_shares(mine, yours)
    checks = paired.by_checks(mine, yours)
    by_check = {label: checks.difference(label) for label in both}
    by_score = {label: scores.difference(label) for label in both}
    by_share = {} if isinstance(shares, str) else {label: shares.difference(label) for label in both}
    has_checks, has_scores, has_shares = (any(found.values()) for found in (by_check, by_score, by_share))
    scale: Scale | None = "checks" if has_checks else "score" if has_scores else "win_share" if has_shares else None
    chosen = checks if has_checks else scores if has_scores or isinstance(shares, str) else shares
    documents = paired.documents(mine, yours, both, chosen)
    return Against(
        run=OtherRun(there.run.id, there.run.name),
        finished=there.finished,
        verdict=there.verdict.text,
        documents=len(there.documents),
        shared_documents=shared,
        notes=(*_notes(here, there, shared, changes), *_half([scores, checks, shares])),
        rows=tuple(
            AgainstRow(
                candidate=label,
                here=standings[0].get(label),
                there=standings[1].get(label),
                score=by_score.get(label),
                win_share=by_share.get(label),
                checks=by_check.get(label),
            )
            for label in dict.fromkeys([*standings[0], *standings[1]])
        ),
        changes=changes,
        instructions=there.configuration.instructions,
        scale=scale,
        by_document=tuple(documents[:MOST_DOCUMENTS]),
        more_documents=max(0, len(documents) - MOST_DOCUMENTS),
        no_win_share=shares if isinstance(shares, str) else None,
    )


def _side(report: Report, report_input: ReportInput) -> Side:
    return Side(report, tuple(digest.hex() for digest in report_input.digests), report_input.evidence)


def _standings(report: Report) -> dict[str, Standing]:
    rows = {row.candidate: row for row in report.ranking.rows}
    passed = {} if report.checks is None else {row.candidate: row.required or row.mean for row in report.checks.rows}
    return {
        candidate.candidate: Standing(
            place=rows[candidate.candidate].place,
            win_share=rows[candidate.candidate].win_share,
            low=rows[candidate.candidate].shown_low,
            high=rows[candidate.candidate].high,
            score=rows[candidate.candidate].score,
            cost_per_answer=candidate.cost_per_answer,
            passes=passed.get(candidate.candidate),
            median_ms=report.run.median_ms.get(candidate.candidate),
        )
        for candidate in report.candidates
    }


def _changes(here: Side, ours: ReportInput, there: Side, theirs: ReportInput) -> AgainstChanges:
    mine, yours = _by_label(here.report), _by_label(there.report)
    both = [(one, yours[label]) for label, one in mine.items() if label in yours]
    benches = _bench(here.report.judges), _bench(there.report.judges)
    criteria = [{one.name: one for one in side.report.criteria} for side in (here, there)]
    known = [set(side.texts) for side in (here, there)]
    schemas = [_schemas(run) for run in (ours, theirs)]
    return AgainstChanges(
        instructions=tuple(_prompts(both, ours, theirs)),
        models=tuple(
            ModelChange(candidate=one.candidate, here=_model(one), there=_model(other))
            for one, other in both
            if _model(one) != _model(other)
        ),
        parameters=tuple(
            one.candidate
            for one, other in both
            if one.parameters != other.parameters or schemas[0].get(one.candidate) != schemas[1].get(one.candidate)
        ),
        candidates=_only(mine, yours),
        judges=_only(*benches),
        changed_judges=_changed(*benches),
        questions=tuple(_questions(here.report, ours, there.report, theirs)),
        criteria=_only(*criteria),
        changed_criteria=_changed(*criteria),
        documents_only_here=sum(1 for text in here.texts if text not in known[1]),
        documents_only_there=sum(1 for text in there.texts if text not in known[0]),
    )


def _model(one: CandidateReport) -> str | None:
    return None if one.model is None else str(ModelAt(one.model, one.host))


def _by_label(report: Report) -> dict[str, CandidateReport]:
    return {candidate.candidate: candidate for candidate in report.candidates}


def _only(here: Iterable[str], there: Iterable[str]) -> OnlyIn:
    mine, yours = dict.fromkeys(here), dict.fromkeys(there)
    return OnlyIn(tuple(one for one in mine if one not in yours), tuple(one for one in yours if one not in mine))


def _changed(here: Mapping[str, object], there: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name, one in here.items() if name in there and there[name] != one)


def _prompts(
    both: list[tuple[CandidateReport, CandidateReport]], ours: ReportInput, theirs: ReportInput
) -> Iterator[PromptChange]:
    """Candidates whose instructions changed in the same way are one change."""
    mine, yours = _prompt_of(ours), _prompt_of(theirs)
    found: dict[tuple[int | None, int | None], list[str]] = {}
    for one, other in both:
        if mine[one.candidate] != yours[other.candidate]:
            found.setdefault((one.instructions, other.instructions), []).append(one.candidate)
    for (here, there), candidates in found.items():
        yield PromptChange(candidates=tuple(candidates), here=here, there=there)


class _Candidate(msgspec.Struct, frozen=True):
    label: str = ""
    response_schema: dict[str, Any] | None = None


class _Candidates(msgspec.Struct, frozen=True):
    candidates: tuple[_Candidate, ...] = ()


class _Configuration(msgspec.Struct, frozen=True):
    generation: _Candidates = _Candidates()
    combination: _Candidates | None = None


_configuration = msgspec.json.Decoder(_Configuration)


def _schemas(run: ReportInput) -> dict[str, dict[str, Any] | None]:
    """The schema of each candidate's answers."""
    found = _configuration.decode(run.head.configuration)
    return {
        one.label: one.response_schema
        for part in (found.generation, found.combination or _Candidates())
        for one in part.candidates
    }


def _prompt_of(run: ReportInput) -> dict[str, bytes | None]:
    """What tells the instructions of each candidate from others, also where there was no room for the text."""
    return {one.label: _digest(run, one.instructions) for one in run.setup.candidates}


def _digest(run: ReportInput, number: int | None) -> bytes | None:
    return None if number is None else run.prompt_digests[number]


def _questions(here: Report, ours: ReportInput, there: Report, theirs: ReportInput) -> Iterator[QuestionChange]:
    ways, texts = (ours.setup.round, theirs.setup.round), (here.configuration, there.configuration)
    if _digest(ours, ways[0].scoring_instructions) != _digest(theirs, ways[1].scoring_instructions):
        yield QuestionChange(kind="score", here=texts[0].scoring_instructions, there=texts[1].scoring_instructions)
    if _digest(ours, ways[0].comparison_instructions) != _digest(theirs, ways[1].comparison_instructions):
        yield QuestionChange(
            kind="compare", here=texts[0].comparison_instructions, there=texts[1].comparison_instructions
        )


def _bench(judges: tuple[JudgeReport, ...]) -> dict[str, list[tuple[object, ...]]]:
    """How each model judges; one model may be several judges."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for one in judges:
        way = (one.scoring_weight, one.comparison_weight, one.score_repeats, one.parameters)
        found.setdefault(str(ModelAt(one.model, one.host)), []).append(way)
    return found


def _half(found: Iterable[Pairs | str]) -> Iterator[str]:
    halves = [one for pairs in found if not isinstance(pairs, str) for one in pairs.halves.values()]
    texts = {text for one in halves for text in one}
    if texts:
        yield (
            f"On {counted(len(texts), 'document')}, only one of the runs has a figure of a candidate: better or worse"
            " is said only if the other figure could not change that."
        )


def _notes(here: Report, there: Report, shared_documents: int, changes: AgainstChanges) -> Iterator[str]:
    """What differs besides the figures, constant sentences apart from one number."""
    if not there.finished:
        yield "The other run is not finished."
    if not shared_documents:
        yield "The two runs have no document in common."
    elif shared_documents < max(len(here.documents), len(there.documents)):
        yield f"The documents differ: {shared_documents} are in both runs."
    if changes.candidates.here or changes.candidates.there:
        yield "The candidates differ. A win share depends on who takes part, so the two columns are not on one scale."
    if changes.models or changes.parameters:
        yield "Candidates with the same label have other models or parameters."
    if here.criteria != there.criteria:
        yield "The criteria differ."
    if changes.instructions:
        yield "The instructions to the candidates differ."
    if changes.questions:
        yield "The questions to the judges differ."
    if changes.judges.here or changes.judges.there or changes.changed_judges:
        yield "The judges differ."
