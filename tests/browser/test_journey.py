"""The whole way of a person: from signing up at the website to a run that outlives the service."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.contents import CRITERIA, document
from tests.browser.demo_website import DemoWebsite, open_website
from tests.browser.pages import NAMES, REST, at_rest, settled, unfold, view

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

FIRST = "the first pass word"
SECOND = "the second pass word"
DOCUMENTS = 4
CALLS = DOCUMENTS * (2 + 2 + 2)
"""For each document two answers, their scores, and one comparison in both orders."""


@pytest.fixture
def website(tmp_path: Path) -> Iterator[DemoWebsite]:
    with open_website(tmp_path / "website") as website:
        yield website


async def test_from_signing_up_to_a_run_that_goes_on_after_a_restart(
    fresh_page: Page, website: DemoWebsite, tmp_path: Path
) -> None:
    page = fresh_page
    await _sign_up(page, website)
    await _store_a_key(page, website)
    await _bring_documents(page, tmp_path)
    await _make_a_preset(page, website)

    website.models.hold()
    await _start(page)
    await _pause_and_resume(page, website)
    await _read_report_and_export(page, tmp_path)
    await _ask_what_if(page)

    # The second run is under way from here to the end: its calls, one after the other, take a minute.
    website.models.latency(60_000 / CALLS)
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Open its preset").click()
    await _start(page)
    second = page.url
    await _change_password(page, website)
    await page.goto(second)
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()

    website.service.restart()
    website.models.latency(0)
    await _unlock(page, website)
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    await expect(page.get_by_role("region", name="Ranking").locator("tbody tr")).to_have_count(2)
    # What was done before the restart was not done again; one call was under way.
    assert 2 * CALLS <= website.models.started() <= 2 * CALLS + 1
    await _compare_both_runs(page)


async def _sign_up(page: Page, website: DemoWebsite) -> None:
    await page.goto(website.url)
    await page.get_by_role("link", name="Create an account").click()
    await page.get_by_label("E-mail address").fill("reader@example.org")
    await page.get_by_label("Password", exact=True).fill(FIRST)
    await page.get_by_label("Password again").fill(FIRST)
    await page.get_by_role("button", name="Sign up").click()
    await expect(page.get_by_role("heading", name="Comparisons")).to_be_visible()


async def _store_a_key(page: Page, website: DemoWebsite) -> None:
    await page.goto(f"{website.url}/desk#/models?tab=keys")
    await page.get_by_role("radio", name="OpenAI").check()
    await page.get_by_label("Key", exact=True).fill(website.models.key)
    await page.get_by_label("Address of its API").fill(website.models.base_url)
    # It is tried as soon as it is stored.
    await page.get_by_role("button", name="Store").click()
    await expect(page.get_by_role("status").filter(has_text="and works")).to_be_visible()


async def _bring_documents(page: Page, folder: Path) -> None:
    await page.get_by_role("link", name="Library").click()
    await settled(page)
    files = []
    for number in range(DOCUMENTS):
        files.append(folder / f"station-{number}.md")
        files[-1].write_text(document(number), encoding="utf-8")
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose files").click()
    await (await chooser.value).set_files(files)
    for file in files:
        await expect(page.get_by_role("link", name=file.name)).to_be_visible()


async def _make_a_preset(page: Page, website: DemoWebsite) -> None:
    for kind, name, body in (("generation_instructions", "Prompt", "Summarise it."), ("criteria", "Marks", CRITERIA)):
        await page.goto(f"{website.url}/desk#/library/new?type={kind}")
        await settled(page)
        await page.get_by_label("Name", exact=True).fill(name)
        if kind == "criteria":
            await page.get_by_role("radio", name="YAML").click()
        await page.get_by_role("textbox", name="Criteria in YAML" if kind == "criteria" else "Text").fill(body)
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("version 1")).to_be_visible()
    await page.goto(f"{website.url}/desk#/compare")
    await settled(page)
    await unfold(page, "Choose from the library", NAMES, "Judges and criteria", REST)
    await page.get_by_role("button", name="Choose all shown").click()
    await page.get_by_label("or take one from the library").select_option(label="Prompt")
    for model in ("openai:alpha", "openai:beta"):
        await page.get_by_role("checkbox", name=model).check()
    await page.get_by_label("Name", exact=True).fill("Which summary?")
    judging = page.get_by_role("region", name="Judging")
    await at_rest(page)
    while await judging.get_by_role("button", name="Remove judge").count():
        await judging.get_by_role("button", name="Remove judge").first.click()
    await judging.get_by_role("button", name="Judge", exact=True).click()
    await judging.get_by_role("combobox", name="Judge 1", exact=True).fill("openai:judge-one")
    await page.keyboard.press("Tab")
    await judging.get_by_label("Score each answer by criteria").check()
    await judging.get_by_label("Criteria", exact=True).select_option(label="Marks")
    await page.get_by_text("Limits and payment").click()
    await page.get_by_label("Calls at once").fill("1")
    # What it takes is said before anything is spent.
    await expect(page.get_by_role("complementary", name="What it takes")).to_contain_text(str(CALLS))
    await page.get_by_role("button", name="Save it as a preset").click()
    await expect(page.get_by_role("heading", name="Which summary?", level=1)).to_be_visible()


async def _start(page: Page) -> None:
    await page.get_by_role("button", name="Run", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Start").click()
    await expect(page.get_by_text("live", exact=True)).to_be_visible()


async def _pause_and_resume(page: Page, website: DemoWebsite) -> None:
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    website.models.latency(0)
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_text("Completed", exact=True)).to_be_visible()
    await expect(page.get_by_role("region", name="Verdict")).to_contain_text("cannot")
    await expect(page.get_by_role("region", name="Ranking").locator("tbody tr")).to_have_count(2)


async def _read_report_and_export(page: Page, folder: Path) -> None:
    await view(page, "Report")
    frame = page.frame_locator("iframe")
    await expect(frame.get_by_role("heading", name="Ranking")).to_be_visible()
    # Its style arrived although the host's policy allows no script inline.
    assert await frame.locator("body").evaluate("body => getComputedStyle(body).fontFamily") != "Times New Roman"
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Everything, as a zip").click()
    await (await download.value).save_as(folder / "export.zip")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Memo").click()
    await (await download.value).save_as(folder / "memo.html")
    memo = (folder / "memo.html").read_text(encoding="utf-8")
    assert "How it was found" in memo
    assert "Summarise it." in memo, "the question stands on it"
    assert "report.html" in zipfile.ZipFile(folder / "export.zip").namelist()


async def _ask_what_if(page: Page) -> None:
    await view(page, "Judges")
    await expect(page.get_by_role("region", name="Health of the judges")).to_contain_text("openai:judge-one")
    await view(page, "What if")
    await page.get_by_role("slider").fill("3")
    await expect(page.get_by_role("button", name="As it was")).to_be_enabled()
    await page.get_by_role("slider").fill("0")
    await expect(page.get_by_text("Leave at least one judge.")).to_be_visible()


async def _compare_both_runs(page: Page) -> None:
    await page.get_by_role("link", name="Comparisons", exact=True).first.click()
    boxes = page.get_by_role("checkbox", name="Choose Which summary?")
    await boxes.first.check()
    await expect(page.get_by_role("link", name="Compare the two")).to_be_hidden()
    await boxes.nth(1).check()
    await page.get_by_role("link", name="Compare the two").press("Enter")
    await expect(page.get_by_role("heading", name="Two comparisons side by side")).to_be_visible()
    await expect(page.get_by_role("region", name="What changed")).to_contain_text("Nothing: both asked the same")
    told = page.get_by_role("region", name="What the shared documents tell").get_by_role("listitem")
    await expect(told).to_have_count(2)
    await expect(told.first).to_contain_text(f"on {DOCUMENTS} documents")
    rows = page.get_by_role("region", name="Document by document").locator("tbody tr")
    await expect(rows).to_have_count(DOCUMENTS)
    await rows.last.get_by_role("link", name="Open there").press("Enter")
    await expect(page).to_have_url(re.compile("tab=documents.*document="))
    await expect(page.get_by_role("heading", name="What the judges said")).to_be_visible()


async def _change_password(page: Page, website: DemoWebsite) -> None:
    await page.goto(f"{website.url}/account")
    await page.get_by_role("link", name="Change your password").click()
    await page.get_by_label("Current password").fill(FIRST)
    await page.get_by_label("New password", exact=True).fill(SECOND)
    await page.get_by_label("New password again").fill(SECOND)
    await page.get_by_role("button", name="Change it").click()
    await expect(page).to_have_url(re.compile("/desk"))
    await expect(page.get_by_role("heading", name="Comparisons")).to_be_visible()


async def _unlock(page: Page, website: DemoWebsite) -> None:
    dialog = page.get_by_role("alertdialog")
    await expect(dialog).to_contain_text("The service locks it when it restarts")
    way = dialog.get_by_role("link", name="Enter your password")
    # In a tab of its own, so that nothing that was typed here is lost.
    assert await way.get_attribute("target") == "_blank"
    tab = await page.context.new_page()
    await tab.goto(f"{website.url}{await way.get_attribute('href')}")
    await tab.get_by_label("Password", exact=True).fill(SECOND)
    await tab.get_by_role("button", name="Unlock").click()
    await expect(tab.get_by_role("heading", name="Comparisons")).to_be_visible()
    await tab.close()
    await expect(dialog).to_be_hidden()
