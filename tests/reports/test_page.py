"""The page of a report: harmless whatever it is made of, readable by everybody, the same bytes every time."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.kit.sqlite.rows import as_json
from carrel.providers.base import Criterion, Turn
from carrel.reports import findings, page
from carrel.reports.report_input import ReportInput
from tests.support.html import Page, assert_harmless, read
from tests.support.report_inputs import failed, report_input

ATTACKS = (
    "<script>alert(1)</script>",
    "</pre></div><script src=https://evil.example/x.js></script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)' x='",
    "[click](javascript:alert(1)) ![x](https://evil.example/p.png) <https://evil.example>",
    "<svg/onload=alert(1)><style>*{display:none}</style></style><base href=//evil.example>",
    "{{ 7 * 7 }}{% raw %} ${alert(1)} <!-- --> ]]> &lt;script&gt;",
    "\u202e\u0000<iframe srcdoc='<script>'>",
)


def rendered(made: ReportInput, other: ReportInput | None = None) -> Page:
    return read(page.render(findings.build(made, other)).decode())


def text_of(made: ReportInput, other: ReportInput | None = None) -> str:
    return rendered(made, other).all("body")[0].text


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_of_anybody_can_do_anything(attack: str) -> None:
    label = attack[:90]
    made = report_input(
        "aaf!",
        labels=(label, "beta"),
        text=attack,
        name=attack,
        document=attack,
        instructions=attack,
        said=attack,
        judges=(attack,),
        criteria=(Criterion(attack, attack),),
        costs=(5, 7),
    )
    head = msgspec.structs.replace(made.head, configuration=msgspec.json.encode({"note": attack}).decode())
    made = msgspec.structs.replace(made, head=head)
    found = rendered(made, made)
    assert_harmless(found)
    assert_harmless(read(page.memo(findings.build(made)).decode()))
    assert "49" not in found.all("h1")[0].text


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet=st.sampled_from("<>\"'&;#()[]!*_`|-= \n\tajs:/x{}%\u202e\x00"), max_size=120))
def test_no_answer_breaks_the_page(text: str) -> None:
    assert_harmless(rendered(report_input("a", text=text, document=text, said=text)))


@pytest.mark.parametrize("documents", [1, 3, 12])
@pytest.mark.parametrize("labels", [("x", "y"), ("one", "two", "three", "four", "five", "six")])
def test_the_page_is_complete_for_few_and_many(documents: int, labels: tuple[str, ...]) -> None:
    made = report_input("aab=fiaabaaa"[:documents], labels=labels)
    report = findings.build(made)
    found = read(page.render(report).decode())
    assert found.all("h1")[0].text.endswith("A run")
    assert report.decision.headline in found.all("h2")[0].text
    for told in (report.decision.reason, report.verdict.sentence, report.verdict.scope):
        assert told in found.all("section")[0].text
    assert len(found.all("article")) == documents * len(labels)
    assert len([one for one in found.all("details") if one.attributes.get("class") == "document"]) == documents


def test_a_memo_has_the_decision_its_figures_and_where_the_other_one_is_worse() -> None:
    report = findings.build(
        report_input("a" * 12, labels=("x", "y"), costs=(850, 120), document="What is it?", said="Names it.")
    )
    found = read(page.memo(report).decode())
    assert [one.text for one in found.all("h2")][:1] == ["Take x."]
    text = found.all("body")[0].text
    for told in (report.decision.reason, "Where y is worse", "What is it?", "A judge: Names it.", "How it was found"):
        assert told in text
    assert text.count("A judge:") == 3
    assert report.verdict.scope in text


def test_nothing_in_the_page_leads_outside() -> None:
    html = page.render(findings.build(report_input("aab", text="Plain.", document="Guide"))).decode()
    assert "http:" not in html
    assert "https:" not in html
    assert "url(" not in html
    assert "@import" not in html


def test_everybody_can_read_it() -> None:
    found = rendered(report_input("aab=f", labels=("x", "y", "z"), costs=(1, 2, 3)))
    assert found.all("html")[0].attributes["lang"] == "en"
    assert any(one.attributes.get("name") == "viewport" for one in found.all("meta"))
    assert len(found.all("h1")) == 1
    levels = [int(one.tag[1]) for one in found.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    for drawing in found.all("svg"):
        assert drawing.attributes["role"] == "img"
        assert drawing.attributes["aria-label"]
    assert len(found.all("caption")) == len(found.all("table"))
    assert all(one.attributes.get("scope") in ("col", "row") for one in found.all("th"))
    scrolling = [one for one in found.elements if one.attributes.get("class") == "scroll"]
    assert scrolling
    assert all(one.attributes["tabindex"] == "0" and one.attributes["aria-label"] for one in scrolling)
    names = [one.attributes["id"] for one in found.elements if "id" in one.attributes]
    assert len(names) == len(set(names))
    targets = {(one.attributes["href"] or "")[1:] for one in found.all("a")}
    assert targets <= set(names)


def test_headings_of_an_answer_go_under_those_of_the_page() -> None:
    found = rendered(report_input("a", text="# Big\n\n### Small"))
    assert [one.text for one in found.all("h5")][:1] == ["Big"]
    assert [one.text for one in found.all("h6")][:1] == ["Small"]


def test_a_criterion_written_from_right_to_left_does_not_turn_its_mark_around() -> None:
    found = rendered(report_input("aa", criteria=(Criterion("כיסוי", ""),)))
    named = [one for one in found.all("bdi") if one.text == "כיסוי"]
    # In the list of criteria, in the judges' agreement, and beside each mark.
    assert len(named) > 2


def test_a_flip_is_marked_with_both_orders() -> None:
    found = rendered(report_input("f"))
    assert "⇄ 1 flip" in "".join(one.text for one in found.all("summary"))
    row = next(one for one in found.all("tr") if one.attributes.get("class") == "flip")
    assert "alpha" in row.text
    assert "beta" in row.text
    assert "⇄ flip" in row.text


def test_few_documents_are_drawn_grey() -> None:
    assert all(one.attributes.get("class") == "grey" for one in rendered(report_input("aab")).all("svg"))
    assert not any(one.attributes.get("class") == "grey" for one in rendered(report_input("a" * 6)).all("svg"))


def test_of_one_document_no_interval_is_spoken_of() -> None:
    single, few = text_of(report_input("a")), text_of(report_input("aab"))
    assert "so there is no interval" in single
    assert "intervals are grey" not in single
    assert "interval in which" not in single
    assert "each interval is at 95 %" not in single
    assert "interval in which that share lies" in few
    assert "each interval is at 95 %" in few


def test_the_bar_of_whoever_is_first_of_several_allows_for_luck() -> None:
    made = report_input("aab=aaaa", labels=("x", "y", "z"))
    first = findings.build(made).ranking.rows[0]
    assert first.first_low is not None
    assert first.low is not None
    found = rendered(made)
    bar = next(one for one in found.all("svg") if (one.attributes["aria-label"] or "").startswith("x: win share"))
    assert f"95 % interval {100 * first.first_low:.0f} % to" in (bar.attributes["aria-label"] or "")
    assert f"{100 * first.low:.0f}" != f"{100 * first.first_low:.0f}"
    assert "(95 %). Luck helps a candidate" in text_of(made)
    assert "Luck helps" not in text_of(report_input("aab=aaaa"))


def test_cost_is_set_against_quality_only_if_costs_differ() -> None:
    assert "Quality against cost" not in text_of(report_input("aaaaa", costs=(5, 5)))
    assert "Quality against cost" not in text_of(report_input("aaaaa", costs=(None, 5)))
    assert "Quality against cost" in text_of(report_input("aaaaa", costs=(4, 5)))


def test_an_unfinished_run_says_so_above_its_verdict() -> None:
    html = page.render(findings.build(report_input("aa?", state="paused", finished=False))).decode()
    assert html.index("This run is not finished.") < html.index('id="verdict"')
    assert "(user)" in html
    assert "not finished" not in page.render(findings.build(report_input("aaa"))).decode()


def test_a_cancelled_run_says_so() -> None:
    assert "was cancelled" in text_of(report_input("aa", state="cancelled"))


def test_a_missing_answer_says_why() -> None:
    text = text_of(failed(report_input("aa"), 1, 2, "provider-timeout"))
    assert "No answer: the call failed (provider-timeout)." in " ".join(text.split())
    assert "Tasks without a result" in text


def test_a_conversation_is_shown_turn_by_turn_and_as_judges_read_it() -> None:
    made = report_input("a")
    turns = as_json([Turn("user", "Where is <it>?"), Turn("assistant", "Here."), Turn("user", "Thanks.")])
    [document] = made.documents
    document = msgspec.structs.replace(document, text="user: Where is <it>? …", turns=turns)
    page = rendered(msgspec.structs.replace(made, documents=(document,)))
    assert_harmless(page)
    said = [item.text for item in page.all("li") if item.attributes.get("class") in ("user", "assistant")]
    assert said == ["UserWhere is <it>?", "AssistantHere.", "UserThanks."]
    assert "As judges read it" in page.all("body")[0].text


def test_a_text_without_room_is_said_to_be_in_the_export() -> None:
    made = report_input("a")
    answers = tuple(msgspec.structs.replace(answer, text=None) for answer in made.answers)
    text = text_of(msgspec.structs.replace(made, answers=answers, left_out=2))
    assert "Left out here" in text
    assert "2 texts are left out" in text


def test_too_many_verdicts_are_not_listed() -> None:
    report = findings.build(report_input("a"))
    documents = tuple(msgspec.structs.replace(document, verdicts=None) for document in report.documents)
    html = page.render(msgspec.structs.replace(report, documents=documents)).decode()
    assert "too many verdicts to list" in html


def test_a_run_without_judges_or_scores_is_a_page_too() -> None:
    made = report_input("", judges=(), scored=False, finished=False, state="pending")
    assert "Nothing was compared or scored" in text_of(made)
    assert "has no judges" in text_of(made)


def test_an_answer_too_long_for_markdown_stands_as_it_is() -> None:
    found = rendered(report_input("a", text="*star* " + "word " * 10_000))
    plain = [one for one in found.all("pre") if "article" in one.inside]
    assert plain
    assert plain[0].text.startswith("*star*")


def test_a_page_renders_markdown_until_its_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PROSE_WORK", 2_000)
    found = rendered(report_input("aaa", text="|a|b\n|-|-\n" + "|x|y\n" * 50))
    plain = [one for one in found.all("pre") if one.text.startswith("|a|b")]
    assert 0 < len(plain) < 6


def test_two_runs_stand_in_one_table() -> None:
    found = rendered(report_input("aaaaa"), report_input("bbb", name="Before"))
    section = next(one for one in found.all("section") if one.attributes["aria-labelledby"] == "against")
    assert "Before" in section.text
    assert "alpha" in section.text
    # On the three documents of both, alpha won all comparisons here and none there; the scores are the same.
    assert "+0.00" in section.text
    assert "+100" in section.text
    assert "−100" in section.text


def test_the_same_report_is_the_same_page() -> None:
    made = report_input("aab=f", labels=("x", "y", "z"))
    assert page.render(findings.build(made)) == page.render(findings.build(made))


def test_a_lead_that_is_not_nought_does_not_look_like_it() -> None:
    found = rendered(report_input("ab" * 10 + "a"))
    assert "+5" in "".join(one.text for one in found.all("td"))
    assert page._lead(-0.0012, "win_share") == "−0.1"
    assert page._lead(0.0, "win_share") == "+0"
    assert page._lead(0.25, "rating") == "+0.25"


def test_a_run_with_scores_alone_is_ranked_by_them_and_says_so() -> None:
    made = report_input("." * 20)
    report = findings.build(made)
    assert (report.ranking.basis, report.ranking.leaders, report.ranking.best) == ("scores", ("beta",), "beta")
    assert [candidate.compared for candidate in report.candidates] == [False, False]
    page_ = text_of(made)
    assert "Nothing was compared; by scores alone: beta is best: its mean score is 0.75, of 1, on 20 documents" in page_
    assert "this goes by scores" in page_
    assert "Win share" not in page_.split("How to read this")[0]
    labels = [drawing.attributes.get("aria-label", "") for drawing in rendered(made).all("svg")]
    assert "beta: mean score 75 %, 95 % interval 65 % to 78 %" in " ".join(map(str, labels))


def test_from_twenty_documents_on_length_is_set_aside_or_said_to_be_inseparable() -> None:
    made = report_input("aab" * 7)
    assert "is not known: length and candidate cannot be told apart" in text_of(made)
    verdicts = [
        msgspec.structs.replace(told, a_length=10 + place % 5, b_length=12)
        for place, told in enumerate(made.evidence.verdicts)
    ]
    evidence = msgspec.structs.replace(made.evidence, verdicts=verdicts)
    page_ = text_of(msgspec.structs.replace(made, evidence=evidence, ranking=None))
    assert (
        "If longer answers won by their length alone (length-adjusted after Dubois and others 2024), alpha would win"
        in page_
    )
    assert "The longer of two equally good answers wins" in page_
    assert "equally long" not in text_of(report_input("aab"))


def test_the_passports_lead_to_those_over_all_runs() -> None:
    text = text_of(report_input("aab"))
    assert "Their passports in this run" in text
    assert "carrel judge list" in text


def test_costs_are_dollars_and_never_credits() -> None:
    text = text_of(report_input("aaaaa", costs=(4, 5)))
    assert "credit" not in text
    assert "$0.00004" in text
