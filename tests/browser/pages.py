"""What the tests of the app's pages have in common."""

from typing import Any, Final, Literal

from playwright.async_api import Page, expect

from tests.browser.browser import WEB

LOOKS: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
AXE: Final = WEB / "node_modules" / "axe-core" / "axe.min.js"


async def settled(page: Page) -> None:
    """Nothing is loading any more, and has not been for a moment: one part may ask for another."""
    for _ in range(2):
        await page.wait_for_timeout(80)
        await expect(page.locator("#carrel .page-head h1")).to_be_visible()
        await expect(page.locator("#carrel .skeleton")).to_have_count(0)


async def serious_faults(page: Page, within: str) -> list[tuple[str, list[str]]]:
    """What axe-core, which has to be in the page, calls serious or critical. `within` is an expression of the page."""
    found: dict[str, Any] = await page.evaluate(
        f"() => axe.run({within}, {{ iframes: false, resultTypes: ['violations'] }})"
    )
    return [
        (fault["id"], [node["html"][:150] for node in fault["nodes"][:3]])
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
    ]
