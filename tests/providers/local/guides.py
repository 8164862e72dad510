"""A small guide to summarise, and texts of every kind for property tests."""

from hypothesis import strategies as st

GUIDE = """# Keeping bees

Keeping bees takes patience, a calm hand and a little equipment. A colony has one queen, some drones and 50,000 workers.

## Choosing a hive

The Langstroth hive is the most common hive in North America. Its frames can be lifted out one at a time.
A Warré hive asks for less work, but its combs cannot be inspected easily. Choose the hive that your neighbours keep.

- Paint the hive in a light colour.
- Face the entrance away from the wind.

## Feeding the colony

Feed the colony sugar syrup when no flowers bloom. Syrup for spring is one part sugar and one part water.
However, feeding in summer spoils the honey. In autumn the syrup is thicker, with two parts sugar to one part water.

## Watching for mites

The Varroa mite weakens a colony faster than hunger does. Count the mites on 300 bees every month from April on.
Treat the colony when you count more than nine mites. Treating too late means losing the colony in winter.
Keep notes of every count, since the next year begins with them.

## Harvesting honey

Harvest honey when most cells of a frame are capped. Leave the colony at least 20 kilograms of honey for the winter.
Filter the honey through a coarse sieve and let it stand for two days before filling jars.
"""

_VOCABULARY = "the hive Varroa 300 honey is a keeps of frames, e.g. Bees it However don’t 蜂蜜 x_y 3.11 café"
_words = st.sampled_from(_VOCABULARY.split())
_sentences = st.builds(
    lambda words, stop: " ".join(words) + stop, st.lists(_words, min_size=1, max_size=12), st.sampled_from(".!?:…。")
)
_lines = st.one_of(
    _sentences,
    st.builds(
        lambda marks, text: marks + text, st.sampled_from(["# ", "### ", "- ", "> ", "1. ", "    ", "| "]), _sentences
    ),
    st.sampled_from(["", "", "```", "---", "<!--", "-->", "[a](#b)", "`", "\\"]),
    st.text(max_size=30),
)
documents = st.lists(_lines, max_size=60).map("\n".join)
"""Markdown of all kinds, sound and broken."""
