"""Texts and presets while they are edited: nothing that was written is lost, whatever happens around it."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.async_api import Dialog, Page, expect

from tests.browser.browser import Deployment
from tests.browser.contents import preset, stations
from tests.browser.pages import NAMES, ONE_BY_ONE, REST, at_rest, serious_faults, settled, unfold

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def _open(page: Page, deployment: Deployment, address: str) -> None:
    await page.goto(f"{deployment.site.url}/desk#{address}")
    await settled(page)


async def _usable(page: Page) -> None:
    await at_rest(page)
    faults = await serious_faults(page, "document")
    assert faults == [], json.dumps(faults, indent=1)


async def test_changes_are_not_left_behind_unasked(page: Page, deployment: Deployment) -> None:
    text = deployment.workspace.contents.create("Guarded", "fragment", "First.")
    await _open(page, deployment, "/library?type=fragment")
    await page.get_by_role("link", name="Guarded").click()
    box = page.get_by_role("textbox", name="Text")
    await box.fill("Second.")
    asks = page.get_by_role("alertdialog", name="Leave without saving?")

    # By a link, and by the browser's own way back.
    await page.get_by_role("link", name="Comparisons", exact=True).click()
    await expect(asks).to_be_visible()
    await _usable(page)
    await asks.get_by_role("button", name="Stay").click()
    await page.evaluate("history.back()")
    await expect(asks).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(asks).to_be_hidden()
    await expect(box).to_have_value("Second.")
    await expect(page).to_have_url(f"{deployment.site.url}/desk#/library/{text.id}")

    # By an address that is typed, which the router does not know the place of.
    await page.evaluate("location.hash = '#/runs'")
    await asks.get_by_role("button", name="Stay").click()
    await expect(page).to_have_url(f"{deployment.site.url}/desk#/library/{text.id}")
    await expect(box).to_have_value("Second.")

    # After a save there is nothing to ask, and after the next change there is again.
    await page.keyboard.press("Control+s")
    await expect(page.get_by_text("version 2")).to_be_visible()
    await box.fill("Third.")
    await page.get_by_role("link", name="Comparisons", exact=True).click()
    await asks.get_by_role("button", name="Leave").click()
    await expect(page.get_by_role("heading", name="Comparisons", level=1)).to_be_visible()
    assert deployment.workspace.contents.get(text.id).body == "Second."


async def test_the_browser_asks_before_it_closes_what_is_not_saved(page: Page, deployment: Deployment) -> None:
    asked: list[str] = []

    async def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        await dialog.accept()

    page.on("dialog", stay)
    await _open(page, deployment, "/library/new?type=fragment")
    await page.reload()
    assert asked == []
    await page.get_by_role("textbox", name="Text").press_sequentially("Not saved.")
    await page.reload()
    assert asked == ["beforeunload"]


async def test_a_new_text_is_saved_without_being_asked_about(page: Page, deployment: Deployment) -> None:
    await _open(page, deployment, "/library/new?type=fragment")
    await page.get_by_label("Name").fill("Fresh")
    await page.get_by_role("textbox", name="Text").fill("Words.")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("version 1")).to_be_visible()
    await expect(page.get_by_role("alertdialog")).to_have_count(0)
    await expect(page.get_by_role("heading", name="Fresh")).to_be_visible()


async def test_another_version_saved_meanwhile_is_shown_and_neither_is_lost(page: Page, deployment: Deployment) -> None:
    text = deployment.workspace.contents.create("Shared", "fragment", "The old lamp.")
    await _open(page, deployment, f"/library/{text.id}")
    await page.get_by_role("textbox", name="Text").fill("My lamp.")
    text.body = "Their lamp."
    deployment.workspace.contents.save(text)
    await page.get_by_role("button", name="Save").click()
    behind = page.get_by_role("alert").filter(has_text="Another version was saved meanwhile")
    await expect(behind).to_contain_text("Their")
    await _usable(page)
    await behind.get_by_role("button", name="Keep mine").click()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("version 3")).to_be_visible()
    assert deployment.workspace.contents.get(text.id).body == "My lamp."

    await page.get_by_role("tab", name="Versions").click()
    await expect(page.get_by_role("group", name="What has changed")).to_contain_text("TheirMy lamp.")
    await page.get_by_role("button", name="Take the text of version 2").click()
    await expect(page.get_by_role("textbox", name="Text")).to_have_value("Their lamp.")


async def test_what_was_deleted_in_another_tab_is_saved_as_a_new_one(page: Page, deployment: Deployment) -> None:
    text = deployment.workspace.contents.create("Deleted", "fragment", "Words.")
    made = preset(deployment.workspace, "Deleted too", stations(2))
    for address, change, delete in (
        (f"/library/{text.id}", "Text", lambda: deployment.workspace.contents.delete(text.id)),
        (f"/presets/{made.id}", "Description", lambda: deployment.workspace.presets.delete(made.id)),
    ):
        await _saved_as_new(page, deployment, address, change, delete)


async def _saved_as_new(
    page: Page, deployment: Deployment, address: str, field: str, delete: Callable[[], None]
) -> None:
    await _open(page, deployment, address)
    if field == "Description":
        await unfold(page, NAMES)
    await page.get_by_role("textbox", name=field).fill("Still wanted.")
    delete()
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.get_by_role("button", name="Save it as a new one").click()
    await expect(page.get_by_text("not saved")).to_have_count(0)
    await expect(page.get_by_label(field, exact=True)).to_have_value("Still wanted.")
    await expect(page).not_to_have_url(re.compile(f"{address}$"))


async def test_a_fault_in_criteria_names_its_line(page: Page, deployment: Deployment) -> None:
    await _open(page, deployment, "/library/new?type=criteria")
    await page.get_by_label("Name").fill("Faulty")
    await page.get_by_role("radio", name="YAML").click()
    box = page.get_by_role("textbox", name="Criteria in YAML")
    text, fault = "- name: a\n\n- name: b\n  description: x\n  weight: heavy\n", "  weight: heavy"
    await box.fill(text)
    await page.get_by_role("button", name="Save").click()
    await page.get_by_role("button", name="Line 5").click()
    await expect(box).to_have_js_property("selectionStart", text.index(fault))
    await expect(box).to_have_js_property("selectionEnd", text.index(fault) + len(fault))
    await _usable(page)
    await box.fill("- name: a\n- name: b\n -x: {\n")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("button", name="Line 3")).to_be_visible()
    await box.fill(text)
    await page.get_by_role("radio", name="Rows").click()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("listitem", name="b").get_by_label("Weight")).to_be_focused()
    await _usable(page)


async def test_what_a_preset_takes_is_told_while_it_is_written(page: Page, deployment: Deployment) -> None:
    made = preset(deployment.workspace, "Counted", stations(3))
    await _open(page, deployment, f"/presets/{made.id}")
    aside = page.get_by_role("complementary", name="What it takes")
    await expect(aside).to_contain_text("3 documents cannot decide")
    await page.get_by_role("checkbox", name="local:lead").uncheck()
    await unfold(page, "Judges and criteria", ONE_BY_ONE, NAMES)
    await page.get_by_label("Compare the best by score").fill("")
    await expect(aside).to_contain_text("6 answers")
    await page.get_by_label("Model", exact=True).first.fill("local:nobody")
    await expect(page.get_by_role("alert").filter(has_text="local:nobody")).to_have_count(0)
    await expect(aside.get_by_role("alert")).to_contain_text("Candidate 1, model")
    # It cannot be saved like this. It is still there after a reload and another page, until somebody discards it.
    await page.get_by_label("Description").fill("A secret of ours.")
    await expect(page.get_by_text("draft saved")).to_be_visible()
    assert "secret" not in str(await page.evaluate("JSON.stringify([sessionStorage, localStorage])"))
    await page.reload()
    await settled(page)
    await page.get_by_role("link", name="Comparisons", exact=True).click()
    await page.get_by_role("link", name=re.compile("Presets · . unfinished")).click()
    await page.get_by_role("list", name="Unfinished").get_by_role("link", name="Counted", exact=True).click()
    await expect(page.get_by_text("draft saved")).to_be_visible()
    await expect(page.get_by_label("Description")).to_have_value("A secret of ours.")
    await unfold(page, ONE_BY_ONE)
    await expect(page.get_by_label("Model", exact=True).first).to_have_value("local:nobody")
    await expect(page.get_by_role("checkbox", name="local:lead")).not_to_be_checked()
    assert len(deployment.workspace.presets.get(made.id).generation.candidates) == 3
    await page.get_by_role("button", name="Discard").click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Discard").click()
    await expect(page.get_by_role("checkbox", name="local:lead")).to_be_checked()
    await page.get_by_role("link", name="Presets", exact=True).click()
    await expect(page.get_by_role("link", name="Counted", exact=True)).to_have_count(1)


async def test_a_comparison_is_saved_and_opens_as_it_was_written(page: Page, deployment: Deployment) -> None:
    for number in range(3):
        deployment.workspace.contents.create(f"Lantern {number}", "input_document", stations(3)[f"Station {number}"])
    await _open(page, deployment, "/compare")
    # What is missing leads to where it goes.
    await page.get_by_role("button", name="Write the task.").press("Enter")
    task = page.get_by_label("What the models are to do")
    await expect(task).to_be_focused()
    await task.fill("Say it in two sentences.")
    await unfold(page, "Choose from the library", NAMES)
    await page.get_by_label("Find documents").fill("lantern")
    await page.get_by_role("button", name="Choose all shown").click()
    for model in ("lead", "lexrank", "submodular"):
        await page.get_by_role("checkbox", name=f"local:{model}").check()
    await page.get_by_label("Name", exact=True).fill("The first one")
    await page.get_by_label("Tags").fill("lamps, first")
    await unfold(page, "Judges and criteria")
    await page.get_by_label("Score each answer by criteria").check()
    await page.get_by_role("button", name="Write criteria").click()
    dialog = page.get_by_role("dialog", name="Write criteria")
    await dialog.get_by_role("button", name="Summary").click()
    coverage = dialog.get_by_role("listitem", name="coverage")
    await coverage.get_by_label("Weight").fill("heavy")
    await dialog.get_by_role("button", name="Keep and use it").click()
    await expect(coverage.get_by_role("alert")).to_be_visible()
    await coverage.get_by_label("Weight").fill("2")
    await dialog.get_by_role("button", name="Keep and use it").click()
    await expect(dialog).to_be_hidden()
    await _usable(page)
    await page.get_by_role("button", name="Save it as a preset").click()
    await expect(page.get_by_role("heading", name="The first one", level=1)).to_be_visible()
    await expect(task).to_have_value("Say it in two sentences.")
    await page.get_by_role("button", name="Run", exact=True).click()
    dialog = page.get_by_role("dialog", name="Start a run")
    # Three documents by three candidates, two judges who score each, and compare three pairs both ways round.
    await expect(dialog).to_contain_text("9 answers, 18 scores, 36 looks at pairs")
    await dialog.get_by_role("button", name="Start").click()
    await expect(page).to_have_url(re.compile("/runs/"))
    await expect(page.get_by_role("heading", name="The first one", level=1)).to_be_visible()
    (kept,) = [one for one in deployment.workspace.presets.each() if one.name == "The first one"]
    assert kept.tags == ["lamps", "first"]


async def test_two_who_change_a_preset_do_not_overwrite_each_other(page: Page, deployment: Deployment) -> None:
    made = preset(deployment.workspace, "Both", stations(2))
    await _open(page, deployment, f"/presets/{made.id}")
    await unfold(page, NAMES, REST)
    await page.get_by_label("Description").fill("Mine")
    made.generation.repeats = 3
    deployment.workspace.presets.save(made)
    await page.get_by_role("button", name="Save", exact=True).click()
    behind = page.get_by_role("alert").filter(has_text="Another version was saved meanwhile")
    await expect(behind).to_contain_text("candidates")
    await _usable(page)
    await behind.get_by_role("button", name="Drop mine and take the other").click()
    await expect(page.get_by_label("Description")).to_have_value("")
    await expect(page.get_by_role("spinbutton", name="Repeats")).to_have_value("3")
    await expect(page.get_by_text("not saved")).to_have_count(0)


async def test_a_text_that_is_used_names_who_uses_it(page: Page, deployment: Deployment) -> None:
    made = preset(deployment.workspace, "The user of it", stations(2))
    await _open(page, deployment, "/library?type=input_document")
    used = deployment.workspace.contents.get(made.inputs[0]).name
    await page.get_by_role("button", name=f"Delete {used}", exact=True).first.click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    used_by = page.get_by_role("dialog", name="It cannot be deleted").get_by_role("link").first
    await expect(used_by).to_be_visible()
    await _usable(page)
    await used_by.click()
    await expect(page.get_by_role("heading", name="The user of it", level=1)).to_be_visible()
