"""The names of files under which texts of a run leave."""

import unicodedata

_MAX_CHARACTERS = 60


def file_name(text: str) -> str:
    """What is left of a text as a part of a file's name: letters, digits, dots and hyphens; it may be empty."""
    kept = "".join(one if one.isalnum() or one in "._" else "-" for one in unicodedata.normalize("NFC", text))
    return "-".join(part for part in kept.split("-") if part)[:_MAX_CHARACTERS].strip("-._")


def numbered(number: str, text: str) -> str:
    """A name that is unique by its number, whatever is left of the text."""
    return "-".join(part for part in (number, file_name(text)) if part)


def answer_name(document: tuple[int, str], candidate: tuple[int, str], repeat: int, repeats: int) -> str:
    """Under which name an answer leaves, wherever it goes: a folder for each document, a file for each answer.

    Documents and candidates come as number and name. Answers of a candidate that gives one only have no number.
    """
    again = f"-s{repeat}" if repeats > 1 else ""
    return f"{numbered(f'd{document[0]}', document[1])}/{numbered(f'c{candidate[0]}', candidate[1])}{again}.md"
