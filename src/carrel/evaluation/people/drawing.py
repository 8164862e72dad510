"""How many comparisons each vote stands for, from the known probability with which its pair was drawn."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from carrel.evaluation.records import REPEATS, HumanVote, Verdict

Place = tuple[str, int]
"""A document in one of the runs, or one of the copies, that are pooled: pairs are drawn within such a place."""


def place(verdict: Verdict) -> Place:
    """Where the pair of this verdict was drawn."""
    return verdict.document, verdict.repeat // REPEATS


def weights(votes: Sequence[HumanVote], pairs: Mapping[Place, int]) -> list[float]:
    """One weight for each vote; those at a place add up to about its number of `pairs`, however many people voted.

    A voter draws pairs of a document one after another, without putting them back, and may stop at any time. The
    weights leave the sum over all pairs unbiased whatever the probabilities were, and they are equal once every pair
    was voted on (Farquhar, Gal and Rainforth 2021, arXiv 2101.11665).
    """
    drawn: defaultdict[tuple[Place, str], list[int]] = defaultdict(list)
    voters: defaultdict[Place, set[str]] = defaultdict(set)
    for i, vote in enumerate(votes):
        drawn[place(vote.verdict), vote.voter].append(i)
        voters[place(vote.verdict)].add(vote.voter)
    found = [0.0] * len(votes)
    for (where, _), ballots in drawn.items():
        each = pairs[where] / (len(ballots) * len(voters[where]))
        for i in ballots:
            found[i] = each * _levelled(votes[i], len(ballots))
    return found


def _levelled(vote: HumanVote, votes: int) -> float:
    if vote.chance is None or vote.among is None:
        return 1.0
    before = 1.0 / (vote.among * vote.chance) - 1.0
    whole = vote.among + vote.nth - 1
    return 1.0 + before * max(0, whole - votes) / (whole - vote.nth) if whole > vote.nth else 1.0
