"""A ranking on a terminal shows what the figures say."""

from carrel_sdk.models import (
    CandidateChecks,
    CheckColumn,
    CheckResults,
    ComparisonCounts,
    Figures,
    LongerText,
    Look,
    LookTaken,
    PassRate,
    Row,
    Statement,
)
from msgspec.structs import replace
from rich.console import Console

from carrel.cli.interface.ranking_table import WIDTH, checks_table, drawn, looks_table, ranking_table, verdict_panel


def row(candidate: str, share: float | None, low: float | None, high: float | None, place: int | None = 1) -> Row:
    return Row(candidate=candidate, place=place, win_share=share, low=low, high=high, score=0.5)


def figures_of(*, rows: list[Row], leaders: list[str], documents: int, basis: str = "comparisons") -> Figures:
    return Figures(
        rows=rows,
        leaders=leaders,
        documents=documents,
        basis=basis,
        counts=ComparisonCounts(planned=0),
        longer_text=LongerText(won=0),
    )


def shown(thing: object) -> str:
    console = Console(width=120, force_terminal=False)
    with console.capture() as capture:
        console.print(thing)
    return capture.get()


def test_an_interval_is_drawn_to_scale_with_its_middle() -> None:
    line = drawn(row("a", 0.73, 0.5, 1.0))
    assert len(line) == WIDTH
    assert (line.index("├"), line.index("●"), line.index("┤")) == (15, 22, 30)


def test_the_interval_of_whoever_is_first_allows_for_luck_and_says_so() -> None:
    rows = [replace(row("a", 0.73, 0.5, 1.0), first_low=0.4), row("b", 0.5, 0.3, 0.7, 2), row("c", 0.3, 0.1, 0.5, 3)]
    figures = figures_of(rows=rows, leaders=["a"], documents=6)
    text = shown(ranking_table(figures, grey=False))
    assert ".40 – 1.00" in text
    assert "Luck helps a candidate" in text
    assert drawn(rows[0]).index("├") == 12
    level = replace(figures, rows=[row("a", 0.73, 0.5, 1.0)])
    assert "Luck" not in shown(ranking_table(level, grey=False))


def test_an_interval_beyond_the_scale_ends_at_its_edge() -> None:
    line = drawn(row("a", 0.9, 0.7, 1.3))
    assert line[-1] == "┤"
    assert len(drawn(row("a", 0.0, -0.4, 0.2))) == WIDTH


def test_half_is_marked_where_there_is_nothing_else() -> None:
    assert drawn(row("a", None, None, None)).strip() == "┊"
    assert drawn(row("a", 0.25, None, None)).count("●") == 1


def test_the_table_names_every_candidate_its_place_and_interval() -> None:
    figures = figures_of(
        rows=[
            row("submodular", 0.65, 0.55, 0.75),
            row("left out", None, None, None, None),
            row("one", 0.4, None, None),
        ],
        leaders=["submodular"],
        documents=12,
    )
    text = shown(ranking_table(figures, grey=False))
    assert ".55 – .75" in text
    assert "not compared" in text
    assert "none" in text


def test_intervals_of_a_run_that_may_stop_early_are_called_repeated() -> None:
    look = Look(number=1, of=5, before=0, documents=10, planned=30, part=1 / 3, stopped=True)
    figures = figures_of(rows=[row("one", 0.9, 0.6, 1.0)], leaders=["one"], documents=10)
    assert "95 % interval" in shown(ranking_table(figures, grey=False))
    assert "95 %, repeated" in shown(ranking_table(replace(figures, look=look), grey=False))


def test_a_table_says_whom_each_look_dropped_and_what_that_saved() -> None:
    first = LookTaken(number=1, documents=10, leader="one", dropped=["three", "four"], decided=False, saved=48)
    second = LookTaken(number=2, documents=15, leader="one", dropped=[], decided=False, saved=0)
    last = LookTaken(number=3, documents=20, leader="one", dropped=[], decided=True, saved=1_000)
    table = looks_table([first, second, last])
    rows = [line.split() for line in shown(table).splitlines()]
    assert rows[2] == ["1", "10", "dropped", "three,", "four", "48"]
    assert rows[3] == ["2", "15", "nobody", "was", "dropped", "0"]
    assert rows[4] == ["3", "20", "one", "is", "best:", "the", "run", "ended", "1,000"]
    assert rows[5] == ["together", "1,048"]
    assert looks_table([second]) is None


def test_on_a_narrow_terminal_the_drawing_gives_way_and_then_the_score_but_no_name() -> None:
    names = ["local:submodular", "local:lexrank"]
    rows = [Row(candidate=name, place=1, win_share=0.6, low=0.5, high=0.7, score=0.33, documents=6) for name in names]
    figures = figures_of(rows=rows, leaders=names, documents=6)
    for width, drawing, scored in ((80, True, True), (79, False, True), (47, False, True), (46, False, False)):
        text = shown(ranking_table(figures, grey=False, width=width))
        assert (drawing, scored) == ("●" in text, ".33" in text), width
        assert all(name in text for name in names)
        assert ".50 – .70" in text


def test_scores_are_drawn_where_nothing_was_compared() -> None:
    rows = [
        Row(candidate="scored", place=1, score=0.8, score_low=0.7, score_high=0.9, documents=6),
        Row(candidate="left out"),
    ]
    figures = figures_of(rows=rows, leaders=["scored"], documents=6, basis="scores")
    text = shown(ranking_table(figures, grey=False))
    assert ".70 – .90" in text
    assert "●" in text
    assert text.count("not compared") == 1


def test_the_sentence_stands_with_its_scope_and_doubts_and_obeys_no_escape() -> None:
    statement = Statement(
        outcome="level", sentence="\x1b[2JA leads.", scope="about these", notes=["By scores, B leads."], grey=False
    )
    text = shown(verdict_panel(statement))
    assert "\x1b[2J" not in text
    assert "This is about these." in text
    assert "By scores, B leads." in text


def test_checks_are_a_table_of_rates() -> None:
    def rate(share: float | None) -> PassRate:
        return PassRate(share=share, low=None if share is None else share - 0.1, high=share, documents=10)

    checks = CheckResults(
        sentence="…",
        checks=[
            CheckColumn(name="json", kind="json", required=True),
            CheckColumn(name="overlap", kind="chrf", share=True),
        ],
        rows=[
            CandidateChecks(candidate="new", mean=rate(0.8), rates=[rate(1.0), rate(0.6)], required=rate(1.0)),
            CandidateChecks(candidate="today", mean=rate(0.5), rates=[rate(0.5), rate(None)], required=rate(0.5)),
        ],
    )
    lines = [line.split() for line in shown(checks_table(checks)).splitlines()]
    assert lines[1:] == [
        ["check", "new", "today"],
        ["json", "(required)", "100", "%", "(90–100)", "50", "%", "(40–50)"],
        ["overlap", "60", "%", "(50–60)", "–"],
        ["all", "required", "100", "%", "(90–100)", "50", "%", "(40–50)"],
    ]
    assert checks_table(None) is None
