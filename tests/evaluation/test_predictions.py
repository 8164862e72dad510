"""Verdicts on one half of public data, checked on the other; `predictions` prints the table."""

from tests.evaluation import predictions


def test_what_is_said_of_labels_and_votes_on_one_half_comes_true_on_the_other() -> None:
    labels = predictions.labels("Neighbor", "Vanilla")
    found = predictions.checked(labels, ("LLMBar Neighbor, Vanilla", 3, 20, 12))
    assert found.out >= 6
    assert found.out_true >= 0.9 * found.out
