"""The main job in a browser: files in, a preset, a run, its verdict, its report and its export out."""

import zipfile
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.app.browser import Desk
from tests.app.contents import CRITERIA, document

pytestmark = pytest.mark.browser


async def test_from_files_to_a_verdict_a_report_and_an_export(page: Page, desk: Desk, tmp_path: Path) -> None:
    await page.goto(f"{desk.site.url}/desk#/library")
    await _upload(page, tmp_path)
    for kind, name, body in (("generation_instructions", "Prompt", "Summarise it."), ("criteria", "Marks", CRITERIA)):
        await _write(page, desk, kind, name, body)

    await page.goto(f"{desk.site.url}/desk#/presets/new")
    await _fill_preset(page)
    await page.get_by_role("button", name="Save").click()
    # What it takes is said before anything is spent.
    await expect(page.get_by_role("complementary", name="What it takes")).to_contain_text("nothing")
    await page.get_by_role("button", name="Run", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Start").click()

    await expect(page.get_by_text("Completed", exact=True)).to_be_visible(timeout=30_000)
    await expect(page.get_by_role("region", name="Verdict")).to_contain_text("cannot")
    await expect(page.get_by_role("region", name="Ranking").locator("tbody tr")).to_have_count(2)
    await _leave_a_judge_out(page)
    await _read_report_and_export(page, tmp_path)


async def _upload(page: Page, folder: Path) -> None:
    files = []
    for number in range(3):
        files.append(folder / f"station-{number}.md")
        files[-1].write_text(document(number), encoding="utf-8")
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose files").click()
    await (await chooser.value).set_files(files)
    await expect(page.get_by_role("link", name="station-2.md")).to_be_visible()


async def _write(page: Page, desk: Desk, kind: str, name: str, body: str) -> None:
    await page.goto(f"{desk.site.url}/desk#/library/new?type={kind}")
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_role("textbox", name="Text").fill(body)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("version 1")).to_be_visible()


async def _fill_preset(page: Page) -> None:
    form = page.get_by_role("form", name="Preset")
    await form.get_by_label("Name", exact=True).fill("Which summary?")
    await form.get_by_role("button", name="Choose all shown").click()
    await form.get_by_label("Instructions for everybody").select_option(label="Prompt")
    for number in range(2):
        await form.get_by_role("button", name="Candidate", exact=True).click()
        await expect(form.get_by_role("article")).to_have_count(number + 1)
    judging = form.get_by_role("region", name="Judging")
    await judging.get_by_role("button", name="Judge").click()
    await judging.get_by_label("Score each answer by criteria").check()
    await judging.get_by_label("Criteria", exact=True).select_option(label="Marks")


async def _leave_a_judge_out(page: Page) -> None:
    await page.get_by_role("tab", name="Judges").click()
    await expect(page.get_by_role("region", name="Health of the judges")).to_contain_text("local:reader")
    await page.get_by_role("tab", name="What if").click()
    await page.get_by_role("slider").fill("3")
    await expect(page.get_by_role("button", name="As it was")).to_be_enabled()
    await page.get_by_role("slider").fill("0")
    await expect(page.get_by_text("Leave at least one judge.")).to_be_visible()


async def _read_report_and_export(page: Page, folder: Path) -> None:
    await page.get_by_role("tab", name="Report").click()
    frame = page.frame_locator("iframe")
    await expect(frame.get_by_role("heading", name="Ranking")).to_be_visible()
    # Its style arrived although the host's policy allows none inline.
    assert await frame.locator("body").evaluate("body => getComputedStyle(body).fontFamily") != "Times New Roman"
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Everything, as a zip").click()
    await (await download.value).save_as(folder / "export.zip")
    assert "report.html" in zipfile.ZipFile(folder / "export.zip").namelist()
