"""Going through a page with the Tab key alone."""

from typing import Final

from playwright.async_api import Page

MOST_TABS: Final = 200

_BEGIN: Final = "() => { window.walked = new Set(); }"
_NOTE: Final = """() => {
  const here = document.activeElement;
  if (window.walked.has(here)) return true;
  if (here !== document.body) window.walked.add(here);
  return false;
}"""
"""Whether the walk is over: the focus came around. It begins where it was, and leaves the page once on its way."""
_LEFT: Final = """() => {
  const walked = [...window.walked];
  const groups = '[role=tablist], [role=toolbar], [role=radiogroup], [role=grid]';
  const isOfWalked = one => {
    const group = one.closest(groups) ?? (one.type === 'radio' && one.closest('fieldset, form, .carrel'));
    return group && walked.some(other => group.contains(other));
  };
  return [...document.querySelectorAll('#carrel :is(a[href], button, input, select, textarea, summary, [tabindex])')]
    .filter(one => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0)
    .filter(one => !one.closest('[aria-hidden=true], [inert]') && !window.walked.has(one) && !isOfWalked(one))
    .map(one => one.outerHTML.slice(0, 120));
}"""
"""What the focus never came to; of a group whose parts the arrow keys reach, one is enough."""


async def walk(page: Page) -> None:
    """Press Tab until the focus has been everywhere; it must not be kept on the way, and miss nothing."""
    await page.evaluate(_BEGIN)
    for _ in range(MOST_TABS):
        await page.keyboard.press("Tab")
        if await page.evaluate(_NOTE):
            break
    else:
        raise AssertionError(f"after {MOST_TABS} times Tab the focus has not come around")
    left = await page.evaluate(_LEFT)
    assert not left, f"the Tab key does not lead to {left}"
