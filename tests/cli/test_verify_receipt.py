"""`carrel verify-receipt`, on files alone: no service is there."""

import tracemalloc
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from carrel.cli.main import main
from carrel.receipts import commitments
from carrel.receipts.commitments import DisclosedText
from carrel.receipts.keys import ReceiptKey, ReceiptKeys
from carrel.receipts.making import signed
from carrel.receipts.receipt import Versions
from carrel.receipts.verifying import MAX_BYTES
from tests.receipts.receipts import SECRET, SIGNER, evidence, receipt


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "receipt.json"
    path.write_bytes(signed(receipt(evidence(documents=12, votes=2)), SIGNER))
    return path


def verified(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["verify-receipt", *map(str, words)], catch_exceptions=False)


def test_a_good_receipt_is_told_with_the_figures_behind_its_words(file: Path) -> None:
    result = verified(file, "--key", SIGNER.public)
    assert result.exit_code == 0, result.output
    assert f"{file} is good: its ranking follows from 24 verdicts, 48 scores and 2 votes" in result.stdout
    assert "“alpha is best" in result.stdout
    assert "rows[0]: candidate alpha, place 1, win_share" in result.stdout
    assert "see --key" not in result.stdout
    assert "see --key" in verified(file).stdout


def test_the_key_is_taken_from_a_file_too(file: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    listed = ReceiptKeys([ReceiptKey("5a" * 32, "2026-11-22", True), ReceiptKey(SIGNER.public, "2026-11-21", False)])
    for content, code in (
        (msgspec.json.encode(listed), 0),
        (f"{SIGNER.public}\n".encode(), 0),
        (b"5a" * 32, 1),
        (b"\xff", 1),
    ):
        keys.write_bytes(content)
        assert verified(file, "--key", keys).exit_code == code, content
    assert verified(file, "--key", "no-such-file").exit_code == 2


def test_a_changed_receipt_ends_with_1_and_one_line(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"first"', b'"tie"', 1))
    result = verified(file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"carrel: {file}: ")
    assert "error" in msgspec.json.decode(verified(file, "--json").stderr)
    assert verified(file.with_name("none.json")).exit_code == 1


def test_disclosed_texts_are_checked_and_named(file: Path, tmp_path: Path) -> None:
    text = tmp_path / "d1.json"
    told = DisclosedText("d1", commitments.salt(SECRET, "d1").hex(), "yes")
    text.write_bytes(msgspec.json.encode(told))
    assert "The text d1 is the one that was judged." in verified(file, "--text", text).stdout
    outcome = msgspec.json.decode(verified(file, "--text", text, "--json").stdout)
    assert (outcome["good"], outcome["disclosed"]) == (True, ["d1"])
    text.write_bytes(msgspec.json.encode(msgspec.structs.replace(told, text="no")))
    assert verified(file, "--text", text).exit_code == 1


def test_no_word_of_a_strangers_receipt_commands_the_terminal_or_passes_for_a_line_of_ours(file: Path) -> None:
    ours = f"\n{file} is good: its ranking follows"
    hostile = msgspec.structs.replace(
        receipt(evidence(documents=12, votes=2), digest="0" * 64), versions=Versions(f"\x1b[2J\x1b]0;{ours}", "0" * 64)
    )
    file.write_bytes(signed(msgspec.structs.replace(hostile, human=None), SIGNER))
    result = verified(file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "body",
    [
        b'{"receipt": ' + b"[" * 100_000,
        b'{"receipt": {"a": [' + b",".join([b"[]"] * 2_000_000) + b"]}}",
        b" " * (MAX_BYTES + 1),
    ],
    ids=["deep", "many", "long"],
)
def test_a_file_that_would_take_gigabytes_is_refused_before_it_does(file: Path, body: bytes) -> None:
    file.write_bytes(body)
    tracemalloc.start()
    try:
        result = verified(file, "--key", file)
        assert tracemalloc.get_traced_memory()[1] < 2 * MAX_BYTES + 10_000_000
    finally:
        tracemalloc.stop()
    assert result.exit_code in (1, 2)
    assert len(result.stderr.splitlines()) == 1
