"""Pools evidence of several runs as if it were of one: equal documents, candidates and judges get equal names. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from carrel.evaluation.ranking.grouping import Groups, joined
from carrel.evaluation.records import REPEATS, HumanVote, Score, Verdict
from carrel.runs.verdicts import judgement
from carrel.runs.verdicts.judgement import Evidence, PackedEvidence

R = TypeVar("R", Verdict, Score)


class RunEvidence(NamedTuple):
    """One run: its evidence, and the identity of its documents (`d1`) and candidates (by label), whatever their names.

    `replayed` are the candidates and judges that say the same thing every time.
    """

    evidence: Evidence
    documents: Mapping[str, str]
    candidates: Mapping[str, str]
    replayed: frozenset[str] = frozenset()


def pool(played: Sequence[RunEvidence]) -> Evidence:
    """Pool all runs, with the weights of the first, which should be the newest, and the newest criteria.

    A candidate has the label that the first run gave it, with a number if another candidate has the same. If a judge
    and the candidates always replay, their verdicts count once: another run adds nothing to them. Runs that stopped
    when they were decided stopped at a moment that favours the leader, so the pooled result must pass the strictest of
    their looks.
    """
    named = labels(played)
    return replace(
        _rest(played, named), verdicts=[*_verdicts_once(played, named)], scores=[*_scores_once(played, named)]
    )


def packed(played: Sequence[RunEvidence]) -> PackedEvidence:
    """The same, packed record by record: a second copy of all of them would take tens of megabytes."""
    named = labels(played)
    return judgement.pack_each(_rest(played, named), _verdicts_once(played, named), _scores_once(played, named))


def _verdicts_once(played: Sequence[RunEvidence], named: Mapping[str, str]) -> Iterator[Verdict]:
    return _once(_verdicts(played, named), _meeting)


def _scores_once(played: Sequence[RunEvidence], named: Mapping[str, str]) -> Iterator[Score]:
    return _once(_scored(played, named), _marked)


def _rest(played: Sequence[RunEvidence], named: Mapping[str, str]) -> Evidence:
    """The pooled evidence without verdicts and scores."""
    first = played[0].evidence
    found = [one.evidence.look for one in played if one.evidence.look is not None]
    return replace(
        first,
        candidates=tuple(named.values()),
        verdicts=[],
        scores=[],
        criteria=next((one.evidence.criteria for one in played if one.evidence.criteria), ()),
        votes=list(_votes(played, named)),
        exploratory=any(one.evidence.exploratory for one in played),
        look=replace(min(found, key=lambda look: look.part), stopped=False, beaten=()) if found else None,
        families={
            named[one.candidates[label]]: family for one in played for label, family in one.evidence.families.items()
        },
        groups=_groups(played),
        checked=any(one.evidence.checked for one in played),
    )


def _groups(played: Sequence[RunEvidence]) -> Groups:
    """Documents that belong together in any of the runs, by the words of the first."""
    near = [
        (one.documents[document], one.documents[first])
        for one in played
        for document, first in one.evidence.groups.near.items()
        if one.documents[document] != one.documents[first]
    ]
    of = [
        (one.documents[document], one.documents[other])
        for one in played
        for document, other in one.evidence.groups.joined.items()
    ]
    first = played[0].evidence.groups
    return Groups(by=first.by, of=joined([*of, *near]), near=dict(near), suggested=first.suggested)


def labels(played: Iterable[RunEvidence]) -> dict[str, str]:
    """The label of each candidate, by its identity."""
    found: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for one in played:
        for label in one.evidence.candidates:
            what = one.candidates[label]
            if what not in found:
                taken[label] += 1
                while (name := label if taken[label] == 1 else f"{label} ({taken[label]})") in found.values():
                    taken[label] += 1
                found[what] = name
    return found


def _verdicts(played: Sequence[RunEvidence], named: Mapping[str, str]) -> Iterator[tuple[Verdict, bool]]:
    """The verdicts, and whether each of them only replays."""
    for number, one in enumerate(played):
        for verdict in one.evidence.verdicts:
            if not _says_nothing(one, verdict):
                yield _moved(one, number, named, verdict), {verdict.judge, verdict.a, verdict.b} <= one.replayed


def _votes(played: Sequence[RunEvidence], named: Mapping[str, str]) -> Iterator[HumanVote]:
    """Every vote. Where both answers only replay, it is about the same texts as the verdict that was kept."""
    has_votes = any(one.evidence.votes for one in played)
    verdicts = _verdicts_once(played, named) if has_votes else ()
    kept = {(verdict.document, frozenset((verdict.a, verdict.b))): verdict.repeat for verdict in verdicts}
    for number, one in enumerate(played):
        for vote in one.evidence.votes:
            if not _says_nothing(one, vote.verdict):
                moved = _moved(one, number, named, vote.verdict)
                if {vote.verdict.a, vote.verdict.b} <= one.replayed:
                    texts = moved.document, frozenset((moved.a, moved.b))
                    moved = replace(moved, repeat=kept.get(texts, moved.repeat))
                yield replace(vote, verdict=moved)


def _says_nothing(one: RunEvidence, verdict: Verdict) -> bool:
    """Whether the verdict is between two identical candidates of the run."""
    return one.candidates[verdict.a] == one.candidates[verdict.b]


def _moved(one: RunEvidence, number: int, named: Mapping[str, str], verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        document=one.documents[verdict.document],
        a=named[one.candidates[verdict.a]],
        b=named[one.candidates[verdict.b]],
        repeat=verdict.repeat + number * REPEATS,
    )


def _scored(played: Sequence[RunEvidence], named: Mapping[str, str]) -> Iterator[tuple[Score, bool]]:
    for number, one in enumerate(played):
        for score in one.evidence.scores:
            moved = replace(
                score,
                document=one.documents[score.document],
                candidate=named[one.candidates[score.candidate]],
                repeat=score.repeat + number * REPEATS,
            )
            yield moved, {score.judge, score.candidate} <= one.replayed


def _once(records: Iterable[tuple[R, bool]], what: Callable[[R], object]) -> Iterator[R]:
    seen = set()
    for record, replays in records:
        if replays:
            if what(record) in seen:
                continue
            seen.add(what(record))
        yield record


def _meeting(verdict: Verdict) -> object:
    return verdict.document, verdict.judge, frozenset((verdict.a, verdict.b))


def _marked(score: Score) -> object:
    return score.document, score.judge, score.candidate
