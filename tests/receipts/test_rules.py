"""The digest of the rules: whoever changes how candidates are ranked, or what is said of them, notices it."""

from carrel.receipts import rules

DIGEST = "cf5f286f45fd70ad965b4bc9e0c75711a72c4901af28c1d33f759cd42c400c81"


def test_the_rules_of_rankings_and_words_are_those_that_this_version_says_it_has() -> None:
    assert rules.digest() == DIGEST, (
        "A source file of the ranking rules has changed, so that receipts of earlier versions may not be recomputed. "
        f'If that is meant, write into this file: DIGEST = "{rules.digest()}"'
    )
