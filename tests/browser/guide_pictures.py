"""The pictures of the guide "From a spreadsheet to a verdict": its own table, taken through the app to the gate."""

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Final

from carrel_sdk import Workspace
from carrel_sdk.models import Candidate, Check, Comparison, Generation, Judge, PresetDraft, Rows
from playwright.async_api import Browser, FilePayload, Page, async_playwright

from tests.browser.browser import launched
from tests.browser.contents import finish
from tests.browser.demo_website import DemoWebsite, open_website
from tests.browser.pages import at_rest, settled, unfold, watched
from tests.browser.small_png import smaller

DOCS: Final = Path(__file__).parents[2] / "docs"
FOLDER: Final = DOCS / "images"
COLOURS: Final = 96
WIDTH, HEIGHT = 1080, 760
CHECKS: Final = [
    Check(kind="length", name="At most 20 words", most=20, required=True),
    Check(kind="forbidden", name="No “please”", texts=["please"]),
]


async def shots(browser: Browser, website: DemoWebsite) -> None:
    """Each step in the app, on a workspace of its own."""
    page = await watched(await browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}))
    await page.emulate_media(color_scheme="light", reduced_motion="reduce")
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill("analyst@example.org")
    await page.get_by_label("Password", exact=True).fill("the first pass word")
    await page.get_by_label("Password again").fill("the first pass word")
    await page.get_by_role("button", name="Sign up").click()
    await settled(page)
    told = await page.evaluate("fetch('/token').then(answer => answer.json())")
    workspace = Workspace(website.service.url, lambda: str(told["session_token"]))
    desk = f"{website.url}/desk#"
    data_set = await _uploaded(page, desk)
    preset, run = await asyncio.to_thread(_compared, workspace, data_set)
    workspace.close()
    await page.goto(f"{desk}/presets/{preset}")
    await settled(page)
    await unfold(page, "Checks without a judge")
    await _part(page, re.compile("^Checks without a judge"), "guide-checks")
    await page.goto(f"{desk}/runs/{run}?tab=verdict")
    await settled(page)
    await _kept(page, "guide-verdict")
    await page.goto(f"{desk}/runs/{run}?tab=figures")
    await settled(page)
    await page.get_by_label("Baseline").select_option("claude")
    await at_rest(page)
    await _part(page, "Is a change worse?", "guide-gate")
    await page.get_by_label("Split by").select_option("group")
    await at_rest(page)
    await _part(page, "By a column", "guide-split")
    await page.close()


async def _uploaded(page: Page, desk: str) -> str:
    """Bring the guide's table as a person does, and say which columns hold answers; the id of the data set."""
    guide = (DOCS / "from-a-spreadsheet.md").read_text(encoding="utf-8")
    found = re.search(r"```csv\n(.*?)```", guide, re.DOTALL)
    assert found is not None, "the guide shows no table"
    await page.goto(f"{desk}/library/data-sets")
    await settled(page)
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose a table").click()
    table: FilePayload = {"name": "outputs.csv", "mimeType": "text/csv", "buffer": found[1].encode()}
    await (await chooser.value).set_files(table)
    await page.wait_for_url(re.compile(r"/library/data-sets/\w"))
    await settled(page)
    for column in ("gpt", "claude"):
        await page.get_by_label(column).select_option("output")
    await page.get_by_role("button", name="Save", exact=True).click()
    await at_rest(page)
    await _part(page, "Columns", "guide-data-set")
    return page.url.rsplit("/", 1)[1]


def _compared(workspace: Workspace, data_set: str) -> tuple[str, str]:
    """The ids of a preset over all rows, and of its run."""
    draft = PresetDraft(
        name="Which answers are better?",
        rows=Rows(data_set=data_set),
        generation=Generation(candidates=[Candidate(label=one, column=one) for one in ("gpt", "claude")]),
        comparison=Comparison(judges=[Judge(model="local:reader")]),
        checks=CHECKS,
    )
    preset = workspace.presets.create(draft)
    return preset.id, finish(workspace, preset)


async def _part(page: Page, heading: str | re.Pattern[str], name: str) -> None:
    """What begins with this heading."""
    title = page.get_by_role("heading", name=heading, exact=True)
    await title.evaluate("element => element.closest('.disclosure, section').scrollIntoView()")
    await _kept(page, name)


async def _kept(page: Page, name: str) -> None:
    # The words of a moment, such as "Saved.", cover what lies below.
    await page.locator(".toast").wait_for(state="detached")
    picture = await page.screenshot()
    counting = await page.context.browser.new_page() if page.context.browser else page
    (FOLDER / f"{name}.png").write_bytes(await smaller(counting, picture, colours=COLOURS))
    await counting.close()


async def main() -> None:
    """Only these, anew."""
    with tempfile.TemporaryDirectory() as folder, open_website(Path(folder)) as website:
        async with async_playwright() as playwright, launched(playwright, Path(folder)) as browser:
            await shots(browser, website)
    for file in sorted(FOLDER.glob("guide-*.png")):
        print(f"{file.name} {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    asyncio.run(main())
