"""What becomes of the session: it stays in memory, and a page that loses it recovers by itself."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import USER, Deployment
from tests.browser.contents import finished_run, preset, stations
from tests.support.model_server import Running

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture(scope="module")
def deployment(deployment_with_models: Deployment) -> Deployment:
    return deployment_with_models


async def test_the_token_is_nowhere_but_in_memory(page: Page, deployment: Deployment) -> None:
    await page.goto(f"{deployment.site.url}/desk")
    await expect(page.get_by_role("heading", name="Comparisons")).to_be_visible()
    token = str(deployment.host.session(USER))
    kept = await page.evaluate(
        "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href, window.carrel,"
        " performance.getEntries().map(entry => entry.name)])"
    )
    assert token not in kept
    assert token.partition(".")[0] not in kept
    assert await page.context.cookies() == []


async def test_a_page_recovers_from_a_kill_after_signing_in_and_shows_nothing_twice(
    page: Page, deployment: Deployment, models: Running
) -> None:
    models.hold()
    names = ("lead", "openai:alpha")
    made = preset(deployment.workspace, "Long", stations(12), names, concurrency=1)
    run = deployment.workspace.presets.execute(made.id, name="Long")
    await page.goto(f"{deployment.site.url}/desk#/runs/{run.id}?tab=log")
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    await expect(page.get_by_text("task-succeeded").first).to_be_visible()
    deployment.service.kill()
    deployment.service.start()
    models.latency(0)

    dialog = page.get_by_role("alertdialog")
    await expect(dialog).to_contain_text("The service locks it when it restarts")
    assert "task-succeeded" not in await page.content()
    way = dialog.get_by_role("link", name="Enter your password")
    tab = await page.context.new_page()
    await tab.goto(f"{deployment.site.url}{await way.get_attribute('href')}")
    await tab.close()
    await expect(dialog).to_be_hidden()
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()

    told = [(entry.event, entry.task_key) for entry in deployment.workspace.runs.logs(run.id)]
    shown = page.get_by_role("group", name="Log").get_by_role("listitem")
    # Every line of the log is in the list once, and so is each task that ended: in the log and in what is counted.
    await expect(shown.first).to_have_attribute("aria-setsize", str(len(told)))
    ended = [task for event, task in told if event in {"task-succeeded", "task-decided"}]
    assert len(ended) == len(set(ended))
    lines = await shown.all_inner_texts()
    assert len(lines) == len(set(lines))
    await page.get_by_role("tab", name="Tasks").click()
    await page.get_by_role("group", name="Tasks").evaluate("list => list.scrollTo(0, list.scrollHeight)")
    await expect(page.get_by_text(f"{len(ended)} tasks")).to_be_visible()


async def test_a_lost_connection_is_said_and_noticed_when_it_is_back(page: Page, deployment: Deployment) -> None:
    run_id = finished_run(deployment.workspace, "Kept")
    await page.goto(f"{deployment.site.url}/desk#/runs")
    await expect(page.get_by_role("link", name="Kept")).to_be_visible()
    await page.context.set_offline(True)
    await page.get_by_role("link", name="Kept").click()
    banner = page.get_by_role("alert").filter(has_text="cannot be reached")
    await expect(banner).to_be_visible()
    await page.context.set_offline(False)
    await expect(banner).to_be_hidden()
    await expect(page.get_by_role("region", name="Ranking")).to_be_visible()
    await expect(page).to_have_url(re.compile(run_id))


async def test_a_page_without_a_host_asks_for_a_token_and_works_with_it(page: Page, deployment: Deployment) -> None:
    await page.goto(f"{deployment.service.url}/app/")
    await page.get_by_label("Session token").fill(str(deployment.host.session(USER)))
    await page.get_by_role("button", name="Open the workspace").click()
    await expect(page.get_by_role("heading", name="Comparisons")).to_be_visible()
    assert (await page.context.cookies()) == []
