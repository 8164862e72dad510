"""What a person sees of their own account: what calls took, everything to take away, and back again."""

import asyncio
import json
import zipfile
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.browser import Deployment
from tests.browser.contents import finished_run, preset, stations
from tests.browser.pages import NAMES, serious_faults, settled, unfold

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_calls_are_shown_by_day_and_model(page: Page, deployment: Deployment) -> None:
    finished_run(deployment.workspace)
    await page.goto(f"{deployment.site.url}/desk#/account?tab=usage")
    await settled(page)
    table = page.get_by_role("group", name="Usage by model")
    row = table.get_by_role("row").filter(has_text="local:lexrank")
    await expect(row.get_by_role("cell").first).to_have_text("4")
    await expect(page.locator("figure.chart .recharts-bar-rectangle path").first).to_be_visible()
    await page.get_by_role("radio", name="Cost", exact=True).click()
    await expect(page.get_by_text("Nothing in this time had a price")).to_be_visible()
    for tab in ("usage", "data", "programs"):
        await page.evaluate("address => { location.hash = address }", f"/account?tab={tab}")
        await settled(page)
        faults = await serious_faults(page, "'#carrel'")
        assert faults == [], json.dumps(faults, indent=1)


async def test_a_workspace_is_downloaded_and_brought_in_again(
    page: Page, deployment: Deployment, tmp_path: Path
) -> None:
    preset(deployment.workspace, "To be moved", stations(2))
    before = deployment.workspace.contents.counts().total
    await page.goto(f"{deployment.site.url}/desk#/account?tab=data")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download everything").click()
    file = tmp_path / "workspace.zip"
    await (await download.value).save_as(file)
    names = zipfile.ZipFile(file).namelist()
    assert {"README.txt", "presets.jsonl", "contents.jsonl"} <= set(names)
    await page.locator("input[type=file]").set_input_files(file)
    await expect(page.get_by_text(f"Brought in: {before} texts")).to_be_visible()
    assert deployment.workspace.contents.counts().total == 2 * before

    broken = tmp_path / "broken.zip"
    broken.write_bytes(file.read_bytes()[:-40])
    await page.locator("input[type=file]").set_input_files(broken)
    await expect(page.get_by_role("alert").filter(has_text="import-unreadable")).to_be_visible()
    assert deployment.workspace.contents.counts().total == 2 * before


async def test_a_theme_shows_before_the_service_has_answered_and_goes_when_it_refuses(
    page: Page, deployment: Deployment
) -> None:
    await page.goto(f"{deployment.site.url}/desk#/account")
    await settled(page)
    theme = page.locator("[data-theme]").first
    release = asyncio.Event()

    async def refuse(route: Route) -> None:
        if route.request.method != "PUT":
            await route.continue_()
            return
        await release.wait()
        problem = {
            "type": "t",
            "title": "t",
            "status": 507,
            "detail": "Full.",
            "code": "storage-full",
            "request_id": "r",
        }
        await route.fulfill(status=507, json=problem, content_type="application/problem+json")

    await page.route("**/api/settings", refuse)
    await page.get_by_role("radio", name="Dark", exact=True).click()
    await page.get_by_role("button", name="Save settings").click()
    await expect(theme).to_have_attribute("data-theme", "dark")
    release.set()
    await expect(page.get_by_role("alert").filter(has_text="storage-full")).to_be_visible()
    await expect(theme).not_to_have_attribute("data-theme", "dark")
    await expect(page.get_by_role("button", name="Save settings")).to_be_enabled()


async def test_settings_that_are_not_saved_are_not_left_behind_unasked(page: Page, deployment: Deployment) -> None:
    await page.goto(f"{deployment.site.url}/desk#/account")
    await settled(page)
    zone = page.get_by_label("Timezone")
    await zone.select_option("Asia/Tokyo")
    await page.get_by_role("tab", name="Usage").click()
    asks = page.get_by_role("alertdialog", name="Leave without saving?")
    await asks.get_by_role("button", name="Stay").click()
    await expect(asks).to_be_hidden()
    await expect(zone).to_have_value("Asia/Tokyo")
    await page.get_by_role("tab", name="Usage").click()
    await asks.get_by_role("button", name="Leave").click()
    await expect(page.get_by_role("radio", name="30 days")).to_be_visible()
    assert deployment.workspace.settings.get().timezone is None


async def test_references_are_paired_by_name_and_saved(page: Page, deployment: Deployment) -> None:
    made = preset(deployment.workspace, "Held to something", stations(2))
    reference = deployment.workspace.contents.create("Station 1 (reference)", "reference_document", "A station.")
    await page.goto(f"{deployment.site.url}/desk#/presets/{made.id}")
    await settled(page)
    await unfold(page, NAMES)
    await page.get_by_text("References", exact=True).click()
    await page.get_by_role("button", name="Pair 1 by its name").click()
    await page.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_text("not saved")).to_have_count(0)
    assert deployment.workspace.presets.get(made.id).references == {made.inputs[1]: reference.id}
    await expect(page.get_by_text("Likely cost")).to_be_visible()
