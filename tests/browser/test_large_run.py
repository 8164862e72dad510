"""The page of a finished run of 10,000 documents and six candidates: how soon it shows, and what holds it up."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import pytest
from carrel_sdk.configuration import Candidate, Check, Configuration, Generation, Rows
from playwright.async_api import Page, expect

from tests.browser.browser import Deployment, open_deployment
from tests.browser.contents import SENTENCES
from tests.browser.pages import settled
from tests.support import soak

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

DOCUMENTS, CANDIDATES = 10_000, 6
MOST_FIRST_ROWS_MS, MOST_TASK_MS = 500, 100
OTHERS = ("Verdict", "Judges", "What if", "Tasks", "Log", "Matrix", "Documents")
WATCH = """
window.long = [];
new PerformanceObserver(list => window.long.push(...list.getEntries().map(entry => entry.duration)))
  .observe({ type: "longtask", buffered: true });
window.firstRows = undefined;
addEventListener("pointerdown", event => {
  if (event.target.closest('[role="tab"]')?.textContent !== "Answers") return;
  const began = event.timeStamp;
  const look = () => {
    const cell = document.querySelector('.answers [role="gridcell"] .clamp');
    if (cell?.textContent.length > 5) requestAnimationFrame(() => { window.firstRows = performance.now() - began; });
    else requestAnimationFrame(look);
  };
  look();
}, true);
"""


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with open_deployment(tmp_path_factory.mktemp("workspace")) as deployment:
        yield deployment


def _finished(deployment: Deployment, documents: int) -> str:
    """A run over the rows of a table that holds every answer already, with checks alone; its id."""
    labels = [f"candidate {number}" for number in range(1, CANDIDATES + 1)]
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["id", "text", *labels])
    for number in range(documents):
        text = SENTENCES[number % 7]
        answers = [f"Answer {number} of {at}. {text} {SENTENCES[(number + at) % 7]}" for at in range(CANDIDATES)]
        rows.writerow([f"Station {number}", f"{text} {number}", *answers])
    columns: dict[str, Any] = {"id": "id", "text": "variable", **dict.fromkeys(labels, "metadata")}
    made = deployment.workspace.data_sets.upload("rows.csv", table.getvalue().encode(), columns=columns)
    run = deployment.workspace.runs.create(
        name="Many stations",
        configuration=Configuration(
            rows=Rows(data_set=made.id),
            generation=Generation(candidates=[Candidate(label=label, column=label) for label in labels]),
            checks=[Check(kind="contains", texts=["harbour"]), Check(kind="length", most=30)],
        ),
    )
    deployment.workspace.runs.start(run.id)
    assert deployment.workspace.runs.wait(run.id, timeout=300).state == "completed"
    return run.id


async def _longest(page: Page) -> float:
    """The longest task since it was asked last; one of less than 50 ms is none."""
    await page.wait_for_timeout(100)
    found: list[float] = await page.evaluate("window.long.splice(0)")
    return max(found, default=0.0)


async def _opened(page: Page, deployment: Deployment, run: str) -> None:
    await page.add_init_script(WATCH)
    await page.goto(f"{deployment.site.url}/desk#/runs/{run}?tab=verdict")
    await settled(page)
    await _longest(page)


async def _answers(page: Page, documents: int) -> float:
    """Click on the tab, and after how many milliseconds the first answers were there."""
    await page.get_by_role("tab", name="Answers", exact=True).click()
    grid = page.get_by_role("grid", name="Answers")
    await expect(grid).to_have_attribute("aria-rowcount", str(documents + 1))
    await settled(page)
    took: float = await page.evaluate("window.firstRows")
    return took


async def test_the_grid_shows_the_first_and_the_last_of_many_answers(page: Page, deployment: Deployment) -> None:
    documents = 300
    await _opened(page, deployment, _finished(deployment, documents))
    await _answers(page, documents)
    await page.get_by_role("gridcell").first.focus()
    await page.keyboard.press("Control+End")
    await expect(page.get_by_role("gridcell").last).to_contain_text(f"Answer {documents - 1} of 5.")
    await page.get_by_label("Find in documents and answers").fill("answer 123 of")
    await expect(page.get_by_role("grid", name="Answers")).to_have_attribute("aria-rowcount", "2")
    await expect(page.get_by_role("rowheader")).to_have_text("Station 123")


@pytest.mark.soak(campaign="grid", alone=True)
async def test_ten_thousand_documents_never_hold_the_page_up(
    page: Page, deployment: Deployment, figure: soak.Figure
) -> None:
    documents = soak.size(DOCUMENTS)
    await _opened(page, deployment, _finished(deployment, documents))
    devtools = await page.context.new_cdp_session(page)
    first_rows = await _answers(page, documents)
    opening = await _longest(page)
    await page.get_by_role("gridcell").first.focus()
    await page.evaluate(SCROLLED)
    assert await page.evaluate(AT_END)
    scrolled = await _longest(page)
    await page.keyboard.press("Control+Home")
    for _ in range(200):
        await page.keyboard.press("PageDown")
    await page.keyboard.press("Control+End")
    await settled(page)
    keys = await _longest(page)
    await devtools.send("HeapProfiler.collectGarbage")
    heap = (await devtools.send("Runtime.getHeapUsage"))["usedSize"] / 1e6
    others: dict[str, float] = {}
    for name in OTHERS:
        await page.get_by_role("tab", name=name, exact=True).click()
        await settled(page)
        others[name] = await _longest(page)
    print(
        f"\n{documents} x {CANDIDATES}: {first_rows=:.0f} {opening=:.0f} {scrolled=:.0f} {keys=:.0f} {heap=:.1f}",
        others,
    )
    figure(
        "a finished run of six candidates on its page",
        documents=documents,
        milliseconds_to_the_first_rows=first_rows,
        milliseconds_of_the_longest_task_while_scrolling=max(scrolled, keys),
        milliseconds_of_the_longest_task_of_other_tabs=max(others.values()),
        megabytes_of_heap=heap,
    )
    assert first_rows < MOST_FIRST_ROWS_MS
    assert max(scrolled, keys) < MOST_TASK_MS


SCROLLED = """new Promise(done => {
  const grid = document.querySelector('.answers');
  const on = () => {
    const before = grid.scrollTop;
    grid.scrollBy(0, 800);
    if (grid.scrollTop > before) requestAnimationFrame(on); else done();
  };
  on();
})"""
"""Through all rows, most of a screen in each frame: nobody turns a wheel faster."""
AT_END = """(() => {
  const grid = document.querySelector('.answers');
  return grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 2;
})()"""
