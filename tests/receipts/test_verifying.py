"""A receipt is verified offline: one changed bit is found, another ranking or other words are found."""

import random
import time
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace

from carrel.evaluation.ranking.grouping import Grouping, Groups
from carrel.evaluation.ranking.ranking import Ranking
from carrel.providers.hosts import UNKNOWN
from carrel.receipts import commitments, rules, verifying
from carrel.receipts.grounds import grounds
from carrel.receipts.keys import Signer
from carrel.receipts.making import signed, worded
from carrel.receipts.receipt import Receipt, ReceiptCandidate, SignedReceipt, canonical, to_sign
from carrel.receipts.verifying import ReceiptRefuted
from tests.receipts.receipts import SECRET, SIGNER, evidence, receipt
from tests.support import soak
from tests.support.soak import Figure

FILE = signed(receipt(evidence(votes=2)), SIGNER)


def refused(content: bytes, trusted: frozenset[str] | None = None) -> str:
    with pytest.raises(ReceiptRefuted) as raised:
        verifying.verify(content, trusted)
    return str(raised.value)


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def unseen(content: bytes, bits: Iterator[int] | range) -> list[int]:
    """The bits whose change nobody notices."""
    found = []
    for bit in bits:
        try:
            verifying.authentic(flipped(content, bit))
        except ReceiptRefuted:
            continue
        found.append(bit)
    return found


def test_a_good_receipt_is_recomputed_and_says_who_signed_it() -> None:
    found = verifying.verify(FILE, {SIGNER.public})
    assert found.key == SIGNER.public
    assert (found.verdicts, found.scores, found.votes) == (12, 24, 2)
    assert found.ranking.rows[0].candidate == "alpha"


def test_the_groups_of_documents_are_part_of_what_is_recomputed() -> None:
    found = replace(evidence(documents=12), groups=Groups(by="tag", of={f"d{i}": f"g{i % 6}" for i in range(1, 13)}))
    made = receipt(found)
    verified = verifying.verify(signed(made, SIGNER), {SIGNER.public})
    assert verified.ranking.grouping == Grouping(independent=6, by="tag")
    assert verified.ranking != receipt(evidence(documents=12)).ranking
    told_otherwise = replace(made, evidence=replace(found, groups=Groups()))
    assert "ranking" in refused(signed(told_otherwise, SIGNER))


def test_every_changed_bit_of_a_receipt_is_found() -> None:
    small = signed(receipt(evidence(documents=1, judges=1)), SIGNER)
    chance = random.Random("bits")
    ends = [*range(8 * 80), *range(8 * (len(small) - 160), 8 * len(small))]
    assert unseen(small, iter([*ends, *chance.sample(range(8 * len(small)), 1_500)])) == []


def test_what_is_appended_reordered_or_written_otherwise_is_found() -> None:
    opened = msgspec.json.decode(FILE)
    otherwise = [
        FILE + b"\n",
        msgspec.json.format(FILE, indent=2),
        FILE.replace(b'"round":1,', b'"round":1,"round":1,'),
        FILE.replace(b'"weight":1.0', b'"weight":1.00', 1),
        msgspec.json.encode(opened | {"signature": opened["signature"].upper()}, order="sorted"),
        msgspec.json.encode(opened | {"key": opened["key"].upper()}, order="sorted"),
        msgspec.json.encode(opened | {"more": 1}, order="sorted"),
        b"",
        b"\xff",
        b"[" * 100_000,
        b"{}",
    ]
    assert [content[:40] for content in otherwise if content == FILE] == []
    for content in otherwise:
        assert refused(content)


def test_a_receipt_of_another_service_is_refused_when_a_key_is_given() -> None:
    other = Signer(b"another-service-key-0123456789ab")
    assert "another key" in refused(FILE, frozenset({other.public}))
    own = signed(receipt(evidence()), other)
    stolen = msgspec.json.decode(own, type=SignedReceipt)
    assert "signature" in refused(canonical(replace(stolen, key=SIGNER.public)))


def _moved(found: Receipt) -> Receipt:
    rows = found.ranking.rows
    return replace(found, ranking=replace(found.ranking, rows=(replace(rows[0], win_share=0.999), *rows[1:])))


def _bettered(found: Receipt) -> Receipt:
    return replace(found, words=replace(found.words, sentence="beta is best."))


def _without_votes(found: Receipt) -> Receipt:
    return replace(found, human=None)


@pytest.mark.parametrize(
    ("change", "part"), [(_moved, "`ranking`"), (_bettered, "`words`"), (_without_votes, "`human`")]
)
def test_a_service_that_signs_what_does_not_follow_is_found(change: object, part: str) -> None:
    assert callable(change)
    words = refused(signed(change(receipt(evidence(votes=2))), SIGNER))
    assert part in words
    assert "other rules" not in words


def test_a_receipt_made_by_other_rules_is_named_so_when_its_result_differs_and_is_good_when_it_does_not() -> None:
    made = receipt(evidence(), digest="ab" * 32)
    assert verifying.verify(signed(made, SIGNER)).versions.rules == "ab" * 32
    assert "other rules" in refused(signed(_moved(made), SIGNER))
    plain = msgspec.json.decode(canonical(made))
    del plain["evidence"]["criteria"]
    assert "other rules" in refused(_signed(plain))
    assert "form" in refused(_signed(plain | {"format": "carrel-receipt-9"}))
    assert "version" in refused(_signed(plain | {"versions": None}))


def _signed(plain: dict[str, object]) -> bytes:
    return canonical(
        {"key": SIGNER.public, "receipt": plain, "signature": SIGNER.sign(to_sign(plain, str(plain["format"])))}
    )


def test_a_receipt_of_the_earlier_format_is_good_and_does_not_know_its_hosts() -> None:
    plain = msgspec.json.decode(canonical(receipt(evidence())))
    del plain["candidates"], plain["judges"][0]["host"]
    earlier = plain | {"format": "carrel-receipt-1"}
    found = verifying.verify(_signed(earlier))
    assert (found.candidates, [judge.host for judge in found.judges]) == ((), [UNKNOWN])
    # What is signed as one format is not good as the other.
    content = msgspec.json.decode(_signed(earlier))
    assert "never signed" in refused(canonical(content | {"receipt": earlier | {"format": "carrel-receipt-2"}}))


def test_the_words_follow_from_the_hosts_of_the_candidates() -> None:
    made = receipt(evidence(documents=12))
    forged = replace(
        made, candidates=(ReceiptCandidate("alpha", "openai:gpt-5", "llm.example.org"), made.candidates[1])
    )
    assert "see `words`" in refused(signed(forged, SIGNER)), "they tell what answered for alpha"
    good = replace(forged, words=worded(made.ranking, made.human, forged.candidates, (), ()))
    note = verifying.verify(signed(good, SIGNER)).grounds[-1]
    assert (note.words, note.follow_from) == (
        "alpha was answered at llm.example.org, not at api.openai.com.",
        ("candidates",),
    )


def test_a_disclosed_text_is_held_against_its_hash_and_tells_nothing_of_others() -> None:
    texts = verifying.verify(FILE).texts
    salt = commitments.salt(SECRET, "d1")
    told = commitments.DisclosedText("d1", salt.hex(), "yes")
    assert verifying.disclosed(texts, canonical(told)) == "d1"
    assert salt != commitments.salt(SECRET, "d2")
    for wrong in (replace(told, text="no"), replace(told, name="d2"), replace(told, salt="00" * 32)):
        with pytest.raises(ReceiptRefuted, match="not the text"):
            verifying.disclosed(texts, canonical(wrong))
    for broken in (b"", b"\xff", canonical(replace(told, salt="no hex"))):
        with pytest.raises(ReceiptRefuted, match="cannot be read"):
            verifying.disclosed(texts, broken)


def test_the_words_name_the_figures_from_which_they_follow() -> None:
    found = verifying.verify(signed(receipt(evidence(documents=12, votes=10)), SIGNER))
    sentence, scope, *notes = found.grounds
    assert sentence.words.startswith("alpha is best")
    assert {"rows", "best", "documents"} <= set(sentence.follow_from)
    assert "human" not in sentence.follow_from
    assert "voted blind" in scope.words
    assert scope.follow_from == ("human",)
    assert [note.follow_from for note in notes if "blind votes" in note.words] == [("leaders", "human")]


def test_words_that_a_figure_does_not_touch_do_not_name_it() -> None:
    ranking = receipt(evidence(documents=12)).ranking
    exploratory: Ranking = replace(ranking, exploratory=True)
    found = {
        ground.words: ground.follow_from
        for ground in grounds(exploratory, None, *(2 * [lambda figures, votes: worded(figures, votes, (), (), ())]))
    }
    note = next(words for words in found if words.startswith("Exploratory"))
    assert found[note] == ("exploratory",)
    assert all("exploratory" not in names for words, names in found.items() if words != note)


@pytest.mark.soak(campaign="receipts")
def test_of_a_thousand_receipts_every_changed_bit_is_found(figure: Figure) -> None:
    chance = random.Random("receipts")
    bits = missed = 0
    for number in range(soak.size(1_000)):
        labels = tuple("abcdefgh"[: chance.randint(2, 4)])
        made = receipt(evidence(number, documents=chance.randint(1, 8), labels=labels, judges=chance.randint(1, 3)))
        content = signed(made, SIGNER)
        found = verifying.verify(content, {SIGNER.public})
        assert found.ranking == made.ranking
        size = 8 * len(content)
        chosen = range(size) if number == 0 else chance.sample(range(size), 200)
        bits += len(chosen)
        missed += len(unseen(content, iter(chosen)))
    figure("receipts with one bit changed", bits=bits, unseen=missed)
    assert missed == 0


@pytest.mark.soak(campaign="receipts", alone=True)
def test_ten_thousand_verdicts_are_verified_within_a_second_of_processor_time(figure: Figure) -> None:
    content = signed(receipt(evidence(documents=334, labels=tuple("abcde"), judges=3)), SIGNER)
    began = time.process_time()
    found = verifying.verify(content, {SIGNER.public})
    took = time.process_time() - began
    figure("10,000 verdicts verified", verdicts=found.verdicts, seconds=took)
    assert rules.digest() == found.versions.rules
    assert took < 1.0
