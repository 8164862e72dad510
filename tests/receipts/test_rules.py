"""The digest of the rules: whoever changes how candidates are ranked, or what is said of them, notices it."""

from carrel.receipts import rules

DIGEST = "483dd16aa5b6e1ddf1a552a5a92e39415c086701cc675ec562d220f1cc9f20ac"


def test_the_rules_of_rankings_and_words_are_those_that_this_version_says_it_has() -> None:
    assert rules.digest() == DIGEST, (
        "A source file of the ranking rules has changed, so that receipts of earlier versions may not be recomputed. "
        f'If that is meant, write into this file: DIGEST = "{rules.digest()}"'
    )
