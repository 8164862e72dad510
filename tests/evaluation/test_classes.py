"""Classes: the figures of scikit-learn, intervals that hold, and nobody best by luck."""

import pytest

from carrel.evaluation.ranking.ranking import Measure
from carrel.evaluation.statistics.f_scores import Classified, scores
from tests.evaluation import kept, labelled
from tests.evaluation.labelled import (
    CHECKED,
    LEVEL,
    WORLDS,
    World,
    best,
    called_best,
    covered,
    ranked,
    tournaments,
)
from tests.support import soak

# What scikit-learn 1.9.1 says with `labels` as expected and `zero_division=0`: precision, recall and F1 of each class,
# then accuracy and the macro, micro and weighted F1. An x names no class.
FIGURES: dict[str, tuple[str, str, list[list[float]]]] = {
    "two classes, 95 : 5": (
        "aaaaaaaaaaaaaaaaaaab" * 2,
        "aaaaaaabaaaaaaaaaaab" + "a" * 20,
        [[0.9736842105263158, 0.5]] * 3 + [[0.95, 0.736842105263158, 0.95, 0.95]],
    ),
    "one class that nobody said": (
        "aabbccaabb",
        "aababbaaab",
        [
            [0.6666666666666666, 0.5, 0.0],
            [1.0, 0.5, 0.0],
            [0.8, 0.5, 0.0],
            [0.6, 0.43333333333333335, 0.6, 0.52],
        ],
    ),
    "answers that name no class": (
        "abcabcabcabc",
        "abxabcaxcbbc",
        [
            [1.0, 0.75, 1.0],
            [0.75, 0.75, 0.75],
            [0.8571428571428571, 0.75, 0.8571428571428571],
            [0.75, 0.8214285714285715, 0.8181818181818182, 0.8214285714285715],
        ],
    ),
}


@pytest.mark.parametrize(("expected", "given", "figures"), FIGURES.values(), ids=FIGURES)
def test_figures_are_those_of_scikit_learn(expected: str, given: str, figures: list[list[float]]) -> None:
    names = sorted(set(expected))
    numbers = [names.index(one) if one in names else -1 for one in given]
    found = scores(Classified(range(len(given)), [names.index(one) for one in expected], numbers), len(names))
    right = float(found.hits.sum() / found.expected.sum())
    means = [right, float(found.f1.mean()), found.micro_f1, found.weighted_f1]
    told = [found.precision.tolist(), found.recall.tolist(), found.f1.tolist(), means]
    for one, wanted in zip(told, figures, strict=True):
        assert one == pytest.approx(wanted, abs=1e-9)
    # What documents add is the mean, class by class.
    assert found.each.mean(axis=0).tolist() == pytest.approx(figures[2], abs=1e-9)


def _held(count: int) -> list[float]:
    return [covered(World(classes, first, rate), documents, count, 7) for classes, first, documents, rate in WORLDS]


def test_intervals_hold_and_nobody_is_best_by_luck() -> None:
    held = _held(20)
    assert 0.93 < sum(held) / len(held) < 0.985
    for world in (*LEVEL, *CHECKED):
        assert called_best(world, "macro_f1", 3, 40, 100, 5).share <= 0.1
    # One to three documents of a class: by what each candidate alone reaches there, 12 %.
    assert called_best(LEVEL[6], "macro_f1", 2, 50, 400, 5).share <= 0.075


@pytest.mark.parametrize("measure", ["accuracy", "macro_f1"])
def test_the_simulation_s_rule_about_labels_is_the_service_s(measure: Measure) -> None:
    made = tournaments(LEVEL[4], measure, 3, 60, 8, 3)
    made.given[4:, :, 0] = made.expected[4:]
    found = best(made, measure).tolist()
    told = [ranked(made, tournament, measure).best for tournament in range(8)]
    assert [None if one < 0 else f"c{one}" for one in found] == told
    assert any(told)


@pytest.mark.soak(campaign="verdicts")
def test_so_they_do_in_thousands_of_runs(capsys: pytest.CaptureFixture[str]) -> None:
    held = _held(soak.size(2_000))
    assert all(0.9 < one < 0.995 for one in held)
    assert sum(0.93 <= one <= 0.975 for one in held) >= 22
    found = labelled.grid(soak.size(2_000), 2026)
    with capsys.disabled():
        kept.table("labels", labelled.table(found))
    # The greatest of many figures is high by chance.
    assert max(one.share for rates in found.values() for one in rates) <= 0.05 + 3.3 * (0.05 / soak.size(2_000)) ** 0.5
