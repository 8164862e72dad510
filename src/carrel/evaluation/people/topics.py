"""What people talk about when they say why one answer is better: a table of words, each of which names a criterion.

It is English, and says only what a text is about: "clear" and "not clear" both ask for clarity. Words are compared by
their stems. Where the templates of the app have the same criterion, its name and its meaning are theirs; the words of
the built-in judges are among ours, so that these judges can judge by what is proposed.
"""

import re
from collections import defaultdict
from typing import Final, NamedTuple

from carrel.providers.local.criteria import CLARITY, CONCISION, COVERAGE
from carrel.providers.local.english import fold, stem

MAX_WORDS: Final = 50_000
"""Of different words in one reading; further ones are not recognised."""


class Topic(NamedTuple):
    """A criterion, and the words and phrases that ask for it."""

    name: str
    meaning: str
    said: str


def _table(*topics: tuple[str, str, str, str]) -> tuple[Topic, ...]:
    """`words` stand one by one, `phrases` between commas."""
    return tuple(
        Topic(name, meaning, ", ".join([*words.split(), *filter(None, " ".join(phrases.split()).split(", "))]))
        for name, meaning, words, phrases in topics
    )


TOPICS: Final = _table(
    (
        "coverage",
        "Holds every point that the reader needs to decide or to act; nothing important is missing.",
        COVERAGE.replace("relevance relevant ", "")
        + """depth detail detailed everything forget forgets forgot forgotten incomplete lack lacks lacking miss
        misses missing omission omit omits omitted partial shallow skips superficial""",
        """all facts, all points, all the facts, all the points, few facts, key points, leaves out, left out, more
        facts, not enough, too brief, too little, too short, leave out, leaving out""",
    ),
    (
        "faithfulness",
        "States only what the document says, with its numbers, names and dates unchanged.",
        """accuracy accurate contradict contradicts contradiction correct correctness error fabricate fabricated
        fabrication fact factual faithful faithfulness false guess guesses guessing hallucinate hallucinates
        hallucination imprecise inaccurate inaccuracy incorrect invent invents invention mislead misleading
        misquotes misread mistake mistaken precise precision reliable speculates speculation true truth
        unreliable unsupported untrue wrong""",
        "in the document, in the source, made things up, made up, make up, makes things up, makes up, making up",
    ),
    (
        "conciseness",
        "Has no sentence that could be left out.",
        CONCISION
        + """ bloated brevity brief compact crisp filler fluff length lengthy long longest longwinded padded padding
        ramble rambles rambling short shortest superfluous unnecessary verbose verbosity waffle waffles wordiness
        wordy""",
        "to the point",
    ),
    (
        "clarity",
        "Can be understood without the document.",
        CLARITY
        + """accessible accessibility complicated confuse confused confuses confusing convoluted cryptic ease easier
        easiest easy incomprehensible jargon legible obscure plain readability readable simple simplicity simply
        unclear understood unreadable""",
        "hard to follow, hard to read",
    ),
    (
        "structure",
        "Puts what matters first, and arranges the rest so that the reader finds each point.",
        """bullet bullets chaotic coherence coherent disorganised disorganized flow flows format formatted
        formatting heading headings incoherent jumbled layout markdown messy organisation organised organization
        organized paragraph paragraphs section sections structure structured table tables unstructured""",
        "as a list, better order, bullet list, good order, right order, wall of text, wrong format, wrong order",
    ),
    (
        "focus",
        "Answers what was asked, and nothing else.",
        """digress digresses digression focus focused focuses instruction instructions irrelevance irrelevant prompt
        relevance relevant tangent topic unfocused unrelated""",
        "as asked, asked for, beside the point, is asked, my question, the question, was asked, were asked",
    ),
    (
        "usefulness",
        "Lets the reader act: it solves the problem, or says exactly what happens next.",
        """actionable advice concrete generic helpful helpfulness impractical practical recommendation
        recommendations resolution resolve resolves solution solve solves specific unhelpful useful usefulness
        useless vague""",
        "next step, next steps, what to do",
    ),
    (
        "tone",
        "Is polite and calm, fits the reader’s mood, and blames nobody.",
        """aggressive apologetic apologises apologizes apology arrogant blame blames calm casual cheerful cold
        condescending courteous defensive disrespectful empathetic empathy enthusiastic formal friendliness
        friendly harsh impolite informal patronising patronizing polite politely politeness professional pushy
        respectful robotic rude rudeness salesy stiff sympathetic tactful tone unfriendly unprofessional warm
        warmer warmth""",
        "right tone, wrong tone",
    ),
    (
        "language",
        "Reads well: wording, grammar, spelling and punctuation are right.",
        """awkward clumsy fluency fluent grammar grammatical idiom idiomatic language misspelled natural phrasing
        punctuation spelled spelling stilted style typo typos ungrammatical unnatural worded wording""",
        """badly written, better written, correct grammar, grammar error, grammar mistake, poorly written, reads
        badly, reads better, reads nicely, reads well, spelling error, spelling mistake, well written, wrong
        language, wrong word""",
    ),
    (
        "explanation",
        "Gives the reasons for what it says, and an example where one helps.",
        """argument arguments example examples explain explained explains explanation illogical justification
        justified justifies justify logic logical reason reasoning reasons""",
        "",
    ),
    (
        "evidence",
        "Shows where each of its claims comes from.",
        """citation citations cite cites cited evidence proof quotation quotations quote quoted quotes reference
        references source sources""",
        "",
    ),
    (
        "interest",
        "Holds the reader’s attention from the first line to the last.",
        """boring bored creative creativity dull engaging entertaining funny humour humor imaginative interesting
        lively monotonous original originality uninteresting vivid""",
        "",
    ),
)
_NOT_MEANT: Final = "as long as, no longer, in short, for that reason, for this reason"
"""Phrases whose words say nothing about an answer."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def _phrases() -> dict[str, list[tuple[tuple[str, ...], int | None]]]:
    """What may follow each first stem, longest first, with the number of its topic, if it has one."""
    found: defaultdict[str, dict[tuple[str, ...], int | None]] = defaultdict(dict)
    for number, said in (*enumerate(topic.said for topic in TOPICS), (None, _NOT_MEANT)):
        for phrase in said.split(", "):
            first, *rest = map(stem, _WORD.findall(phrase))
            found[first].setdefault(tuple(rest), number)
    return {first: sorted(rests.items(), key=lambda one: -len(one[0])) for first, rests in found.items()}


_PHRASES: Final = _phrases()
_BEGINNINGS: Final = frozenset(
    stem_of[:3]
    for first, rests in _PHRASES.items()
    for stem_of in (first, *(word for rest, _ in rests for word in rest))
)
"""Of all stems. A stem begins like its word, so that most words need not be stemmed."""


class StemReader(dict[str, str]):
    """Reads one text after the other. It holds the stems of the words met so far, `""` for words not in the table."""

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_WORDS:
            return ""
        folded = fold(word)
        found = self[word] = stem(folded) if folded[:3] in _BEGINNINGS else ""
        return found

    def topics_of(self, text: str) -> frozenset[int]:
        """The numbers of the topics that `text` mentions. The longest phrase counts, and not the words in it."""
        stems = [self[word] for word in _WORD.findall(text)]
        found: set[int] = set()
        at = 0
        while at < len(stems):
            at += self._take(stems, at, found)
        return frozenset(found)

    @staticmethod
    def _take(stems: list[str], at: int, found: set[int]) -> int:
        """Add the topic of what begins here; return how many words that were, or 1."""
        for rest, topic in _PHRASES.get(stems[at], ()):
            if tuple(stems[at + 1 : at + 1 + len(rest)]) == rest:
                if topic is not None:
                    found.add(topic)
                return 1 + len(rest)
        return 1
