"""Short ways to tell what judges said, for the tests of this folder."""

from collections.abc import Sequence
from itertools import combinations

from hypothesis import strategies as st

from carrel.evaluation.records import Score, Verdict, Word
from carrel.providers.base import Criterion

WORDS: dict[str, tuple[Word, Word]] = {
    "a": ("first", "second"),
    "b": ("second", "first"),
    "tie": ("tie", "tie"),
    "flip": ("first", "first"),
    "inconsistent": ("first", "tie"),
    "invalid": ("invalid", "second"),
    "missing": ("missing", "missing"),
}


def verdict(document: str, pair: str, outcome: str, judge: str = "judge", repeat: int = 1) -> Verdict:
    """`verdict("d1", "AB", "a")`: on d1 the judge prefers A to B in both orders."""
    ab, ba = WORDS[outcome]
    return Verdict(document=document, judge=judge, a=pair[0], b=pair[1], repeat=repeat, ab=ab, ba=ba)


def verdicts(pair: str, outcomes: str, judge: str = "judge") -> list[Verdict]:
    """`verdicts("AB", "aab")`: A won on d1 and d2, B on d3; `=` is a tie, `?` missing, `!` invalid, `.` never asked."""
    names = {"a": "a", "b": "b", "=": "tie", "?": "missing", "!": "invalid"}
    return [verdict(f"d{i}", pair, names[o], judge) for i, o in enumerate(outcomes, 1) if o != "."]


def score(document: str, candidate: str, value: float, judge: str = "judge", repeat: int = 1) -> Score:
    """A score on the one criterion of `CRITERIA`."""
    return Score(document=document, judge=judge, candidate=candidate, repeat=repeat, values={"clarity": value})


CRITERIA = (Criterion(name="clarity", description="It is clear."),)


@st.composite
def tournaments(draw: st.DrawFn, outcomes: Sequence[str] = tuple(WORDS)) -> tuple[str, list[Verdict]]:
    """Two to four candidates, one to seven documents, one or two judges; each pair has an outcome or was not asked."""
    candidates = "ABCD"[: draw(st.integers(2, 4))]
    told = []
    for document in range(draw(st.integers(1, 7))):
        for judge in ["x", "y"][: draw(st.integers(1, 2))]:
            for a, b in combinations(candidates, 2):
                outcome = draw(st.sampled_from([*outcomes, "unasked"]))
                if outcome != "unasked":
                    told.append(verdict(f"d{document}", a + b, outcome, judge))
    return candidates, told
