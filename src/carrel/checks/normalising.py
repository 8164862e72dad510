"""What a check ignores of texts. Pure, and without the libraries that only workers import."""

import re
from typing import Final

from msgspec.structs import replace

from carrel.checks.definition import Check

_FENCE: Final = re.compile(r"\s*```[A-Za-z0-9_+-]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)
_PREFIX: Final = re.compile(
    r"\s*\**(?:final\s+)?(?:answer|category|class|label|output|result)\**\s*:\s*\**\s*", re.IGNORECASE
)


def unwrapped(check: Check, text: str) -> str:
    """The text without what stands around it, as far as the check ignores that."""
    if check.ignore_prefix and (prefix := _PREFIX.match(text)):
        text = text[prefix.end() :]
    if check.ignore_fence and (fenced := _FENCE.fullmatch(text)):
        text = fenced[1]
    return text


def folded(check: Check, text: str) -> str:
    """The text without what the check ignores; two texts are equal for it if these are."""
    text = unwrapped(check, text)
    if check.ignore_case:
        text = text.casefold()
    return " ".join(text.split()) if check.ignore_space else text


def strict(check: Check) -> Check:
    """The same check, but it ignores nothing."""
    return replace(check, ignore_case=False, ignore_space=False, ignore_prefix=False, ignore_fence=False)
