"""Dossiers made by hand, for tests of reports: who won on each document is a letter."""

from collections.abc import Sequence
from itertools import combinations

import msgspec
from msgspec.structs import replace

from carrel.evaluation.records import Score, Verdict, Word
from carrel.providers.base import Criterion, Parameters
from carrel.reports.document_input import JudgeMarks, PlannedAnswer, ReportDocument
from carrel.reports.rendering import PackedReport
from carrel.reports.report_input import ReportCounts, ReportHead, ReportInput, Spending, Trouble
from carrel.runs.model.setup import Round, RunCandidate, RunId, RunJudge, Setup
from carrel.runs.model.states import State
from carrel.runs.verdicts.judgement import Evidence, conclude, pack

CRITERIA = (Criterion("clarity", "It is clear."),)
_WORDS: dict[str, tuple[Word, Word]] = {
    "a": ("first", "second"),
    "b": ("second", "first"),
    "=": ("tie", "tie"),
    "f": ("first", "first"),
    "i": ("first", "tie"),
    "!": ("invalid", "invalid"),
    "?": ("missing", "missing"),
}


def sent(report_input: ReportInput) -> PackedReport:
    """What a worker gets to make the report."""
    rest = replace(report_input, evidence=replace(report_input.evidence, verdicts=[], scores=[]))
    return PackedReport(msgspec.msgpack.encode(rest), pack(report_input.evidence))


def report_input(
    outcomes: str,
    *,
    labels: Sequence[str] = ("alpha", "beta"),
    state: State = "completed",
    text: str = "A plain answer.",
    name: str = "A run",
    document: str = "Guide",
    instructions: str = "Summarise.",
    judges: Sequence[str] = ("test:judge",),
    criteria: tuple[Criterion, ...] = CRITERIA,
    costs: Sequence[int | None] | None = None,
    said: str = "So it is.",
    scored: bool = True,
    finished: bool = True,
    left_out: int = 0,
) -> ReportInput:
    """One document for each letter of `outcomes`: `a` the earlier candidate of every pair won, `b` the later, `=` tie,
    `f` flip, `i` inconsistent, `!` invalid, `?` missing, `.` not compared at all."""
    documents = range(1, len(outcomes) + 1)
    micros = costs or [0] * len(labels)
    setup = Setup(
        seq=1,
        id=RunId("run-1"),
        seed="seed",
        fence="",
        documents=len(outcomes),
        candidates=tuple(
            RunCandidate(ordinal, label, f"test:{ordinal}", f"family-{ordinal}", Parameters(), 7, 1)
            for ordinal, label in enumerate(labels, 1)
        ),
        round=Round(
            number=1,
            criteria=criteria,
            scoring_instructions=None,
            comparison_instructions=8,
            finalists=None,
            compared=None,
            judges=tuple(
                RunJudge(ordinal, judge, judge, "family-judge", Parameters(), 1.0, 1.0, 1)
                for ordinal, judge in enumerate(judges, 1)
            ),
        ),
        concurrency=4,
        timeout_seconds=60.0,
        max_attempts=3,
        budget_micros=2_500_000,
        show_criteria=False,
    )
    evidence = Evidence(
        candidates=tuple(labels),
        verdicts=[
            Verdict(
                document=f"d{number}", judge=judge, a=a, b=b, ab=_WORDS[letter][0], ba=_WORDS[letter][1],
                a_length=3, b_length=4,
            )
            for number, letter in enumerate(outcomes, 1)
            for a, b in combinations(labels, 2)
            for judge in judges
            if letter != "."
        ],
        scores=[
            Score(document=f"d{number}", judge=judge, candidate=label, values={criteria[0].name: 3.0 + place % 2})
            for number in documents
            for place, label in enumerate(labels)
            for judge in judges
        ]
        if scored
        else [],
        criteria=criteria,
        comparison_weights=dict.fromkeys(judges, 1.0),
        scoring_weights=dict.fromkeys(judges, 1.0),
    )  # fmt: skip
    return ReportInput(
        head=ReportHead(
            id=RunId("run-1"),
            name=name,
            preset_id="preset-1",
            state=state,
            pause_reason="user" if state == "paused" else None,
            rounds=1,
            seed="seed",
            configuration='{"inputs":["content-1"]}',
            created_at="2026-11-21T08:00:00.000Z",
            started_at="2026-11-21T08:00:01.000Z",
            finished_at="2026-11-21T08:01:00.000Z" if finished else None,
        ),
        counts=ReportCounts(0, 0 if finished else 5, 0 if finished else 1, 20, 0, 0, 0),
        setup=setup,
        evidence=evidence,
        ranking=msgspec.json.encode(conclude(pack(evidence)).ranking) if finished else None,
        instructions={7: instructions, 8: "Compare."},
        prompt_digests={7: instructions.encode(), 8: b"Compare."},
        documents=tuple(
            ReportDocument(number, f"content-{number}", f"{document} {number}", len(document), f"{document} text")
            for number in documents
        ),
        digests=tuple(str(number).encode() for number in documents),
        answers=tuple(
            _answer(number, place, text, micros[place - 1])
            for number in documents
            for place in range(1, len(labels) + 1)
        ),
        marks=tuple(
            JudgeMarks(number, place, 1, judge, 1, "given", {criteria[0].name: 4.0}, said)
            for number in documents
            for place in range(1, len(labels) + 1)
            for judge in range(1, len(judges) + 1)
        )
        if scored
        else (),
        said={
            f"r1.compare.d{number}.c{a}-c{b}.s1.j{judge}.{order}": said
            for number in documents
            for a, b in combinations(range(1, len(labels) + 1), 2)
            for judge in range(1, len(judges) + 1)
            for order in ("ab", "ba")
        },
        troubles=(),
        more_troubles=0,
        spending=(Spending("generate", "test:1", None, 20, 1, 0, 100, 50, 40, 0),),
        lost_calls=0,
        left_out=left_out,
    )


def failed(made: ReportInput, document: int, candidate: int, code: str) -> ReportInput:
    """The same with an answer that was never given."""
    key = f"r1.generate.d{document}.c{candidate}.s1"
    answers = tuple(
        msgspec.structs.replace(
            answer, state="failed", error=code, id=None, finish_reason=None, delivered=False, words=0, text=None,
            cost_micros=None,
        )
        if answer.key == key
        else answer
        for answer in made.answers
    )  # fmt: skip
    trouble = Trouble(key, "generate", "failed", code, 3, 0)
    counts = msgspec.structs.replace(made.counts, failed=1)
    return msgspec.structs.replace(made, answers=answers, troubles=(trouble,), counts=counts)


def _answer(document: int, candidate: int, text: str, cost_micros: int | None) -> PlannedAnswer:
    return PlannedAnswer(
        key=f"r1.generate.d{document}.c{candidate}.s1",
        document=document,
        candidate=candidate,
        repeat=1,
        state="succeeded",
        error=None,
        cost_micros=cost_micros,
        id=f"answer-{document}-{candidate}",
        finish_reason="stop",
        delivered=True,
        words=len(text.split()),
        input_tokens=10,
        output_tokens=5,
        text=text,
    )
