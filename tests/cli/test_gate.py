"""`carrel gate` against the real service: the exit codes, and the summaries for people and pipelines."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
import yaml
from carrel_sdk import Workspace
from carrel_sdk.models import Candidate, Check, Estimate, Generation, PresetDraft
from carrel_sdk.presets import Presets
from click.testing import Result

from carrel.cli.interface.gate_summary import margin_of
from tests.support.run_setup import text_of
from tests.support.service import Service

Terminal = Callable[..., Result]
DOCUMENTS = 8
PIPELINES = Path(__file__).parents[2] / "deploy/gate"


@pytest.fixture
def preset_id(service: Service, token: str) -> str:
    """Answers that exist: those of `today` and `same` are JSON, those of `worse|bad` are not."""
    with Workspace(service.url, token) as workspace:
        contents = workspace.contents
        inputs = [contents.create(f"t{n}", "input_document", text_of(n)).id for n in range(1, DOCUMENTS + 1)]
        good = contents.create("good", "output_document", "{}").id
        bad = contents.create("bad", "output_document", "Sorry.").id
        texts = {"today": good, "same": good, "worse|bad": bad}
        candidates = [Candidate(label=label, existing=dict.fromkeys(inputs, text)) for label, text in texts.items()]
        return workspace.presets.create(
            PresetDraft(
                name="Gate",
                inputs=inputs,
                generation=Generation(candidates=candidates),
                checks=[Check(kind="json", required=True)],
            )
        ).id


def test_trends_follow_one_candidate_and_name_the_last_good_run(signed_in: Terminal, preset_id: str) -> None:
    assert "no run of this preset has finished" in signed_in("preset", "trends", preset_id).output
    run = signed_in("preset", "execute", preset_id, "--name", "Monday", "--watch", "--json")
    run_id = msgspec.json.decode(run.stdout.splitlines()[-1])["id"]
    asked = ("preset", "trends", preset_id, "--baseline", "today")
    shown = " ".join(signed_in(*asked, "--candidate", "same", "--margin", "40%").output.split())
    assert f"The last good run is Monday: {run_id}." in shown
    assert "not worse by 40 points or more" in shown
    worse = msgspec.json.decode(signed_in(*asked, "--candidate", "worse|bad", "--json").stdout)
    assert [point["good"] for point in worse["points"]] == [False]
    assert signed_in(*asked, "--margin", "2").exit_code == 2
    assert signed_in(*asked, "--candidate", "nobody").exit_code == 1


def test_a_preset_tells_what_could_replace_its_candidate_and_tries_it(
    signed_in: Terminal, preset_id: str, tmp_path: Path
) -> None:
    asked = ("preset", "replacement", preset_id, "--baseline")
    assert msgspec.json.decode(signed_in(*asked, "today", "--json").stdout)["today"] is None
    assert "about, an answer" in signed_in(*asked, "today").output
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Summarise {{document}}")
    found = signed_in(*asked, "today", "--try", "local:lead", "--prompt", str(prompt), "--margin", "60%")
    tried = " ".join(found.output.split())
    assert "same is not worse than today by 60 points or more" in tried
    assert "local:lead worse" in tried
    assert "preset has no candidate" in signed_in(*asked, "nobody").output
    assert "are kept already" in signed_in(*asked, "today", "--record").output


def test_the_exit_code_says_whether_the_candidate_is_worse(signed_in: Terminal, preset_id: str, tmp_path: Path) -> None:
    page, cases = tmp_path / "gate.md", tmp_path / "gate.xml"
    asked = ("--baseline", "today", "--candidate", "worse|bad", "--margin", "5%", "--max-cost", "0")
    worse = signed_in("gate", preset_id, *asked, "--markdown", str(page), "--junit", str(cases), "--json")
    assert worse.exit_code == 8, worse.stderr
    # One line, although files were written and progress was shown.
    found = msgspec.json.decode(worse.stdout)
    assert (found["gate"]["outcome"], found["cost"]) == ("worse", "0")
    assert "### worse\\|bad against today: worse" in page.read_text()
    assert "| all required checks | −100.0 |" in page.read_text()
    suite = ET.fromstring(cases.read_bytes())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "3", "0")
    assert suite.find(".//testcase") is not None

    run = ("gate", "--run", found["run"])
    better = signed_in(*run, "--baseline", "worse|bad", "--candidate", "today")
    assert better.exit_code == 0
    assert "today is better than worse|bad" in better.output
    same = signed_in(*run, "--baseline", "today", "--candidate", "same", "--margin", "0.5")
    assert same.exit_code == 0
    assert "same is not worse than today by 50 points or more" in same.output
    open_ = signed_in(*run, "--baseline", "today", "--candidate", "same", "--junit", str(cases), "--force")
    assert open_.exit_code == 9
    assert "documents would tell" in open_.output
    suite = ET.fromstring(cases.read_bytes())
    # The check by itself does not decide, and it has no objection.
    assert (suite.get("failures"), suite.get("errors")) == ("0", "2")
    assert "no objection" in open_.output


def test_what_cannot_be_asked_costs_nothing(
    signed_in: Terminal, preset_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("gate", preset_id, "--baseline", "today", "--candidate", "same")
    there = tmp_path / "there.md"
    there.touch()

    estimate = Presets.estimate

    def dear(*given: Any, **named: Any) -> Estimate:
        return msgspec.structs.replace(estimate(*given, **named), worst_cost="0.30")

    for words, code, told in (
        (("gate", "--baseline", "today"), 2, "either a preset or --run"),
        (("gate", preset_id, "--baseline", "today"), 2, "--candidate is required"),
        (("gate", preset_id, "--baseline", "nobody"), 1, "no candidate 'nobody'"),
        ((*asked, "--max-cost", "much"), 2, "--max-cost takes"),
        ((*asked, "--markdown", str(there)), 1, "exists already"),
    ):
        refused = signed_in(*words)
        assert (refused.exit_code, told in refused.stderr) == (code, True), refused.stderr
    monkeypatch.setattr(Presets, "estimate", dear)
    refused = signed_in(*asked, "--max-cost", "0.25")
    assert (refused.exit_code, "could cost $0.30, and --max-cost is $0.25" in refused.stderr) == (1, True)
    assert signed_in("run", "list", "--json").output == ""


def test_a_run_without_a_result_decides_nothing(signed_in: Terminal, preset_id: str) -> None:
    made = msgspec.json.decode(signed_in("run", "create", preset_id, "--json").stdout)["id"]
    asked = ("gate", "--run", made, "--baseline", "today", "--candidate", "same")
    assert signed_in(*asked).exit_code == 5
    assert signed_in("run", "cancel", made).exit_code == 0
    ended = signed_in(*asked)
    assert (ended.exit_code, "is cancelled" in ended.stderr) == (7, True)


@pytest.mark.parametrize("wrong", ["5", "0%", "nan", "1e9%", "5%5", "", "-1%"])
def test_a_margin_is_a_share(signed_in: Terminal, wrong: str) -> None:
    assert [margin_of(text) for text in ("5%", "2.5 %", "0.05")] == [0.05, 0.025, 0.05]
    refused = signed_in("gate", "none", "--baseline", "today", "--margin", wrong)
    assert (refused.exit_code, "--margin takes" in refused.stderr) == (2, True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The folder of a program `carrel`, which is this one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    file = folder / "carrel"
    file.write_text(f"#!{sys.executable}\nfrom carrel.cli.program import run\n\nrun()\n")
    file.chmod(0o700)
    return folder


def stepped(script: str, folder: Path, program: Path, variables: dict[str, str]) -> int:
    """The exit code of a step, run as a pipeline runs it."""
    path = f"{program}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path, **variables}, check=False).returncode


@pytest.mark.usefixtures("signed_in")
def test_a_pipeline_fails_where_the_candidate_is_worse(preset_id: str, tmp_path: Path, program: Path) -> None:
    action = yaml.safe_load((PIPELINES / "action.yml").read_text())
    (step,) = action["runs"]["steps"]
    # Each variable of the step is an input, and none is put into the script itself.
    assert "${{" not in step["run"]
    assert {value.split(".")[1].split(" ")[0] for value in step["env"].values()} == set(action["inputs"])
    summary, output = tmp_path / "summary", tmp_path / "output"
    summary.write_text("earlier\n")
    given = {"GATE_PRESET": preset_id, "GATE_BASELINE": "today", "GATE_MARGIN": "5%", "GATE_MAX_COST": "0"}
    given |= {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output), "GATE_ALLOW_UNDECIDED": "true"}
    assert stepped(step["run"], tmp_path, program, {**given, "GATE_CANDIDATE": "worse|bad"}) == 8
    assert summary.read_text().startswith("earlier\n### ")
    assert stepped(step["run"], tmp_path, program, {**given, "GATE_CANDIDATE": "same"}) == 0
    assert output.read_text() == "exit-code=8\nexit-code=9\n"

    job = yaml.safe_load((PIPELINES / "gitlab.yml").read_text())["carrel-gate"]
    script = "\n".join(job["script"])
    assert stepped(script, tmp_path, program, {**job["variables"], **given, "GATE_CANDIDATE": "same"}) == 9
    assert job["allow_failure"]["exit_codes"] == [9]
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists()
    # A stale file of an earlier run is not taken for this one's.
    assert stepped(script, tmp_path, program, {**job["variables"], **given, "GATE_CANDIDATE": "none"}) == 1
    assert not (tmp_path / "carrel-gate.md").exists()
