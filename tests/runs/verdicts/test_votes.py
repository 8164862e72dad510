"""A person's blind votes over HTTP: shown without names, counted once, beside the judges and not among them."""

import csv
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.config import Settings
from carrel.runs.verdicts import answer_notes, votes
from tests.runs.verdicts.voting import LABELS, MODELS, bring_in, cast, next_pair, table_of
from tests.support.credit_runs import until
from tests.support.host import PLUGIN, Host, code_of
from tests.support.web_runs import planned


@pytest.fixture
def settings(settings: Settings, ended_run: tuple[Path, str]) -> Settings:
    shutil.copytree(ended_run[0], settings.data_dir)
    return settings


async def generated(ada: httpx.AsyncClient, run: str) -> dict[str, str]:
    """The answers' texts, by document and candidate."""
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    return {
        f"{document['document']} {answer['candidate']}": answer["text"]
        for document in report["documents"]
        for answer in document["answers"]
    }


async def test_nothing_in_a_ballot_tells_whose_answers_they_are(ada: httpx.AsyncClient, run: str) -> None:
    answer = await ada.post(f"{run}/votes/next")
    ballot = answer.json()
    assert set(ballot) == {
        "pair", "document_name", "document", "reference", "instructions", "criteria", "rubric", "first", "second",
        "left", "turns",
    }  # fmt: skip
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    for secret in (*LABELS, *MODELS, "local:", *report["run"]["generated"].values(), *report["run"]["generated"]):
        assert secret not in answer.text
    texts = list((await generated(ada, run)).values())
    assert ballot["first"] in texts
    assert ballot["second"] in texts
    assert ballot["first"] != ballot["second"]
    assert ballot["criteria"] == ["Coverage", "Clarity"]
    voted = await cast(ada, run, ballot["pair"], "first")
    assert set(voted) == {"id", "verdict", "voted_at", "votes"}


async def test_the_pair_stays_until_it_is_voted_on(ada: httpx.AsyncClient, run: str) -> None:
    first = await next_pair(ada, run)
    assert await next_pair(ada, run) == first
    await cast(ada, run, first["pair"], "tie")
    second = await next_pair(ada, run)
    assert second["pair"] != first["pair"]
    assert second["left"] == first["left"] - 1


async def test_every_pair_can_be_voted_on_and_counts_once(ada: httpx.AsyncClient, run: str) -> None:
    texts = await generated(ada, run)
    count = (await ada.get(f"{run}/votes/count")).json()
    assert count["votes"] == 0
    seen: dict[str, tuple[str, str]] = {}
    for voted in range(count["left"]):
        ballot = await next_pair(ada, run)
        assert ballot["left"] == count["left"] - voted - 1
        # A person of plain taste: whatever is earlier in the alphabet.
        verdict = "first" if ballot["first"] < ballot["second"] else "second"
        assert (await cast(ada, run, ballot["pair"], verdict))["votes"] == voted + 1
        seen[ballot["pair"]] = ballot["first"], ballot["second"]
        again = await ada.post(f"{run}/votes", json={"pair": ballot["pair"], "verdict": "tie"})
        assert (again.status_code, code_of(again)) == (409, "vote-counted")
    assert len(set(seen.values())) == count["left"] > 3
    over = await ada.post(f"{run}/votes/next")
    assert (over.status_code, code_of(over)) == (409, "nothing-to-vote-on")
    assert (await ada.get(f"{run}/votes/count")).json() == {"votes": count["left"], "left": 0, "both_bad": 0}
    listed = (await ada.get(f"{run}/votes")).json()["items"]
    assert [vote["id"] for vote in listed] == list(seen)[::-1]
    for vote in listed:
        shown = tuple(texts[f"d{vote['document']} {vote[side]}"] for side in ("first", "second"))
        assert shown == seen[vote["id"]]
        assert vote["winner"] == vote[vote["verdict"]]
    page = (await ada.get(f"{run}/votes", params={"limit": 2})).json()
    rest = (await ada.get(f"{run}/votes", params={"limit": 100, "cursor": page["next_cursor"]})).json()
    assert page["items"] + rest["items"] == listed


async def test_votes_stand_beside_the_ranking_and_move_it_only_when_asked(ada: httpx.AsyncClient, run: str) -> None:
    before = (await ada.get(f"{run}/ranking")).json()
    assert before["human"] is None
    told = (await ada.get(run)).json()
    for _ in range(4):
        await cast(ada, run, (await next_pair(ada, run))["pair"], "first")
    after = (await ada.get(f"{run}/ranking")).json()
    assert after["ranking"] == before["ranking"]
    assert after["human"]["votes"] == 4
    assert [pair["second"] for pair in after["human"]["judges"]] == ["human", "human"]
    assert "a person voted blind on 4 pairs and came to the judges' outcome on" in after["verdict"]["scope"]
    now = (await ada.get(run)).json()
    assert "no human has checked them" in told["verdict"]
    assert "a person has voted blind on some of them" in now["verdict"]
    assert now["version"] > told["version"]
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    assert report["human"] == after["human"]
    assert report["verdict"] == after["verdict"] | {"notes": report["verdict"]["notes"]}
    assert report["agreement"]["pairs"] == [
        pair for pair in report["agreement"]["pairs"] if "human" not in (pair["first"], pair["second"])
    ]
    page = await ada.get(f"{run}/report", headers={"Accept": "text/html"})
    assert "A person voted blind on 4 pairs" in page.text
    together = (await ada.get(f"{run}/ranking", params={"with_human": "true"})).json()
    assert "human" in together["ranking"]["judges"]
    assert together["ranking"]["exploratory"]
    assert together["verdict"]["scope"] == "about documents like these, for these judges, a person among them"
    only = '{"human": 1, "local:reader": 0, "local:statistician": 0}'
    alone = (await ada.get(f"{run}/ranking", params={"with_human": "true", "weights": only})).json()
    assert alone["ranking"]["judges"] == ["human"]
    refused = await ada.get(f"{run}/ranking", params={"weights": only})
    assert (refused.status_code, code_of(refused)) == (400, "invalid-input")


async def test_a_vote_that_is_taken_back_counts_no_more_and_is_not_asked_for_again(
    ada: httpx.AsyncClient, run: str
) -> None:
    left = (await ada.get(f"{run}/votes/count")).json()["left"]
    pair = (await next_pair(ada, run))["pair"]
    await cast(ada, run, pair, "second")
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 204
    assert (await ada.get(f"{run}/votes")).json()["items"] == []
    assert (await ada.get(f"{run}/votes/count")).json() == {"votes": 0, "left": left - 1, "both_bad": 0}
    assert (await ada.get(f"{run}/ranking")).json()["human"] is None
    assert "no human has checked them" in (await ada.get(run)).json()["verdict"]
    again = await ada.post(f"{run}/votes", json={"pair": pair, "verdict": "first"})
    assert (again.status_code, code_of(again)) == (409, "vote-counted")
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 404


async def test_the_last_vote_can_be_undone_and_its_pair_is_shown_again(ada: httpx.AsyncClient, run: str) -> None:
    first = await next_pair(ada, run)
    await cast(ada, run, first["pair"], "first")
    second = await next_pair(ada, run)
    undone = await ada.post(f"{run}/votes/{first['pair']}/undo")
    assert (undone.status_code, undone.json()) == (200, {"pair": first["pair"], "votes": 0})
    assert (await ada.get(f"{run}/votes/count")).json()["votes"] == 0
    assert "no human has checked them" in (await ada.get(run)).json()["verdict"]
    assert await next_pair(ada, run) == first
    await cast(ada, run, first["pair"], "second")
    assert await next_pair(ada, run) == second
    await cast(ada, run, second["pair"], "tie")
    late = await ada.post(f"{run}/votes/{first['pair']}/undo")
    assert (late.status_code, code_of(late)) == (409, "vote-not-last")
    assert (await ada.post(f"{run}/votes/none/undo")).status_code == 404
    assert [vote["verdict"] for vote in (await ada.get(f"{run}/votes")).json()["items"]] == ["tie", "second"]


async def test_two_bad_answers_are_a_tie_that_is_counted_by_itself(ada: httpx.AsyncClient, run: str) -> None:
    pair = (await next_pair(ada, run))["pair"]
    await cast(ada, run, pair, "tie")
    without = (await ada.get(f"{run}/ranking", params={"with_human": "true"})).json()
    assert (await ada.post(f"{run}/votes/{pair}/undo")).status_code == 200
    bad = {"pair": pair, "verdict": "tie", "both_bad": True}
    refused = await ada.post(f"{run}/votes", json=bad | {"verdict": "first"})
    assert [fault["path"] for fault in refused.json()["errors"]] == ["both_bad"]
    assert (await ada.post(f"{run}/votes", json=bad)).status_code == 201
    assert (await ada.get(f"{run}/ranking", params={"with_human": "true"})).json() == without
    assert (await ada.get(f"{run}/votes/count")).json()["both_bad"] == 1
    [vote] = (await ada.get(f"{run}/votes")).json()["items"]
    assert (vote["verdict"], vote["winner"], vote["both_bad"]) == ("tie", None, True)
    page = await ada.get(f"{run}/report", headers={"Accept": "text/html"})
    assert "1 of them ties (1 because both answers were bad)" in page.text
    [row] = await table_of(ada, run, "votes.csv")
    assert (row["verdict"], row["both_bad"]) == ("tie", "1")
    a, b, _ = LABELS
    table = "document,first,second,verdict,both_bad\n"
    refused = await bring_in(ada, run, f"{table}1,{a},{b},first,1\n", voter="Ann")
    assert [fault["path"] for fault in refused.json()["errors"]] == ["line 2, both_bad"]
    assert (await bring_in(ada, run, f"{table}1,{a},{b},tie,1\n", voter="Ann")).json()["imported"] == 1
    assert (await ada.get(f"{run}/votes/count")).json()["both_bad"] == 2


async def test_a_pair_that_nobody_can_tell_apart_is_passed_over(ada: httpx.AsyncClient, run: str) -> None:
    pair = (await next_pair(ada, run))["pair"]
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 204
    assert (await next_pair(ada, run))["pair"] != pair


async def test_bad_votes_are_refused(ada: httpx.AsyncClient, run: str) -> None:
    pair = (await next_pair(ada, run))["pair"]
    for body in ({"pair": pair}, {"pair": pair, "verdict": "third"}, {"pair": pair, "verdict": "tie", "why": "x"}):
        answer = await ada.post(f"{run}/votes", json=body)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    unknown = await ada.post(f"{run}/votes", json={"pair": "0190", "verdict": "tie"})
    assert unknown.status_code == 404
    elsewhere = f"/api/runs/{await planned(ada, {}, documents=1)}"
    assert (await ada.post(f"{elsewhere}/votes", json={"pair": pair, "verdict": "tie"})).status_code == 404
    nothing = await ada.post(f"{elsewhere}/votes/next")
    assert (nothing.status_code, code_of(nothing)) == (409, "nothing-to-vote-on")
    assert (await ada.post("/api/runs/none/votes/next")).status_code == 404


async def test_a_run_that_was_voted_on_is_exported_anew_with_its_votes(ada: httpx.AsyncClient, run: str) -> None:
    assert (await ada.post(f"{run}/export")).status_code == 202
    await cast(ada, run, (await next_pair(ada, run))["pair"], "first")
    events = [entry["event"] for entry in (await ada.get(f"{run}/logs")).json()["items"]]
    assert events[0] == "vote-cast"
    [row] = await table_of(ada, run, "votes.csv")
    [vote] = (await ada.get(f"{run}/votes")).json()["items"]
    assert (row["id"], row["shown_first"], row["winner"]) == (vote["id"], vote["first"], vote["first"])


async def test_whoever_may_not_execute_may_read_and_take_back_votes_but_not_cast(
    ada: httpx.AsyncClient, run: str, host: Host
) -> None:
    pair = (await next_pair(ada, run))["pair"]
    await cast(ada, run, pair, "first")
    assert (await ada.post("/api/users/ada/deactivate", headers=PLUGIN)).status_code == 200
    for answer in (await ada.post(f"{run}/votes/next"), await ada.post(f"{run}/votes", json={"pair": pair})):
        assert (answer.status_code, code_of(answer)) == (403, "membership-required")
    assert len((await ada.get(f"{run}/votes")).json()["items"]) == 1
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 204


async def test_several_people_vote_blind_under_names_of_their_own(ada: httpx.AsyncClient, run: str) -> None:
    left = (await ada.get(f"{run}/votes/count")).json()["left"]
    shown = {}
    for voter in ("Ann", "Bob"):
        ballot = (await ada.post(f"{run}/votes/next", params={"voter": voter})).json()
        assert (await ada.post(f"{run}/votes/next", params={"voter": voter})).json() == ballot
        assert ballot["left"] == left - 1
        shown[voter] = ballot["pair"]
    assert shown["Ann"] != shown["Bob"]
    for voter in ("Ann", "Bob", "Cy"):
        for _ in range(left):
            ballot = (await ada.post(f"{run}/votes/next", params={"voter": voter})).json()
            await cast(ada, run, ballot["pair"], "first" if ballot["first"] < ballot["second"] else "second")
        assert (await ada.get(f"{run}/votes/count", params={"voter": voter})).json()["left"] == 0
    assert (await ada.get(f"{run}/votes/count")).json() == {"votes": 3 * left, "left": left, "both_bad": 0}
    listed = (await ada.get(f"{run}/votes", params={"limit": 100})).json()["items"]
    assert {vote["voter"] for vote in listed} == {"Ann", "Bob", "Cy"}
    ranking = (await ada.get(f"{run}/ranking")).json()
    people = ranking["people"]
    assert (people["votes"], people["voters"], people["voted"], people["documents"]) == (3 * left, 3, 3, 3)
    assert people["sentence"].startswith("People voted on 3 documents: too few")
    # All three voted by the alphabet.
    assert (people["agreement"]["value"], people["agreement"]["units"]) == (1.0, left)
    assert [one["voters"] for one in people["stand_ins"]] == [0, 0]
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    assert report["people"] == people
    page = (await ada.get(f"{run}/report", headers={"Accept": "text/html"})).text
    assert "What people would say" in page
    assert "agree" in page.lower()
    assert "cannot be tested as a stand-in for a person yet" in page
    refused = await ada.post(f"{run}/votes/next", params={"voter": "x" * 61})
    assert (refused.status_code, code_of(refused)) == (400, "invalid-input")


async def test_each_ballot_keeps_the_probability_of_its_draw(ada: httpx.AsyncClient, run: str) -> None:
    for _ in range(4):
        await cast(ada, run, (await next_pair(ada, run))["pair"], "tie")
    by_document: dict[str, list[tuple[float, int]]] = {}
    for row in await table_of(ada, run, "votes.csv"):
        by_document.setdefault(row["document"], []).append((float(row["chance"]), int(row["among"])))
    assert sorted(map(len, by_document.values())) == [1, 1, 2]
    for draws in by_document.values():
        assert [among for _, among in draws] == [draws[0][1] - i for i in range(len(draws))]
        assert all(0 < chance <= 1 for chance, _ in draws)


LINES = "document,first,second,verdict,voter\n"


async def test_votes_from_elsewhere_count_like_those_cast_here(ada: httpx.AsyncClient, run: str) -> None:
    a, b, c = LABELS
    name = (await next_pair(ada, run))["document_name"]
    table = f"\ufeff{LINES}1,{a},{b},first,Ann\r\n2,{b},{a},second,\r\n\r\n3,{b},{c},tie,Bob\r\n"
    answer = await bring_in(ada, run, table, voter="Cy")
    assert (answer.status_code, answer.json()) == (200, {"imported": 3, "known": 0, "votes": 3})
    listed = {vote["document"]: vote for vote in (await ada.get(f"{run}/votes")).json()["items"]}
    assert {number: (vote["voter"], vote["winner"]) for number, vote in listed.items()} == {
        1: ("Ann", a), 2: ("Cy", a), 3: ("Bob", None),
    }  # fmt: skip
    again = await bring_in(ada, run, table, voter="Cy")
    assert again.json() == {"imported": 0, "known": 3, "votes": 3}
    by_name = await bring_in(ada, run, f"{LINES}{name},{a},{b},first,Dee\n")
    assert by_name.json()["imported"] == 1
    ranking = (await ada.get(f"{run}/ranking")).json()
    assert (ranking["human"]["votes"], ranking["people"]["voters"]) == (4, 4)
    assert "a person has voted blind" in (await ada.get(run)).json()["verdict"]
    assert "votes-imported" in [entry["event"] for entry in (await ada.get(f"{run}/logs")).json()["items"]]


async def test_a_run_has_no_more_votes_than_can_be_weighed_at_once(
    ada: httpx.AsyncClient, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(votes, "MAX_VOTES", 1)
    a, b, _ = LABELS
    await cast(ada, run, (await next_pair(ada, run))["pair"], "tie")
    pair = (await next_pair(ada, run))["pair"]
    refused = [
        await ada.post(f"{run}/votes", json={"pair": pair, "verdict": "tie"}),
        await bring_in(ada, run, f"{LINES}1,{a},{b},first,Ann\n"),
    ]
    assert [(one.status_code, code_of(one)) for one in refused] == [(409, "too-many-votes")] * 2
    assert (await ada.get(f"{run}/votes/count")).json()["votes"] == 1


async def test_an_export_s_votes_come_back_in_with_their_scores(ada: httpx.AsyncClient, run: str) -> None:
    for _ in range(3):
        await cast(ada, run, (await next_pair(ada, run))["pair"], "second", scores={"second": {"Clarity": 4}})
    rows = await table_of(ada, run, "votes.csv")
    text = StringIO()
    writer = csv.DictWriter(text, rows[0].keys())
    writer.writeheader()
    writer.writerows(rows)
    assert (await bring_in(ada, run, text.getvalue())).json() == {"imported": 0, "known": 3, "votes": 3}
    assert (await bring_in(ada, run, text.getvalue(), voter="Ann")).json()["imported"] == 3
    for vote in (await ada.get(f"{run}/votes")).json()["items"]:
        assert vote["scores"] == {"first": {}, "second": {"Clarity": 4}}


async def test_scores_of_people_by_criteria_stand_beside_those_of_the_judges(ada: httpx.AsyncClient, run: str) -> None:
    ballot = await next_pair(ada, run)
    assert ballot["rubric"]["Clarity"] == {"description": "", "minimum": 1, "maximum": 5}
    for scores in ({"first": {"Beauty": 3}}, {"second": {"Clarity": 6}}):
        body = {"pair": ballot["pair"], "verdict": "tie", "scores": scores}
        refused = await ada.post(f"{run}/votes", json=body)
        assert (refused.status_code, code_of(refused)) == (400, "invalid-input")
    before = (await ada.get(f"{run}/ranking")).json()["ranking"]
    await cast(ada, run, ballot["pair"], "first", scores={"first": {"Clarity": 5, "Coverage": 4}})
    await ada.post(f"{run}/votes/{ballot['pair']}/undo")
    assert (await ada.get(f"{run}/votes/against-judges")).json()["scores"] == []
    await cast(ada, run, ballot["pair"], "first", scores={"first": {"Clarity": 5}, "second": {"Clarity": 2}})
    [vote] = (await ada.get(f"{run}/votes")).json()["items"]
    assert vote["scores"] == {"first": {"Clarity": 5}, "second": {"Clarity": 2}}
    again = "document,first,second,verdict,voter,scores\n" + ",".join(
        (str(vote["document"]), vote["first"], vote["second"], "tie", "Bob", '"{""first"":{""Clarity"":3}}"')
    )
    assert (await bring_in(ada, run, again)).json()["imported"] == 1
    [found] = (await ada.get(f"{run}/votes/against-judges")).json()["scores"]
    # The first answer has 5 and 3 of two voters, the second one has 2 of one.
    assert (found["criterion"], found["answers"], found["people"]) == ("Clarity", 2, 3)
    judged = {
        one["candidate"]: [mark["values"]["Clarity"] for mark in one["marks"]]
        for document in (await ada.get(f"{run}/report", params={"format": "json"})).json()["documents"]
        if document["document"] == f"d{vote['document']}"
        for one in document["answers"]
    }
    theirs = [sum(judged[vote[side]]) / len(judged[vote[side]]) for side in ("first", "second")]
    assert found["judges"] == pytest.approx(sum(theirs) / 2)
    assert found["apart"] == pytest.approx((abs(4 - theirs[0]) + abs(2 - theirs[1])) / 2)
    assert (await ada.get(f"{run}/ranking")).json()["ranking"] == before


async def test_a_bad_line_is_named_and_nothing_of_the_table_counts(ada: httpx.AsyncClient, run: str) -> None:
    a, b, _ = LABELS
    good = f"1,{a},{b},first,Ann\n"
    bad = {
        f"9,{a},{b},first,Ann": "line 3, document",
        f"1,{a},nobody,first,Ann": "line 3, second",
        f"1,{a},{a},first,Ann": "line 3, second",
        f"2,{a},{b},third,Ann": "line 3, verdict",
        f"2,{a},{b},first,{'x' * 61}": "line 3, voter",
        f"1,{a},{b},second,Ann": "line 3, verdict",
        f"2,{a},{b}": "line 3",
        '2,"a': "line 3",
    }
    for line, place in bad.items():
        answer = await bring_in(ada, run, f"{LINES}{good}{line}\n")
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), line
        assert [fault["path"] for fault in answer.json()["errors"]] == [place]
        assert "nobody" not in answer.text
    assert [fault["path"] for fault in (await bring_in(ada, run, "document,first\n")).json()["errors"]] == [
        "line 1, second",
        "line 1, verdict",
    ]
    assert (await bring_in(ada, run, f"{LINES[:-1]},voter\n")).json()["errors"][0]["path"] == "line 1"
    with_repeat = await bring_in(ada, run, f"document,first,second,verdict,repeat\n1,{a},{b},tie,7\n")
    assert with_repeat.json()["errors"][0]["path"] == "line 2, repeat"
    many = await bring_in(ada, run, LINES + "x,y,z,w,\n" * 70)
    assert len(many.json()["errors"]) == 50
    assert (await ada.get(f"{run}/votes/count")).json()["votes"] == 0
    assert (await ada.get(run)).json()["verdict"].endswith("no human has checked them.")
    missing = await bring_in(ada, "/api/runs/none", LINES)
    assert missing.status_code == 404


async def test_stars_and_notes_stay_with_their_answers_and_change_no_ranking(
    ada: httpx.AsyncClient, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (await ada.get(f"{run}/ranking")).json()
    wanted: dict[str, Any] = {"document": 2, "candidate": LABELS[0], "starred": True, "note": " Too long. "}
    written = await ada.put(f"{run}/notes", json=wanted)
    assert written.status_code == 200, written.text
    kept = written.json()
    assert (kept["document"], kept["candidate"], kept["starred"], kept["note"]) == (2, LABELS[0], True, "Too long.")
    assert (await ada.get(f"{run}/notes")).json()["items"] == [kept]
    assert (await ada.put(f"{run}/notes", json=wanted | {"document": 1, "starred": False})).status_code == 200
    assert len((await ada.get(f"{run}/notes")).json()["items"]) == 2
    assert (await ada.put(f"{run}/notes", json=wanted | {"note": "", "starred": False})).status_code == 200
    [left] = (await ada.get(f"{run}/notes")).json()["items"]
    assert (left["document"], left["note"]) == (1, "Too long.")
    [row] = await table_of(ada, run, "notes.csv")
    assert (row["document"], row["candidate"], row["starred"], row["note"]) == ("d1", LABELS[0], "0", "Too long.")
    assert (await ada.get(f"{run}/ranking")).json()["ranking"] == before["ranking"]
    for change, path in (
        ({"document": 9}, "document"),
        ({"candidate": "nobody"}, "candidate"),
        ({"repeat": 2}, "repeat"),
        ({"note": "n" * 2_001}, "note"),
    ):
        refused = await ada.put(f"{run}/notes", json=wanted | change)
        assert (refused.status_code, [one["path"] for one in refused.json()["errors"]]) == (400, [path])
    assert (await ada.put("/api/runs/none/notes", json=wanted)).status_code == 404
    monkeypatch.setattr(answer_notes, "MAX_NOTES", 0)
    refused = await ada.put(f"{run}/notes", json=wanted)
    assert (refused.status_code, code_of(refused)) == (409, "too-many-notes")


async def test_votes_stand_against_the_judges_with_the_judges_reasons(ada: httpx.AsyncClient, run: str) -> None:
    nobody = (await ada.get(f"{run}/votes/against-judges")).json()
    assert (nobody["votes"], nobody["judged"], nobody["agreement"]["share"]) == (0, 0, None)
    for number in range((await ada.get(f"{run}/votes/count")).json()["left"]):
        await cast(ada, run, (await next_pair(ada, run))["pair"], ("first", "second", "tie")[number % 3])
    found = (await ada.get(f"{run}/votes/against-judges")).json()
    told = (await ada.get(f"{run}/ranking")).json()["human"]
    assert (found["votes"], found["judged"], found["same"]) == (told["votes"], told["judged"], told["sided"])
    assert len(found["disagreements"]) == found["judged"] - found["same"] > 0
    agreement = found["agreement"]
    assert 0 <= agreement["low"] <= agreement["share"] <= agreement["high"] <= 1
    votes_by_pair = {
        (vote["document"], frozenset((vote["first"], vote["second"]))): vote["winner"]
        for vote in (await ada.get(f"{run}/votes")).json()["items"]
    }
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    reasons = {
        (document["document"], one["a"], one["b"], one["judge"]): [one["said_ab"], one["said_ba"]]
        for document in report["documents"]
        for one in document["verdicts"]
    }
    for one in found["disagreements"]:
        assert one["winner"] == votes_by_pair[one["document"], frozenset((one["a"], one["b"]))]
        assert one["winner"] != one["judges_winner"]
        for judge in one["judges"]:
            assert judge["reasons"] == reasons[f"d{one['document']}", one["a"], one["b"], judge["judge"]]
    assert (await ada.get("/api/runs/none/votes/against-judges")).status_code == 404


async def test_an_earlier_round_answers_as_before_the_run_was_judged_again(ada: httpx.AsyncClient, run: str) -> None:
    await cast(ada, run, (await next_pair(ada, run))["pair"], "first")
    questions = (f"{run}/votes/against-judges?", f"{run}/gate?baseline={LABELS[0]}&candidate={LABELS[1]}&")
    before = [(await ada.get(path)).json() for path in questions]
    again = {"judges": [{"model": "local:statistician"}]}
    assert (await ada.post(f"{run}/reevaluate", json=again)).is_success
    await until(ada, run.rpartition("/")[2], "completed")
    rounds = [(await ada.get(f"{path}round=1")).json() for path in questions]
    assert rounds == before != [(await ada.get(path)).json() for path in questions]
    for path in questions:
        assert (await ada.get(f"{path}round=3")).status_code == 404
