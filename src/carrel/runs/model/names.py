"""Names for the files in which texts of a run leave Carrel."""

import unicodedata

_MAX_CHARACTERS = 60


def file_name(text: str) -> str:
    """The part of a text that fits into a file's name: letters, digits, dots and hyphens. It may be empty."""
    kept = "".join(one if one.isalnum() or one in "._" else "-" for one in unicodedata.normalize("NFC", text))
    return "-".join(part for part in kept.split("-") if part)[:_MAX_CHARACTERS].strip("-._")


def numbered(number: str, text: str) -> str:
    """A name that is unique because of its number, whatever remains of the text."""
    return "-".join(part for part in (number, file_name(text)) if part)


def answer_name(document: tuple[int, str], candidate: tuple[int, str], repeat: int, repeats: int) -> str:
    """The file name of an answer, in every export: a folder for each document, a file for each answer.

    Documents and candidates come as number and name. If a candidate gives only one answer, its file has no number.
    """
    again = f"-s{repeat}" if repeats > 1 else ""
    return f"{numbered(f'd{document[0]}', document[1])}/{numbered(f'c{candidate[0]}', candidate[1])}{again}.md"
