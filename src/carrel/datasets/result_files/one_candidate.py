"""Files with the answers of one candidate: what evaluation scripts write for each model. Others join by the question.

OpenAI's Evals, lm-evaluation-harness, deepeval and ragas differ in the names of their fields only.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from carrel.datasets.result_files.answers import (
    AnswerTable,
    Grade,
    ResultFile,
    RowIds,
    Unreadable,
    get,
    mark_of,
    text_of,
)

_SAMPLES: Final = "samples_"
_TEXTS: Final = (
    *("user_input", "question", "response", "answer", "reference", "ground_truth", "ground_truths"),
    *("contexts", "retrieved_contexts", "reference_contexts"),
)
"""What ragas has beside the metrics."""


class _Item(NamedTuple):
    """A question with its answer. `model` is `None` where the file does not say who answered."""

    asked: str | None
    answer: str | None
    expected: str | None
    scores: Iterable[tuple[str, Any]]
    id: str | None = None
    model: str | None = None


def is_openai(file: ResultFile) -> bool:
    """Whether these are output items of OpenAI's Evals, or its data sets with samples."""
    return file.has("datasource_item", "sample") or file.has("item", "sample")


def read_openai(file: ResultFile) -> AnswerTable:
    """The answers in output items."""
    return _table(file, file.records, _openai)


def is_harness(file: ResultFile) -> bool:
    """Whether lm-evaluation-harness logged these samples."""
    return file.has("doc_id", "doc", "arguments", "resps")


def read_harness(file: ResultFile) -> AnswerTable:
    """The answers in samples. A line for each filter has the same answer: the first one counts, the scores of all."""
    _require_objects(file)
    filters = {get(record, "filter") for record in file.records}
    lines: dict[str, _Item] = {}
    for record in file.records:
        item = _harness(record, several=len(filters) > 1)
        first = lines.setdefault(item.id or "", item)
        if first is not item:
            lines[item.id or ""] = first._replace(scores=[*first.scores, *item.scores])
    return _table(file, lines.values(), lambda item: item)


def is_deepeval(file: ResultFile) -> bool:
    """Whether this is a test run or a data set of deepeval."""
    return bool(_cases(file)) or file.has("input", "actual_output")


def read_deepeval(file: ResultFile) -> AnswerTable:
    """The answers in a test run or a data set."""
    return _table(file, _cases(file) or file.records, _deepeval)


def _cases(file: ResultFile) -> list[Any]:
    """The cases of a test run, as its folder, its hidden file or its result in Python has them."""
    found = (get(file.document, *path) for path in (("testCases",), ("testRunData", "testCases"), ("test_results",)))
    return next((one for one in found if isinstance(one, list)), [])


def is_ragas(file: ResultFile) -> bool:
    """Whether this is a table of ragas."""
    return file.has("user_input", "response") or any(
        file.has("question", "answer", name) for name in ("contexts", "ground_truth", "ground_truths")
    )


def read_ragas(file: ResultFile) -> AnswerTable:
    """The answers in a table."""
    _require_objects(file)
    return _table(file, file.records, _ragas)


def _table(file: ResultFile, records: Iterable[Any], item_of: Callable[[Any], _Item]) -> AnswerTable:
    rows: dict[str, dict[str, str | None]] = {}
    ids, grades, named = RowIds(), list[Grade](), _named_by(file)
    models: dict[str, None] = {}
    for number, record in enumerate(records, start=1):
        item = item_of(record)
        if item.asked is None:
            raise Unreadable(f"record {number} does not say what was asked")
        model = item.model or named
        if model in ("id", "question", "input", "expected"):
            raise Unreadable(f"its candidate is called {model}, which is the name of a column: rename the file")
        models[model] = None
        row_id, question = ids.next(item.asked, model, item.id)
        row = rows.setdefault(row_id, {"id": row_id, "question": question, "input": item.asked, "expected": None})
        row["expected"] = row["expected"] or item.expected
        row[model] = item.answer
        grades += (Grade(row_id, model, name, value) for name, value in item.scores)
    if not rows:
        raise Unreadable("the file has no answers")
    group = "question" if ids.repeated else None
    columns = ("id", *([group] if group else []), "input", "expected", *models)
    return AnswerTable(
        rows=[{column: row.get(column) for column in columns} for row in rows.values()],
        id="id",
        inputs=("input",),
        candidates=tuple(models),
        expected="expected" if any(row["expected"] for row in rows.values()) else None,
        group=group,
    ).graded(grades)


def _require_objects(file: ResultFile) -> None:
    number = next((number for number, one in enumerate(file.records, start=1) if not isinstance(one, dict)), None)
    if number is not None:
        raise Unreadable(f"record {number} is no JSON object")


def _named_by(file: ResultFile) -> str:
    """Who answered, if only the file can say it: its name, or its folder's where the name is that of a task."""
    return (file.path.parent.name if file.path.name.startswith(_SAMPLES) else "") or file.path.stem or "answer"


def _openai(record: Any) -> _Item:
    sample, item = get(record, "sample"), get(record, "datasource_item") or get(record, "item")
    item = get(item, "item") if isinstance(get(item, "item"), dict) else item
    output = get(sample, "output_text") or text_of(get(sample, "output") or None) or get(item, "output")
    asked = text_of(get(sample, "input") or None) or text_of(get(item, "input")) or text_of(item)
    results = get(record, "results")
    number = get(record, "datasource_item_id")
    return _Item(
        asked,
        text_of(output),
        _first(item, "ground_truth", "correct_label", "reference_answer", "reference", "expected", "ideal", "answer"),
        [(str(get(one, "name")), _graded(one)) for one in results] if isinstance(results, list) else [],
        None if number is None else str(number),
        text_of(get(sample, "model")),
    )


def _graded(result: Any) -> Any:
    score = get(result, "score")
    return get(result, "passed") if score is None else score


def _harness(record: Any, *, several: bool) -> _Item:
    answers, arguments = get(record, "resps"), get(record, "arguments")
    if isinstance(arguments, dict):
        # A choice has arguments of its own.
        arguments = [list(one.values()) for one in arguments.values() if isinstance(one, dict)]
    metrics = get(record, "metrics")
    known = metrics if isinstance(metrics, list) else [name for name in record if name != "doc_id"]
    beside = f" ({get(record, 'filter')})" if several else ""
    scores = [(f"{name}{beside}", get(record, name)) for name in known if isinstance(name, str)]
    target = text_of(get(record, "target"))
    is_choice = isinstance(get(answers, 0, 0), list)
    answer = _chosen(answers, arguments) if is_choice else text_of(get(answers, 0, 0))
    return _Item(
        text_of(get(arguments, 0, 0)),
        answer,
        _right(target, answer, arguments, mark_of(get(record, "acc"))) if is_choice else target,
        [(name, value) for name, value in scores if isinstance(value, bool | int | float)],
        str(get(record, "doc_id")),
    )


def _chosen(answers: Any, arguments: Any) -> str | None:
    """The likeliest of the choices."""
    likely = [mark_of(get(one, 0, 0)) for one in answers]
    known = [value for value in likely if value is not None]
    return _choice(arguments, likely.index(max(known))) if known else None


def _choice(arguments: Any, place: int) -> str | None:
    text = text_of(get(arguments, place, 1))
    return None if text is None else text.strip()


def _right(target: str | None, chosen: str | None, arguments: Any, accuracy: float | None) -> str | None:
    """The right choice, which the target names by its text or by its place; the accuracy tells which."""
    named = _choice(arguments, int(target)) if target is not None and target.isdecimal() and len(target) < 5 else None
    fits = accuracy is None or (named == chosen) == (accuracy == 1)
    return named if named is not None and fits else target


def _deepeval(record: Any) -> _Item:
    metrics = get(record, "metricsData") or get(record, "metrics_data")
    return _Item(
        text_of(get(record, "input")),
        _first(record, "actualOutput", "actual_output"),
        _first(record, "expectedOutput", "expected_output"),
        [(str(get(one, "name")), get(one, "score")) for one in metrics] if isinstance(metrics, list) else [],
    )


def _ragas(record: Any) -> _Item:
    return _Item(
        _first(record, "user_input", "question"),
        _first(record, "response", "answer"),
        _first(record, "reference", "ground_truth", "ground_truths"),
        [(name, value) for name, value in record.items() if name and name not in _TEXTS],
    )


def _first(record: Any, *names: str) -> str | None:
    return next((text for name in names if (text := text_of(get(record, name))) is not None), None)
