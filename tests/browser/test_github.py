"""Texts and answers on their way to a repository, in a browser, before a strict GitHub on this machine."""

import json
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from carrel_sdk.models import GithubConnection, Output
from playwright.async_api import Locator, Page, expect

from tests.browser.browser import Deployment, open_deployment
from tests.browser.contents import finished_run, preset, stations
from tests.browser.pages import REST, at_rest, serious_faults, settled, unfold
from tests.support import strict_github
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub, refusal

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def github() -> AsyncIterator[GitHub]:
    async with strict_github.github() as server:
        yield server


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory, github: GitHub) -> Iterator[Deployment]:
    with open_deployment(tmp_path_factory.mktemp("workspace"), {"CARREL_GITHUB_HOSTS": github.host}) as deployment:
        yield deployment


@pytest.fixture
def connection(deployment: Deployment, github: GitHub) -> Iterator[GithubConnection]:
    """Not tried: nobody could answer while this test's own loop waits."""
    made = deployment.workspace.github.connect(REPOSITORY, REPOSITORY, TOKEN, base_url=github.base_url)
    yield made
    for each in deployment.workspace.github.each():
        deployment.workspace.github.delete(each.id)


async def _usable(page: Page) -> None:
    await at_rest(page)
    faults = await serious_faults(page, "document")
    assert faults == [], json.dumps(faults, indent=1)


async def _sent(dialog: Locator) -> None:
    await dialog.get_by_role("button", name="Send", exact=True).click()


async def test_a_repository_is_connected_and_gets_the_answers_of_a_run(
    page: Page, deployment: Deployment, github: GitHub
) -> None:
    run_id = finished_run(deployment.workspace, "To be sent")
    await page.goto(f"{deployment.site.url}/desk#/runs/{run_id}")
    await settled(page)
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Send the answers to GitHub").click()
    dialog = page.get_by_role("dialog", name="Send the answers to GitHub")
    await dialog.get_by_role("textbox", name="Repository").fill(REPOSITORY)
    await dialog.get_by_label("Access token").fill("github_pat_wrong")
    await dialog.get_by_label("Address of the API").fill(github.base_url)
    await dialog.get_by_role("button", name="Connect").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("Give the connection a new one")
    await dialog.get_by_label("Access token").fill(TOKEN)
    await dialog.get_by_role("button", name="Connect").click()

    await dialog.get_by_label("Folder").fill("/results/")
    await expect(dialog.get_by_text("Leave out the slash")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    await dialog.get_by_label("Folder").fill("results")
    await dialog.get_by_label("Branch").fill("answers")
    await dialog.get_by_label("Answers").select_option("all")
    await _usable(page)
    await _sent(dialog)
    await expect(dialog.get_by_role("status").filter(has_text="12 files went to")).to_contain_text("which is new")
    assert len([path for path in github.files("answers") if path.startswith("results/")]) == 12
    await _usable(page)
    await dialog.get_by_role("button", name="Close").click()

    await page.goto(f"{deployment.site.url}/desk#/account?tab=github")
    await settled(page)
    await expect(page.get_by_text("worked on")).to_be_visible()
    await _usable(page)
    await page.get_by_role("button", name=f"Disconnect {REPOSITORY}").click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Disconnect").click()
    await expect(page.get_by_text("No repository is connected")).to_be_visible()


async def test_texts_are_chosen_in_the_library_and_sent_together(
    page: Page, deployment: Deployment, github: GitHub, connection: GithubConnection
) -> None:
    for name in ("Tower", "../Storm <b>"):
        deployment.workspace.contents.create(name, "fragment", f"About the {name}.")
    await page.goto(f"{deployment.site.url}/desk#/library?type=fragment")
    await settled(page)
    await page.get_by_label("Choose Tower").check()
    bar = page.get_by_role("group", name="Chosen texts")
    await bar.get_by_role("button", name="Choose all shown").click()
    await expect(bar.get_by_role("status")).to_have_text("2 chosen")
    await bar.get_by_role("button", name="To GitHub").click()
    dialog = page.get_by_role("dialog", name="Send texts to GitHub")
    await dialog.get_by_label("Commit message").fill("Two fragments")
    github.refuse["/git/ref/heads/main"] = [refusal(429, {"Retry-After": "90"})]
    await _sent(dialog)
    await expect(dialog.get_by_role("alert")).to_contain_text("it may be tried again in 1 min 30 s")
    await _sent(dialog)
    await expect(dialog.get_by_role("status").filter(has_text="2 files went to")).to_be_visible()
    assert github.commits[github.refs["main"]][2] == "Two fragments"
    assert github.files()["Tower.md"] == b"About the Tower."
    await dialog.get_by_role("button", name="Close").click()

    await bar.get_by_role("button", name="To GitHub").click()
    await _sent(page.get_by_role("dialog"))
    await expect(page.get_by_text("2 files were there already")).to_be_visible()
    await page.get_by_role("dialog").get_by_role("button", name="Close").click()

    await bar.get_by_role("button", name="Delete").click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("2 deleted.")).to_be_visible()
    await expect(page.get_by_role("link", name="Tower")).to_be_hidden()


async def test_a_preset_sends_by_itself_and_a_run_that_could_not_says_so(
    page: Page, deployment: Deployment, github: GitHub, connection: GithubConnection
) -> None:
    made = preset(deployment.workspace, "Sends by itself", stations(2))
    await page.goto(f"{deployment.site.url}/desk#/presets/{made.id}")
    await settled(page)
    await unfold(page, REST)
    await page.get_by_label("Answers go to").select_option("github")
    await page.get_by_label("Folder").fill("a/../b")
    await expect(page.get_by_text("This is no folder inside a repository.").first).to_be_visible()
    await page.get_by_label("Folder").fill("runs")
    await page.get_by_label("Branch").fill("by itself")
    await expect(page.get_by_text("This is no name of a branch.").first).to_be_visible()
    await page.get_by_label("Branch").fill("")
    await page.get_by_label("Which answers").select_option("all")
    await _usable(page)
    github.can_push = False
    await page.get_by_role("button", name="Save and run").click()
    await page.get_by_role("dialog").get_by_role("button", name="Start").click()
    await expect(page.get_by_text("The answers did not go to GitHub")).to_be_visible()
    assert deployment.workspace.presets.get(made.id).output.path == "runs"
    await expect(page.get_by_text("Contents: read and write")).to_be_visible()
    await _usable(page)

    github.can_push = True
    await page.get_by_role("button", name="Send again").click()
    dialog = page.get_by_role("dialog", name="Send the answers to GitHub")
    await expect(dialog.get_by_label("Folder")).to_have_value("runs")
    await _sent(dialog)
    await expect(dialog.get_by_text("6 files went to")).to_be_visible()
    await dialog.get_by_role("button", name="Close").click()
    await expect(page.get_by_text("The answers did not go to GitHub")).to_be_hidden()
    await page.reload()
    await settled(page)
    await expect(page.get_by_text("The answers did not go to GitHub")).to_be_hidden()


async def test_a_run_whose_answers_are_sent_later_says_so_and_can_send_them_now(
    page: Page, deployment: Deployment, github: GitHub, connection: GithubConnection
) -> None:
    made = preset(deployment.workspace, "Sent later", stations(2))
    made.output = Output(destination="github", connection=connection.id, answers="all")
    deployment.workspace.presets.save(made)
    github.refuse["/git/ref/heads/main"] = [refusal(503)]
    await page.goto(f"{deployment.site.url}/desk#/presets/{made.id}")
    await settled(page)
    await page.get_by_role("button", name="Run", exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name="Start").click()
    note = page.get_by_role("status").filter(has_text="have not gone to GitHub yet")
    await expect(note).to_contain_text("It was tried once")
    await _usable(page)
    await note.get_by_role("button", name="Send now").click()
    dialog = page.get_by_role("dialog", name="Send the answers to GitHub")
    await _sent(dialog)
    await expect(dialog.get_by_text("6 files went to")).to_be_visible()
    await dialog.get_by_role("button", name="Close").click()
    await expect(note).to_be_hidden()


async def test_a_connection_is_tried_and_changed(
    page: Page, deployment: Deployment, connection: GithubConnection
) -> None:
    await page.goto(f"{deployment.site.url}/desk#/account?tab=github")
    await settled(page)
    await page.get_by_role("button", name=f"Try it: {REPOSITORY}").click()
    await expect(page.get_by_role("status").filter(has_text="may read it and write to it")).to_be_visible()
    await page.get_by_role("button", name=f"Change {REPOSITORY}").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=True).fill("My texts")
    await dialog.get_by_role("textbox", name="Repository").fill("octo/other")
    await _usable(page)
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_text("does not open such a repository")).to_be_visible()
    await dialog.get_by_role("textbox", name="Repository").fill(REPOSITORY)
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_text("may read it and write to it")).to_be_visible()
    await dialog.get_by_role("button", name="Done").click()
    await expect(page.get_by_role("listitem").filter(has_text="My texts")).to_contain_text(REPOSITORY)
