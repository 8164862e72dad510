"""Small pieces of sentences: lists, counts, shares."""

from collections.abc import Sequence


def listed(names: Sequence[str], word: str = "and") -> str:
    """`A`, `A and B`, `A, B and C`; nothing for no names."""
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def counted(number: int, noun: str) -> str:
    """`1 vote`, `2 votes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """Whole per cent."""
    return f"{100 * share:.0f} %"
