"""The digest of the rules: whoever changes how candidates are ranked, or what is said of them, notices it."""

from carrel.receipts import rules

DIGEST = "86203a4330a694cd60dfc394f9ecf6c92ba6fc6c201f9689840eef15e40ae4a6"


def test_the_rules_of_rankings_and_words_are_those_that_this_version_says_it_has() -> None:
    assert rules.digest() == DIGEST, (
        "A source file of the ranking rules has changed, so that receipts of earlier versions may not be recomputed. "
        f'If that is meant, write into this file: DIGEST = "{rules.digest()}"'
    )
