"""From what the rows hold to the report. Pure, and fit for the worker process: a ranking alone may take a second."""

from collections.abc import Iterator, Sequence

import msgspec

from carrel.evaluation import agreement, health, verdict
from carrel.evaluation.ranking import Ranking
from carrel.evaluation.table import mean
from carrel.kit.money import text_if_known, text_of
from carrel.reports import by_document, combined
from carrel.reports.against import against
from carrel.reports.dossier import Dossier, Tally
from carrel.reports.report import (
    CandidateReport,
    ConfigurationReport,
    JudgeReport,
    ProgressReport,
    Report,
    RunFacts,
    SpendReport,
    SpendRow,
    TroubleReport,
)
from carrel.runs.judging import combining, judgement
from carrel.runs.model.setup import Candidate, Setup
from carrel.runs.model.states import ENDED

_ranking = msgspec.json.Decoder(Ranking)


def build(dossier: Dossier, other: Dossier | None = None) -> Report:
    """The report; with another run's dossier, set against that."""
    setup, evidence = dossier.setup, dossier.evidence
    ranking = _ranking_of(dossier)
    judges = tuple(_judges(dossier))
    heard = by_document.voices(dossier)
    checked = judgement.check(evidence)
    said = verdict.state(ranking, [judge.health for judge in judges if judge.health is not None], checked)
    made = combined.combination(dossier)
    report = Report(
        run=_facts(dossier),
        state=dossier.head.state,
        pause_reason=dossier.head.pause_reason,
        round=setup.round.number,
        rounds=dossier.head.rounds,
        finished=dossier.head.state in ENDED or setup.round.number < dossier.head.rounds,
        verdict=combining.cautioned(said, ranking, () if made is None else made.candidates),
        progress=_progress(dossier),
        ranking=ranking,
        candidates=tuple(_candidate(dossier, candidate, ranking) for candidate in setup.candidates),
        pairs=by_document.pairs(evidence.candidates, heard),
        criteria=setup.round.criteria,
        judges=judges,
        agreement=agreement.agreement(evidence.verdicts, evidence.scores, evidence.criteria),
        human=checked,
        documents=by_document.documents(dossier, heard),
        spend=_spend(dossier.tallies),
        troubles=tuple(_troubles(dossier)),
        more_troubles=dossier.more_troubles,
        configuration=_configuration(dossier),
        left_out=dossier.left_out,
        combination=made,
    )
    if other is None:
        return report
    shared = len(set(dossier.digests) & set(other.digests))
    return msgspec.structs.replace(report, against=against(report, build(other), shared))


def _ranking_of(dossier: Dossier) -> Ranking:
    """As it was when the round ended; of a round that has not, from what is there."""
    return judgement.rank(dossier.evidence) if dossier.ranking is None else _ranking.decode(dossier.ranking)


def _facts(dossier: Dossier) -> RunFacts:
    head = dossier.head
    return RunFacts(
        id=head.id,
        name=head.name,
        preset_id=head.preset_id,
        created_at=head.created_at,
        started_at=head.started_at,
        finished_at=head.finished_at,
        lost_calls=dossier.lost_calls,
        seed=head.seed,
        contents=tuple(document.content_id for document in dossier.documents),
        generated={answer.key: answer.id for answer in dossier.answers if answer.id is not None},
        configuration=msgspec.Raw(head.configuration.encode()),
        outputs=dossier.outputs,
    )


def _progress(dossier: Dossier) -> ProgressReport:
    counts = dossier.counts
    pending = counts.to_come + counts.pending + counts.running
    return ProgressReport(
        total=pending + counts.succeeded + counts.failed + counts.skipped + counts.cancelled,
        pending=pending,
        succeeded=counts.succeeded,
        failed=counts.failed,
        skipped=counts.skipped,
        cancelled=counts.cancelled,
    )


def _candidate(dossier: Dossier, candidate: Candidate, ranking: Ranking) -> CandidateReport:
    answers = [answer for answer in dossier.answers if answer.candidate == candidate.ordinal and answer.id is not None]
    words = [float(answer.words) for answer in answers if answer.delivered]
    known = [answer.cost_micros for answer in answers if answer.cost_micros is not None]
    is_known = bool(answers) and len(known) == len(answers)
    each = combined.costs_to_have(dossier, answers)
    return CandidateReport(
        candidate=candidate.label,
        model=candidate.model,
        family=candidate.family,
        parameters=candidate.parameters,
        instructions=_prompts(dossier.setup).index(candidate.instructions) + 1 if candidate.instructions else None,
        repeats=candidate.repeats,
        compared=any(row.candidate == candidate.label and row.win_share is not None for row in ranking.rows),
        answers=len(answers),
        delivered=len(words),
        mean_words=round(mean(words), 1) if words else None,
        input_tokens=sum(answer.input_tokens for answer in answers),
        output_tokens=sum(answer.output_tokens for answer in answers),
        cost=text_of(sum(known)) if is_known else None,
        cost_per_answer=None if each is None else text_of(_divided(sum(each), len(each))),
        combines=candidate.combines,
        existing=sum(1 for answer in answers if (answer.candidate, answer.document) in dossier.existing),
    )


def _divided(whole: int, parts: int) -> int:
    """Rounded half up; no float touches money."""
    return (2 * whole + parts) // (2 * parts)


def _prompts(setup: Setup) -> list[int]:
    """The candidates' instructions, each once, in the order of the plan."""
    numbers = (candidate.instructions for candidate in setup.candidates)
    return list(dict.fromkeys(number for number in numbers if number is not None))


def _judges(dossier: Dossier) -> Iterator[JudgeReport]:
    setup, evidence = dossier.setup, dossier.evidence
    families = {candidate.label: candidate.family for candidate in setup.candidates}
    own = {judge.name: judge.family for judge in setup.round.judges}
    found = health.health(evidence.candidates, evidence.verdicts, evidence.scores, families, own)
    by_name = {one.judge: one for one in found}
    for judge in setup.round.judges:
        yield JudgeReport(
            judge=judge.name,
            model=judge.model,
            family=judge.family,
            parameters=judge.parameters,
            scoring_weight=judge.scoring_weight,
            comparison_weight=judge.comparison_weight,
            score_repeats=judge.score_repeats,
            health=by_name.get(judge.name),
        )


def _spend(tallies: Sequence[Tally]) -> SpendReport:
    return SpendReport(
        calls=sum(tally.calls for tally in tallies),
        input_tokens=sum(tally.input_tokens for tally in tallies),
        output_tokens=sum(tally.output_tokens for tally in tallies),
        cost=text_of(sum(tally.cost_micros for tally in tallies)),
        unknown_calls=sum(tally.unknown for tally in tallies),
        rows=tuple(
            SpendRow(
                kind=tally.kind,
                model=tally.model,
                calls=tally.calls,
                failed=tally.failed,
                malformed=tally.malformed,
                input_tokens=tally.input_tokens,
                output_tokens=tally.output_tokens,
                cost=text_of(tally.cost_micros),
                unknown_calls=tally.unknown,
            )
            for tally in tallies
        ),
    )


def _troubles(dossier: Dossier) -> Iterator[TroubleReport]:
    for trouble in dossier.troubles:
        yield TroubleReport(
            task_key=trouble.key,
            kind=trouble.kind,
            state=trouble.state,
            error=trouble.error,
            failed_calls=trouble.failures,
            malformed_replies=trouble.malformed,
        )


def _configuration(dossier: Dossier) -> ConfigurationReport:
    setup, texts = dossier.setup, dossier.instructions
    way = setup.round
    return ConfigurationReport(
        instructions=tuple(texts[number] for number in _prompts(setup)),
        scoring_instructions=None if way.scoring_instructions is None else texts[way.scoring_instructions],
        comparison_instructions=None if way.comparison_instructions is None else texts[way.comparison_instructions],
        finalists=way.finalists,
        show_criteria=setup.show_criteria,
        concurrency=setup.concurrency,
        timeout_seconds=setup.timeout_seconds,
        max_attempts=setup.max_attempts,
        budget=text_if_known(setup.budget_micros),
        references=sum(1 for document in dossier.documents if document.has_reference),
    )
