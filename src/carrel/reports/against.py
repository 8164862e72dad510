"""One run beside another: the same candidates, known by their labels, in both. Pure."""

from collections.abc import Iterator

from carrel.reports.report import Against, AgainstRow, JudgeReport, OtherRun, Report, Standing


def against(here: Report, there: Report, shared_documents: int) -> Against:
    """`here` set against `there`; candidates in the order of `here`'s plan, then those that only `there` has."""
    ours, theirs = _standings(here), _standings(there)
    return Against(
        run=OtherRun(there.run.id, there.run.name),
        finished=there.finished,
        verdict=there.verdict.text,
        documents=len(there.documents),
        shared_documents=shared_documents,
        notes=tuple(_notes(here, there, shared_documents)),
        rows=tuple(
            AgainstRow(candidate=label, here=ours.get(label), there=theirs.get(label))
            for label in dict.fromkeys([*ours, *theirs])
        ),
    )


def _standings(report: Report) -> dict[str, Standing]:
    rows = {row.candidate: row for row in report.ranking.rows}
    return {
        candidate.candidate: Standing(
            place=rows[candidate.candidate].place,
            win_share=rows[candidate.candidate].win_share,
            low=rows[candidate.candidate].shown_low,
            high=rows[candidate.candidate].high,
            score=rows[candidate.candidate].score,
            cost_per_answer=candidate.cost_per_answer,
        )
        for candidate in report.candidates
    }


def _notes(here: Report, there: Report, shared_documents: int) -> Iterator[str]:
    """What differs besides the figures, constant sentences apart from one number."""
    if not there.finished:
        yield "The other run is not finished."
    if not shared_documents:
        yield "The two runs have no document in common."
    elif shared_documents < max(len(here.documents), len(there.documents)):
        yield f"The documents differ: {shared_documents} are in both runs."
    if {one.candidate for one in here.candidates} != {one.candidate for one in there.candidates}:
        yield "The candidates differ. A win share depends on who takes part, so the two columns are not on one scale."
    if here.criteria != there.criteria:
        yield "The criteria differ."
    if here.configuration.instructions != there.configuration.instructions:
        yield "The instructions to the candidates differ."
    if _questions(here) != _questions(there):
        yield "The questions to the judges differ."
    if _bench(here.judges) != _bench(there.judges):
        yield "The judges differ."


def _questions(report: Report) -> tuple[str | None, str | None]:
    return report.configuration.scoring_instructions, report.configuration.comparison_instructions


def _bench(judges: tuple[JudgeReport, ...]) -> set[tuple[str, float | None, float | None]]:
    return {(judge.model, judge.scoring_weight, judge.comparison_weight) for judge in judges}
