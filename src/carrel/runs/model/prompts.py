"""The prompts for generating and combining: the user's instructions, with the texts in their places or after them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from carrel.contents.resolve import Slot, fill
from carrel.datasets.conversations import transcript
from carrel.providers.base import CombineMatter, Criterion, GenerateMatter, Turn
from carrel.providers.fence import fence, mark_for, rule

COMBINE_INSTRUCTIONS = (
    "Several answers to the same document follow. Make one answer of them: keep what is best in each, say nothing "
    "twice, and do not grow longer than the longest of them. Where they contradict each other, the document decides. "
    "Add nothing that stands neither in them nor in the document. Reply with the answer alone."
)
_NO_REFERENCE = "(no reference)"
_OPENING = Turn("user", "(The conversation begins.)")
"""Goes before a conversation that the assistant begins, because several providers refuse such a one."""


class Instructions(NamedTuple):
    """Resolved instructions. `slots` are the positions of `{{document}}` and `{{reference}}`.

    `is_whole`: they name what the input asks, so the input does not follow them.
    """

    text: str
    slots: Sequence[Slot]
    is_whole: bool = False


class Prompt(NamedTuple):
    """What goes into a request. `turns` are a conversation in place of the prompt."""

    system: str
    prompt: str
    turns: tuple[Turn, ...] = ()


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
    instructions: Instructions,
    document: str,
    reference: str | None,
    fields: Iterable[str] = (),
    turns: tuple[Turn, ...] = (),
) -> GenerateMatter:
    """Build the same prompt for a built-in model: the document by itself, and the instructions without it.

    `fields` are the columns of a row whose texts are the document, and `turns` are its conversation.
    """
    values = {"document": "", "reference": reference or "", **dict.fromkeys(fields, "")}
    return GenerateMatter(document, fill(instructions.text, instructions.slots, values).strip(), turns)


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


def conversation_prompt(
    instructions: Instructions, asked: GenerateMatter, reference: str | None, criteria: Sequence[Criterion], seed: str
) -> Prompt:
    """Ask for the next turn of a conversation.

    The instructions go before what the conversation says as system. The variables of the row follow them in a fence,
    unless they name columns. Every provider gets the same turns: user and assistant take turns, and the user begins.
    """
    values = {"reference": _NO_REFERENCE if reference is None else reference}
    system = [fill(instructions.text, instructions.slots, values)]
    variables = asked.document.removeprefix(transcript(asked.turns)).strip()
    if variables and not instructions.is_whole:
        mark = mark_for(seed, [variables])
        system = [rule(mark), *system, fence(mark, "DOCUMENT", variables)]
    system += _criteria(criteria)
    system += [turn.content for turn in asked.turns if turn.role == "system"]
    return Prompt("\n\n".join(part for part in system if part), "", _alternating(asked.turns))


def _alternating(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """User and assistant by turns: turns of one role that follow each other become one."""
    spoken = [turn for turn in turns if turn.role != "system"]
    merged = [
        Turn(role, "\n\n".join(turn.content for turn in several))
        for role, several in groupby(spoken, key=lambda turn: turn.role)
    ]
    return tuple(merged if merged[0].role == "user" else [_OPENING, *merged])


def in_json(asked: Prompt, schema: str | None) -> Prompt:
    """Ask for an answer in JSON of a schema; the same prompt without one.

    The words are for providers that refuse the schema beside the prompt. In a conversation they go to the system text.
    """
    if schema is None:
        return asked
    words = f"Reply with JSON that follows this JSON schema, and with nothing else:\n{schema}"
    if asked.turns:
        return asked._replace(system=f"{asked.system}\n\n{words}".strip())
    return asked._replace(prompt=f"{asked.prompt}\n\n{words}".strip())


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
