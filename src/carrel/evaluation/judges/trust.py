"""Reasons not to trust the judges of a ranking. A decisive one takes the word *best* away."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter

import msgspec

from carrel.evaluation import records
from carrel.evaluation.judges import health
from carrel.evaluation.ranking import scores
from carrel.evaluation.ranking.doubts import Distrust
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.ranking.stopping import Decision
from carrel.evaluation.records import HUMAN, Score, Side, Verdict, Word
from carrel.evaluation.statistics import clusters, intervals
from carrel.evaluation.statistics.means import mean
from carrel.evaluation.words import counted, listed, percent
from carrel.providers.base import Criterion

LEAST = 10
"""Fewer pairs do not tell a good judge from a coin."""
MANY_FLIPS = 0.3
"""From this part of its pairs on, of ten at least, that a judge decides by their order, its word for any of them weighs
little."""
USEFUL = 0.6
"""A judge that agrees with itself, or with a person, in this part of the pairs may still tell answers apart."""
LEANS = 1.2
"""Deviations of a coin, of which eight in nine reach less: a judge beyond them prefers others to the leader. With 1.28,
nine in ten, two judges that contradict each other call one of three level candidates best in up to 6.4 % of runs over
12 to 20 documents, with this in 4.9; three judges of whom one is a coin find 1 to 2 points less of what is there."""
SHORTER_WON = 0.1
"""A leader that wins so little where its answer is the shorter one may win by its length alone."""
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

    `verdicts` are those that the ranking heard, or what scores say of pairs, `votes` a person's; `groups` are those of
    documents that belong together.
    """
    if not ranking.leaders:
        return ranking
    leader = ranking.leaders[0] if len(ranking.leaders) == 1 else None
    led = [one for one in verdicts if leader in (None, one.a, one.b)]
    found = [
        *_chance(ranking, led, verdicts, votes, again, groups or {}),
        *_opposed(leader, ranking.judges, led, groups or {}),
        *_relatives(leader, ranking.judges, families, judge_families),
        *_length(leader, led, votes),
        *_hidden(ranking, leader),
    ]
    return _doubted(ranking, found)


def of_checks(ranking: Ranking) -> Ranking:
    """A ranking by checks with the one doubt that needs no judge: what is missing."""
    return _doubted(ranking, list(_hidden(ranking, ranking.leaders[0] if len(ranking.leaders) == 1 else None)))


def _doubted(ranking: Ranking, found: Sequence[Distrust]) -> Ranking:
    if not any(one.decisive for one in found):
        return msgspec.structs.replace(ranking, distrust=tuple(found))
    rows = tuple(msgspec.structs.replace(row, is_best=False) if row.is_best else row for row in ranking.rows)
    return msgspec.structs.replace(ranking, distrust=tuple(found), best=None, rows=rows)


def preferred(
    scored: Iterable[Score], criteria: Sequence[Criterion], leaders: Sequence[str], votes: Iterable[Verdict]
) -> list[Verdict]:
    """What scores say of the one leader and each other candidate, and of pairs that people voted on, as verdicts."""
    cells = defaultdict[tuple[str, str, int], dict[str, float]](dict)
    for score in scored:
        value = scores.normalised(score, criteria)
        if score.fate == "given" and value is not None:
            cells[score.document, score.judge, score.repeat][score.candidate] = value
    voted = defaultdict[str, set[tuple[str, str]]](set)
    for vote in votes:
        voted[vote.document].add((min(vote.a, vote.b), max(vote.a, vote.b)))
    leader = leaders[0] if len(leaders) == 1 else None
    found = []
    for (document, judge, repeat), cell in cells.items():
        led = {(min(leader, one), max(leader, one)) for one in cell if one != leader} if leader in cell else set()
        for a, b in sorted(led | voted[document]):
            if a in cell and b in cell and cell[a] != cell[b]:
                ab: Word = "first" if cell[a] > cell[b] else "second"
                ba: Word = "second" if ab == "first" else "first"
                found.append(Verdict(document=document, judge=judge, a=a, b=b, repeat=repeat, ab=ab, ba=ba))
    return found


def checked(ranking: Ranking, built_in: Collection[str], failed: Collection[str]) -> Ranking:
    """The ranking with a first doubt for judges that are built in, and for those that failed the check of judges."""
    counting = [judge for judge in ranking.judges if judge in built_in]
    worse = [judge for judge in ranking.judges if judge in failed and judge not in built_in]
    found = []
    if worse:
        found.append(f"{listed(worse)} failed the check of judges.")
    if counting:
        are = "is" if len(counting) == 1 else "are"
        found.append(f"{listed(counting)} {are} built in and cannot tell what is true: this is a demonstration.")
    added = tuple(Distrust(kind="check", decisive=False, sentence=sentence) for sentence in found)
    return msgspec.structs.replace(ranking, distrust=(*added, *ranking.distrust)) if added else ranking


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
    ranking: Ranking,
    led: Sequence[Verdict],
    verdicts: Sequence[Verdict],
    votes: Sequence[Verdict],
    again: Again,
    groups: Mapping[str, str],
) -> Iterable[Distrust]:
    """Judges that are no better than a coin, by their own flips or by a person's votes; decisive if best needs them.

    Candidates that are level make a good judge flip, so only the orders of `led` count, its pairs with the leader, if
    there is one. Other judges that flip often follow. No doubt about orders may begin with a further win, so what is
    missed decides, and not how many pairs there are.
    """
    no_better: dict[str, str] = {}
    unproven: dict[str, str] = {}
    flipping = _flipping(ranking.judges, verdicts)
    for judge in ranking.judges:
        if judge == HUMAN:
            continue
        ours = _said(judge, led)
        orders = [(one.document, fate == "agreed") for one in ours if (fate := _clear(one)) is not None]
        persons = _with_person(_said(judge, verdicts), votes) if votes else []
        for hits, least, what in (
            (orders, 1, "named the other answer in {} of {} pairs when their places changed"),
            (persons, LEAST, "named another answer than a person in {} of {} pairs"),
        ):
            missed, of = sum(1 for _, hit in hits if not hit), len(hits)
            words = what.format(missed, of)
            if of >= least and _useless(hits, groups):
                no_better.setdefault(judge, words)
            elif of >= LEAST and not _above_half(of - missed, of) and (hits is persons or judge not in flipping):
                unproven.setdefault(judge, words)
    needed = bool(no_better) and ranking.best is not None
    needed = needed and again(dict.fromkeys(no_better, 0.0)).best != ranking.best
    for judge, words in no_better.items():
        yield Distrust(kind="chance", decisive=needed, sentence=f"{judge} is no better than a coin: it {words}.")
    for judge, words in unproven.items():
        if judge not in no_better:
            yield Distrust(
                kind="unproven", decisive=False, sentence=f"{judge} cannot yet be told from a coin: it {words}."
            )
    for judge, (flips, of) in flipping.items():
        if judge not in no_better:
            is_told = _above_half(of - flips, of)
            yield Distrust(
                kind="flips",
                decisive=False,
                sentence=(
                    f"{judge} {'' if is_told else 'cannot yet be told from a coin: it '}named the other answer in"
                    f" {flips} of {of} pairs ({percent(flips / of)}) when their places changed."
                ),
            )


def _useless(hits: Sequence[tuple[str, bool]], groups: Mapping[str, str]) -> bool:
    """Whether the interval of the agreement, by document or group, excludes a useful judge."""
    by_document: defaultdict[str, list[float]] = defaultdict(list)
    for document, hit in hits:
        by_document[document].append(float(hit))
    found = intervals.share(*clusters.sampled({one: mean(values) for one, values in by_document.items()}, groups))
    high = found.high(intervals.probability(), 1.0)
    return high is not None and high < USEFUL


def _clear(verdict: Verdict) -> records.Fate | None:
    """`agreed` or `flip`, where both orders named a winner."""
    if _toward(verdict) is not None:
        return "agreed"
    return "flip" if records.fate(verdict) == "flip" else None


def _flipping(judges: Sequence[str], verdicts: Sequence[Verdict]) -> dict[str, tuple[int, int]]:
    """Judges that often named the other answer when the places changed, with how often and in how many pairs."""
    heard = Counter(map(attrgetter("judge", "by_rule", "ab", "ba"), verdicts))
    found = {}
    for judge in judges:
        agreed, flips = _orders(judge, heard)
        if flips >= MANY_FLIPS * max(agreed + flips, LEAST):
            found[judge] = flips, agreed + flips
    return found


def _said(judge: str, verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.judge == judge and verdict.by_rule is None]


def _orders(judge: str, heard: Mapping[tuple[str, Side | None, Word, Word], int]) -> tuple[int, int]:
    """In how many pairs both orders named the same winner, and in how many the other one."""
    agreed = flips = 0
    for (name, rule, ab, ba), times in heard.items():
        if name == judge and rule is None:
            fate, y = records.outcome(rule, ab, ba)
            agreed += times if y in (0.0, 1.0) else 0
            flips += times if fate == "flip" else 0
    return agreed, flips


def _above_half(hits: int, of: int) -> bool:
    """Whether so many are more than a coin would give in 39 of 40 cases."""
    return hits > of / 2 + 0.98 * math.sqrt(of)


def _with_person(said: Iterable[Verdict], votes: Sequence[Verdict]) -> list[tuple[str, bool]]:
    """By document, where both named a winner: whether it was the same one."""
    theirs = {_meeting(vote): value for vote in votes if (value := _toward(vote)) is not None}
    pairs = [(one, theirs[_meeting(one)]) for one in said if _meeting(one) in theirs]
    return [(one.document, ours == other) for one, other in pairs if (ours := _toward(one)) is not None]


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


def _opposed(
    leader: str | None, judges: Sequence[str], led: Sequence[Verdict], groups: Mapping[str, str]
) -> Iterable[Distrust]:
    """Judges that prefer others to the leader; decisive if they are a third of all.

    Each is asked alone, on how many documents or groups the leader lost more than it won, because a further win for the
    leader can only end that. How often judges name different winners can grow by a win.
    """
    against = []
    for judge in judges if leader is not None and len(judges) > 1 else ():
        clear = [(one.document, winner) for one in _said(judge, led) if (winner := _toward(one)) is not None]
        ahead = defaultdict[str, float](float)
        for document, winner in clear:
            ahead[document] += 1.0 if winner == leader else -1.0
        told = clusters.sampled(ahead, groups).by_group
        won, lost = sum(one > 0 for one in told), sum(one < 0 for one in told)
        if lost - won - 1 > LEANS * math.sqrt(lost + won):
            others = sum(winner != leader for _, winner in clear)
            against.append(f"{judge} preferred others to {leader} in {others} of {len(clear)} clear pairs")
    if against:
        yield Distrust(
            kind="opposed",
            decisive=3 * len(against) >= len(judges),
            sentence=f"The judges contradict each other: {listed(against)}.",
        )


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


def _length(leader: str | None, led: Sequence[Verdict], votes: Sequence[Verdict]) -> Iterable[Distrust]:
    """Rivals over whom the leader may lead by its length alone; a person's votes for it, ten at least, settle that.

    What the leader wins where its answer is the longer one speaks neither for nor against it here: otherwise more
    evidence would make a verdict weaker.
    """
    longer, shorter, won = Counter[str](), Counter[str](), Counter[str]()
    for verdict in led if leader is not None else ():
        a, b, winner = verdict.a_length, verdict.b_length, _toward(verdict)
        if verdict.by_rule is not None or a is None or b is None or a == b:
            continue
        rival = verdict.b if leader == verdict.a else verdict.a
        if (a > b) == (leader == verdict.a):
            longer[rival] += 1
        elif winner is not None:
            shorter[rival] += 1
            won[rival] += winner == leader
    for rival, of in sorted(longer.items()):
        if of < LEAST or _voted_for(leader, rival, votes):
            continue
        if not shorter[rival]:
            yield Distrust(
                kind="length",
                decisive=False,
                sentence=(
                    f"Length and candidate are the same thing here: the answer of {leader} was the longer one in"
                    f" {of} pairs with {rival}, and won or lost none as the shorter one. Ten blind votes tell which of"
                    " the two the judges preferred."
                ),
            )
        elif won[rival] <= SHORTER_WON * shorter[rival]:
            yield Distrust(
                kind="length",
                decisive=True,
                sentence=(
                    f"Where its answer was the shorter one, {leader} won {won[rival]} of"
                    f" {counted(shorter[rival], 'pair')} with {rival} that had a winner: the judges may have measured"
                    " nothing but length. Ten blind votes tell."
                ),
            )


def _voted_for(leader: str | None, rival: str, votes: Sequence[Verdict]) -> bool:
    """Whether people, in ten votes with a winner at least, prefer the leader to this rival beyond chance."""
    winners = [_toward(vote) for vote in votes if {vote.a, vote.b} == {leader, rival}]
    known = [winner for winner in winners if winner is not None]
    return len(known) >= LEAST and _above_half(sum(winner == leader for winner in known), len(known))


def _hidden(ranking: Ranking, leader: str | None) -> Iterable[Distrust]:
    """What is missing and whose part that nothing explains takes a lead away, if it counts against the leader."""
    held = [contrast.candidate for contrast in ranking.contrasts if contrast.held_back]
    if leader is None or not held:
        return
    words = {"comparisons": f"verdicts about {leader}", "checks": f"answers of {leader} or its rivals"}
    what = words.get(ranking.basis, f"scores of {leader} or its rivals")
    judged = "; where replies stayed malformed, have the answers judged again by another judge"
    yield Distrust(
        kind="missing",
        decisive=all(contrast.ahead or contrast.held_back for contrast in ranking.contrasts),
        sentence=(
            f"Too many {what} are missing. If those that nothing else explains had gone against {leader}, its"
            f" lead over {listed(held)} could be chance. Retry the calls that failed"
            f"{'' if ranking.basis == 'checks' else judged}."
        ),
    )
