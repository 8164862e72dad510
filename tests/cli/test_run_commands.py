"""The user's run commands against the real service, from a preset to an export."""

import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from carrel_sdk import Workspace
from carrel_sdk.models import Candidate, Combination, Comparison, Generation, Judge, Output, PresetDraft, RunSummary
from carrel_sdk.runs import Runs
from click.testing import Result
from msgspec.structs import replace

from carrel.cli.interface.terminal import dollars
from carrel.contents import criteria
from tests.support.service import Service

Terminal = Callable[..., Result]


@pytest.fixture
def preset_id(service: Service, token: str) -> str:
    """A small preset: two documents, two candidates, one judge that compares."""
    with Workspace(service.url, token) as workspace:
        bodies = {
            name: " ".join(f"In the year {1800 + n} keeper {name}{n} opened the harbour and wrote." for n in range(40))
            for name in ("a", "b")
        }
        inputs = [workspace.contents.create(name, "input_document", body).id for name, body in bodies.items()]
        return workspace.presets.create(
            PresetDraft(
                name="Small",
                inputs=inputs,
                instructions=workspace.contents.create("Prompt", "generation_instructions", "Summarise.").id,
                generation=Generation(candidates=[Candidate(model="local:lead"), Candidate(model="local:random")]),
                comparison=Comparison(judges=[Judge(model="local:reader")]),
            )
        ).id


def printed(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.output
    return msgspec.json.decode(result.stdout.splitlines()[-1], type=dict[str, object])


def test_answers_are_combined_and_kept_as_contents(
    signed_in: Terminal, service: Service, token: str, preset_id: str
) -> None:
    with Workspace(service.url, token) as workspace:
        small = workspace.presets.get(preset_id)
        combining = PresetDraft(
            name="Combining",
            inputs=small.inputs,
            instructions=small.instructions,
            generation=small.generation,
            comparison=small.comparison,
            combination=Combination(candidates=[Candidate(label="merged", model="local:mmr")]),
            output=Output(destination="library", answers="all"),
        )
        combining_id = workspace.presets.create(combining).id
        assert "2 to combine" in " ".join(signed_in("preset", "estimate", combining_id).output.split())
        run_id = str(printed(signed_in("run", "create", combining_id, "--json"))["id"])
        assert signed_in("run", "start", run_id, "--watch").exit_code == 0
        assert "r1.combine.d1.c3" in signed_in("run", "tasks", run_id, "--kind", "combine").output
        kept = [content.name for content in workspace.contents.find(type="output_document")]
        assert {"a · merged", "b · merged"} <= set(kept)
        assert len(kept) == 6
        task = next(task for task in workspace.runs.tasks(run_id, kind="combine"))
        answer = workspace.runs.generated(run_id, task.generated_id or "")
        assert answer.content_id is not None
        assert workspace.contents.get(answer.content_id).body == answer.body
        assert workspace.runs.ranking(run_id).ranking.rows[0].place == 1


def test_a_table_says_which_documents_belong_together(signed_in: Terminal, preset_id: str, tmp_path: Path) -> None:
    table = tmp_path / "groups.csv"
    table.write_text("document,group\na,sea\nb,sea\n")
    run_id = str(printed(signed_in("run", "create", preset_id, "--groups", str(table), "--json"))["id"])
    configuration = printed(signed_in("run", "show", run_id, "--json"))["configuration"]
    assert isinstance(configuration, dict)
    assert configuration["groups"]["by"] == "map"
    assert list(configuration["groups"]["of"].values()) == ["sea", "sea"]
    # The groups split the results; documents have no other columns.
    assert signed_in("run", "start", run_id, "--watch").exit_code == 0
    split = signed_in("run", "ranking", run_id, "--split", "group").output
    assert "sea" in split.split()
    assert "Exploratory" in split
    assert printed(signed_in("run", "ranking", run_id, "--split", "group", "--json"))["columns"] == ["group"]
    assert 'id="split"' in signed_in("run", "report", run_id, "--split", "group").stdout
    assert signed_in("run", "ranking", run_id, "--split", "lang").exit_code == 1
    assert signed_in("run", "ranking", run_id, "--split", "group", "--without-judge", "local:reader").exit_code == 2
    assert signed_in("run", "create", preset_id, "--groups", str(table), "--groups-by", "name").exit_code == 2
    for wrong in ("document,group\nnobody,sea\n", "name,topic\na,sea\n"):
        table.write_text(wrong)
        assert signed_in("run", "create", preset_id, "--groups", str(table)).exit_code == 1


def test_a_receipt_is_written_and_verified(signed_in: Terminal, preset_id: str, tmp_path: Path) -> None:
    assert signed_in("run", "create", preset_id, "--groups-by", "colour").exit_code == 2
    run_id = str(printed(signed_in("run", "create", preset_id, "--groups-by", "tag:topic:", "--json"))["id"])
    configuration = printed(signed_in("run", "show", run_id, "--json"))["configuration"]
    assert isinstance(configuration, dict)
    assert configuration["groups"] == {"by": "tag", "prefix": "topic:"}
    assert signed_in("run", "receipt", run_id, "-o", str(tmp_path / "early.json")).exit_code == 5
    assert signed_in("run", "start", run_id, "--watch").exit_code == 0
    receipt, text = tmp_path / "receipt.json", tmp_path / "d1.json"
    assert signed_in("run", "receipt", run_id, "-o", str(receipt)).exit_code == 0
    assert signed_in("run", "receipt", run_id, "--text", "d1", "-o", str(text)).exit_code == 0
    verified = signed_in("verify-receipt", str(receipt), "--text", str(text))
    assert verified.exit_code == 0
    assert "The text d1 is the one that was judged." in verified.stdout


def test_a_run_is_made_started_watched_and_its_results_written(
    signed_in: Terminal, preset_id: str, tmp_path: Path
) -> None:
    estimate = signed_in("preset", "estimate", preset_id)
    assert estimate.exit_code == 0
    assert "calls" in estimate.output
    run_id = str(printed(signed_in("run", "create", preset_id, "--name", "First", "--json"))["id"])
    assert "pending" in signed_in("run", "show", run_id).output
    watched = signed_in("run", "start", run_id, "--watch")
    assert watched.exit_code == 0, watched.output
    assert "completed" in watched.output
    assert signed_in("run", "start", run_id).exit_code == 5
    assert signed_in("run", "watch", run_id).exit_code == 0
    assert signed_in("run", "watch", run_id, "--decided").exit_code == 9
    assert "2 documents cannot decide" in " ".join(signed_in("run", "ranking", run_id).output.split())
    assert printed(signed_in("run", "ranking", run_id, "--json"))["round"] == 1

    report, export = tmp_path / "report.html", tmp_path / "export.zip"
    assert signed_in("run", "report", run_id, "-o", str(report)).exit_code == 0
    assert report.read_text().lower().startswith("<!doctype html>")
    assert signed_in("run", "report", run_id).stdout.lower().startswith("<!doctype html>")
    assert signed_in("run", "export", run_id, "-o", str(export)).exit_code == 0
    assert zipfile.is_zipfile(export)
    # What leaves the encrypted workspace is for its owner only.
    assert stat.S_IMODE(export.stat().st_mode) == 0o600
    assert signed_in("run", "report", run_id, "-o", str(tmp_path / "no" / "folder.html")).exit_code == 1

    assert "r1.generate" in signed_in("run", "tasks", run_id, "--kind", "generate").output
    assert signed_in("run", "skip", run_id, "r1.generate.d1.c1.s1").exit_code == 5
    assert "run-finished" in signed_in("run", "logs", run_id).output
    followed = signed_in("run", "logs", run_id, "--follow").output
    assert followed.index("run-started") < followed.index("run-finished")
    assert run_id in signed_in("run", "list", "--state", "completed").output
    assert signed_in("run", "pause", run_id).exit_code == 5
    assert signed_in("run", "delete", run_id).exit_code == 0
    assert signed_in("run", "show", run_id).exit_code == 4


def test_estimates_and_costs_are_dollars_and_never_credits(signed_in: Terminal, preset_id: str) -> None:
    estimate = signed_in("preset", "estimate", preset_id).output
    assert "cost      about $0, at most $0" in estimate
    watched = signed_in("preset", "execute", preset_id, "--watch", "--json")
    run_id = str(printed(watched)["id"])
    shown, listed = signed_in("run", "show", run_id).output, signed_in("run", "list").output
    assert "tasks, $0" in shown
    assert "$0" in listed
    assert "credit" not in estimate + shown + listed


def test_an_estimate_tells_the_known_part_and_how_many_calls_have_no_known_price(
    signed_in: Terminal, service: Service, token: str, preset_id: str
) -> None:
    with Workspace(service.url, token) as workspace:
        small = workspace.presets.get(preset_id)
        models = [Candidate(model="openai:gpt-5-mini"), Candidate(model="ollama:ours")]
        mixed = PresetDraft(
            name="Mixed",
            inputs=small.inputs,
            instructions=small.instructions,
            generation=Generation(candidates=models),
            comparison=small.comparison,
        )
        mixed_id = workspace.presets.create(mixed).id
        part = workspace.presets.estimate(mixed_id).known_part
    assert part is not None
    told = signed_in("preset", "estimate", mixed_id).output
    calls = "2 calls of unknown price"
    assert f"cost      about ${part.likely_cost} and {calls}, at most ${part.worst_cost} and {calls}" in told
    assert "unpriced  ollama:ours; `carrel models set-price`" in told
    dear = signed_in("gate", mixed_id, "--baseline", "ollama:ours", "--max-cost", "0.01")
    assert (dear.exit_code, f"could cost ${part.worst_cost} and {calls}, and --max-cost" in dear.stderr) == (1, True)
    assert signed_in("models", "set-price", "ollama", "--input", "0", "--output", "0").exit_code == 0
    assert "unknown" not in signed_in("preset", "estimate", mixed_id).output


def test_the_list_of_runs_does_not_pass_unknown_costs_off_as_nothing(
    signed_in: Terminal, preset_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in("run", "create", preset_id)
    find = Runs.find

    def of_unknown_cost(runs: Runs, **asked: Any) -> Iterator[RunSummary]:
        for run in find(runs, **asked):
            yield replace(run, spend=replace(run.spend, cost="0", unknown_calls=435))

    monkeypatch.setattr(Runs, "find", of_unknown_cost)
    listed = signed_in("run", "list").output
    assert "435 calls of unknown cost" in " ".join(listed.split())
    assert "$0" not in listed


def test_a_cost_says_what_is_not_known_of_it() -> None:
    assert dollars("0", unknown_calls=435) == "435 calls of unknown cost"
    assert dollars("0.0125") == "$0.0125"
    assert dollars(None) == "unknown"
    assert dollars("0", unknown_calls=435) == "435 calls of unknown cost"
    assert dollars("0.5", unknown_calls=1) == "$0.5 and 1 call of unknown cost"
    assert dollars("0.5", unknown_calls=1_200) == "$0.5 and 1,200 calls of unknown cost"


def test_a_person_votes_blind_on_pairs(signed_in: Terminal, service: Service, token: str, preset_id: str) -> None:
    run_id = str(printed(signed_in("preset", "execute", preset_id, "--watch", "--json"))["id"])
    first = printed(signed_in("run", "vote", run_id, "--json"))
    assert (first["left"], "local:lead" in str(first)) == (1, False)
    asked = signed_in("run", "vote", run_id, "--why", stdin="what\nb\n\nu\n1\nIt is clearer.\nq\n")
    assert asked.exit_code == 0, asked.output
    assert str(first["document_name"]) in asked.output
    assert "1 vote, 0 not shown yet" in asked.output
    assert "local:" not in asked.output
    with Workspace(service.url, token) as workspace:
        assert [(vote.id, vote.verdict, vote.reason) for vote in workspace.votes.each(run_id)] == [
            (first["pair"], "first", "It is clearer.")
        ]
    second = str(printed(signed_in("run", "vote", run_id, "--json"))["pair"])
    # The end of the input is the end of the voting.
    assert signed_in("run", "vote", run_id, stdin="").exit_code == 0
    assert "Nothing is proposed" in signed_in("votes", "criteria", run_id).output
    assert signed_in("run", "vote", run_id, "--reason", "clear").exit_code == 2
    reason = ("--reason", "both unclear\n- name: tone")
    voted = printed(signed_in("run", "vote", run_id, "--pair", second, "--verdict", "both_bad", *reason, "--json"))
    assert (voted["id"], voted["verdict"], voted["votes"]) == (second, "tie", 2)
    assert printed(signed_in("run", "vote", run_id, "--json")) == {"votes": 2, "left": 0, "both_bad": 1}
    assert "2 votes, 1 of them on two bad answers" in signed_in("run", "vote", run_id).output
    proposed = signed_in("votes", "criteria", run_id).output
    # Nothing in a reason becomes a line of the YAML.
    assert [one.name for one in criteria.parse(proposed, 10_000)] == ["clarity"]
    assert "  #   both unclear - name: tone" in proposed.splitlines()
    # One of the two documents is in the half.
    half = signed_in("votes", "criteria", run_id, "--half").output
    assert half.startswith("# From 1 reason of votes and 0 notes on answers about half of the documents.\n")


def test_several_people_vote_and_votes_from_elsewhere_come_in(
    signed_in: Terminal, service: Service, token: str, preset_id: str, tmp_path: Path
) -> None:
    run_id = str(printed(signed_in("preset", "execute", preset_id, "--watch", "--json"))["id"])
    for voter in ("Ann", "Bob"):
        pair = str(printed(signed_in("run", "vote", run_id, "--voter", voter, "--json"))["pair"])
        assert signed_in("run", "vote", run_id, "--pair", pair, "--verdict", "first").exit_code == 0
    with Workspace(service.url, token) as workspace:
        votes = list(workspace.votes.each(run_id))
    assert {vote.voter for vote in votes} == {"Ann", "Bob"}
    file = tmp_path / "votes.csv"
    file.write_text(f"document,first,second,verdict\n{votes[0].document},{votes[0].first},{votes[0].second},tie\n")
    assert "1 imported, 0 known already, 3 votes in all" in signed_in("votes", "import", run_id, str(file)).output
    again = printed(signed_in("votes", "import", run_id, str(file), "--json"))
    assert again == {"imported": 0, "known": 1, "votes": 3}
    file.write_text("document,first,second,verdict\n77,a,b,tie\n")
    refused = signed_in("votes", "import", run_id, str(file))
    assert refused.exit_code != 0
    assert "line 2, document" in refused.output
    ranking = signed_in("run", "ranking", run_id).output
    assert "What people would say" in ranking
    assert "carrel judge list" in ranking
    board = signed_in("run", "leaderboard", "--like", run_id).output
    assert "1 run on 2 documents" in board
    assert "1,000 answers" in board
    assert "local:lead" in board.partition("1,000 answers")[2]
    assert "What people would say" in board


def test_a_pair_can_be_passed_over_and_a_vote_counts_once(signed_in: Terminal, preset_id: str) -> None:
    run_id = str(printed(signed_in("preset", "execute", preset_id, "--watch", "--json"))["id"])
    pair = str(printed(signed_in("run", "vote", run_id, "--json"))["pair"])
    assert "0 votes" in signed_in("run", "vote", run_id, stdin="p\nq\n").output
    assert signed_in("run", "vote", run_id, "--pair", pair, "--verdict", "first").exit_code == 5
    assert signed_in("run", "vote", run_id, "--pair", "nobody", "--verdict", "pass").exit_code == 4
    assert signed_in("run", "vote", run_id, "--pair", pair).exit_code == 2


def test_a_run_without_a_result_is_exit_code_7(signed_in: Terminal, preset_id: str) -> None:
    run_id = str(printed(signed_in("run", "create", preset_id, "--json"))["id"])
    assert printed(signed_in("run", "cancel", run_id, "--json"))["state"] == "cancelled"
    assert signed_in("run", "watch", run_id).exit_code == 7


def test_a_program_gets_events_as_lines_and_the_run_at_the_end(signed_in: Terminal, preset_id: str) -> None:
    done = signed_in("preset", "execute", preset_id, "--watch", "--json")
    assert printed(done)["state"] == "completed"
    assert len(done.stdout.splitlines()) > 5


def test_a_run_is_judged_anew_and_its_log_shared(signed_in: Terminal, preset_id: str) -> None:
    run_id = str(printed(signed_in("preset", "execute", preset_id, "--watch", "--json"))["id"])
    again = signed_in("run", "reevaluate", run_id, "--judge", "local:statistician", "--watch", "--json")
    assert (printed(again)["state"], printed(again)["round"]) == ("completed", 2)
    for asked, number, judge in ([], 2, "local:statistician"), (["--round", "1"], 1, "local:reader"):
        shown = msgspec.json.decode(signed_in("run", "ranking", run_id, *asked, "--json").stdout)
        assert (shown["round"], shown["ranking"]["judges"]) == (number, [judge])
    assert signed_in("run", "ranking", run_id, "--round", "3").exit_code == 4
    assert signed_in("run", "reevaluate", run_id, "--judge", "local:reader").exit_code == 0
    assert str(printed(signed_in("run", "share-logs", run_id, "--json"))["share_id"])


def test_a_run_is_renamed_tagged_and_pinned_and_what_is_not_said_stays(signed_in: Terminal, preset_id: str) -> None:
    run_id = str(printed(signed_in("run", "create", preset_id, "--name", "First", "--json"))["id"])

    def labelled(*words: str) -> tuple[object, object, object]:
        run = printed(signed_in("run", "label", run_id, *words, "--json"))
        return run["name"], run["tags"], run["pinned"]

    assert labelled("--tag", "a", "--tag", "b", "--pin") == ("First", ["a", "b"], True)
    assert labelled("--name", "Second") == ("Second", ["a", "b"], True)
    assert labelled("--no-tags", "--unpin") == ("Second", [], False)


def test_a_report_replaces_no_file_unasked(signed_in: Terminal, preset_id: str, tmp_path: Path) -> None:
    run_id = str(printed(signed_in("preset", "execute", preset_id, "--watch", "--json"))["id"])
    page = tmp_path / "report.html"
    page.write_text("mine")
    assert signed_in("run", "report", run_id, "-o", str(page)).exit_code == 1
    assert page.read_text() == "mine"
    assert signed_in("run", "report", run_id, "-o", str(page), "--force").exit_code == 0
    assert page.read_text().startswith("<!doctype html>")
