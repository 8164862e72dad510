"""Takes apart what a model thought and what it answered, where its server leaves both in one text. Pure.

Servers without a parser of reasoning pass on the marks that open models are trained to write: `<think>…</think>`, of
which some templates write the first themselves, Mistral's `[THINK]…[/THINK]`, Kimi's `◁think▷…◁/think▷`, and the
channels of gpt-oss and Gemma.
"""

import re
from typing import Final, NamedTuple

_OPENINGS: Final = ("<think>", "<thinking>", "<thought>", "<seed:think>", "[think]", "◁think▷", "<|channel>thought")
_CHANNEL: Final = "<|channel|>analysis"
_CLOSINGS: Final = ("</", "[/", "<|", "◁/", "<channel|>")
_LONGEST_MARK: Final = 64
_CLOSED: Final = re.compile(
    r"\s*(?:<(?P<tag>think|thinking|thought|seed:think)>(?P<in_tags>.*?)</(?P=tag)>"
    r"|\[think\](?P<in_brackets>.*?)\[/think\]|◁think▷(?P<in_triangles>.*?)◁/think▷"
    r"|<\|channel>thought(?P<in_room>.*?)<channel\|>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^<]*<\|message\|>(?P<in_channel>.*?)"
    r"(?:<\|end\|>|(?=<\|start\|>)))",
    re.DOTALL | re.IGNORECASE,
)
_INSIDE: Final = ("in_tags", "in_brackets", "in_triangles", "in_room", "in_channel")
_OPEN: Final = re.compile(
    r"\s*(?:<(?:think|thinking|thought|seed:think)>|\[think\]|◁think▷|<\|channel\|?>(?:analysis|thought))", re.I
)
_FINAL: Final = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>final[^<]*<\|message\|>")
_END: Final = re.compile(r"(?:<\|return\|>|<\|end\|>)\s*\Z")
_ALONE: Final = re.compile(r"(?<![`'\"])</think>(?![`'\"])")
_WITHOUT_MARKS: Final = re.compile(r"analysis(?P<thought>[^{\[].*?)assistantfinal", re.DOTALL)


class Apart(NamedTuple):
    """`is_open`: the thought did not come to its end, so there is no answer."""

    thought: str
    text: str
    is_open: bool = False


def apart(text: str) -> Apart:
    """What was thought at the beginning of the text, and the text after it."""
    if "<" not in text and "[" not in text and "◁" not in text and not text.startswith("analysis"):
        return Apart("", text)
    thoughts, rest = [], text
    while (closed := _CLOSED.match(rest)) is not None:
        thoughts.append(next((closed[name] for name in _INSIDE if closed[name]), ""))
        rest = rest[closed.end() :]
    if (final := _FINAL.match(rest)) is not None:
        rest = _END.sub("", rest[final.end() :])
    elif (opened := _OPEN.match(rest)) is not None:
        return Apart("\n".join((*thoughts, rest[opened.end() :])), "", is_open=True)
    elif not thoughts and (bare := _WITHOUT_MARKS.match(rest)) is not None:
        thoughts, rest = [bare["thought"]], rest[bare.end() :]
    elif not thoughts and "</think>" in text and "<think>" not in text and len(alone := _ALONE.split(text)) == 2:
        thoughts, rest = alone[:1], alone[1]
    return Apart("\n".join(thoughts), rest.lstrip() if thoughts else rest)


class Spoken:
    """Passes on the answer piece by piece, and holds back what may be thought at its beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._passes = False

    def feed(self, piece: str) -> str:
        """What of the text so far is certainly answer, and was not passed on before."""
        if self._passes or not piece:
            return piece
        self._held += piece
        begins = self._held[:_LONGEST_MARK].lstrip().lower()
        may_open = any(mark.startswith(begins[: len(mark)]) for mark in (*_OPENINGS, _CHANNEL, "<|start|>assistant"))
        if may_open or not begins:
            if not any(mark in self._held[-len(piece) - _LONGEST_MARK :] for mark in _CLOSINGS):
                return ""
            found = apart(self._held)
            if found.is_open or not found.thought or not found.text or found.text.startswith("<"):
                return ""
            self._held = found.text
        self._passes = True
        return self._held
