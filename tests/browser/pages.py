"""What the tests of the app's pages have in common."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from playwright.async_api import Frame, Page, Request, expect

from tests.browser.browser import WEB

LOOKS: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
AXE: Final = WEB / "node_modules" / "axe-core" / "axe.min.js"
CONTRAST: Final = ("color-contrast",)
"""Of all rules of axe the only one that depends on the look: for a page that was tried in another one, it is enough."""
TIMEOUT_SECONDS: Final = 60
"""How long anything may take to show: nothing waits so long on a machine that is not busy with something else."""
LONG_TASKS: Final = """
window.long = [];
new PerformanceObserver(list => window.long.push(...list.getEntries().map(entry => entry.duration)))
  .observe({ type: "longtask", buffered: true });
"""
"""`long`: how many milliseconds each task of the page took that took more than 50. To be run before the page begins."""

_SOON: Final = """
(() => {
  const soon = new Set(), start = window.setTimeout, stop = window.clearTimeout;
  window.setTimeout = (run, ms = 0, ...rest) => {
    const timer = start(() => { soon.delete(timer); run(...rest); }, ms);
    if (ms <= 1000) soon.add(timer);
    return timer;
  };
  window.clearTimeout = timer => { soon.delete(timer); stop(timer); };
  const next = ask => new Promise(done => ask(done));
  window.unrest = async () => {
    const changes = [], watcher = new MutationObserver(found => changes.push(...found));
    watcher.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    await next(requestAnimationFrame);
    await next(requestAnimationFrame);
    await next(done => requestIdleCallback(done, { timeout: 500 }));
    changes.push(...watcher.takeRecords());
    watcher.disconnect();
    const moves = motion => motion.playState === "running" && motion.effect.getComputedTiming().endTime < Infinity;
    return [
      changes.length && "it changes",
      document.querySelector(".skeleton") && "it says that it is loading",
      soon.size && "something was put off for a moment",
      document.getAnimations().some(moves) && "something moves to its place",
    ].filter(Boolean);
  };
})()
"""
"""`unrest()`: why a page is not at rest, after two frames and whatever it had to do then.

What a page puts off for longer than a second is a look at the clock, or a message that goes: nobody waits for those.
After its size has changed while it loads, Chromium may call nobody any more who waits for it to be idle, unless there
is a time limit.
"""


class _Traffic:
    """The requests of a page: those that an answer is awaited of, and the streams, which have no end."""

    def __init__(self) -> None:
        self.begun = 0
        self.awaited: set[Request] = set()
        self.streams: set[Request] = set()
        self._leaves = False

    def begin(self, request: Request) -> None:
        if request.resource_type in {"fetch", "xhr", "script", "stylesheet"}:
            self.begun += 1
            streams = request.headers.get("accept") == "text/event-stream"
            (self.streams if streams else self.awaited).add(request)
        elif request.is_navigation_request() and request.frame.parent_frame is None:
            self._leaves = True

    def end(self, request: Request) -> None:
        self.awaited.discard(request)
        self.streams.discard(request)

    def arrive(self, frame: Frame) -> None:
        """Nobody says what became of the requests of the document before."""
        if self._leaves and frame.parent_frame is None:
            self._leaves = False
            self.awaited.clear()
            self.streams.clear()


_TRAFFIC: WeakKeyDictionary[Page, _Traffic] = WeakKeyDictionary()


async def watched(page: Page) -> Page:
    """A page that has not been anywhere yet, so that `settled` knows what goes on in it."""
    traffic = _TRAFFIC[page] = _Traffic()
    page.on("request", traffic.begin)
    page.on("requestfinished", traffic.end)
    page.on("requestfailed", traffic.end)
    page.on("framenavigated", traffic.arrive)
    await page.add_init_script(_SOON)
    return page


VIEWS: Final = {"Decision": "Decision", "All": "Answers", "One by one": "Answers", "People": "People"}
"""Views of a run by the tabs that they are under; all others are parts of the method."""


async def view(page: Page, name: str) -> None:
    """Go to a view of a run by its tabs."""
    tab = VIEWS.get(name, "Method")
    chosen = page.get_by_role("tab", name=tab, exact=True)
    if await chosen.get_attribute("aria-selected") != "true":
        await chosen.click()
    if tab != name:
        await page.get_by_role("tab", name=name, exact=True).click()


async def unfold(page: Page, *titles: str) -> None:
    """Open what is folded away under these titles."""
    for title in titles:
        button = page.get_by_role("button", name=title)
        if await button.get_attribute("aria-expanded") == "false":
            await button.click()


NAMES: Final = "Name, groups and references"
REST: Final = "Repeats, limits and where answers go"
ONE_BY_ONE: Final = "Candidates one by one"
"""What the editor of comparisons has folded away."""


async def settled(page: Page) -> None:
    """The app is there, and at rest."""
    await expect(page.locator("#carrel .page-head h1")).to_be_visible()
    await at_rest(page)


async def at_rest(page: Page) -> None:
    """Nothing is on its way: no answer, no part of the app, nothing that was put off for a moment, nothing that moves.

    What is looked at next stays as it is, unless a run is at work: its events come when they come.
    """
    traffic = _TRAFFIC[page]
    why: list[str] = []
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while True:
                before, awaited = traffic.begun, [request.url for request in traffic.awaited]
                why = awaited + await page.evaluate("unrest()")
                if traffic.streams:
                    why = [one for one in why if one != "it changes"]
                # What the browser told of requests came before its answer: the order of a connection is kept.
                if not why and traffic.begun == before:
                    return
    except TimeoutError:
        raise AssertionError(f"the page does not come to rest: {why}") from None


async def serious_faults(page: Page, within: str, *, rules: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """What axe-core calls serious or critical, by all its rules or by these. `within` is an expression of the page."""
    if not await page.evaluate("'axe' in window"):
        # As a debugger would: the page's own policy allows no script of ours.
        await page.evaluate(AXE.read_text(encoding="utf-8") + "; null")
    only = f", runOnly: {{ type: 'rule', values: {list(rules)} }}" if rules else ""
    found: dict[str, Any] = await page.evaluate(
        f"() => axe.run({within}, {{ iframes: false, resultTypes: ['violations']{only} }})"
    )
    return [
        (fault["id"], [node["html"][:150] for node in fault["nodes"][:3]])
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
    ]
