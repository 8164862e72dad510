"""A new comparison, as somebody sets it up who has never seen Carrel: how many actions, fields and pages it takes."""

import json
import re
from pathlib import Path

import pytest
from carrel_sdk.models import ColumnRole
from playwright.async_api import Page, expect

from tests.browser.browser import PASSWORD, USER, Deployment
from tests.browser.contents import document
from tests.browser.hand import WORDS, Hand
from tests.browser.keyboard import walk
from tests.browser.pages import ONE_BY_ONE, at_rest, serious_faults, settled, unfold
from tests.support.model_server import CRITIC, Running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LOG = Path(__file__).parents[1] / "datasets" / "result_files" / "files" / "inspect-zstd.eval"
TICKETS = "Ticket,Category,Customer message\n" + "".join(
    f'T-{1000 + number},{("Delivery", "Returns")[number % 2]},"I ordered a helmet {number} days ago. Where is it?"\n'
    for number in range(25)
)


async def test_from_files_to_a_running_comparison_in_seven_actions_on_one_page(
    fresh_page: Page, deployment_with_models: Deployment, models: Running, tmp_path: Path
) -> None:
    page, deployment = fresh_page, deployment_with_models
    deployment.host.sign_in(USER, PASSWORD)
    assert deployment.workspace.judges.check(f"openai:{CRITIC}").passed
    files = [tmp_path / f"station-{number}.md" for number in range(3)]
    for number, file in enumerate(files):
        file.write_text(document(number), encoding="utf-8")
    models.hold()
    await page.goto(f"{deployment.site.url}/desk")
    await settled(page)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="New comparison"))
    await hand.choose(page.get_by_role("button", name="Choose files"), files)
    await hand.type(page.get_by_label("What the models are to do"), "Summarise it in two sentences.")
    for model in ("openai:alpha", "openai:beta"):
        await hand.click(page.get_by_role("checkbox", name=model))
    # What it takes is told before anything is spent, also what somebody has to say first: what the models cost.
    takes = page.get_by_role("complementary", name="What it takes")
    await expect(takes).to_contain_text("looks at pairs")
    await expect(takes.get_by_text("calls of unknown price")).to_have_count(2)
    await takes.get_by_role("link", name="openai:alpha").click()
    await expect(page.get_by_label("Model, or provider")).to_have_value("openai:alpha")
    await page.get_by_label("Model, or provider").fill("openai")
    await page.get_by_label("In, $ per million tokens").fill("0.5")
    await page.get_by_label("Out, $ per million tokens").fill("1000")
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("list", name="Your prices")).to_contain_text("$0.50 in, $1,000.00 out")
    await page.go_back()
    await expect(takes).to_contain_text(re.compile(r"Likely cost\$\d"))
    await expect(takes).not_to_contain_text("unknown")
    deployment.workspace.models.unset_price("openai")
    await hand.click(page.get_by_role("button", name="Compare", exact=True))
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    await expect(page.get_by_role("region", name="Answers as they come")).to_be_visible()
    print(f"\nwith files and a key: {hand.actions} actions, {hand.typed} typed field, 1 page; the aim is 8, 2 and 1")
    assert (hand.actions, hand.typed) == (7, 1)
    [run] = deployment.workspace.runs.find()
    assert run.name == "Summarise it in two sentences."
    configuration = deployment.workspace.runs.get(run.id).configuration
    assert [one.label for one in configuration.generation.candidates] == ["alpha", "beta"]
    assert configuration.comparison is not None
    assert [judge.model for judge in configuration.comparison.judges] == [f"openai:{CRITIC}"], "it passed its check"
    deployment.workspace.runs.cancel(run.id)
    deployment.workspace.provider_keys.delete("openai")
    await _from_a_table_without_a_key(page, deployment, models, tmp_path / "support-tickets.csv")


async def _from_a_table_without_a_key(page: Page, deployment: Deployment, models: Running, table: Path) -> None:
    """25 tickets on the disk, and a key that is still to be stored: each row is a question."""
    table.write_text(TICKETS, encoding="utf-8")
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await page.reload()
    await settled(page)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="New comparison"))
    await hand.choose(page.get_by_role("button", name="Choose files"), [table])
    brought = page.get_by_role("region", name="What to work on")
    await expect(brought).to_contain_text("a table with 25 rows")
    await expect(brought.get_by_label("The question is in")).to_have_value("Customer message")
    await expect(brought.get_by_label("Name rows by")).to_have_value("Ticket")
    await expect(brought.get_by_role("listitem").first).to_contain_text("I ordered a helmet 0 days ago")
    assert list(deployment.workspace.data_sets.each()) == [], "nothing is kept before its columns are agreed"
    await hand.click(brought.get_by_role("button", name="Use the 25 rows"))
    await hand.type(page.get_by_label("What the models are to do"), "Answer the customer in two sentences.")
    await hand.click(page.get_by_role("radio", name="OpenAI"))
    await hand.type(page.get_by_label("Key", exact=True), models.key)
    # Only because this provider is not where the real one is.
    await page.get_by_label("Address of its API").fill(models.base_url)
    await hand.click(page.get_by_role("button", name="Store"))
    for model in ("openai:alpha", "openai:beta"):
        await hand.click(page.get_by_role("checkbox", name=model))
    await hand.click(page.get_by_role("button", name="Compare", exact=True))
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    stored = 3  # what the key takes: a provider, the key, and a button
    print(f"a table, without a key: {hand.actions} actions, {hand.typed} typed fields; the aim is 14 and 3")
    print(f"a table, with a key: {hand.actions - stored} actions; the aim is 9")
    assert (hand.actions, hand.typed) == (11, 2)
    [run] = deployment.workspace.runs.find(state="running")
    assert run.progress.total >= 50
    deployment.workspace.runs.cancel(run.id)


RESULTS = [
    {
        "testIdx": test,
        "promptIdx": prompt,
        "vars": {"message": f"Where is order {test}?"},
        "provider": {"id": f"openai:{('gpt-5', 'gpt-5-mini')[prompt]}"},
        "prompt": {"raw": "Answer", "label": "Answer"},
        "response": {"output": f"Order {test} is {('on its way', 'lost')[prompt]}."},
        "score": 1 - prompt * (test % 3 > 0),
        "testCase": {"assert": [{"type": "contains"}]},
    }
    for test in range(30)
    for prompt in (0, 1)
]
SUITE = """
description: Support
prompts: ["Answer the customer: {{message}}"]
providers: [openai:gpt-5-mini, "exec:python answer.py"]
tests: tests.csv
defaultTest:
  assert: [{type: contains, value: order}, {type: javascript, value: output.length < 300}]
"""


async def test_whatever_is_dropped_is_told_and_leads_on(page: Page, deployment: Deployment, tmp_path: Path) -> None:
    """Results of promptfoo and Inspect to their decision, a configuration to a comparison, and a log to its rows."""
    results, suite, tests = (tmp_path / name for name in ("out.json", "promptfooconfig.yaml", "tests.csv"))
    results.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": RESULTS}}), encoding="utf-8")
    suite.write_text(SUITE, encoding="utf-8")
    tests.write_text("message,__expected\nWhere is order 1?,contains:way\nWhere is order 2?,llm-rubric:kind\n")
    await page.goto(f"{deployment.site.url}/desk")
    await settled(page)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="New comparison"))
    await hand.choose(page.get_by_role("button", name="Choose files"), [results])
    brought = page.get_by_role("region", name="What to work on")
    await expect(brought).to_contain_text("results of promptfoo with 30 rows and finished answers of openai:gpt-5")
    await expect(brought).to_contain_text("Its grades come along as checks: promptfoo.")
    await at_rest(page)
    assert await serious_faults(page, "'#carrel'") == []
    await hand.click(brought.get_by_role("button", name="Decide between these answers"))
    await expect(page.get_by_role("region", name="Verdict")).to_contain_text("openai:gpt-5")
    await expect(page.get_by_role("region", name="Ranking").locator("tbody tr")).to_have_count(2)
    print(f"\nresults of promptfoo to their decision: {hand.actions} actions; the aim is 5")
    assert (hand.actions, hand.typed) == (4, 0)
    hand = Hand(page)
    async with page.expect_download() as download:
        await hand.click(page.get_by_role("button", name="Memo"))
    assert "openai:gpt-5" in Path(await (await download.value).path()).read_text(encoding="utf-8")
    print(f"decision to a memo on the disk: {hand.actions} action; the aim is 2")

    await page.goto(f"{deployment.site.url}/desk#/compare")
    await hand.choose(page.get_by_role("button", name="Choose files"), [tests, suite])
    await expect(brought).to_contain_text("a configuration of promptfoo")
    await brought.get_by_role("button", name="Import it").click()
    await expect(brought).to_contain_text("a data set of 2 rows, a prompt and a comparison that is ready to run")
    await expect(brought.get_by_role("listitem").filter(has_text="javascript")).to_be_visible()
    await brought.get_by_role("link", name="Open the comparison").click()
    await unfold(page, ONE_BY_ONE, "Checks without a judge")
    await expect(page.get_by_role("article", name="Candidate openai:gpt-5-mini")).to_be_visible()
    await expect(page.get_by_role("button", name="Checks without a judge")).to_contain_text("left out")
    await expect(page.get_by_role("listitem").filter(has_text="javascript")).to_be_visible()

    await page.goto(f"{deployment.site.url}/desk#/presets")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="for promptfoo").first.click()
    assert "openai:chat:gpt-5-mini" in Path(await (await download.value).path()).read_text(encoding="utf-8")

    # Without a provider that Carrel can call, the same page goes on with it: only its models are missing.
    suite.write_text(SUITE.replace("openai:gpt-5-mini, ", ""), encoding="utf-8")
    await page.goto(f"{deployment.site.url}/desk#/compare")
    tables = [tmp_path / "mini.csv", tmp_path / "large.csv"]
    for table in tables:
        table.write_text(f"n,message,reply\n1,Where?,{table.stem} here\n2,When?,{table.stem} now\n")
    await hand.choose(page.get_by_role("button", name="Choose files"), tables)
    await expect(brought).to_contain_text("mini.csv, large.csv: a table with 2 rows")
    await expect(brought.get_by_role("button", name="Decide between these answers")).to_be_visible()
    await brought.get_by_role("button", name="Not this file").click()
    await hand.choose(page.get_by_role("button", name="Choose files"), [tests, suite])
    await brought.get_by_role("button", name="Import it").click()
    await brought.get_by_role("link", name="Choose its models").click()
    await expect(page.get_by_label("What the models are to do")).to_have_value("Answer the customer: {{message}}")
    await expect(page.get_by_role("button", name="Checks without a judge")).to_contain_text("contains")
    missing = page.get_by_role("complementary", name="What it takes").get_by_role("listitem")
    await expect(missing).to_have_text(["Pick two models, or two prompts for one."])

    await page.get_by_role("button", name="delete it and begin anew").click()
    await hand.choose(page.get_by_role("button", name="Choose files"), [LOG])
    await expect(brought).to_contain_text("results of Inspect with 2 rows and finished answers of fake/one")
    await expect(brought.get_by_label("Expected answer")).to_have_value("expected")
    await brought.get_by_role("button", name="Use the 2 rows").click()
    await expect(page.get_by_role("region", name="Who competes")).to_contain_text("fake/one competes")

    second = tmp_path / "second.eval"
    second.write_bytes(LOG.read_bytes())
    await expect(page.get_by_text("draft saved")).to_be_visible()
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await settled(page)
    for draft in deployment.workspace.presets.drafts():
        deployment.workspace.presets.delete_draft(draft.id)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="New comparison"))
    await hand.choose(page.get_by_role("button", name="Choose files"), [LOG, second])
    await expect(brought).to_contain_text("finished answers of fake/one, second")
    await hand.click(brought.get_by_role("button", name="Decide between these answers"))
    await expect(page.get_by_role("region", name="Ranking").locator("tbody tr")).to_have_count(2)
    print(f"logs of Inspect to their decision: {hand.actions} actions; the aim is 5")
    assert hand.actions == 4


async def test_two_runs_lead_to_the_first_row_that_got_worse(page: Page, deployment: Deployment) -> None:
    workspace = deployment.workspace

    def table(late: str) -> bytes:
        answers = [late if number == 9 else f"Order {number} is on its way." for number in range(12)]
        rows = [f"m{number},Where is order {number}?,{answer},Order {number}" for number, answer in enumerate(answers)]
        return "\n".join(["id,question,small,large", *rows]).encode()

    roles: dict[str, ColumnRole] = {"small": "output", "large": "output"}
    made = workspace.data_sets.upload("mails.csv", table("Order 9 is on its way."), columns=roles)
    preset = workspace.presets.create(
        {
            "name": "Mails",
            "rows": {"data_set": made.id},
            "generation": {"candidates": [{"label": name, "column": name} for name in roles]},
            "checks": [{"kind": "contains", "texts": ["Order"], "name": "order"}],
        }
    )
    for late in (None, "No idea."):
        if late is not None:
            workspace.data_sets.add_version(made.id, "mails.csv", table(late))
        workspace.runs.wait(workspace.presets.execute(preset.id).id)
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await settled(page)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="Mails", exact=True).first)
    await hand.click(page.get_by_role("link", name="Against the run of"))
    worse = page.get_by_role("region", name="Document by document").locator("tbody tr").first
    await expect(worse).to_contain_text("No idea.")
    await expect(worse).to_contain_text("Order 9 is on its way.")
    print(f"\ntwo runs to the first row that got worse: {hand.actions} actions; the aim is 3")
    assert hand.actions == 2


async def test_the_sample_runs_after_three_actions_without_a_key_and_is_read_to_its_answers_by_keyboard_alone(
    page: Page, deployment: Deployment
) -> None:
    await page.goto(f"{deployment.site.url}/desk")
    await settled(page)
    hand = Hand(page)
    await hand.press(page.get_by_role("link", name="New comparison"))
    await hand.press(page.get_by_role("button", name="Take the sample"))
    await hand.press(page.get_by_role("button", name="Compare", exact=True))
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    await expect(page.get_by_role("region", name="Ranking").locator("tbody tr")).to_have_count(3)
    print(f"\nwith the sample: {hand.actions} actions, {hand.typed} typed fields; the aim is 3")
    assert (hand.actions, hand.typed) == (3, 0)
    words = await page.evaluate(WORDS)
    print(f"words of the decision above the fold: {words}; the aim is 120")
    assert words <= 120
    await hand.reach(page.get_by_role("tab", name="Decision", exact=True))
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("tab", name="Answers", exact=True)).to_have_attribute("aria-selected", "true")
    # From cell to cell, and from a cell to what the judges said of it.
    await hand.reach(page.get_by_role("grid", name="Answers").get_by_role("gridcell").first)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="What the judges said")).to_be_visible()
    await expect(page).to_have_url(re.compile("tab=documents.*document="))
    assert deployment.workspace.presets.drafts() == [], "what has started is not unfinished"
    await _vote_by_keyboard(page, hand)
    await _every_place_by_keyboard(page, hand)


async def _vote_by_keyboard(page: Page, hand: Hand) -> None:
    await hand.reach(page.get_by_role("tab", name="Answers", exact=True))
    await page.keyboard.press("ArrowRight")
    begin = page.get_by_role("button", name="Begin to vote")
    await hand.press(begin)
    booth = page.get_by_role("dialog", name="Which answer is better?")
    await expect(booth.get_by_role("group", name="Your vote")).to_be_visible()
    await page.keyboard.press("1")
    await expect(booth.get_by_role("status")).to_contain_text("1 of 10 given now")
    await page.keyboard.press("Escape")
    await expect(booth).to_be_hidden()
    await expect(page.get_by_role("button", name="Vote on")).to_be_focused()


async def _every_place_by_keyboard(page: Page, hand: Hand) -> None:
    """From place to place and through everything in each; a table is sorted, a text opened, a setting changed."""
    await hand.reach(page.get_by_role("tab", name="People", exact=True))
    await page.keyboard.press("Home")
    await expect(page.get_by_role("tab", name="Decision", exact=True)).to_have_attribute("aria-selected", "true")
    await _walked(page)
    await hand.press(page.get_by_role("region", name="Ranking").get_by_role("button", name="Words", exact=True))
    await expect(page.get_by_role("columnheader", name="Words")).to_have_attribute("aria-sort", "ascending")
    await hand.press(page.get_by_role("link", name="Library"))
    await _walked(page)
    document = page.get_by_role("rowheader").get_by_role("link", name="Sample thread 1", exact=True)
    await hand.press(document)
    await expect(page.get_by_role("textbox", name="Text")).to_be_visible()
    await _walked(page)
    await hand.press(page.get_by_role("link", name="Models"))
    await _walked(page)
    await hand.press(page.get_by_role("link", name="Leaderboard"))
    await _walked(page)
    await hand.press(page.get_by_role("link", name="Settings"))
    await _walked(page)
    await hand.reach(page.get_by_role("radio", name="Comfortable"))
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await hand.press(page.get_by_role("button", name="Save settings"))
    await expect(page.locator("#carrel")).to_have_attribute("data-density", "compact")


async def _walked(page: Page) -> None:
    await settled(page)
    await walk(page)


async def test_an_unfinished_comparison_is_found_again_in_the_workspace_and_can_be_tried_on_one_input(
    page: Page, deployment: Deployment
) -> None:
    await page.goto(f"{deployment.site.url}/desk#/compare")
    await settled(page)
    await page.get_by_label("What the models are to do").fill("Name the three main points.")
    await page.get_by_role("checkbox", name="local:lead").check()
    await page.get_by_role("button", name="Another prompt").click()
    await page.get_by_role("textbox", name="Prompt B").fill("Name the main point.")
    await expect(page.get_by_role("checkbox", name="lead with prompt B")).to_be_checked()
    more = page.get_by_role("button", name="Name, groups and references")
    await more.click()
    await page.get_by_label("Name", exact=True).fill("Three points or one")
    # It is kept in the workspace a moment after the last key, and nowhere else.
    await expect(page.get_by_text("draft saved")).to_be_visible()
    assert "main point" not in str(await page.evaluate("JSON.stringify([sessionStorage, localStorage])"))
    await page.get_by_role("link", name="Comparisons", exact=True).last.click()
    await page.get_by_role("link", name=re.compile("Presets · . unfinished")).click()
    await at_rest(page)
    assert await serious_faults(page, "'#carrel'") == []
    await page.get_by_role("link", name="Three points or one", exact=True).click()
    await expect(page.get_by_role("textbox", name="Prompt A")).to_have_value("Name the three main points.")
    await expect(more).to_contain_text("Three points or one")
    await expect(page.get_by_role("textbox", name="Prompt B")).to_have_value("Name the main point.")
    await expect(page.get_by_role("checkbox", name="local:lead")).to_be_checked()
    # What is missing leads to where it goes.
    await page.get_by_role("button", name="Bring documents, or try the sample.").click()
    await expect(page.get_by_role("region", name="What to work on").locator(":focus")).to_have_count(1)
    await page.get_by_role("button", name="Take the sample").click()
    runs = len(list(deployment.workspace.runs.find()))
    await page.get_by_label("Try on").select_option(index=1)
    await page.get_by_role("button", name="Try on one").click()
    tried = page.get_by_role("region", name="Tried on")
    await expect(tried.get_by_role("article")).to_have_count(2)
    for candidate in ("lead · A", "lead · B"):
        await expect(tried.get_by_role("article", name=candidate)).to_contain_text("tokens")
    await expect(tried.get_by_role("status")).to_contain_text("2 of 2 answers")
    [trial] = deployment.workspace.runs.find(trial=True)
    assert trial.progress.total == 2
    assert len(list(deployment.workspace.runs.find())) == runs, "a try is not among the runs"
    await at_rest(page)
    assert await serious_faults(page, "'#carrel'") == []
    deployment.workspace.data_sets.upload("questions.csv", b"id,question\nq1,What is it?\nq2,Was it there?\n")
    await expect(page.get_by_text("draft saved")).to_be_visible()
    await page.reload()
    await page.get_by_label("Data set").select_option(label="questions.csv")
    await page.get_by_label("Try on row").fill("2")
    await page.get_by_role("button", name="Try on one").click()
    await expect(tried.get_by_role("heading", name="Tried on “q2”")).to_be_visible()
    await expect(tried.get_by_role("status")).to_contain_text("2 of 2 answers")
    await page.get_by_label("Try on row").fill("3")
    await page.get_by_role("button", name="Try on one").click()
    await expect(page.get_by_text("is beyond the last row, 2")).to_be_visible()
    await page.get_by_role("button", name="Remove prompt B").click()
    await expect(page.get_by_text("its columns stand where their names do")).to_be_visible()
    # Whoever begins another one finds this one, and clears it with the prompts that were kept for it alone.
    await page.get_by_role("link", name="Comparisons", exact=True).last.click()
    await page.get_by_role("link", name="New comparison").click()
    task = page.get_by_label("What the models are to do")
    await expect(task).to_have_value("Name the three main points.")
    [_] = deployment.workspace.presets.drafts()
    await page.get_by_role("button", name="delete it and begin anew").click()
    await expect(task).to_have_value("")
    async with page.expect_response(lambda response: response.url.endswith("/api/preset-drafts")):
        await page.get_by_role("link", name="Comparisons", exact=True).last.click()
    await expect(page.get_by_role("link", name="Presets", exact=True)).to_be_visible()
    assert deployment.workspace.presets.drafts() == []
    left = [one.name for one in deployment.workspace.contents.find(type="generation_instructions")]
    assert not [name for name in left if name.startswith("Name the")]
