"""The digest of the rules: whoever changes how candidates are ranked, or what is said of them, notices it."""

from carrel.receipts import rules

DIGEST = "38d1e81a018c8e05512f2e8f078ae46fec1a2a3b0db43ba7d3bc523c7e775c1b"


def test_the_rules_of_rankings_and_words_are_those_that_this_version_says_it_has() -> None:
    assert rules.digest() == DIGEST, (
        "A source file of the ranking rules has changed, so that receipts of earlier versions may not be recomputed. "
        f'If that is meant, write into this file: DIGEST = "{rules.digest()}"'
    )
