"""Numbers of items as lists show them: in digits, in letters of several scripts, as Roman or East Asian numerals."""

from typing import Final

_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")),
    *((9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LETTERS: Final = {
    "a": "abcdefghijklmnopqrstuvwxyz",
    "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "russian": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "hebrew": "אבגדהוזחטי",
    "arabic": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "abjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "hangul": "가나다라마바사아자차카타파하",
    "jamo": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "katakana": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "hiragana": "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをん",
    "stems": "甲乙丙丁戊己庚辛壬癸",
    "branches": "子丑寅卯辰巳午未申酉戌亥",
    "circle": "".join(map(chr, range(0x2460, 0x2474))),
    "parenthesis": "".join(map(chr, range(0x2474, 0x2488))),
    "stop": "".join(map(chr, range(0x2488, 0x249C))),
}
_AGAIN: Final = frozenset({"a", "greek", "russian"})
"""After the last letter comes the first one twice."""
_COUNTED: Final = {"han": "十一二三四五六七八九", "korean": "십일이삼사오육칠팔구"}
"""Ten, and the digits from one to nine."""
_WIDE: Final = str.maketrans("0123456789", "０１２３４５６７８９")
_MAX: Final = 5_000
_OF_WORD: Final = {
    "lowerLetter": "a",
    "upperLetter": "A",
    "lowerRoman": "i",
    "upperRoman": "I",
    "russianLower": "russian",
    "russianUpper": "RUSSIAN",
    "hebrew1": "hebrew",
    "hebrew2": "hebrew",
    "arabicAlpha": "arabic",
    "arabicAbjad": "abjad",
    "ganada": "hangul",
    "chosung": "jamo",
    **dict.fromkeys(("aiueo", "aiueoFullWidth"), "katakana"),
    "ideographTraditional": "stems",
    "ideographZodiac": "branches",
    **dict.fromkeys(("decimalEnclosedCircle", "decimalEnclosedCircleChinese"), "circle"),
    "decimalEnclosedParen": "parenthesis",
    "decimalEnclosedFullstop": "stop",
    **dict.fromkeys(("decimalFullWidth", "decimalFullWidth2"), "wide"),
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand", "japaneseCounting"), "han"),
    **dict.fromkeys(("taiwaneseCounting", "taiwaneseCountingThousand"), "han"),
    "koreanCounting": "korean",
    "decimalZero": "01",
    "ordinal": "1st",
}
_OF_STYLE: Final = {
    **dict.fromkeys(("lower-alpha", "lower-latin"), "a"),
    **dict.fromkeys(("upper-alpha", "upper-latin"), "A"),
    "lower-roman": "i",
    "upper-roman": "I",
    "lower-greek": "greek",
    "decimal-leading-zero": "01",
    **dict.fromkeys(("cjk-ideographic", "simp-chinese-informal", "trad-chinese-informal", "japanese-informal"), "han"),
    "korean-hangul-formal": "korean",
    "hebrew": "hebrew",
    "katakana": "katakana",
    "hiragana": "hiragana",
}


def of_word(number: int, name: str) -> str:
    """A number under a name that Word has for its format (ECMA-376, part 1, 17.18.59)."""
    return numeral(number, _OF_WORD.get(name, "1"))


def of_style(name: str) -> str | None:
    """The kind that a style of lists has by its name in CSS; nothing for one that has no numbers."""
    return _OF_STYLE.get(name)


def numeral(number: int, kind: str) -> str:
    """A number of this kind: in letters for `a` and `A`, in Roman numerals for `i` and `I`, in digits for `1`."""
    if not 0 < number < _MAX:
        return str(number)
    if kind in ("i", "I"):
        made = ""
        for value, sign in _ROMAN:
            made += sign * (number // value)
            number %= value
        return made.upper() if kind == "I" else made
    letters = _LETTERS.get(kind.lower(), "")
    if number <= len(letters) or kind.lower() in _AGAIN:
        made = letters[(number - 1) % len(letters)] * ((number - 1) // len(letters) + 1)
        return made.upper() if kind.isupper() else made
    return _in_digits(number, kind)


def _in_digits(number: int, kind: str) -> str:
    if kind in _COUNTED and number < 100:
        signs = _COUNTED[kind]
        tens, ones = divmod(number, 10)
        return (signs[tens] if tens > 1 else "") + signs[0] * (tens > 0) + (signs[ones] if ones else "")
    if kind == "1st":
        last = 0 if number % 100 in (11, 12, 13) else number % 10
        return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"
    if kind == "wide":
        return str(number).translate(_WIDE)
    return f"{number:02}" if kind == "01" else str(number)
