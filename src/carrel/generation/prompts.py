"""The prompts for generating and combining: the user's instructions, with the texts in their places or after them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from carrel.contents.resolve import Slot, fill
from carrel.providers.base import CombineMatter, Criterion, GenerateMatter
from carrel.providers.fence import fence, mark_for, rule

COMBINE_INSTRUCTIONS = (
    "Several answers to the same document follow. Make one answer of them: keep what is best in each, say nothing "
    "twice, and do not grow longer than the longest of them. Where they contradict each other, the document decides. "
    "Add nothing that stands neither in them nor in the document. Reply with the answer alone."
)
_NO_REFERENCE = "(no reference)"


class Instructions(NamedTuple):
    """Resolved instructions. `slots` are the positions of `{{document}}` and `{{reference}}`.

    `is_whole`: they name what the input asks, so the input does not follow them.
    """

    text: str
    slots: Sequence[Slot]
    is_whole: bool = False


class Prompt(NamedTuple):
    """What goes into a request."""

    system: str
    prompt: str


def with_fields(instructions: Instructions, fields: Mapping[str, str]) -> Instructions:
    """The instructions with the columns of a row in their places, in one pass."""
    pieces: list[str] = []
    slots: list[Slot] = []
    end = length = 0
    for slot in instructions.slots:
        before, value = instructions.text[end : slot.start], fields.get(slot.name)
        shown = instructions.text[slot.start : slot.end] if value is None else value
        if value is None:
            start = length + len(before)
            slots.append(Slot(start, start + len(shown), slot.name))
        pieces += (before, shown)
        length += len(before) + len(shown)
        end = slot.end
    pieces.append(instructions.text[end:])
    return Instructions("".join(pieces), slots, is_whole=len(slots) < len(instructions.slots))


def matter(
    instructions: Instructions, document: str, reference: str | None, fields: Iterable[str] = ()
) -> GenerateMatter:
    """Build the same prompt for a built-in model: the document by itself, and the instructions without it.

    `fields` are the columns of a row whose texts are the document.
    """
    values = {"document": "", "reference": reference or "", **dict.fromkeys(fields, "")}
    return GenerateMatter(document, fill(instructions.text, instructions.slots, values).strip())


def prompt(
    instructions: Instructions, document: str, reference: str | None, criteria: Sequence[Criterion], seed: str
) -> Prompt:
    """Ask for an answer to `document`.

    The document replaces its placeholder in the instructions. Without a placeholder it follows them in a fence. The
    reference appears only at its placeholder: a candidate that is judged by it need not see it. The prompt names
    `criteria` if there are any. `seed` is random: see `fence.mark_for`.
    """
    values = {"document": document, "reference": _NO_REFERENCE if reference is None else reference}
    parts = [fill(instructions.text, instructions.slots, values)]
    system = ""
    if not instructions.is_whole and not any(slot.name == "document" for slot in instructions.slots):
        mark = mark_for(seed, [document])
        parts.append(fence(mark, "DOCUMENT", document))
        system = rule(mark)
    parts += _criteria(criteria)
    return Prompt(system, "\n\n".join(part for part in parts if part))


def combine_matter(
    instructions: Instructions | None, document: str, answers: Sequence[str], reference: str | None
) -> CombineMatter:
    """Build the same prompt for a built-in model. The default instructions do not mention the document."""
    asked = "" if instructions is None else matter(instructions, document, reference).instructions
    return CombineMatter(document, tuple(answers), asked)


def combine_prompt(
    instructions: Instructions | None,
    asked: CombineMatter,
    reference: str | None,
    criteria: Sequence[Criterion],
    seed: str,
) -> Prompt:
    """Ask for one answer made of several; `None` stands for the default instructions.

    The prompt puts every text in a fence, because models wrote the answers, and the document that they read may be
    hostile. The document stands where the instructions want it, otherwise after them. The answers follow without names.
    The prompt shows reference and criteria as it does to a candidate that answers by itself: the reference where
    `{{reference}}` stands, and the criteria if there are any.
    """
    text, slots, _ = instructions or Instructions(COMBINE_INSTRUCTIONS, ())
    mark = mark_for(seed, [asked.document, *asked.answers, reference or ""])
    document = fence(mark, "DOCUMENT", asked.document)
    values = {
        "document": document,
        "reference": _NO_REFERENCE if reference is None else fence(mark, "REFERENCE", reference),
    }
    parts = [fill(text, slots, values)]
    if not any(slot.name == "document" for slot in slots):
        parts.append(document)
    parts += (fence(mark, f"ANSWER {number}", answer) for number, answer in enumerate(asked.answers, start=1))
    parts += _criteria(criteria)
    return Prompt(rule(mark), "\n\n".join(part for part in parts if part))


def _criteria(criteria: Sequence[Criterion]) -> list[str]:
    """The criteria by which the answer will be judged, if candidates are to see them."""
    lines = [f"- {criterion.name}: {criterion.description}".rstrip(": ") for criterion in criteria]
    return ["The answer will be judged by:\n" + "\n".join(lines)] if lines else []
