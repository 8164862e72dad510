"""The rounds of a run: their judges, criteria, instructions and names."""

from collections.abc import Iterator, Sequence

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.presets.configuration import Judge as JudgeIn
from carrel.providers.registry import Registry, replays
from carrel.runs.model.setup import Round, RunJudge


def put(conn: Connection, seq: int, planned: Round) -> None:
    """Store a new round of a run."""
    conn.run(
        "INSERT INTO run_rounds (run, number, criteria, scoring_instructions, comparison_instructions, finalists,"
        " in_blocks) VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(
            seq,
            planned.number,
            as_json(planned.criteria),
            planned.scoring_instructions,
            planned.comparison_instructions,
        ),
        *(planned.finalists, planned.in_blocks),
    )
    for judge in planned.judges:
        conn.run(
            "INSERT INTO run_judges (run, round, ordinal, name, model, family, parameters, scoring_weight,"
            " comparison_weight, score_repeats) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(seq, planned.number, judge.ordinal, judge.name, judge.model, judge.family, as_json(judge.parameters)),
            *(judge.scoring_weight, judge.comparison_weight, judge.score_repeats),
        )


def bench(
    scoring: Sequence[JudgeIn], comparing: Sequence[JudgeIn], score_repeats: int, registry: Registry
) -> tuple[RunJudge, ...]:
    """The judges of both phases. Entries with the same model and parameters are one judge.

    A judge that always gives the same marks is asked once.
    """
    left = list(comparing)
    found: list[tuple[JudgeIn, float | None, float | None]] = []
    for judge in scoring:
        twin = next((one for one in left if (one.model, one.parameters) == (judge.model, judge.parameters)), None)
        if twin is not None:
            left.remove(twin)
        found.append((judge, judge.weight, None if twin is None else twin.weight))
    found += ((judge, None, judge.weight) for judge in left)
    given = names([judge.model for judge, _, _ in found])
    return tuple(
        RunJudge(
            ordinal=ordinal,
            name=name,
            model=judge.model,
            family=registry.family(judge.model),
            parameters=judge.parameters,
            scoring_weight=scores,
            comparison_weight=compares,
            score_repeats=1 if replays(judge.model) else score_repeats,
        )
        for ordinal, (name, (judge, scores, compares)) in enumerate(zip(given, found, strict=True), start=1)
    )


def names(models: Sequence[str]) -> Iterator[str]:
    """What judges are called: their models, with a number where a model comes again."""
    for index, model in enumerate(models):
        earlier = models[:index].count(model)
        yield f"{model} ({earlier + 1})" if earlier else model
