"""Somebody at the app: what a person does there, counted, and the words that stand in the window."""

from pathlib import Path

from playwright.async_api import Locator, Page, expect

MOST_TABS = 200
WORDS = """
() => {
  const walker = document.createTreeWalker(
    document.querySelector("#carrel [role=tabpanel] [aria-label=Verdict]"), NodeFilter.SHOW_TEXT);
  let words = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const { top, height } = range.getBoundingClientRect();
    const isSeen = height > 1 && top < innerHeight && node.parentElement.checkVisibility({ visibilityProperty: true });
    if (isSeen) words += node.textContent.split(/\\s+/).filter(Boolean).length;
  }
  return words;
}
"""
"""How many words of the decision are in the window before anybody scrolls. Below it, answers speak for themselves."""


class Hand:
    """Does what a person does, and counts it. A file that is chosen from the disk is an action of its own.

    Going somewhere is no action, with the mouse or with the Tab key.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.actions = 0
        self.typed = 0

    async def click(self, what: Locator) -> None:
        self.actions += 1
        await what.click()

    async def press(self, what: Locator) -> None:
        """Without a mouse."""
        await self.reach(what)
        self.actions += 1
        await self.page.keyboard.press("Enter")

    async def reach(self, what: Locator) -> None:
        """Go from one thing that takes the focus to the next, as far as this one."""
        await expect(what).to_be_visible()
        await expect(what).to_be_enabled()
        for _ in range(MOST_TABS):
            if await what.evaluate("element => element === document.activeElement"):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"{MOST_TABS} times Tab do not lead to {what}")

    async def type(self, where: Locator, text: str) -> None:
        self.actions += 1
        self.typed += 1
        await where.fill(text)

    async def choose(self, button: Locator, files: list[Path]) -> None:
        async with self.page.expect_file_chooser() as chooser:
            await self.click(button)
        self.actions += 1
        await (await chooser.value).set_files(files)
