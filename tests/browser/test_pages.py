"""Every page: usable by everybody, at every width, and deaf to what a text would like to do."""

import json

import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import WEB, Desk
from tests.browser.contents import finished_run, preset

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
TABS = ("verdict", "matrix", "documents", "judges", "what-if", "tasks", "log", "report")
ATTACK = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def addresses(desk: Desk) -> dict[str, str]:
    run_id = finished_run(desk.workspace)
    a_preset = preset(desk.workspace, "Which?", documents=2)
    places = {"runs": "/runs", "presets": "/presets", "library": "/library", "models": "/models", "account": "/account"}
    places |= {f"run {tab}": f"/runs/{run_id}?tab={tab}" for tab in TABS}
    places |= {"preset": f"/presets/{a_preset.id}", "new preset": "/presets/new"}
    return places | {"content": f"/library/{a_preset.inputs[0]}", "new content": "/library/new?type=criteria"}


@pytest.mark.parametrize("look", ["light", "dark"])
async def test_no_page_has_a_serious_fault_of_accessibility(
    page: Page, desk: Desk, addresses: dict[str, str], look: str
) -> None:
    await page.emulate_media(color_scheme="dark" if look == "dark" else "light", reduced_motion="reduce")
    faults = []
    await page.goto(f"{desk.site.url}/desk")
    await page.evaluate(AXE.read_text(encoding="utf-8") + "; null")
    for name, address in addresses.items():
        await page.evaluate("address => { location.hash = address }", address)
        await _settled(page)
        found = await page.evaluate("() => axe.run('#carrel', { iframes: false, resultTypes: ['violations'] })")
        faults += [
            (name, fault["id"], [node["html"][:150] for node in fault["nodes"][:3]])
            for fault in found["violations"]
            if fault["impact"] in {"serious", "critical"}
        ]
    assert faults == [], json.dumps(faults, indent=1)


async def test_no_page_is_wider_than_a_phone(page: Page, desk: Desk, addresses: dict[str, str]) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(f"{desk.site.url}/desk")
    wide = []
    for name, address in addresses.items():
        await page.evaluate("address => { location.hash = address }", address)
        await _settled(page)
        width = await page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide.append((name, width))
    assert wide == []


async def test_a_text_that_wants_to_run_does_nothing_anywhere(page: Page, desk: Desk) -> None:
    contents, presets = desk.workspace.contents, desk.workspace.presets
    hostile = contents.create(ATTACK, "input_document", f"# Title\n\n{ATTACK} and some more words to quote from here.")
    a_preset = preset(desk.workspace, ATTACK, documents=2, extra=f"\n\n{ATTACK} is quoted by whoever likes it.")
    run = presets.execute(a_preset.id, name=ATTACK)
    for event in desk.workspace.runs.events(run.id):
        if event.kind == "end":
            break
    places = ["/library", f"/library/{hostile.id}", "/presets", f"/presets/{a_preset.id}", "/runs"]
    places += [f"/runs/{run.id}?tab={tab}" for tab in TABS]
    await page.goto(f"{desk.site.url}/desk")
    for address in places:
        await page.evaluate("address => { location.hash = address }", address)
        await _settled(page)
        assert "owned" not in (await page.title()).replace(ATTACK, "")
        assert await page.locator("#carrel img, #carrel script").count() == 0


async def test_a_keyboard_alone_reaches_a_run_and_its_tabs(page: Page, desk: Desk, addresses: dict[str, str]) -> None:
    await page.goto(f"{desk.site.url}/desk#{addresses['run verdict']}")
    tab = page.get_by_role("tab", name="Verdict")
    await tab.focus()
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("tab", name="Matrix")).to_have_attribute("aria-selected", "true")
    await expect(page.get_by_role("group", name="Documents and candidates")).to_be_visible()
    assert "tab=matrix" in page.url


async def _settled(page: Page) -> None:
    """Nothing is loading any more, and has not been for a moment: one part may ask for another."""
    for _ in range(2):
        await page.wait_for_timeout(80)
        await expect(page.locator("#carrel .page-head h1")).to_be_visible()
        await expect(page.locator("#carrel .skeleton")).to_have_count(0)
