"""Halves of documents: fixed, even, with groups whole; and how often a question that is no better is called better."""

import numpy as np
import pytest

from carrel.evaluation.people import halves
from carrel.evaluation.people.halves import SinceRound
from carrel.evaluation.ranking import differences
from carrel.evaluation.statistics.clusters import Sample


def test_halves_follow_from_the_seed_and_are_even() -> None:
    for documents in (0, 1, 2, 7, 40):
        writing, testing = halves.halve("seed", documents, {})
        assert len(writing) == documents // 2
        assert writing | testing == {f"d{number}" for number in range(1, documents + 1)}
        assert halves.halve("seed", documents, {}) == (writing, testing)
    found = {halves.halve(str(seed), 40, {}).writing for seed in range(50)}
    assert len(found) == 50
    # Each document is as likely in the one half as in the other.
    assert 10 < sum("d1" in writing for writing in found) < 40


def test_documents_that_belong_together_are_in_one_half_and_halves_are_still_even() -> None:
    groups = {f"d{number}": f"d{1 + 3 * ((number - 1) // 3)}" for number in range(1, 10)}
    for seed in range(20):
        writing, testing = halves.halve(str(seed), 20, groups)
        for group in set(groups.values()):
            together = {name for name, its in groups.items() if its == group}
            assert together <= writing or together <= testing
        assert (len(writing), len(testing)) in ((9, 11), (10, 10), (11, 9))


def compared(here: float, there: float, documents: int, kept: int = 20, noise: float = 0.0) -> SinceRound:
    votes = {f"d{n}": [(here + noise * (-1) ** n, there)] for n in range(documents)}
    return halves.compare((3, 1), ("criteria",), votes, [f"d{n}" for n in range(kept)], {})


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            compared(1.0, 0.25, 14),
            "On the 14 documents that were kept for the test, the agreement with people is 100 % in round 3"
            " and 25 % in round 1 (the mean by document; no opinion is half): 75 points more (41 to 86). That holds if"
            " round 3 was made without looking at votes on these documents.",
        ),
        (
            compared(0.25, 1.0, 14),
            "On the 14 documents that were kept for the test, the agreement with people is 25 % in round 3"
            " and 100 % in round 1 (the mean by document; no opinion is half): 75 points less (41 to 86).",
        ),
        (
            compared(0.5, 0.5, 14, noise=0.5),
            "On the 14 documents that were kept for the test, the agreement with people is 50 % in round 3"
            " and 50 % in round 1 (the mean by document; no opinion is half): no gain shown (−29 to 29 points).",
        ),
        (
            compared(1.0, 0.0, 4),
            "Testing round 3 against round 1 takes votes on 1 more document of the half that is kept for the test.",
        ),
        (
            compared(1.0, 0.0, 0),
            "Testing round 3 against round 1 takes votes on 5 more documents of the half that is kept for the test.",
        ),
        (
            compared(1.0, 0.0, 2, kept=4),
            "Too few documents to test round 3 against round 1: half of them are kept for that, and these have to be 5"
            " or more that do not belong together.",
        ),
    ],
)
def test_a_gain_is_claimed_only_where_it_is_told(found: SinceRound, sentence: str) -> None:
    assert found.sentence == sentence


@pytest.mark.parametrize("votes", [1, 3])
@pytest.mark.parametrize("documents", [10, 20, 40])
def test_of_two_level_questions_one_is_called_better_in_at_most_5_percent(documents: int, votes: int) -> None:
    draws, random = 300, np.random.default_rng(documents * 10 + votes)
    # Some documents are easier than others, for either question alike; one word in six is no opinion.
    easy = random.beta(4, 2, (draws, documents, 1, 1))
    right = (random.random((draws, documents, votes, 2)) < easy).astype(float)
    right[random.random(right.shape) < 1 / 6] = 0.5
    means = right.mean(axis=2)
    outcomes = [differences.paired(Sample(row.tolist(), [])).outcome for row in means[..., 0] - means[..., 1]]
    called = {one: outcomes.count(one) / draws for one in ("better", "worse")}
    assert sum(called.values()) <= 0.05, called
