"""`make screenshots`: every page of the website and of the app, by day and by night, on a workspace and on a phone."""

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from carrel_sdk import Workspace
from playwright.async_api import Browser, Page, async_playwright

from tests.browser import guide_pictures
from tests.browser.browser import launched
from tests.browser.demo_website import DemoWebsite, open_website
from tests.browser.pages import settled, watched
from tests.browser.scenes import EMPTY, OPENED, SCROLLED, furnish
from tests.browser.small_png import smaller

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "screenshots"
"""Not in git. Those that documents show are in `docs/images`, too, and are replaced there."""
PASSWORD: Final = "the first pass word"
EMAIL: Final = "reader@example.org"
SIZES: Final = {"wide": (1280, 800), "phone": (390, 844)}
LOOKS: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
COLOURS: Final = 96
OUTSIDE: Final = {
    "site-start": "/",
    "site-sign-up": "/sign-up",
    "site-sign-in": "/sign-in",
    "site-forgotten-password": "/forgotten",
}
INSIDE: Final = {
    "site-unlock": "/unlock",
    "site-account": "/account",
    "site-change-password": "/account/password",
    "site-connect-terminal": "/terminal",
    "site-delete-account": "/account/delete",
}
EMBEDDED: Final = """
Object.defineProperty(window, "carrel", {
  set(given) { this.given = { ...given, hideNavigation: location.search === "?embedded" }; },
  get() { return this.given; },
});
"""
"""A host's page may ask for the app without its navigation."""


async def main(folder: Path, wanted: Collection[str]) -> None:
    """All of them, anew; or only those that are wanted, by the beginnings of their names."""
    if not wanted:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, open_website(Path(place)) as website:
        async with async_playwright() as playwright, launched(playwright, Path(place)) as browser:
            pictures = _Pictures(folder, tuple(wanted))
            if not wanted:
                await _outside(browser, website, pictures)
                await _on_the_way(browser, website, pictures)
                await guide_pictures.shots(browser, website)
            await _inside(browser, website, pictures)
    for shown in (ROOT / "docs" / "images").glob("*.png"):
        if folder == FOLDER and (folder / shown.name).is_file():
            shutil.copy(folder / shown.name, shown)
    sizes = [file.stat().st_size for file in folder.iterdir()]
    print(f"{len(sizes)} pictures, {sum(sizes) / 1e6:.1f} MB, in {folder}")


@dataclass(frozen=True)
class _Pictures:
    """Where they go, and how the names begin of those that are wanted; without any, all are."""

    folder: Path
    wanted: tuple[str, ...]

    def chosen(self, places: Mapping[str, str]) -> Mapping[str, str]:
        return {name: path for name, path in places.items() if not self.wanted or name.startswith(self.wanted)}

    async def take(self, page: Page, name: str, size: str, look: str) -> None:
        await page.screenshot(path=self.folder / f"{name}-{size}-{look}.png")


async def _outside(browser: Browser, website: DemoWebsite, pictures: _Pictures) -> None:
    page = await watched(await browser.new_page())
    await _shots(page, website.url, OUTSIDE, pictures)
    await page.close()


async def _on_the_way(browser: Browser, website: DemoWebsite, pictures: _Pictures) -> None:
    """The pages that have no address of their own to come back to: a code that is shown once, and a reset."""
    page = await watched(await browser.new_page())
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill("forgetful@example.org")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("Password again").fill(PASSWORD)
    await page.get_by_label("Give me a recovery code").check()
    await page.get_by_role("button", name="Sign up").click()
    await _as_it_stands(page, "site-recovery-code", pictures)
    await page.goto(f"{website.url}/terminal")
    await page.get_by_role("button", name="Show a token").click()
    await _as_it_stands(page, "site-session-token", pictures)
    await page.goto(f"{website.url}/forgotten")
    await page.get_by_label("E-mail address").fill("forgetful@example.org")
    await page.get_by_role("button", name="Send a link").click()
    await page.goto(await website.link_in_letter())
    await _as_it_stands(page, "site-reset", pictures)
    # The keys leave memory, so that the reset needs a proof.
    website.service.restart()
    await page.get_by_label("New password", exact=True).fill(PASSWORD + "s")
    await page.get_by_label("New password again").fill(PASSWORD + "s")
    await page.get_by_role("button", name="Set it").click()
    await _as_it_stands(page, "site-reset-of-a-locked-workspace", pictures)
    await page.context.close()


async def _inside(browser: Browser, website: DemoWebsite, pictures: _Pictures) -> None:
    page = await watched(await browser.new_page())
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill(EMAIL)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("Password again").fill(PASSWORD)
    await page.get_by_role("button", name="Sign up").click()
    await settled(page)
    told = await page.evaluate("fetch('/token').then(answer => answer.json())")
    workspace = Workspace(website.service.url, lambda: str(told["session_token"]))
    await page.add_init_script(EMBEDDED)
    await _shots(page, website.url, {name: f"/desk#{path}" for name, path in EMPTY.items()}, pictures)
    places = await asyncio.to_thread(furnish, workspace, website)
    await _shots(page, website.url, {**INSIDE, **places}, pictures)
    workspace.close()


async def _as_it_stands(page: Page, name: str, pictures: _Pictures) -> None:
    """A picture in each look and size, without loading the page again."""
    for look in LOOKS:
        await page.emulate_media(color_scheme=look, reduced_motion="reduce")
        for size, (width, height) in SIZES.items():
            await page.set_viewport_size({"width": width, "height": height})
            await pictures.take(page, name, size, look)
    await _made_smaller(page, [name], pictures)


async def _shots(page: Page, url: str, places: Mapping[str, str], pictures: _Pictures) -> None:
    chosen = pictures.chosen(places)
    for look in LOOKS:
        await page.emulate_media(color_scheme=look, reduced_motion="reduce")
        for size, (width, height) in SIZES.items():
            await page.set_viewport_size({"width": width, "height": height})
            for name, path in chosen.items():
                # Another document each time: what the last page had opened is gone.
                await page.goto("about:blank")
                await page.goto(url + (path.replace("#", "?embedded#") if name == "embedded" else path))
                if path.startswith("/desk"):
                    await settled(page)
                if name in SCROLLED:
                    heading = page.get_by_role("heading", name=SCROLLED[name])
                    await heading.evaluate("element => element.closest('section').scrollIntoView()")
                if name in OPENED:
                    await OPENED[name](page)
                await pictures.take(page, name, size, look)
    await _made_smaller(page, chosen, pictures)


async def _made_smaller(page: Page, names: Collection[str], pictures: _Pictures) -> None:
    counting = await page.context.browser.new_page() if page.context.browser else page
    for file in pictures.folder.iterdir():
        if file.name.removesuffix(".png").rsplit("-", 2)[0] in names:
            file.write_bytes(await smaller(counting, file.read_bytes(), colours=COLOURS))
    await counting.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="how the names of the pictures begin; without any, all are taken")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asked = parser.parse_args()
    asyncio.run(main(asked.folder, asked.names))
