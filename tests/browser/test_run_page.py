"""A run's page: what an address leads to, and what it says of a run that is not done."""

import re

import msgspec
import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import Deployment
from tests.browser.contents import finished_run, preset, stations
from tests.browser.pages import at_rest, serious_faults, settled, view

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture(scope="module")
def run_id(deployment: Deployment) -> str:
    return finished_run(deployment.workspace)


async def test_a_run_that_was_not_started_says_what_it_is_about_to_do(page: Page, deployment: Deployment) -> None:
    a_preset = preset(deployment.workspace, "Later", stations(2))
    run = deployment.workspace.runs.create(preset_id=a_preset.id)
    await page.goto(f"{deployment.site.url}/desk#/runs/{run.id}")
    verdict = page.get_by_role("region", name="Verdict")
    await expect(verdict).to_contain_text("Ready to be started.")
    await expect(verdict).to_contain_text("2 documents, 3 candidates, 2 judges")
    await expect(page).to_have_title("Later · Carrel")
    await expect(page.get_by_role("region", name="Ranking")).to_have_count(0)
    # Each phase says how much it is: 2 documents by 3 candidates, by 2 judges, by 3 pairs both ways round.
    phases = page.get_by_role("region", name="Progress").get_by_role("listitem")
    await expect(phases).to_contain_text(["0 of 6", "0 of 12", "0 of 24"])
    for tab in ("Judges", "What if", "People"):
        await view(page, tab)
        await expect(page.get_by_role("heading", name="There are no judgements yet")).to_be_visible()
    await view(page, "One by one")
    await expect(page.get_by_text("The candidate was not asked yet.")).to_have_count(2)


async def test_an_address_leads_to_filters_and_to_a_pair_of_answers(
    page: Page, deployment: Deployment, run_id: str
) -> None:
    here = f"{deployment.site.url}/desk#/runs/{run_id}"
    await page.goto(f"{here}?tab=tasks&kind=score&state=succeeded")
    await expect(page.get_by_text("24 tasks")).to_be_visible()
    await page.get_by_label("Phase").select_option("generate")
    await expect(page.get_by_text("12 tasks")).to_be_visible()
    await expect(page).to_have_url(re.compile("kind=generate"))

    await page.goto(f"{here}?tab=log&find=run-")
    await expect(page.get_by_label("Filter")).to_have_value("run-")

    await page.goto(f"{here}?tab=documents&left=lead&right=lexrank")
    await expect(page.get_by_label("On the left")).to_have_value("lead")
    await page.get_by_label("On the right").select_option("submodular")
    await expect(page).to_have_url(re.compile("right=submodular"))
    await page.get_by_role("button", name="The next document").click()
    await expect(page.get_by_text("2 of 4")).to_be_visible()
    await expect(page.get_by_label("On the left")).to_have_value("lead")


async def test_an_address_leads_to_other_weights_of_the_judges(page: Page, deployment: Deployment, run_id: str) -> None:
    await page.goto(f"{deployment.site.url}/desk#/runs/{run_id}?tab=what-if&weights=local:reader%3D0,nobody%3D2")
    reader, statistician = page.get_by_label("local:reader"), page.get_by_label("local:statistician")
    await expect(reader).to_have_attribute("aria-valuetext", "left out")
    await expect(statistician).to_have_value("1")
    await statistician.press("ArrowRight")
    await expect(statistician).to_have_value("1.25")
    # What was moved is in the address once it rests, and another visit finds it as it was left.
    await expect(page).to_have_url(re.compile("statistician%3D1.25"))
    await page.reload()
    await expect(statistician).to_have_value("1.25")
    await expect(reader).to_have_attribute("aria-valuetext", "left out")
    await page.get_by_role("button", name="As it was").click()
    await expect(reader).to_have_value("1")
    await expect(page).not_to_have_url(re.compile("weights"))


async def test_a_run_gets_a_name_tags_and_a_pin(page: Page, deployment: Deployment, run_id: str) -> None:
    await page.goto(f"{deployment.site.url}/desk#/runs/{run_id}")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Name, tags and pin").click()
    dialog = page.get_by_role("dialog", name="Name, tags and pin")
    await dialog.get_by_label("Name").fill("The one to keep")
    await dialog.get_by_label("Tags").fill("harbour, 1904, harbour")
    await dialog.get_by_label("Pin it").check()
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("heading", name="The one to keep", level=1)).to_be_visible()
    await expect(page).to_have_title("Completed · The one to keep · Carrel")
    await expect(page.locator(".page-head .chip")).to_have_text(["Completed", "pinned", "harbour", "1904"])
    await at_rest(page)
    run = deployment.workspace.runs.get(run_id)
    assert (run.name, run.tags, run.pinned) == ("The one to keep", ["harbour", "1904"], True)


async def test_numbers_are_written_as_the_settings_want_them(page: Page, deployment: Deployment, run_id: str) -> None:
    before = deployment.workspace.settings.get()
    deployment.workspace.settings.save(msgspec.structs.replace(before, locale="de-DE", timezone="Asia/Tokyo"))
    try:
        await page.goto(f"{deployment.site.url}/desk#/runs/{run_id}?tab=verdict")
        ranking = page.get_by_role("region", name="Ranking")
        # A decimal comma, and the space before the sign that German has.
        await expect(ranking.locator("tbody tr").first).to_contain_text(",")
        await expect(ranking.locator("tbody tr").first).to_contain_text("\N{NO-BREAK SPACE}%")
    finally:
        after = deployment.workspace.settings.get()
        deployment.workspace.settings.save(msgspec.structs.replace(before, etag=after.etag))


async def test_a_keyboard_votes_on_and_on(page: Page, deployment: Deployment, run_id: str) -> None:
    await page.goto(f"{deployment.site.url}/desk#/runs/{run_id}?tab=people")
    await settled(page)
    await page.get_by_role("button", name="Begin to vote").press("Enter")
    tie = page.get_by_role("dialog").get_by_role("button", name="No difference")
    await tie.press("Enter")
    await expect(page.get_by_text("1 of 10 given now")).to_be_visible()
    await expect(tie).to_be_focused()
    await expect(tie).not_to_have_attribute("aria-disabled", "true")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("2 of 10 given now")).to_be_visible()
    await page.keyboard.press("z")
    await expect(page.get_by_text("1 of 10 given now")).to_be_visible()
    await page.keyboard.press("w")
    await page.keyboard.type("1 date is wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("1 of 10 given now")).to_be_visible()
    await page.keyboard.press("4")
    await expect(page.get_by_text("2 of 10 given now")).to_be_visible()
    await page.get_by_role("textbox", name="Why?").fill("2 names are wrong")
    assert await serious_faults(page, "'[role=dialog]'") == []
    await page.get_by_role("button", name="Both are bad").click()
    await expect(page.get_by_text("3 of 10 given now")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("3 votes so far, 2 of them on two bad answers")).to_be_visible()
    proposed = page.get_by_role("region", name="Criteria from what you said")
    await expect(proposed.locator("blockquote")).to_have_text(
        [re.compile("1 date is wrong"), re.compile("2 names are")]
    )
    assert await serious_faults(page, "'#carrel'") == []
    texts = deployment.workspace.contents.counts()
    await proposed.get_by_role("link", name="Use as criteria").click()
    await expect(page.get_by_role("textbox", name="Name", exact=True).first).to_have_value("Criteria from votes")
    await expect(page.get_by_role("list").get_by_role("textbox", name="Name")).to_have_value("faithfulness")
    assert deployment.workspace.contents.counts() == texts
    await page.goto(f"{deployment.site.url}/desk#/runs/{run_id}?tab=people")
    await page.get_by_role("button", name="Leave", exact=True).click()
    people = page.get_by_role("region", name="What people would say")
    await expect(people).to_contain_text("too few to say what people would say")
    await expect(people).to_contain_text("3 blind votes of one person")
