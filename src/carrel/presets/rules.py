"""The rules that a configuration must keep so that a run of it makes sense. Pure: it looks nothing up."""

from collections.abc import Iterator, Sequence
from math import comb

from carrel.checks import definition
from carrel.errors import FieldError
from carrel.kit.git_paths import is_branch, is_plain
from carrel.presets.configuration import MAX_LABEL_CHARACTERS, Candidate, Configuration, Output

MAX_CALLS = 150_000
"""How many calls a run may plan: with more, to rank it would take a worker longer than a request may."""
MAX_ANSWERS = 100_000
"""How many answers a run may have, also those that exist already and take no call: they take a second to keep."""
MAX_SCORES = 60_000
"""How many scores a run may plan. Unlike two comparisons, each is a record of its own in rankings and receipts."""
MAX_OUTPUTS = 2_000
"""How many contents a run may write: it writes them in the one transaction that ends it."""


def everyone(configuration: Configuration) -> list[Candidate]:
    """All candidates in the order of their numbers: first those that answer by themselves, then those that combine."""
    combination = configuration.combination
    return [*configuration.generation.candidates, *(combination.candidates if combination is not None else ())]


def models(configuration: Configuration) -> list[str]:
    """The models that answer, combine or judge, each once."""
    judging = (one for one in (configuration.scoring, configuration.comparison) if one is not None)
    found = [
        *(one.model for one in everyone(configuration) if one.model is not None),
        *(judge.model for one in judging for judge in one.judges),
    ]
    return list(dict.fromkeys(found))


def named(candidates: Sequence[Candidate]) -> list[str]:
    """The candidates' labels: their own, or else their models' names."""
    return [(candidate.label.strip() or candidate.model or "")[:MAX_LABEL_CHARACTERS] for candidate in candidates]


def named_combined(candidates: Sequence[Candidate]) -> list[str]:
    """The labels of the candidates that combine.

    The default label differs from the model's name, because the model may be a candidate by itself.
    """
    return [
        (candidate.label.strip() or f"combined by {candidate.model or ''}")[:MAX_LABEL_CHARACTERS]
        for candidate in candidates
    ]


def is_by_checks(configuration: Configuration) -> bool:
    """Whether the verdict is by checks."""
    if configuration.headline is not None:
        return configuration.headline != "judges"
    return bool(configuration.checks) and configuration.scoring is None and configuration.comparison is None


def faults(configuration: Configuration, documents: int) -> Iterator[FieldError]:
    """Every rule that the configuration breaks. `documents` is how many inputs it has."""
    inputs = set(configuration.inputs)
    yield from _row_faults(configuration)
    if len(inputs) < len(configuration.inputs):
        yield FieldError("inputs", "must not name a content twice")
    if not configuration.references.keys() <= inputs:
        yield FieldError("references", "has a key that is not one of the inputs")
    groups = configuration.groups
    if groups is not None and not groups.of.keys() <= inputs:
        yield FieldError("groups.of", "has a key that is not one of the inputs")
    if groups is not None and groups.by != "map" and groups.of:
        yield FieldError("groups.of", "goes with map only")
    if groups is not None and groups.by != "tag" and groups.prefix:
        yield FieldError("groups.prefix", "goes with tag only")
    yield from _purpose_faults(configuration)
    yield from definition.faults(configuration.checks)
    yield from _grade_faults(configuration)
    yield from _candidate_faults(configuration)
    yield from _comparison_faults(configuration)
    yield from _combination_faults(configuration)
    yield from _output_faults(configuration.output)
    writes_all = configuration.output.destination == "library" and configuration.output.answers == "all"
    if writes_all and documents * len(everyone(configuration)) > MAX_OUTPUTS:
        yield FieldError("output.answers", f"would write more than {MAX_OUTPUTS} contents")
    if answers(configuration, documents) > MAX_ANSWERS:
        yield FieldError("inputs", f"lead to more than {MAX_ANSWERS} answers")
    elif calls(configuration, documents) > MAX_CALLS:
        yield FieldError("inputs", f"lead to more than {MAX_CALLS} calls")
    elif scores(configuration, documents) > MAX_SCORES:
        yield FieldError("inputs", f"lead to more than {MAX_SCORES} scores")


def calls(configuration: Configuration, documents: int) -> int:
    """How many calls a run over so many inputs plans at most. An answer that exists already takes none."""
    generation, comparison = configuration.generation, configuration.comparison
    combined = len(everyone(configuration)) - len(generation.candidates)
    asked = sum(documents - len(one.existing) for one in generation.candidates if one.model is not None)
    single = asked * generation.repeats + documents * combined + scores(configuration, documents)
    if comparison is None:
        return single
    pairs = comb((comparison.finalists or len(generation.candidates)) + combined, 2)
    meetings = documents * pairs * generation.repeats
    return single + meetings * len(comparison.judges) * 2


def answers(configuration: Configuration, documents: int) -> int:
    """How many answers a run over so many inputs plans, combined ones included."""
    generation = configuration.generation
    combined = len(everyone(configuration)) - len(generation.candidates)
    return documents * (len(generation.candidates) * generation.repeats + combined)


def scores(configuration: Configuration, documents: int) -> int:
    """How many scores a run over so many inputs plans."""
    scoring = configuration.scoring
    return 0 if scoring is None else answers(configuration, documents) * len(scoring.judges) * scoring.repeats


def _purpose_faults(configuration: Configuration) -> Iterator[FieldError]:
    """Faults in who says which answers are best: judges, checks, or nobody where a run only makes answers."""
    judged = configuration.scoring is not None or configuration.comparison is not None
    comparison, by_checks = configuration.comparison, is_by_checks(configuration)
    if by_checks and not configuration.checks:
        yield FieldError("headline", "must be judges: there are no checks")
    if configuration.headline == "macro_f1" and not any(map(definition.is_of_classes, configuration.checks)):
        yield FieldError("headline", "needs a check equals that compares with the expected outputs of the documents")
    if by_checks and comparison is not None and comparison.stop_when_decided:
        yield FieldError("comparison.stop_when_decided", "goes with a headline by judges, whose looks decide")
    if judged:
        return
    if configuration.headline == "judges":
        yield FieldError("headline", "must be checks: there are no judges")
    makes = any(candidate.model is not None for candidate in configuration.generation.candidates)
    if not makes and not configuration.checks:
        yield FieldError("scoring", "is required where no candidate has a model, and nothing is compared or checked")
    best = configuration.output.destination != "none" and configuration.output.answers == "best"
    if best and not configuration.checks:
        yield FieldError("output.answers", "must be all: without judges or checks, no candidate is best")


def _grade_faults(configuration: Configuration) -> Iterator[FieldError]:
    labels = {*named(configuration.generation.candidates)}
    for index, check in enumerate(configuration.checks):
        if not check.columns.keys() <= labels:
            yield FieldError(f"checks[{index}].columns", "has a key that is not the label of a candidate")


def _row_faults(configuration: Configuration) -> Iterator[FieldError]:
    """Faults in what goes with rows of a data set only, or with documents only."""
    candidates = configuration.generation.candidates
    if configuration.rows is None:
        if not configuration.inputs:
            yield FieldError("inputs", "must have at least 1 entry, or rows must be given")
        for index, candidate in enumerate(candidates):
            if candidate.column is not None:
                yield FieldError(f"generation.candidates[{index}].column", "goes with rows only")
        for index, check in enumerate(configuration.checks):
            if definition.columns_of(check):
                field = "columns" if check.column is None else "column"
                yield FieldError(f"checks[{index}].{field}", "goes with rows only")
        return
    if configuration.inputs:
        yield FieldError("inputs", "must be empty where there are rows")
    if configuration.groups is not None:
        yield FieldError("groups", "follow from the column with the role group where there are rows")


def _candidate_faults(configuration: Configuration) -> Iterator[FieldError]:
    candidates = configuration.generation.candidates
    inputs = set(configuration.inputs)
    labels = named(candidates)
    for index, candidate in enumerate(candidates):
        path = f"generation.candidates[{index}]"
        if not labels[index]:
            yield FieldError(f"{path}.label", "is required where there is no model")
        elif labels[index] in labels[:index]:
            yield FieldError(f"{path}.label", "must differ from the labels of the other candidates")
        if not candidate.existing.keys() <= inputs:
            yield FieldError(f"{path}.existing", "has a key that is not one of the inputs")
        finished = inputs <= candidate.existing.keys() if configuration.rows is None else candidate.column is not None
        writes = not finished or (configuration.rows is not None and candidate.model is not None)
        if writes and candidate.model is None:
            yield FieldError(f"{path}.model", "is required unless every input has an existing answer")
        if writes and candidate.instructions is None and configuration.instructions is None:
            yield FieldError(f"{path}.instructions", "is required where the preset has none")


def _comparison_faults(configuration: Configuration) -> Iterator[FieldError]:
    comparison, candidates = configuration.comparison, configuration.generation.candidates
    if comparison is None:
        return
    if len(candidates) < 2:
        yield FieldError("comparison", "needs at least 2 candidates")
    if comparison.finalists is not None and comparison.finalists > len(candidates):
        yield FieldError("comparison.finalists", "must be at most the number of candidates")
    if comparison.finalists is not None and configuration.scoring is None:
        yield FieldError("comparison.finalists", "needs scoring, by which finalists are chosen")


def _combination_faults(configuration: Configuration) -> Iterator[FieldError]:
    combination, comparison = configuration.combination, configuration.comparison
    if combination is None:
        return
    if configuration.scoring is None and comparison is None:
        yield FieldError("combination", "needs judges, who say which answers are best")
    if combination.sources > len(configuration.generation.candidates):
        yield FieldError("combination.sources", "must be at most the number of candidates that answer by themselves")
    elif comparison is not None and comparison.finalists is not None and combination.sources > comparison.finalists:
        yield FieldError("combination.sources", "must be at most the number of finalists")
    taken = named(configuration.generation.candidates)
    for index, (candidate, label) in enumerate(
        zip(combination.candidates, named_combined(combination.candidates), strict=True)
    ):
        path = f"combination.candidates[{index}]"
        if label in taken:
            yield FieldError(f"{path}.label", "must differ from the labels of the other candidates")
        if candidate.model is None:
            yield FieldError(f"{path}.model", "is required: somebody must combine the answers")
        if candidate.existing:
            yield FieldError(f"{path}.existing", "must be empty: what is combined are the answers of the others")
        taken.append(label)


def _output_faults(output: Output) -> Iterator[FieldError]:
    if output.destination == "github":
        if output.connection is None:
            yield FieldError("output.connection", "is required where answers go to GitHub")
        if output.path and not is_plain(output.path):
            yield FieldError("output.path", "is not a path inside a repository")
        if output.branch is not None and not is_branch(output.branch):
            yield FieldError("output.branch", "is not the name of a branch")
    elif output.connection is not None or output.path or output.branch is not None:
        yield FieldError("output.destination", "must be github where a connection, path or branch is given")
