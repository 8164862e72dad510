"""What the built-in models know of English: function words, endings, abbreviations. Other languages gain less."""

import re
from collections.abc import Iterable

_FUNCTION_WORDS = """
a about above after again against all also am an and any are as at be because been before being below between both but
by can can't cannot could did do does doesn't doing don't down during each either else etc few for from further had has
have having he her here hers him his how i if in into is isn't it it's its itself just may me might more most must my
neither no nor not now of off on once one only or other our ours out over own per same shall she should since so some
such than that the their theirs them themselves then there these they this those through thus to too under until up
upon us use used using very via was we were what when where whether which while who whom whose why will with within
without won't would yet you you're your yours yourself
"""
_SHORTENED = "al approx cf co dr e.g eg etc fig i.e ie inc mr mrs ms no nr prof resp st vol vs"
_ENDINGS_TO_REST = """
ization/iz isation/iz ational/at fulness/ful iveness/iv ations/at izing/iz ising/iz ation/at ating/at ments/ ities/
ized/iz ised/iz ness/ ment/ able/ ible/ ally/al ated/at ates/at ings/ ions/ sses/ss ing/ ion/ ies/y ied/y ers/ ize/iz
ise/iz ity/ ate/at es/ ed/ er/ ly/ ss/ss e/ s/
"""

STOPWORDS = frozenset(_FUNCTION_WORDS.split())
ABBREVIATIONS = frozenset(_SHORTENED.split())
_REST: dict[str, str] = {ending: rest for ending, _, rest in (pair.partition("/") for pair in _ENDINGS_TO_REST.split())}
_ENDING = re.compile(rf"(?:{'|'.join(_REST)})\Z")


def fold(word: str) -> str:
    """`word` in lower case, with a straight apostrophe."""
    return word.casefold().replace("’", "'")


def stem(word: str) -> str:
    """`word` in lower case without its longest listed ending that leaves three letters.

    Longest match over a list of endings is the method of Lovins (1968), "Development of a stemming algorithm"; the list
    is our own, and short. A stem need only be consistent; it need not be a word. A word that holds more than letters
    stays as it is.
    """
    folded = fold(word).removesuffix("'s")
    if not folded.isalpha():
        return folded
    ending = _ENDING.search(folded, 3)  # the leftmost match is the longest
    if ending:
        folded = folded[: ending.start()] + _REST[ending[0]]
    if len(folded) > 3 and folded[-1] == folded[-2] and folded[-1] not in "aeiouls":
        folded = folded[:-1]  # running, runs: run
    return folded


class Stems(dict[str, str]):
    """The stem of each word met so far, `""` for function words. It lives while one text is read."""

    def __missing__(self, word: str) -> str:
        found = "" if fold(word) in STOPWORDS else stem(word)
        self[word] = found
        return found

    def of(self, words: Iterable[str]) -> tuple[str, ...]:
        """Stems of the words that carry content, in order."""
        return tuple(filter(None, map(self.__getitem__, words)))
