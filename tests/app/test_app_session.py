"""What becomes of the session: it stays in memory, and a page that loses it recovers by itself."""

import pytest
from playwright.async_api import Page, expect

from tests.app.browser import USER, Desk
from tests.app.contents import finished_run, preset

pytestmark = pytest.mark.browser


async def test_the_token_is_nowhere_but_in_memory(page: Page, desk: Desk) -> None:
    await page.goto(f"{desk.site.url}/desk")
    await expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    token = str(desk.host.session(USER))
    kept = await page.evaluate(
        "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href, window.carrel,"
        " performance.getEntries().map(entry => entry.name)])"
    )
    assert token not in kept
    assert token.partition(".")[0] not in kept
    assert await page.context.cookies() == []


async def test_a_restart_asks_for_the_password_and_then_the_run_goes_on(page: Page, desk: Desk) -> None:
    run = desk.workspace.presets.execute(preset(desk.workspace, "Long", documents=12, concurrency=1).id, name="Long")
    await page.goto(f"{desk.site.url}/desk#/runs/{run.id}?tab=log")
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    desk.service.restart()

    dialog = page.get_by_role("alertdialog")
    await expect(dialog).to_contain_text("the service restarted", ignore_case=True, timeout=30_000)
    async with page.context.expect_page() as unlocked:
        await dialog.get_by_role("link", name="Enter your password").click()
    await (await unlocked.value).close()
    await expect(dialog).to_be_hidden(timeout=20_000)
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible(timeout=60_000)

    lines = [entry.seq for entry in desk.workspace.runs.logs(run.id)]
    assert len(lines) == len(set(lines))
    shown = page.get_by_role("group", name="Log").get_by_role("listitem")
    positions = await shown.evaluate_all("lines => lines.map(line => line.getAttribute('aria-posinset'))")
    assert positions
    assert len(positions) == len(set(positions))


async def test_a_lost_connection_is_said_and_noticed_when_it_is_back(page: Page, desk: Desk) -> None:
    run_id = finished_run(desk.workspace, "Kept")
    await page.goto(f"{desk.site.url}/desk#/runs")
    await expect(page.get_by_role("link", name="Kept")).to_be_visible()
    await page.context.set_offline(True)
    await page.get_by_role("link", name="Kept").click()
    banner = page.get_by_role("alert").filter(has_text="cannot be reached")
    await expect(banner).to_be_visible()
    await page.context.set_offline(False)
    await expect(banner).to_be_hidden()
    await expect(page.get_by_role("region", name="Ranking")).to_be_visible()
    assert run_id in page.url


async def test_a_page_without_a_host_asks_for_a_token_and_works_with_it(page: Page, desk: Desk) -> None:
    await page.goto(f"{desk.service.url}/app/")
    await page.get_by_label("Session token").fill(str(desk.host.session(USER)))
    await page.get_by_role("button", name="Open the desk").click()
    await expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    assert (await page.context.cookies()) == []
