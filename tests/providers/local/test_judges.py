"""The built-in judges: what they can judge by, what they measure, and that order and scale never matter."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.providers.base import CompareMatter, Criterion, ScoreMatter
from carrel.providers.local import supported_criterion
from carrel.providers.local.criteria import aspect_of
from carrel.providers.local.generators import generate
from carrel.providers.local.judges import JUDGES, UnsupportedCriterion, compare, score
from carrel.providers.local.measures import Measures, jensen_shannon, lix, reader, statistician, text_of
from tests.providers.local.guides import GUIDE, documents

CRITERIA = (Criterion("Coverage", "", 2.0), Criterion("Clarity", ""), Criterion("Conciseness", ""))
GOOD = generate("submodular", GUIDE)[0]
OFF_TOPIC = "The stock exchange opens at nine. Traders shout prices across the floor. Rain fell on the harbour."


def winner(judge: str, first: str, second: str, criteria: tuple[Criterion, ...] = CRITERIA, **more: str) -> str:
    answer = json.loads(compare(judge, CompareMatter(GUIDE, first, second, criteria, **more)))
    assert set(answer) == {"winner", "reason"}
    return str(answer["winner"])


def scores(judge: str, answer: str, criteria: tuple[Criterion, ...] = CRITERIA, **more: str) -> dict[str, float]:
    found = json.loads(score(judge, ScoreMatter(GUIDE, answer, criteria, **more)))
    assert set(found) == {"scores", "reason"}
    assert found["reason"].startswith(("Key-phrase ", "Readability ", "Novelty ", "Word ", "Anchored ", "Unrepeated "))
    return dict(found["scores"])


def measured(judge: str, answer: str, document: str = GUIDE, reference: str | None = None) -> Measures:
    make = {"reader": reader, "statistician": statistician}[judge]
    return make([text_of(source) for source in (document, reference) if source is not None])(text_of(answer))


@pytest.mark.parametrize(
    ("name", "description", "of_reader", "of_statistician"),
    [
        ("Coverage", "", "coverage", "coverage"),
        ("completeness", "", "coverage", "coverage"),
        ("Key facts", "", "coverage", None),
        ("faithfulness", "", None, "coverage"),
        ("readability", "", "clarity", None),
        ("Coherence", "", None, "clarity"),
        ("Clarity", "is it complete and relevant?", "clarity", "clarity"),
        ("No repetition", "", "concision", "concision"),
        ("q1", "Does the answer cover all important points?", "coverage", "coverage"),
        ("accuracy", "Is everything covered?", None, None),
        ("Vollständigkeit", "", None, None),
        ("", "", None, None),
    ],
)
def test_criteria_are_known_by_their_words(
    name: str, description: str, of_reader: str | None, of_statistician: str | None
) -> None:
    criterion = Criterion(name, description)
    assert [aspect_of(judge, criterion) for judge in ("reader", "statistician")] == [of_reader, of_statistician]
    assert supported_criterion("reader", criterion) is (of_reader is not None)
    assert not supported_criterion("lexrank", criterion)


@pytest.mark.parametrize("judge", JUDGES)
def test_a_criterion_that_is_not_measured_is_refused(judge: str) -> None:
    strange = (*CRITERIA, Criterion("truth", ""))
    with pytest.raises(UnsupportedCriterion):
        score(judge, ScoreMatter(GUIDE, GOOD, strange))
    with pytest.raises(UnsupportedCriterion):
        compare(judge, CompareMatter(GUIDE, GOOD, GOOD, strange))


@pytest.mark.parametrize("judge", JUDGES)
def test_a_summary_beats_what_is_off_topic_and_what_is_empty(judge: str) -> None:
    assert winner(judge, GOOD, OFF_TOPIC) == "first"
    assert winner(judge, OFF_TOPIC, GOOD) == "second"
    assert winner(judge, GOOD, "") == "first"
    assert winner(judge, "", "## Heading alone") == "tie"
    assert set(scores(judge, "").values()) == {1.0}


@pytest.mark.parametrize("judge", JUDGES)
def test_equal_answers_tie_and_small_differences_are_none(judge: str) -> None:
    assert winner(judge, GOOD, GOOD) == "tie"
    assert winner(judge, GOOD, GOOD + " Bees buzz.") == "tie"


@pytest.mark.parametrize("judge", JUDGES)
def test_scores_lie_on_each_criterions_own_scale(judge: str) -> None:
    scales = (
        Criterion("coverage", "", 1, 0, 1),
        Criterion("clarity", "", 1, 0, 100),
        Criterion("novelty", "", 1, -5, -5),
    )
    found = scores(judge, GOOD, scales)
    shares = measured(judge, GOOD)
    assert found["coverage"] == pytest.approx(shares.coverage, abs=0.001)
    assert found["clarity"] == pytest.approx(100 * shares.clarity, abs=0.001)
    assert found["novelty"] == -5


def test_weights_decide_and_without_any_all_count_the_same() -> None:
    plain, full = "The hive is the hive. It is fine. We like it.", GOOD.replace("\n\n", " ").replace(". ", " and ")
    assert winner("reader", plain, full, (Criterion("clarity", ""), Criterion("coverage", "", 0.01))) == "first"
    assert winner("reader", plain, full, (Criterion("clarity", "", 0.01), Criterion("coverage", ""))) == "second"
    weightless = tuple(Criterion(one.name, "", 0.0) for one in CRITERIA)
    assert winner("reader", plain, full, weightless) == winner("reader", plain, full, ())


@pytest.mark.parametrize("judge", JUDGES)
def test_a_reference_counts_towards_coverage(judge: str) -> None:
    reference = "Wintering needs mice guards, Apiguard and a tilted roof. Mice guards keep mice out."
    answer = "Mice guards and Apiguard help in winter."
    assert scores(judge, answer, reference=reference)["Coverage"] > scores(judge, answer)["Coverage"]


def test_the_reader_wants_numbers_names_and_repeated_pairs() -> None:
    document = "We met Ada Lovelace in 1842 there. The sugar syrup helps. More sugar syrup helps more."
    assert measured("reader", "It was 1842.", document).coverage > 0
    assert measured("reader", "We know ada and lovelace.", document).coverage > 0
    assert measured("reader", "Sugar syrup.", document).coverage > 0
    assert measured("reader", "We met there.", document).coverage == 0


def test_the_reader_prefers_short_sentences_of_short_words() -> None:
    heavy = (
        "Notwithstanding considerable organisational complications, apiculturists consistently accomplish harvesting."
    )
    assert measured("reader", "Bees fly. Bees work. We rest.").clarity > measured("reader", heavy).clarity


def test_the_reader_marks_down_what_repeats_itself() -> None:
    once = "Count the mites on the bees."
    assert measured("reader", once).concision == 1
    assert measured("reader", f"{once} {once}").concision == pytest.approx(0.5)


def test_the_statistician_sees_openings_that_point_to_nothing() -> None:
    document = "Syrup is sweet. However, feeding in summer spoils the honey. Bees like it."
    assert measured("statistician", "However, feeding in summer spoils the honey.", document).clarity == 0
    assert measured("statistician", document, document).clarity == 1
    assert (
        measured("statistician", "Bees like it. However, feeding in summer spoils the honey.", document).clarity == 0.5
    )
    assert measured("statistician", "Feeding is a risk. This spoils honey.", document).clarity == 1
    assert measured("statistician", "Feeding is a risk.\n\nThis spoils honey.", document).clarity == 0.5


def test_the_statistician_marks_down_repeated_trigrams() -> None:
    once = "Count the mites on the bees."
    assert measured("statistician", once).concision == 1
    assert measured("statistician", f"{once} {once}").concision == pytest.approx(0.5)


def test_the_divergence_is_0_for_equal_and_1_for_disjoint_words() -> None:
    assert jensen_shannon({"a": 1, "b": 1}, {"a": 5, "b": 5}) == 0
    assert jensen_shannon({"a": 3}, {"b": 1}) == 1
    assert jensen_shannon({"a": 1}, {}) == 1
    # Halves against one: m = (3/4, 1/4); 0.5·(0.5·log2(2/3) + 0.5·log2 2) + 0.5·log2(4/3).
    expected = 0.25 * math.log2(2 / 3) + 0.25 + 0.5 * math.log2(4 / 3)
    assert jensen_shannon({"a": 1, "b": 1}, {"a": 1}) == pytest.approx(expected)


def test_lix_is_words_per_sentence_and_the_percentage_of_long_words() -> None:
    assert lix([["Bees", "collect", "nectar"], ["Beekeepers", "rest", "now", "too"]]) == pytest.approx(
        3.5 + 100 * 2 / 7
    )
    assert lix([]) == 0


_numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6)
_criteria = st.lists(
    st.builds(
        Criterion, st.sampled_from(["coverage", "clarity", "repetition"]), st.just(""), _numbers, _numbers, _numbers
    ),
    max_size=4,
).map(tuple)


@pytest.mark.parametrize("judge", JUDGES)
@given(document=documents, answer=documents, criteria=_criteria, reference=st.none() | documents)
@settings(max_examples=50, deadline=None)
def test_any_answer_scores_within_its_scales(
    judge: str, document: str, answer: str, criteria: tuple[Criterion, ...], reference: str | None
) -> None:
    found = json.loads(score(judge, ScoreMatter(document, answer, criteria, reference)))
    assert found["scores"].keys() == {criterion.name for criterion in criteria}
    last = {criterion.name: criterion for criterion in criteria}
    for name, value in found["scores"].items():
        low, high = sorted((last[name].minimum, last[name].maximum))
        assert low <= value <= high
    assert all(0 <= share <= 1 for share in measured(judge, answer, document, reference))


@pytest.mark.parametrize("judge", JUDGES)
@given(document=documents, first=documents, second=documents, criteria=_criteria)
@settings(max_examples=50, deadline=None)
def test_swapping_the_answers_swaps_the_winner(
    judge: str, document: str, first: str, second: str, criteria: tuple[Criterion, ...]
) -> None:
    one = json.loads(compare(judge, CompareMatter(document, first, second, criteria)))["winner"]
    other = json.loads(compare(judge, CompareMatter(document, second, first, criteria)))["winner"]
    assert other == {"first": "second", "second": "first", "tie": "tie"}[one]
