"""The look that is chosen on a page that is already there, and the page of a host with an address of its own."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.browser import Deployment
from tests.browser.contents import finished_run, preset, stations
from tests.browser.pages import at_rest, settled

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

WEAR = "look => document.querySelector('[data-theme]').setAttribute('data-theme', look)"
COLOURS = """() => [...document.querySelectorAll('#carrel *')].map(element => {
    const style = getComputedStyle(element);
    return [element.tagName, element.getAttribute('class'), style.color, style.backgroundColor, style.backgroundImage,
            style.fill, style.stroke, style.borderTopColor].join(' ');
})"""
BOTH_LOOKS = f"""() => {{
    const wear = {WEAR}, colours = {COLOURS};
    return ['light', 'dark', 'light'].map(look => {{ wear(look); return colours(); }});
}}"""
"""The colours of one moment: the page's own code, which may add what has just been answered, runs in none of it."""


BY_THE_HOST = """() => {
    const own = { accent: 'rgb(1, 2, 3)', 'accent-ink': 'rgb(250, 251, 252)', radius: '0px', font: 'monospace' };
    const root = document.querySelector('#carrel');
    for (const [name, value] of Object.entries(own)) root.style.setProperty(`--carrel-${name}`, value);
    const button = root.appendChild(document.createElement('button'));
    button.className = 'btn primary';
    button.style.transition = 'none';
    const worn = getComputedStyle(button);
    return [worn.backgroundColor, worn.color, worn.borderRadius, worn.fontFamily.split(',')[0]];
}"""
"""How a button looks once the host has set its four properties."""


async def test_every_colour_follows_the_look_at_once(page: Page, deployment: Deployment) -> None:
    # Where nothing moves they could not do otherwise. `test_pages` looks at the contrast in both looks.
    await page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    run_id = finished_run(deployment.workspace)
    made = preset(deployment.workspace, "Which?", stations(2))
    places = [f"/runs/{run_id}?tab={tab}" for tab in ("verdict", "matrix", "documents", "judges", "log")]
    places += [
        "/runs",
        "/library",
        f"/library/{made.inputs[0]}",
        f"/presets/{made.id}",
        "/models",
        "/account?tab=usage",
    ]
    await page.goto(f"{deployment.site.url}/desk")
    for place in places:
        await page.evaluate("address => { location.hash = address }", place)
        await settled(page)
        light, dark, light_again = await page.evaluate(BOTH_LOOKS)
        assert [one for one, other in zip(light, dark, strict=True) if one == other] == []
        assert light == light_again


async def test_the_look_is_chosen_on_the_account_page_and_stays(page: Page, deployment: Deployment) -> None:
    await page.emulate_media(color_scheme="light")
    await page.goto(f"{deployment.site.url}/desk#/account")
    await settled(page)
    paper = "getComputedStyle(document.querySelector('#carrel')).backgroundColor"
    light = await page.evaluate(paper)
    for look, is_light in (("Dark", False), ("Light", True)):
        await page.get_by_role("radio", name=look, exact=True).click()
        await page.get_by_role("button", name="Save settings").click()
        await expect(page.get_by_role("button", name="Save settings")).to_be_disabled()
        await at_rest(page)
        assert (await page.evaluate(paper) == light) is is_light
        await page.reload()
        await settled(page)
        assert (await page.evaluate(paper) == light) is is_light
    # A host's page chooses colour, roundness and font.
    assert await page.evaluate(BY_THE_HOST) == ["rgb(1, 2, 3)", "rgb(250, 251, 252)", "0px", "monospace"]


async def test_a_query_of_the_hosts_own_page_is_none_of_the_apps(page: Page, deployment: Deployment) -> None:
    await page.goto(f"{deployment.site.url}/desk?page_id=12#/account?tab=github")
    await settled(page)
    await expect(page.get_by_role("tab", name="GitHub")).to_have_attribute("aria-selected", "true")
    await page.get_by_role("tab", name="Your data").click()
    await expect(page).to_have_url(f"{deployment.site.url}/desk?page_id=12#/account?tab=data")
    await page.get_by_role("link", name="Library").click()
    await expect(page).to_have_url(f"{deployment.site.url}/desk?page_id=12#/library")
