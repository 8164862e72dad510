"""Every page: usable by everybody, at every width, and deaf to what a text would like to do."""

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import Deployment
from tests.browser.contents import finish, finished_run, preset, stations
from tests.browser.pages import CONTRAST, LOOKS, serious_faults, settled
from tests.support import soak

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

SQUEEZED = """
() => [...document.querySelectorAll("#carrel :is(p, dt, dd, li, th, td, label)")]
  .filter(one => one.innerText?.trim().length > 3 && one.clientWidth < 40 && one.clientHeight > 4 * one.clientWidth)
  .map(one => one.innerText.slice(0, 40))
"""
"""Texts of which a line holds hardly a letter."""
STUCK = """
() => [...document.querySelectorAll("#carrel .scroll")]
  .filter(one => one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "auto")
  .map(one => "does not scroll: " + one.innerText.slice(0, 40))
"""
"""Wide tables of which a finger cannot reach the rest."""
UNFOLD = """() => document.querySelectorAll("#carrel details").forEach(one => { one.open = true })"""
CUT = """
() => {
  const pen = document.createElement("canvas").getContext("2d");
  const room = (one, style) => one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return [...document.querySelectorAll("#carrel input[placeholder]")].filter(one => {
    const style = getComputedStyle(one);
    pen.font = style.font;
    return one.clientWidth && pen.measureText(one.placeholder).width > room(one, style) + 1;
  }).map(one => "cuts off: " + one.placeholder);
}
"""
"""Placeholders that are longer than their fields."""
BARS = """
() => [...document.querySelectorAll("#carrel .tab-list")]
  .filter(one => getComputedStyle(one).scrollbarWidth !== "none" || getComputedStyle(one).overflowY !== "hidden")
  .map(one => "has a scrollbar: " + one.getAttribute("aria-label"))
"""
"""Strips of tabs beside which a scrollbar may stand."""
BY_WIDTH = ("aria-hidden-focus", "button-name", "label", "link-name", "scrollable-region-focusable")
"""The rules of axe that an element may break on a narrow screen alone: it hides words there, and lets things scroll."""
STANDING = """
() => Math.round([...document.querySelectorAll("#carrel *")]
  .filter(one => ["fixed", "sticky"].includes(getComputedStyle(one).position) && !one.closest(".scroll, .answers"))
  .map(one => one.getBoundingClientRect())
  .filter(({ width, left }) => width > innerWidth / 2 && left < innerWidth / 2)
  .reduce((sum, { height }) => sum + Math.min(height, innerHeight), 0))
"""
"""How many pixels of bars across the page stay in sight when it scrolls."""
SIZES = ((320, 844), (2_560, 1_440), (640, 360), (320, 180))
"""A phone, a wall, and a window of 1,280 by 720 at 200 % and 400 %."""
TABS = (
    *("verdict", "answers", "documents", "people", "figures", "judges", "matrix", "what-if", "tasks", "log", "report"),
)


@pytest.fixture(scope="module")
def addresses(deployment: Deployment) -> dict[str, str]:
    run_id = finished_run(deployment.workspace)
    before = finish(deployment.workspace, preset(deployment.workspace, "Before", stations(3), ("lexrank", "lead")))
    deployment.workspace.judges.check("local:reader")
    deployment.workspace.models.set_price("ollama:llama3.1:8b", input_per_million="0.5", output_per_million="1.5")
    a_preset = preset(deployment.workspace, "Which?", stations(2))
    # A page whose address names nothing is here because the router has it.
    router = (Path(__file__).parents[2] / "web/src/app/router.tsx").read_text(encoding="utf-8")
    places = {path: path for path in re.findall(r'path: "(/[a-z][a-z/-]*)"', router)}
    assert {"/runs", "/presets", "/library", "/models", "/account", "/compare", "/leaderboard"} <= places.keys()
    places |= {
        "two runs": f"/runs/compare/{run_id}/{before}",
        "one run twice": f"/runs/compare/{run_id}/{run_id}",
        "judges": "/models?tab=judges",
        "keys": "/models?tab=keys",
        "prices": "/models?tab=prices",
        "limits": "/models?tab=limits",
        "usage": "/account?tab=usage",
    }
    places |= {f"run {tab}": f"/runs/{run_id}?tab={tab}" for tab in TABS}
    of_run = deployment.workspace.runs.get(run_id).preset_id
    places |= {"trends": f"/presets/{of_run}/trends", "no trends": f"/presets/{a_preset.id}/trends"}
    places |= {"preset": f"/presets/{a_preset.id}"}
    return places | {"content": f"/library/{a_preset.inputs[0]}", "new content": "/library/new?type=criteria"}


async def test_no_page_has_a_serious_fault_of_accessibility(
    page: Page, deployment: Deployment, addresses: dict[str, str]
) -> None:
    faults = []
    await page.emulate_media(reduced_motion="reduce")
    await page.goto(f"{deployment.site.url}/desk")
    for name, address in addresses.items():
        await page.evaluate("address => { location.hash = address }", address)
        await settled(page)
        await page.evaluate(UNFOLD)
        faults += [(name, "any", fault) for fault in await page.evaluate(CUT) + await page.evaluate(BARS)]
        for look in LOOKS:
            await page.emulate_media(color_scheme=look)
            found = await serious_faults(page, "'#carrel'", rules=CONTRAST if look == "dark" else ())
            faults += [(name, look, fault) for fault in found]
    assert faults == [], json.dumps(faults, indent=1)


async def test_no_page_is_wider_than_a_phone_and_none_is_squeezed(
    page: Page, deployment: Deployment, addresses: dict[str, str]
) -> None:
    # The narrowest that there is: no rule of the styles tells it from wider ones.
    await page.set_viewport_size({"width": 320, "height": 844})
    await page.goto(f"{deployment.site.url}/desk")
    faults = []
    for name, address in addresses.items():
        await page.evaluate("address => { location.hash = address }", address)
        await settled(page)
        found = await page.evaluate("document.documentElement.scrollWidth")
        if found > 320:
            faults.append((name, found))
        faults += [(name, text) for text in await page.evaluate(SQUEEZED) + await page.evaluate(STUCK)]
        faults += [(name, fault) for fault in await serious_faults(page, "'#carrel'", rules=BY_WIDTH)]
    assert faults == []


@pytest.mark.soak(campaign="looks")
async def test_no_page_has_a_serious_fault_at_any_size_or_zoom(
    page: Page, deployment: Deployment, addresses: dict[str, str], figure: soak.Figure
) -> None:
    """The short forms are the two tests above."""
    await page.emulate_media(reduced_motion="reduce")
    await page.goto(f"{deployment.site.url}/desk")
    faults: list[tuple[object, ...]] = []
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for name, address in addresses.items():
            await page.evaluate("address => { location.hash = address }", address)
            await settled(page)
            if (wide := await page.evaluate("document.documentElement.scrollWidth")) > width:
                faults.append((width, name, f"scrolls to {wide}"))
            bars = await page.evaluate(STANDING)
            if bars > height / 2:
                faults.append((width, name, f"{bars} of {height} pixels do not scroll away"))
            for look in LOOKS:
                await page.emulate_media(color_scheme=look)
                found = await serious_faults(page, "'#carrel'", rules=CONTRAST if look == "dark" else ())
                faults += [(width, name, look, fault) for fault in found]
    figure("pages in two looks at four sizes", pages=len(addresses) * len(SIZES) * len(LOOKS), faults=len(faults))
    assert faults == [], json.dumps(faults, indent=1)


async def test_the_tab_that_a_link_leads_to_is_in_sight_on_a_phone(
    page: Page, deployment: Deployment, addresses: dict[str, str]
) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(f"{deployment.site.url}/desk#{addresses['run report']}")
    await expect(page.get_by_role("tab", name="Report")).to_be_in_viewport(ratio=0.9)


async def test_a_model_that_is_in_no_list_is_found_by_its_full_name(page: Page, deployment: Deployment) -> None:
    await page.goto(f"{deployment.site.url}/desk#/models")
    await page.get_by_label("Find a model").fill("openai:gpt-5-mini")
    row = page.get_by_role("status").filter(has_text="openai:gpt-5-mini")
    await expect(row).to_contain_text("$0.25 in, $2.00 out")
    await expect(row).to_contain_text("needs a key")
    await expect(page).to_have_url(re.compile("find=openai"))
