"""The prompt of a generation: the user's instructions, with the input in its place or behind them in a fence."""

from collections.abc import Sequence
from typing import NamedTuple

from carrel.contents.resolve import Slot, fill
from carrel.providers.base import Criterion, GenerateMatter
from carrel.providers.fence import fence, mark_for, rule

_NO_REFERENCE = "(no reference)"


class Instructions(NamedTuple):
    """Resolved instructions; `slots` are the places of `{{document}}` and `{{reference}}` in them."""

    text: str
    slots: Sequence[Slot]


class Prompt(NamedTuple):
    """What goes into a request."""

    system: str
    prompt: str


def matter(instructions: Instructions, document: str, reference: str | None) -> GenerateMatter:
    """The same for models that are not language models: the document apart, the instructions without it."""
    values = {"document": "", "reference": reference or ""}
    return GenerateMatter(document, fill(instructions.text, instructions.slots, values).strip())


def prompt(
    instructions: Instructions, document: str, reference: str | None, criteria: Sequence[Criterion], seed: str
) -> Prompt:
    """Ask for an answer to `document`.

    The document stands where the instructions want it, as it is; else it follows, fenced. The reference stands only
    where they want it: whoever is to be judged by it need not see it. `criteria` are told if there are any. `seed` is
    random: see `fence.mark_for`.
    """
    values = {"document": document, "reference": _NO_REFERENCE if reference is None else reference}
    parts = [fill(instructions.text, instructions.slots, values)]
    system = ""
    if not any(slot.name == "document" for slot in instructions.slots):
        mark = mark_for(seed, [document])
        parts.append(fence(mark, "DOCUMENT", document))
        system = rule(mark)
    if criteria:
        lines = "\n".join(f"- {criterion.name}: {criterion.description}".rstrip(": ") for criterion in criteria)
        parts.append(f"The answer will be judged by:\n{lines}")
    return Prompt(system, "\n\n".join(part for part in parts if part))
