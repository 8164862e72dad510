"""Placeholders in texts: `{{User Name}}`, a name in double braces whose place something else takes."""

import re
import unicodedata
from typing import Final

LONGEST: Final = 120
"""Characters of a placeholder, the braces and the spaces within them included."""
PLACEHOLDER: Final = re.compile(r"\{\{([^{}\x00-\x08\x0a-\x1f\x7f-\x9f]{1,116}+)\}\}")
NAME: Final = r"^[^{}\s](?:[^{}\x00-\x1f\x7f-\x9f]{0,98}[^{}\s])?$(?!\n)"
"""The pattern of a name that a placeholder can have."""


def plain(name: str) -> str:
    """The name as placeholders are compared: letters with their accents in one, and one space where there are more."""
    return " ".join(unicodedata.normalize("NFC", name).split())
