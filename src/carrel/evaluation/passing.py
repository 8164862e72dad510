"""How often the answers of each candidate pass the checks that need no judge: rates by document."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import add

import msgspec

from carrel.checks import definition, normalising
from carrel.checks.definition import Check, CheckKind
from carrel.checks.fields import FieldFates
from carrel.evaluation.statistics import clusters
from carrel.evaluation.statistics.rates import PassRate, rate
from carrel.evaluation.words import counted, listed, percent


class CheckColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A check. A `share` gives any number from 0 to 1, another check only 0 or 1.

    Of `lenient` answers, the check says better only because of what it ignores; null if it ignores nothing.
    """

    name: str
    kind: CheckKind
    required: bool
    share: bool
    lenient: int | None = None


class FieldFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One field over all answers of a candidate: in how many it is right, wrong, missing, or more than was expected.

    `field` is its path, such as `items[].price`, in the JSON that `check` compares; items of lists count one by one.
    """

    check: str
    field: str
    right: int
    wrong: int
    missing: int
    extra: int


class CandidateChecks(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of one candidate: of each check, of their mean, and of passing every required one.

    `required` is `None` where no check is required. `fields` are those of checks that compare fields.
    """

    candidate: str
    mean: PassRate
    required: PassRate | None
    rates: tuple[PassRate, ...]
    fields: tuple[FieldFigures, ...] = ()


class CheckResults(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks of a run say, in words and figures. Each row has its rates in the order of `checks`."""

    sentence: str
    checks: tuple[CheckColumn, ...]
    rows: tuple[CandidateChecks, ...]


class AnswerMarks(msgspec.Struct, frozen=True):
    """The marks of one answer, in the order of the checks; `None` where there is none.

    It `passes` if it fails no required check. Candidates and documents are numbers from 0. `strict` are the marks that
    it would have if no check ignored anything, and `fields` what became of its fields, by check.
    """

    document: int
    candidate: int
    passes: bool
    marks: list[float | None]
    strict: list[float | None] = []
    fields: dict[str, FieldFates] = {}


class _Means:
    """The mean of the answers to each document, without a list of all values."""

    def __init__(self, documents: int) -> None:
        self._sums = array("d", bytes(8 * documents))
        self._counts = array("i", bytes(4 * documents))

    def add(self, document: int, value: float) -> None:
        self._sums[document] += value
        self._counts[document] += 1

    def known(self) -> Iterator[tuple[int, float]]:
        """The documents with a value, and that."""
        for document, count in enumerate(self._counts):
            if count:
                yield document, self._sums[document] / count


class _OfCandidate:
    def __init__(self, checks: int, documents: int) -> None:
        self.mean = _Means(documents)
        self.required = _Means(documents)
        self.each = [_Means(documents) for _ in range(checks)]
        self.lenient = Counter[int]()
        self.fields: dict[tuple[str, str], list[int]] = {}

    def add(self, answer: AnswerMarks) -> None:
        for place, (mark, strict) in enumerate(zip(answer.marks, answer.strict, strict=False)):
            self.lenient[place] += mark is not None and strict is not None and mark > strict
        for check, fates in answer.fields.items():
            for path, counts in fates.items():
                total = self.fields.setdefault((check, path), [0] * len(counts))
                total[:] = map(add, total, counts)
        self.required.add(answer.document, float(answer.passes))
        known = [mark for mark in answer.marks if mark is not None]
        if known:
            self.mean.add(answer.document, sum(known) / len(known))
        for means, mark in zip(self.each, answer.marks, strict=True):
            if mark is not None:
                means.add(answer.document, mark)


class Tally:
    """Counts the marks of answers one by one, without a list of them. Repeats on one document count as their mean.

    `documents` are all that a candidate should have answered.
    """

    def __init__(self, checks: Sequence[Check], candidates: Sequence[str], documents: Sequence[str]) -> None:
        self._checks, self._candidates, self._documents = checks, candidates, documents
        self._found = [_OfCandidate(len(checks), len(documents)) for _ in candidates]

    def add(self, answer: AnswerMarks) -> None:
        """Count an answer; its document is a place in the list of documents."""
        self._found[answer.candidate].add(answer)

    def results(self, groups: Mapping[str, str]) -> CheckResults:
        """The rates of all candidates; `groups` has the groups of documents that belong together."""

        def rated(means: _Means) -> PassRate:
            known = list(means.known())
            numbers = clusters.numbers((self._documents[place] for place, _ in known), groups)
            return rate([value for _, value in known], numbers, len(self._documents) - len(known))

        return _results(self._checks, self._candidates, self._found, rated)


def results(
    checks: Sequence[Check],
    candidates: Sequence[str],
    documents: Sequence[str],
    marks: Iterable[AnswerMarks],
    groups: Mapping[str, str],
) -> CheckResults:
    """The rates of all candidates, as a `Tally` of the marks counts them."""
    tally = Tally(checks, candidates, documents)
    for answer in marks:
        tally.add(answer)
    return tally.results(groups)


def _results(
    checks: Sequence[Check],
    candidates: Sequence[str],
    found: Sequence[_OfCandidate],
    rated: Callable[[_Means], PassRate],
) -> CheckResults:
    some_required = any(check.required for check in checks)
    rows = tuple(
        CandidateChecks(
            candidate=candidate,
            mean=rated(each.mean),
            required=rated(each.required) if some_required else None,
            rates=tuple(rated(means) for means in each.each),
            fields=tuple(_figures(check, path, counts) for (check, path), counts in each.fields.items()),
        )
        for candidate, each in zip(candidates, found, strict=True)
    )
    columns = tuple(
        CheckColumn(
            name=check.name,
            kind=check.kind,
            required=check.required,
            share=definition.is_share(check),
            lenient=None if normalising.strict(check) == check else sum(each.lenient[place] for each in found),
        )
        for place, check in enumerate(checks)
    )
    return CheckResults(sentence=_sentence(columns, rows), checks=columns, rows=rows)


def _figures(check: str, path: str, counts: Sequence[int]) -> FieldFigures:
    right, wrong, missing, extra = counts
    return FieldFigures(check=check, field=path, right=right, wrong=wrong, missing=missing, extra=extra)


def _sentence(checks: Sequence[CheckColumn], rows: Sequence[CandidateChecks]) -> str:
    """What all candidates pass, in the order of their numbers."""
    one = f"The check {checks[0].name}" if len(checks) == 1 else f"Mean of {len(checks)} checks"
    what = "All required checks" if any(check.required for check in checks) else one
    rates = [(row.candidate, row.required or row.mean) for row in rows]
    told = [
        f"{candidate} {percent(rate.share)}"
        + (f" ({percent(rate.low)} to {percent(rate.high)})" if rate.low is not None and rate.high is not None else "")
        for candidate, rate in rates
        if rate.share is not None
    ]
    if not told:
        return "No answer could be checked."
    documents = max(rate.documents for _, rate in rates)
    on = counted(documents, "document")
    return f"{what}: {listed(told)}, on {on}."
