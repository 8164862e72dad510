"""Reasons not to trust the judges of a ranking. A decisive one takes the word *best* away."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from carrel.evaluation import records
from carrel.evaluation.judges import agreement, health
from carrel.evaluation.ranking.doubts import Distrust
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.ranking.stopping import Decision
from carrel.evaluation.records import HUMAN, Score, Verdict
from carrel.evaluation.statistics import intervals
from carrel.evaluation.words import listed, percent

LEAST = 10
"""Fewer pairs say nothing about a judge."""
MANY_FLIPS = 0.3
"""From this part of its pairs on that a judge decides by their order, its word for any of them weighs little."""
LONGER_WON = 0.95
"""From this part of comparisons on that the longer text won, a judge may as well have measured the length."""
Again = Callable[[Mapping[str, float]], Decision]
"""Whom the ranking would call best with other weights."""


def weighed(
    ranking: Ranking,
    verdicts: Sequence[Verdict],
    votes: Sequence[Verdict],
    families: Mapping[str, str | None],
    judge_families: Mapping[str, str | None],
    again: Again,
    groups: Mapping[str, str] | None = None,
) -> Ranking:
    """The ranking with every reason to distrust its judges; nobody is best if one of them is decisive.

    `verdicts` are those that the ranking heard, `votes` a person's; `groups` are those of documents that belong
    together.
    """
    if ranking.basis != "comparisons" or not ranking.leaders:
        return ranking
    leader = ranking.leaders[0] if len(ranking.leaders) == 1 else None
    found = [
        *_chance(ranking, verdicts, votes, again),
        *_flips(ranking, verdicts),
        *_opposed(verdicts, groups or {}),
        *_relatives(leader, ranking.judges, families, judge_families),
        *_measured(ranking),
        *_hidden(ranking, leader),
    ]
    if not any(one.decisive for one in found):
        return msgspec.structs.replace(ranking, distrust=tuple(found))
    rows = tuple(msgspec.structs.replace(row, is_best=False) if row.is_best else row for row in ranking.rows)
    return msgspec.structs.replace(ranking, distrust=tuple(found), best=None, rows=rows)


def malformed(ranking: Ranking, verdicts: Iterable[Verdict], scores: Iterable[Score]) -> Ranking:
    """The ranking with a doubt for each judge whose replies often stayed malformed."""
    found = [
        Distrust(
            kind="malformed",
            decisive=False,
            sentence=f"{judge} stayed malformed in {percent(share)} of what it judged.",
        )
        for judge, share in health.malformed(verdicts, scores).items()
    ]
    return msgspec.structs.replace(ranking, distrust=(*ranking.distrust, *found)) if found else ranking


def _chance(
    ranking: Ranking, verdicts: Sequence[Verdict], votes: Sequence[Verdict], again: Again
) -> Iterable[Distrust]:
    """Judges that are no better than a coin, by their own flips or by a person's votes; decisive if best needs them."""
    words = {}
    for judge in ranking.judges:
        if judge == HUMAN:
            continue
        said = _said(judge, verdicts)
        agreed, flips = _orders(said)
        same, of = _with_person(said, votes)
        if agreed + flips >= LEAST and not _above_half(agreed, agreed + flips):
            words[judge] = f"named the other answer in {flips} of {agreed + flips} pairs when their places changed"
        elif of >= LEAST and same <= of / 2:
            words[judge] = f"named the answer that a person preferred in {same} of {of} pairs"
    if not words:
        return
    needed = ranking.best is not None and again(dict.fromkeys(words, 0.0)).best != ranking.best
    for judge, what in words.items():
        yield Distrust(kind="chance", decisive=needed, sentence=f"{judge} is no better than a coin: it {what}.")


def _flips(ranking: Ranking, verdicts: Sequence[Verdict]) -> Iterable[Distrust]:
    """Judges that often named the other answer when the places changed, though less often than a coin would."""
    for judge in ranking.judges:
        agreed, flips = _orders(_said(judge, verdicts))
        of = agreed + flips
        if of >= LEAST and flips >= MANY_FLIPS * of and _above_half(agreed, of):
            yield Distrust(
                kind="flips",
                decisive=False,
                sentence=(
                    f"{judge} named the other answer in {flips} of {of} pairs ({percent(flips / of)}) when their places"
                    " changed."
                ),
            )


def _said(judge: str, verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.judge == judge and verdict.by_rule is None]


def _orders(said: Sequence[Verdict]) -> tuple[int, int]:
    """In how many pairs both orders named the same winner, and in how many the other one."""
    agreed = sum(1 for verdict in said if _toward(verdict) is not None)
    return agreed, sum(1 for verdict in said if records.fate(verdict) == "flip")


def _above_half(hits: int, of: int) -> bool:
    """Whether so many are more than a coin would give in 39 of 40 cases."""
    return hits > of / 2 + 0.98 * math.sqrt(of)


def _with_person(said: Iterable[Verdict], votes: Sequence[Verdict]) -> tuple[int, int]:
    """Where both named a winner: how often the same one."""
    theirs = {_meeting(vote): value for vote in votes if (value := _toward(vote)) is not None}
    pairs = [(_toward(verdict), theirs[_meeting(verdict)]) for verdict in said if _meeting(verdict) in theirs]
    known = [(ours, other) for ours, other in pairs if ours is not None]
    return sum(1 for ours, other in known if ours == other), len(known)


def _meeting(verdict: Verdict) -> tuple[str, str, str, int]:
    return verdict.document, min(verdict.a, verdict.b), max(verdict.a, verdict.b), verdict.repeat


def _toward(verdict: Verdict) -> str | None:
    """The name of the winner, where there is one."""
    match records.value(verdict):
        case 1.0:
            return verdict.a
        case 0.0:
            return verdict.b
    return None


def _opposed(verdicts: Sequence[Verdict], groups: Mapping[str, str]) -> Iterable[Distrust]:
    """Judges that agree less than chance would make them, over documents or their groups, where neither flips."""
    by_document: defaultdict[str, list[list[float]]] = defaultdict(list)
    clear = [verdict for verdict in verdicts if records.fate(verdict) == "agreed"]
    for (document, *_), voices in agreement.outcomes(clear).items():
        if len(voices) > 1:
            by_document[groups.get(document, document)].append(list(voices.values()))
    units = [unit for found in by_document.values() for unit in found]
    if len(units) < LEAST or len(by_document) < 5:
        return
    counts = Counter(value for unit in units for value in unit)
    apart = {document: math.fsum(map(_apart, found)) for document, found in by_document.items()}
    whole = _alpha(math.fsum(apart.values()), counts)
    if whole is None or whole >= 0:
        return
    without = [
        _alpha(
            math.fsum(apart.values()) - apart[document],
            counts - Counter(value for unit in found for value in unit),
        )
        for document, found in by_document.items()
    ]
    n = len(without)
    error = math.sqrt((n - 1) / n * math.fsum(((one if one is not None else 0.0) - whole) ** 2 for one in without))
    _, high = intervals.Estimate(whole, error, n).bounds(intervals.probability(), -1.0, 1.0)
    if high is not None and high < 0:
        yield Distrust(
            kind="opposed",
            decisive=True,
            sentence=f"The judges contradict each other more than chance would make them (α = {whole:.2f}).",
        )


def _apart(unit: Sequence[float]) -> float:
    """Krippendorff's observed disagreement in one unit."""
    counts = Counter(unit)
    return (len(unit) ** 2 - sum(count * count for count in counts.values())) / (len(unit) - 1)


def _alpha(apart: float, counts: Mapping[float, int]) -> float | None:
    total = sum(counts.values())
    expected = total**2 - sum(count * count for count in counts.values())
    return 1.0 - apart * (total - 1) / expected if expected else None


def _relatives(
    leader: str | None,
    judges: Sequence[str],
    families: Mapping[str, str | None],
    judge_families: Mapping[str, str | None],
) -> Iterable[Distrust]:
    family = None if leader is None else families.get(leader)
    others = {one for name, one in families.items() if name != leader}
    if family is None or others == {family} or any(judge_families.get(judge) != family for judge in judges):
        return
    every = "The only judge is" if len(judges) == 1 else "All judges are"
    yield Distrust(
        kind="family",
        decisive=True,
        sentence=f"{every} of {leader}'s own family ({family}): add a judge of another one.",
    )


def _measured(ranking: Ranking) -> Iterable[Distrust]:
    longer = ranking.longer_text
    if longer.of >= LEAST and longer.share is not None and longer.share >= LONGER_WON:
        yield Distrust(
            kind="length",
            decisive=True,
            sentence=(
                f"The longer text won {longer.won} of {longer.of} pairs: the judges may have measured nothing"
                " but length."
            ),
        )


def _hidden(ranking: Ranking, leader: str | None) -> Iterable[Distrust]:
    """Verdicts that are missing and whose part that nothing explains takes a lead away, if it counts as lost."""
    held = [contrast.candidate for contrast in ranking.contrasts if contrast.held_back]
    if leader is None or not held:
        return
    yield Distrust(
        kind="missing",
        decisive=all(contrast.excludes_zero or contrast.held_back for contrast in ranking.contrasts),
        sentence=(
            f"Too many verdicts about {leader} are missing. If those that nothing else explains had gone against it,"
            f" its lead over {listed(held)} could be chance. Retry the calls that failed; where replies stayed"
            " malformed, have the answers judged again by another judge."
        ),
    )
