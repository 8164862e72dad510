"""The digest of the rules: whoever changes how candidates are ranked, or what is said of them, notices it."""

from carrel.receipts import rules

DIGEST = "c1308e059a1d4d217dab169c957f2ed6ec275324c1e3899d8ea44a49f88f3d26"


def test_the_rules_of_rankings_and_words_are_those_that_this_version_says_it_has() -> None:
    assert rules.digest() == DIGEST, (
        "A source file of the ranking rules has changed, so that receipts of earlier versions may not be recomputed. "
        f'If that is meant, write into this file: DIGEST = "{rules.digest()}"'
    )
