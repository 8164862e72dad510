"""One call of a built-in model, as it runs in the worker process."""

from carrel.providers.base import Answer, CombineMatter, CompareMatter, FinishReason, GenerateMatter, Matter, Usage
from carrel.providers.local import judges
from carrel.providers.local.text import words


def answer(model: str, matter: Matter, at_most: int | None = None, seed: int | None = None) -> Answer:
    """The answer of `model`, the same for the same arguments on every machine. Tokens are words.

    Raises:
        KeyError: there is no such model for this kind of matter.
        UnsupportedCriterion: a criterion that the judge cannot judge by.
    """
    finish: FinishReason = "stop"
    if isinstance(matter, GenerateMatter):
        # The import stands here, so that only the worker pays for numpy and the service starts without it.
        from carrel.providers.local import generators

        read = [matter.document, matter.instructions]
        text, cut = generators.generate(model, matter.document, matter.instructions, at_most=at_most, seed=seed)
        finish = "length" if cut else "stop"
    elif isinstance(matter, CombineMatter):
        from carrel.providers.local import combining

        read = [matter.document, *matter.answers, matter.instructions]
        text, cut = combining.combine(model, matter, at_most=at_most, seed=seed)
        finish = "length" if cut else "stop"
    elif isinstance(matter, CompareMatter):
        read = [matter.document, matter.first, matter.second]
        text = judges.compare(model, matter)
    else:
        read = [matter.document, matter.answer]
        text = judges.score(model, matter)
    usage = Usage(input_tokens=sum(len(words(one)) for one in read), output_tokens=len(words(text)))
    return Answer(text=text, finish_reason=finish, usage=usage)
