"""The list of runs: what a new user is told, and where a keyboard is after a page or a run is gone."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import Deployment
from tests.browser.contents import finished_run, preset, stations
from tests.browser.pages import at_rest
from tests.support.model_server import Running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture(scope="module")
def deployment(deployment_with_models: Deployment) -> Deployment:
    return deployment_with_models


@pytest.fixture(autouse=True)
def no_runs(deployment: Deployment) -> None:
    """Whichever of these tests comes first."""
    for run in list(deployment.workspace.runs.find()):
        deployment.workspace.runs.delete(run.id)


async def test_a_new_user_is_told_what_to_do_first(page: Page, deployment: Deployment) -> None:
    await page.goto(f"{deployment.site.url}/desk")
    steps = page.get_by_role("region", name="Find out which model does your job best")
    await expect(steps.get_by_role("listitem")).to_have_count(3)
    await steps.get_by_role("link", name="Set up the first comparison").click()
    await expect(page.get_by_role("heading", name="New comparison")).to_be_visible()
    # The focus came along, so that a keyboard goes on in the page and not in what was there before.
    await expect(page.get_by_role("main")).to_be_focused()


async def test_only_what_is_in_sight_is_deleted_and_the_focus_stays_in_the_page(
    page: Page, deployment: Deployment
) -> None:
    kept, gone = finished_run(deployment.workspace, "Kept"), finished_run(deployment.workspace, "Gone")
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await page.get_by_label("Choose all that are shown").check()
    await expect(page.get_by_text("2 chosen")).to_be_visible()
    await page.get_by_label("Filter by name or tag").fill("gone")
    await expect(page.get_by_text("1 chosen")).to_be_visible()
    await expect(page).to_have_url(re.compile("find=gone"))
    await page.get_by_role("button", name="Delete").press("Enter")
    await page.get_by_role("alertdialog").get_by_role("button", name="Delete").press("Enter")
    await expect(page.get_by_role("heading", name="No comparison fits")).to_be_visible()
    await expect(page.get_by_role("main")).to_be_focused()
    await at_rest(page)
    assert [run.id for run in deployment.workspace.runs.find()] == [kept]
    assert gone != kept


async def test_a_run_that_is_under_way_is_said_to_have_stayed(
    page: Page, deployment: Deployment, models: Running
) -> None:
    models.hold()
    a_preset = preset(deployment.workspace, "Busy", stations(1), ("lead", "openai:alpha"))
    run = deployment.workspace.presets.execute(a_preset.id, name="Busy")
    await page.goto(f"{deployment.site.url}/desk#/runs?find=busy")
    await page.get_by_label("Choose all that are shown").check()
    await page.get_by_role("button", name="Delete").click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("alert")).to_contain_text("1 is under way and stayed")
    deployment.workspace.runs.cancel(run.id)
