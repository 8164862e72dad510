"""Three of the ways by which people use the app, counted; those of a table and of results stand in `test_compare`."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, ViewportSize, expect

from tests.browser.browser import PASSWORD, USER, Deployment
from tests.browser.contents import document, finish, preset, stations
from tests.browser.hand import WORDS, Hand
from tests.browser.pages import at_rest, serious_faults, settled, view
from tests.documents import files
from tests.support.model_server import CRITIC, Running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PHONE = ViewportSize(width=390, height=844)


@pytest.fixture
def page(fresh_page: Page, deployment_with_models: Deployment) -> Page:
    deployment_with_models.host.sign_in(USER, PASSWORD)
    return fresh_page


async def test_a_researcher_brings_papers_and_a_rubric_and_two_people_vote_blind_and_score(
    page: Page, deployment_with_models: Deployment, tmp_path: Path
) -> None:
    deployment = deployment_with_models
    assert deployment.workspace.judges.check(f"openai:{CRITIC}").passed
    papers = [tmp_path / f"paper-{number}.pdf" for number in range(3)]
    for number, paper in enumerate(papers):
        paper.write_bytes(files.pdf(document(number).replace("# ", "").replace("\n", " ")[:600]))
    await page.goto(f"{deployment.site.url}/desk")
    await settled(page)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="New comparison"))
    await hand.choose(page.get_by_role("button", name="Choose files"), papers)
    await hand.type(page.get_by_label("What the models are to do"), "Summarise it in two sentences.")
    for model in ("openai:alpha", "openai:beta"):
        await hand.click(page.get_by_role("checkbox", name=model))
    await hand.click(page.get_by_role("button", name="Judges and criteria"))
    await hand.click(page.get_by_label("Score each answer by criteria"))
    await hand.click(page.get_by_role("button", name="Write criteria"))
    dialog = page.get_by_role("dialog", name="Write criteria")
    await hand.click(dialog.get_by_role("button", name="Summary"))
    await hand.click(dialog.get_by_role("button", name="Keep and use it"))
    await expect(dialog).to_be_hidden()
    await hand.click(page.get_by_role("button", name="Compare", exact=True))
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    print(f"\npapers and a rubric to their decision: {hand.actions} actions, {hand.typed} typed field; it was 13 and 1")
    await at_rest(page)
    print(f"words of the decision above the fold: {(words := await page.evaluate(WORDS))}; the aim is 120")
    assert (hand.actions, hand.typed, words <= 120) == (12, 1, True)

    hand = Hand(page)
    await hand.click(page.get_by_role("tab", name="People", exact=True))
    booth = page.get_by_role("dialog", name="Which answer is better?")
    for voter, keys in (("Ann", "123"), ("Ben", "321")):
        await hand.type(page.get_by_label("Your name, if several people vote"), voter)
        await hand.click(page.get_by_role("button", name=re.compile("Begin to vote|Vote on")))
        for number, key in enumerate(keys, 1):
            await expect(booth.get_by_role("group", name="Your vote")).to_be_visible()
            await expect(booth).to_contain_text("Station")
            if number == 1:
                await expect(booth.get_by_role("rowheader", name="coverage")).to_be_visible()
                hand.actions += 1
                await booth.get_by_label("coverage of the first answer").select_option("4")
                assert await serious_faults(page, "'[role=dialog]'") == []
            # Until the next pair is there, no key votes.
            await expect(booth.get_by_role("button", name="No difference")).not_to_have_attribute(
                "aria-disabled", "true"
            )
            hand.actions += 1
            await page.keyboard.press(key)
            if number < len(keys):
                await expect(booth.get_by_role("status")).to_contain_text(f"{number} of 10 given now")
        await hand.click(booth.get_by_role("button", name="Done"))
        await expect(booth).to_be_hidden()
    people = page.get_by_role("region", name="What people would say")
    await expect(people).to_contain_text("of 2 people on 3 of 3 documents")
    await expect(people).to_contain_text("The voters agree with each other at α")
    against = page.get_by_role("region", name="People against the judges")
    await expect(against.get_by_role("row", name=re.compile("^coverage"))).to_contain_text("4")
    print(f"six votes and two scores of two people: {hand.actions} actions")
    await view(page, "Decision")
    await at_rest(page)
    assert await serious_faults(page, "'#carrel'") == []


async def test_on_a_phone_a_run_is_paused_resumed_and_voted_on_in_nine_taps(
    page: Page, deployment_with_models: Deployment, models: Running
) -> None:
    deployment = deployment_with_models
    made = preset(deployment.workspace, "On the way", stations(3), ("openai:alpha", "lead"), concurrency=1)
    models.hold()
    deployment.workspace.presets.execute(made.id, name=made.name)
    await page.set_viewport_size(PHONE)
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await settled(page)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="On the way", exact=True).first)
    await hand.click(page.get_by_role("button", name="Pause"))
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert await _width(page) == PHONE["width"]
    models.latency(0)
    await expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    await hand.click(page.get_by_role("button", name="Resume"))
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    await at_rest(page)
    assert await _width(page) == PHONE["width"]
    print(f"\non a phone, words of the decision above the fold: {await page.evaluate(WORDS)}; the aim is 120")
    await hand.click(page.get_by_role("tab", name="People", exact=True))
    await hand.click(page.get_by_role("button", name="Begin to vote"))
    booth = page.get_by_role("dialog", name="Which answer is better?")
    await hand.click(booth.get_by_role("button", name="The first is better"))
    await expect(booth.get_by_role("status")).to_contain_text("1 of 10 given now")
    assert await _width(page) == PHONE["width"]
    assert await serious_faults(page, "'[role=dialog]'") == []
    await hand.click(booth.get_by_role("button", name="Enough"))
    await expect(booth).to_be_hidden()
    print(f"on a phone, to pause, resume and vote: {hand.actions} taps; it was 9")
    assert (hand.actions, hand.typed) == (7, 0)


async def test_a_week_later_a_run_is_found_judged_again_compared_exported_and_deleted(
    page: Page, deployment_with_models: Deployment
) -> None:
    deployment = deployment_with_models
    made = preset(deployment.workspace, "A week ago", stations(4))
    finish(deployment.workspace, made)
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await settled(page)
    hand = Hand(page)
    await hand.type(page.get_by_label("Filter by name or tag"), "week")
    await hand.click(page.get_by_role("link", name="A week ago", exact=True))
    await hand.click(page.get_by_role("button", name="Judge again"))
    again = page.get_by_role("dialog")
    await hand.click(again.get_by_role("checkbox", name="local:reader"))
    await hand.click(again.get_by_role("button", name="Judge again"))
    await expect(again).to_be_hidden()
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    await expect(page.get_by_text("Round 2").or_(page.get_by_label("Round")).first).to_be_visible()
    print(f"\na week later, to judge again: {hand.actions} actions, {hand.typed} typed field; it was 6")
    assert hand.actions == 5

    finish(deployment.workspace, made)
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await page.reload()
    await settled(page)
    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="A week ago", exact=True).first)
    await hand.click(page.get_by_role("link", name="Against the run of"))
    await expect(page.get_by_role("region", name="Document by document").locator("tbody tr")).to_have_count(4)
    print(f"to compare two runs: {hand.actions} actions; it was 3, and the page was empty")
    assert hand.actions == 2

    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="Settings"))
    await hand.click(page.get_by_role("tab", name="Data"))
    async with page.expect_download() as download:
        await hand.click(page.get_by_role("button", name="Download everything"))
    assert Path(await (await download.value).path()).stat().st_size > 10_000
    print(f"to take everything along: {hand.actions} actions; it was 2")
    assert hand.actions == 3

    hand = Hand(page)
    await hand.click(page.get_by_role("link", name="Comparisons", exact=True).first)
    await hand.click(page.get_by_role("link", name="A week ago", exact=True).first)
    await hand.click(page.get_by_role("button", name="More actions"))
    await hand.click(page.get_by_role("menuitem", name="Delete the comparison"))
    await hand.click(page.get_by_role("alertdialog").get_by_role("button", name="Delete"))
    await expect(page.get_by_role("link", name="A week ago", exact=True)).to_have_count(1)
    print(f"to delete a comparison: {hand.actions} actions")
    assert hand.actions == 5


async def _width(page: Page) -> int:
    found: int = await page.evaluate("document.documentElement.scrollWidth")
    return found
