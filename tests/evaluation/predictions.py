"""Verdicts on one half of public data, checked on the other: how often does what was said come true?

    python -m tests.evaluation.predictions 200

draws so many halves of each set. People's votes are those of PandaLM (`people/pandalm.csv`), scores those of experts
of WMT (Freitag and others 2021, arXiv 2104.14478; on GitHub google/wmt-mqm-human-evaluation, Apache-2.0), labels those
of LLMBar (`llmbar.csv`; Zeng and others 2024, arXiv 2310.07641; on GitHub princeton-nlp/LLMBar, MIT), whose candidates
are judges with one of two prompts. Experts' scores are fetched into `soak-cells/mqm`, once.
"""

import csv
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from msgspec.structs import replace

from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.records import Mark, Score, Verdict, value
from carrel.evaluation.statistics import rates
from carrel.evaluation.statistics.means import mean
from carrel.providers.base import Criterion
from carrel.receipts import rules
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence
from tests.evaluation import kept
from tests.evaluation.people import pandalm

MQM = ("newstest2020_ende", "newstest2020_zhen", "newstest2021_ende", "newstest2021_zhen", "ted_ende", "ted_zhen")
LABELS = ("GPTInst", "GPTOut", "Manual", "Natural", "Neighbor")
DOCUMENTS = (12, 20, 50)
FIELDS = (2, 3, 5)
_SOURCE = "https://raw.githubusercontent.com/google/wmt-mqm-human-evaluation/main/{}/{}/mqm_{}.avg_seg_scores.tsv"
_QUALITY = Criterion(name="quality", description="", minimum=-25.0, maximum=0.0)


class Public(NamedTuple):
    """What is said of the documents of a set, and how far one candidate is truly ahead of another on each of them."""

    kind: str
    candidates: tuple[str, ...]
    documents: tuple[str, ...]
    records: Mapping[str, Sequence[Verdict | Score | Mark]]
    ahead: Mapping[tuple[str, str], Mapping[str, float]]


class Kept(NamedTuple):
    """How many verdicts were sought, and how many of each sentence were said and came true."""

    sought: int = 0
    best: int = 0
    best_true: int = 0
    out: int = 0
    out_true: int = 0

    def plus(self, more: "Kept") -> "Kept":
        return Kept(*(a + b for a, b in zip(self, more, strict=True)))


@cache
def sets() -> dict[str, Public]:
    found = {f"PandaLM, votes of {person}": _people(person) for person in pandalm.PEOPLE}
    for name in MQM:
        found[f"WMT {name}, who is better"] = _experts(name, scored=False)
        found[f"WMT {name}, scores"] = _experts(name, scored=True)
    for name in LABELS:
        for prompt in ("Vanilla", "CoT"):
            found[f"LLMBar {name}, {prompt}"] = labels(name, prompt)
    return found | {f"PandaLM, {judge} against people": _people(judge) for judge in pandalm.JUDGES}


def _people(voice: str) -> Public:
    """What one person or judge says, checked by all three people."""
    table = pandalm.table()
    records = defaultdict[str, list[Verdict]](list)
    ahead = defaultdict[tuple[str, str], defaultdict[str, list[float]]](lambda: defaultdict(list))
    for person, votes in table.votes.items():
        for document, every in votes.items():
            for vote in every:
                one = vote.verdict
                y = value(one)
                if y is not None:
                    ahead[one.a, one.b][document].append(2 * y - 1)
                    ahead[one.b, one.a][document].append(1 - 2 * y)
                if person == voice:
                    records[document].append(replace(one, judge=voice, by_rule=None))
    for told in table.judged.get(voice, ()):
        records[told.document].append(told)
    means = {pair: {document: mean(every) for document, every in by.items()} for pair, by in ahead.items()}
    kind = "people's votes" if voice in pandalm.PEOPLE else "a model's verdicts, against people"
    return Public(kind, table.candidates, tuple(sorted(records)), records, means)


def _experts(name: str, *, scored: bool) -> Public:
    by_document = defaultdict[str, dict[str, float]](dict)
    for line in _fetched(name).splitlines()[1:]:
        system, score, segment = line.split()
        if score != "None" and not system.lower().startswith(("human", "ref")):
            by_document[segment][system] = max(float(score), _QUALITY.minimum)
    names = sorted({system for found in by_document.values() for system in found})
    whole = {document: found for document, found in by_document.items() if len(found) == len(names)}
    records: dict[str, list[Verdict | Score | Mark]] = {}
    for document, found in whole.items():
        if scored:
            records[document] = [
                Score(document=document, judge="experts", candidate=one, values={_QUALITY.name: found[one]})
                for one in names
            ]
        else:
            records[document] = [_compared(document, a, b, found) for a, b in combinations(names, 2)]
    kind = "experts' scores" if scored else "whom experts prefer"
    ahead = {
        (a, b): {
            document: found[a] - found[b] if scored else float(found[a] > found[b]) - (found[a] < found[b])
            for document, found in whole.items()
        }
        for a in names
        for b in names
        if a != b
    }
    return Public(kind, tuple(names), tuple(sorted(whole)), records, ahead)


def _compared(document: str, a: str, b: str, found: Mapping[str, float]) -> Verdict:
    if found[a] == found[b]:
        return Verdict(document=document, judge="experts", a=a, b=b, ab="tie", ba="tie")
    first = found[a] > found[b]
    return Verdict(
        document=document,
        judge="experts",
        a=a,
        b=b,
        ab="first" if first else "second",
        ba="second" if first else "first",
    )


def _fetched(name: str) -> str:
    file = kept.FOLDER / "mqm" / f"{name}.tsv"
    if not file.exists():
        year, pair = name.split("_")
        file.parent.mkdir(parents=True, exist_ok=True)
        with urlopen(_SOURCE.format(year, pair, name), timeout=60) as answer:
            file.write_bytes(answer.read())
    return file.read_text()


def labels(name: str, prompt: str) -> Public:
    with Path(__file__).with_name("llmbar.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["set"], row["protocol"]) == (name, prompt)]
    right = {(row["item"], row["judge"]): float(row["asked_as_given"] == row["gold"]) for row in rows}
    names, documents = sorted({row["judge"] for row in rows}), sorted({row["item"] for row in rows})
    records = {
        document: [Mark(document=document, candidate=one, value=right[document, one]) for one in names]
        for document in documents
    }
    ahead = {
        (a, b): {document: right[document, a] - right[document, b] for document in documents}
        for a in names
        for b in names
        if a != b
    }
    return Public("labels", tuple(names), tuple(documents), records, ahead)


def _said(public: Public, candidates: tuple[str, ...], documents: Sequence[str]) -> Ranking:
    records = [
        one
        for document in documents
        for one in public.records[document]
        if (one.a in candidates and one.b in candidates if isinstance(one, Verdict) else one.candidate in candidates)
    ]
    verdicts = [one for one in records if isinstance(one, Verdict)]
    scores = [one for one in records if isinstance(one, Score)]
    marks = [one for one in records if isinstance(one, Mark)]
    compared, scoring = ({one.judge: 1.0 for one in several} for several in (verdicts, scores))
    evidence = Evidence(candidates, verdicts, scores, (_QUALITY,), compared, scoring)
    if marks:
        evidence = Evidence(candidates, [], [], (), {}, {}, checked=True, marks=marks, measure="checks")
    return judgement.rank(evidence)


def drawn(key: tuple[str, int, int, int]) -> Kept:
    """A set, candidates, documents, and how many halves."""
    return checked(sets()[key[0]], key)


def checked(public: Public, key: tuple[str, int, int, int]) -> Kept:
    _, field, documents, count = key
    draw = random.Random(repr(key))
    found = Kept()
    for _ in range(count):
        candidates = tuple(sorted(draw.sample(public.candidates, field)))
        shuffled = draw.sample(public.documents, len(public.documents))
        half = len(shuffled) // 2
        ranking, untouched = _said(public, candidates, shuffled[: min(half, documents)]), shuffled[half:]

        def holds(first: str, second: str, untouched: Sequence[str] = untouched) -> bool:
            leads = [lead for one in untouched if (lead := public.ahead[first, second].get(one)) is not None]
            return not leads or mean(leads) >= 0.0

        best, out = ranking.best, [one.candidate for one in ranking.contrasts if one.excludes_zero]
        found = found.plus(
            Kept(
                1,
                int(best is not None),
                int(best is not None and all(holds(best, one) for one in candidates if one != best)),
                len(out),
                sum(holds(ranking.leaders[0], one) for one in out),
            )
        )
    return found


def keys(count: int) -> list[tuple[str, int, int, int]]:
    return [
        (name, field, documents, count)
        for name, public in sets().items()
        for field in FIELDS
        for documents in DOCUMENTS
        if documents <= len(public.documents) // 2 and field <= len(public.candidates)
    ]


def table(results: Mapping[tuple[str, int, int, int], Kept]) -> str:
    """As Markdown, by kind and by set."""
    lines = ["| | verdicts sought | best said | came true | ruled out | came true |", "|---|---:|---:|---:|---:|---:|"]
    kinds = {name: public.kind for name, public in sets().items()}
    rows = [(kind, [name for name in kinds if kinds[name] == kind]) for kind in dict.fromkeys(kinds.values())]
    for label, names in (*rows, *((name, [name]) for name in kinds)):
        one = Kept()
        for key, found in results.items():
            one = one.plus(found) if key[0] in names else one
        lines.append(
            f"| {label} | {one.sought:,} | {one.best:,} | {_share(one.best_true, one.best)} | {one.out:,} |"
            f" {_share(one.out_true, one.out)} |"
        )
    return "\n".join(lines)


def _share(hits: int, of: int) -> str:
    if not of:
        return "–"
    low, high = rates.wilson(hits, of)
    return f"{100 * hits / of:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def digest(_key: tuple[str, int, int, int]) -> str:
    """Other rules, other verdicts."""
    return rules.digest()


def main(count: int) -> None:
    print(table(kept.drawn("predictions", keys(count), drawn, digest, Kept)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
