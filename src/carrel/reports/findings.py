"""Makes the report from the rows. Pure, and fit for the worker process: a ranking alone may take a second."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from carrel.evaluation.judges import agreement, health, passport
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.statistics.means import mean
from carrel.kit.money import text_if_known, text_of
from carrel.reports import by_document, combined, decision, losses
from carrel.reports.against import against
from carrel.reports.by_document import Voices
from carrel.reports.decision import DecisionFacts
from carrel.reports.losses import LossCounter, Losses
from carrel.reports.report import (
    CandidateReport,
    ConfigurationReport,
    JudgeReport,
    ProgressReport,
    Recommendation,
    Report,
    RunFacts,
    SpendReport,
    SpendRow,
    TroubleReport,
)
from carrel.reports.report_input import ReportInput, Spending
from carrel.runs.model.setup import RunCandidate, Setup
from carrel.runs.model.states import ENDED
from carrel.runs.verdicts import judgement, wording
from carrel.runs.verdicts.wording import CandidateModel

_ranking = msgspec.json.Decoder(Ranking)


def build(report_input: ReportInput, other: ReportInput | None = None, *, has_documents: bool = True) -> Report:
    """Build the report, with its documents unless told otherwise. With the input of another run, compare the two."""
    setup, evidence = report_input.setup, report_input.evidence
    once = judgement.once(evidence)
    ranking = _ranking_of(report_input)
    judges = tuple(_judges(report_input))
    heard: Iterable[Voices] = by_document.voices(report_input)
    if has_documents:
        heard = spoken = list(heard)
    checked = judgement.check(evidence)
    made = combined.combination(report_input)
    finished = report_input.head.state in ENDED or setup.round.number < report_input.head.rounds
    stated = wording.worded(
        ranking,
        checked,
        [CandidateModel(one.label, one.model, one.host) for one in setup.candidates],
        () if made is None else made.candidates,
        report_input.dropped,
    )
    candidates = tuple(_candidate(report_input, candidate, ranking) for candidate in setup.candidates)
    lost = _loss_counter(report_input, *decision.sides(ranking, candidates))
    pairs = by_document.pairs(evidence.candidates, heard if lost is None else lost.watch(heard))
    decided = decision.decide(DecisionFacts(ranking, stated, candidates, pairs, report_input.checks, checked, finished))
    report = Report(
        run=_facts(report_input),
        state=report_input.head.state,
        pause_reason=report_input.head.pause_reason,
        round=setup.round.number,
        rounds=report_input.head.rounds,
        finished=finished,
        verdict=stated,
        decision=decided if lost is None else _with_losses(decided, lost.losses()),
        progress=_progress(report_input),
        ranking=ranking,
        candidates=candidates,
        pairs=pairs,
        criteria=setup.round.criteria,
        judges=judges,
        agreement=agreement.agreement(once.verdicts, once.scores, evidence.criteria),
        human=checked,
        both_bad=report_input.both_bad,
        people=judgement.say(evidence),
        documents=by_document.documents(report_input, spoken) if has_documents else (),
        spend=_spend(report_input.spending),
        troubles=tuple(_troubles(report_input)),
        more_troubles=report_input.more_troubles,
        configuration=_configuration(report_input),
        left_out=report_input.left_out,
        combination=made,
        looks=report_input.looks,
        checks=report_input.checks,
        documents_total=len(report_input.documents),
    )
    if other is None:
        return report
    return msgspec.structs.replace(report, against=against(report, report_input, build(other), other))


def _ranking_of(report_input: ReportInput) -> Ranking:
    """The judgement as it was when the round ended; for a round that has not ended, from the present rows."""
    evidence = report_input.evidence
    if report_input.ranking is None:
        return judgement.rank(evidence)
    return judgement.voted(evidence, _ranking.decode(report_input.ranking))


def _loss_counter(report_input: ReportInput, first: str | None, beside: str | None) -> LossCounter | None:
    if first is None or beside is None:
        return None
    numbers = {candidate.label: candidate.ordinal for candidate in report_input.setup.candidates}
    checks = losses.check_means(report_input.answers, {numbers[label]: label for label in (first, beside)})
    return LossCounter(first, beside, checks)


def _with_losses(decided: Recommendation, found: Losses) -> Recommendation:
    return msgspec.structs.replace(decided, worse_on=found.worst, worse_total=found.total)


def _facts(report_input: ReportInput) -> RunFacts:
    head = report_input.head
    return RunFacts(
        id=head.id,
        name=head.name,
        preset_id=head.preset_id,
        created_at=head.created_at,
        started_at=head.started_at,
        finished_at=head.finished_at,
        lost_calls=report_input.lost_calls,
        seed=head.seed,
        contents=tuple(document.content_id for document in report_input.documents),
        generated={answer.key: answer.id for answer in report_input.answers if answer.id is not None},
        configuration=msgspec.Raw(head.configuration.encode()),
        outputs=report_input.outputs,
        median_ms=report_input.median_ms,
    )


def _progress(report_input: ReportInput) -> ProgressReport:
    counts = report_input.counts
    pending = counts.to_come + counts.pending + counts.running
    return ProgressReport(
        total=pending + counts.succeeded + counts.failed + counts.skipped + counts.cancelled,
        pending=pending,
        succeeded=counts.succeeded,
        failed=counts.failed,
        skipped=counts.skipped,
        cancelled=counts.cancelled,
        saved=counts.saved,
        saved_cost=text_if_known(counts.saved_micros),
    )


def _candidate(report_input: ReportInput, candidate: RunCandidate, ranking: Ranking) -> CandidateReport:
    answers = [
        answer for answer in report_input.answers if answer.candidate == candidate.ordinal and answer.id is not None
    ]
    words = [float(answer.words) for answer in answers if answer.delivered]
    known = [answer.cost_micros for answer in answers if answer.cost_micros is not None]
    is_known = bool(answers) and len(known) == len(answers)
    each = combined.costs_to_have(report_input, answers)
    return CandidateReport(
        candidate=candidate.label,
        model=candidate.model,
        host=candidate.host,
        family=candidate.family,
        parameters=candidate.parameters,
        instructions=_prompts(report_input.setup).index(candidate.instructions) + 1 if candidate.instructions else None,
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
        existing=sum(answer.existing for answer in answers),
    )


def _divided(whole: int, parts: int) -> int:
    """Rounds half up, without floats."""
    return (2 * whole + parts) // (2 * parts)


def _prompts(setup: Setup) -> list[int]:
    """The candidates' instructions, each once, in the order of the plan."""
    numbers = (candidate.instructions for candidate in setup.candidates)
    return list(dict.fromkeys(number for number in numbers if number is not None))


def _judges(report_input: ReportInput) -> Iterator[JudgeReport]:
    setup, evidence = report_input.setup, judgement.once(report_input.evidence)
    families = {candidate.label: candidate.family for candidate in setup.candidates}
    own = {judge.name: judge.family for judge in setup.round.judges}
    found = health.health(evidence.candidates, evidence.verdicts, evidence.scores, families, own)
    by_name = {one.judge: one for one in found}
    votes = [vote.verdict for vote in evidence.votes]
    passports = passport.passports(evidence.verdicts, evidence.scores, votes, evidence.criteria)
    for judge in setup.round.judges:
        yield JudgeReport(
            judge=judge.name,
            model=judge.model,
            host=judge.host,
            family=judge.family,
            parameters=judge.parameters,
            scoring_weight=judge.scoring_weight,
            comparison_weight=judge.comparison_weight,
            score_repeats=judge.score_repeats,
            health=by_name.get(judge.name),
            passport=passports.get(judge.name),
        )


def _spend(spending: Sequence[Spending]) -> SpendReport:
    return SpendReport(
        calls=sum(row.calls for row in spending),
        input_tokens=sum(row.input_tokens for row in spending),
        output_tokens=sum(row.output_tokens for row in spending),
        cost=text_of(sum(row.cost_micros for row in spending)),
        unknown_calls=sum(row.unknown for row in spending),
        rows=tuple(
            SpendRow(
                kind=row.kind,
                model=row.model,
                host=row.host,
                calls=row.calls,
                failed=row.failed,
                malformed=row.malformed,
                input_tokens=row.input_tokens,
                output_tokens=row.output_tokens,
                cost=text_of(row.cost_micros),
                unknown_calls=row.unknown,
            )
            for row in spending
        ),
    )


def _troubles(report_input: ReportInput) -> Iterator[TroubleReport]:
    for trouble in report_input.troubles:
        yield TroubleReport(
            task_key=trouble.key,
            kind=trouble.kind,
            state=trouble.state,
            error=trouble.error,
            failed_calls=trouble.failures,
            malformed_replies=trouble.malformed,
        )


def _configuration(report_input: ReportInput) -> ConfigurationReport:
    setup, texts = report_input.setup, report_input.instructions
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
        references=sum(1 for document in report_input.documents if document.has_reference),
    )
