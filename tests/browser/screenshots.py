"""`make screenshots`: every page of the website and of the app, by day and by night, on a workspace and on a phone."""

import asyncio
import shutil
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final, Literal

from carrel_sdk import Workspace
from carrel_sdk.configuration import Candidate, Comparison, Generation, Judge, RunLimits
from carrel_sdk.presets import Preset, PresetDraft
from playwright.async_api import Browser, Page, async_playwright, expect

from carrel.cli import demo
from tests.browser import guide_pictures
from tests.browser.browser import launched
from tests.browser.contents import finish, finished_run, preset, stations
from tests.browser.demo_website import DemoWebsite, open_website
from tests.browser.pages import settled, watched
from tests.browser.small_png import smaller

FOLDER: Final = Path(__file__).parents[2] / "docs" / "screenshots"
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
SCROLLED: Final = {
    "run-people": "What people would say",
    "run-looks": "Looks on the way",
    "run-overturning": "What could overturn it",
}
"""Parts of the verdict page that begin below its first screen, by their headings."""
GUIDES: Final = 18
EARLY: Final = ("submodular", "random", "lead")
EARLY_GUIDES: Final = 36
VOTES: Final = {"Ann": 30, "Bo": 20}
TABS: Final = ("verdict", "answers", "matrix", "documents", "judges", "what-if", "tasks", "log", "report")


async def main() -> None:
    """All of them, anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder, open_website(Path(folder)) as website:
        async with async_playwright() as playwright, launched(playwright, Path(folder)) as browser:
            await _outside(browser, website)
            await _on_the_way(browser, website)
            await guide_pictures.shots(browser, website)
            await _inside(browser, website)
    sizes = [file.stat().st_size for file in FOLDER.iterdir()]
    print(f"{len(sizes)} pictures, {sum(sizes) / 1e6:.1f} MB, in {FOLDER}")


async def _outside(browser: Browser, website: DemoWebsite) -> None:
    page = await watched(await browser.new_page())
    await _shots(page, website.url, OUTSIDE)
    await page.close()


async def _on_the_way(browser: Browser, website: DemoWebsite) -> None:
    """The pages that have no address of their own to come back to: a code that is shown once, and a reset."""
    page = await watched(await browser.new_page())
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill("forgetful@example.org")
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("Password again").fill(PASSWORD)
    await page.get_by_label("Give me a recovery code").check()
    await page.get_by_role("button", name="Sign up").click()
    await _as_it_stands(page, "site-recovery-code")
    await page.goto(f"{website.url}/terminal")
    await page.get_by_role("button", name="Show a token").click()
    await _as_it_stands(page, "site-session-token")
    await page.goto(f"{website.url}/forgotten")
    await page.get_by_label("E-mail address").fill("forgetful@example.org")
    await page.get_by_role("button", name="Send a link").click()
    await page.goto(await website.link_in_letter())
    await _as_it_stands(page, "site-reset")
    # The keys leave memory, so that the reset needs a proof.
    website.service.restart()
    await page.get_by_label("New password", exact=True).fill(PASSWORD + "s")
    await page.get_by_label("New password again").fill(PASSWORD + "s")
    await page.get_by_role("button", name="Set it").click()
    await _as_it_stands(page, "site-reset-of-a-locked-workspace")
    await page.context.close()


async def _inside(browser: Browser, website: DemoWebsite) -> None:
    page = await watched(await browser.new_page())
    await page.goto(f"{website.url}/sign-up")
    await page.get_by_label("E-mail address").fill(EMAIL)
    await page.get_by_label("Password", exact=True).fill(PASSWORD)
    await page.get_by_label("Password again").fill(PASSWORD)
    await page.get_by_role("button", name="Sign up").click()
    await settled(page)
    told = await page.evaluate("fetch('/token').then(answer => answer.json())")
    workspace = Workspace(website.service.url, lambda: str(told["session_token"]))
    places = await asyncio.to_thread(_furnish, workspace, website)
    await _shots(page, website.url, {**INSIDE, **places})
    workspace.close()


def _furnish(workspace: Workspace, website: DemoWebsite) -> Mapping[str, str]:
    """Something to see on each page; where it is."""
    workspace.provider_keys.store("openai", website.models.key, base_url=website.models.base_url)
    finished_run(workspace, "Station books, first look")
    # The last ones are records of decisions, which are short.
    guides = {one.name: one.body for one in demo.documents_of(None)[-GUIDES:]}
    of_guides = preset(workspace, "Which summary reads best?", guides, demo.GENERATORS)
    run = finish(workspace, of_guides)
    early = _with_looks(workspace, of_guides, {one.name: one.body for one in demo.documents_of(None)[-EARLY_GUIDES:]})
    for voter, votes in VOTES.items():
        _vote(workspace, early, voter, votes)
    workspace.judges.check("local:reader")
    a_preset = preset(workspace, "Summaries of the station books", stations(12))
    # Slow enough that it is under way as long as the pictures take.
    website.models.latency(3_000)
    many = preset(workspace, "Forty stations", stations(40))
    under_way = workspace.presets.create(
        PresetDraft(
            name="With language models",
            inputs=many.inputs,
            instructions=many.instructions,
            generation=Generation(
                candidates=[
                    Candidate(label="alpha", model="openai:alpha"),
                    Candidate(label="by the rank of its sentences", model="local:lexrank"),
                ]
            ),
            scoring=many.scoring,
            limits=RunLimits(concurrency=2),
        )
    )
    live = workspace.presets.execute(under_way.id, name="With language models")
    places = {"runs": "/runs", "run-live": f"/runs/{live.id}"}
    places |= {f"run-{tab}": f"/runs/{run}?tab={tab}" for tab in TABS}
    places |= {"presets": "/presets", "preset": f"/presets/{a_preset.id}", "library": "/library"}
    places |= {"text": f"/library/{a_preset.inputs[0]}", "models": "/models", "keys": "/models?tab=keys"}
    places |= {"rate-limits": "/models?tab=limits", "account": "/account", "judges": "/models?tab=judges"}
    places |= {"run-judges": f"/runs/{early}?tab=judges"}
    places |= dict.fromkeys(SCROLLED, f"/runs/{early}?tab=verdict")
    return {name: f"/desk#{place}" for name, place in places.items()}


def _with_looks(workspace: Workspace, like: Preset, documents: Mapping[str, str]) -> str:
    """A run that may stop early, with a candidate that lags far behind; its id."""
    inputs = [workspace.contents.create(title, "input_document", text).id for title, text in documents.items()]
    draft = PresetDraft(
        name="Three summarisers, stopping early",
        inputs=inputs,
        instructions=like.instructions,
        generation=Generation(candidates=[Candidate(label=one, model=f"local:{one}") for one in EARLY]),
        comparison=Comparison(judges=[Judge(model="local:reader")], stop_when_decided=True),
        limits=like.limits,
    )
    return finish(workspace, workspace.presets.create(draft))


def _vote(workspace: Workspace, run: str, voter: str, votes: int) -> None:
    """Voters like answers with more of the document's words. Each is of another mind about every sixth pair."""
    for number in range(votes):
        ballot = workspace.votes.next(run, voter=voter)
        if ballot is None:
            return
        words = set(ballot.document.lower().split())
        first, second = (len(words & set(text.lower().split())) for text in (ballot.first, ballot.second))
        likes_first = (first > second) != ((number + len(voter)) % 6 == 0)
        workspace.votes.cast(run, ballot.pair, "tie" if first == second else "first" if likes_first else "second")


async def _as_it_stands(page: Page, name: str) -> None:
    """A picture in each look and size, without loading the page again."""
    for look in LOOKS:
        await page.emulate_media(color_scheme=look, reduced_motion="reduce")
        for size, (width, height) in SIZES.items():
            await page.set_viewport_size({"width": width, "height": height})
            await page.screenshot(path=FOLDER / f"{name}-{size}-{look}.png")
    await _made_smaller(page, [name])


async def _shots(page: Page, url: str, places: Mapping[str, str]) -> None:
    for look in LOOKS:
        await page.emulate_media(color_scheme=look, reduced_motion="reduce")
        for size, (width, height) in SIZES.items():
            await page.set_viewport_size({"width": width, "height": height})
            for name, path in places.items():
                await page.goto(url + path)
                if path.startswith("/desk"):
                    await settled(page)
                if name == "run-live":
                    # How fast it goes is known after a second of looking.
                    await expect(page.locator(".figure", has_text="Rate").locator("dd")).not_to_have_text("–")
                if name in SCROLLED:
                    heading = page.get_by_role("heading", name=SCROLLED[name])
                    await heading.evaluate("element => element.closest('section').scrollIntoView()")
                await page.screenshot(path=FOLDER / f"{name}-{size}-{look}.png")
    await _made_smaller(page, places)


async def _made_smaller(page: Page, names: Collection[str]) -> None:
    counting = await page.context.browser.new_page() if page.context.browser else page
    for file in FOLDER.iterdir():
        if file.name.removesuffix(".png").rsplit("-", 2)[0] in names:
            file.write_bytes(await smaller(counting, file.read_bytes(), colours=COLOURS))
    await counting.close()


if __name__ == "__main__":
    asyncio.run(main())
