"""`carrel verify-receipt`: whether the receipt of a run is genuine, and what its words follow from. Offline."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import rich_click as click

from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import json_option
from carrel.cli.interface.printing import one_line, say
from carrel.cli.interface.refusal import refuse
from carrel.evaluation.words import counted, listed
from carrel.providers.hosts import ModelAt
from carrel.receipts import verifying
from carrel.receipts.grounds import CANDIDATES, HUMAN
from carrel.receipts.keys import ReceiptKeys
from carrel.receipts.verifying import ReceiptRefuted, VerifiedReceipt

_SHOWN: Final = 20
"""Of a longer list of figures, so many are printed."""
_HEX_KEY: Final = 64


class _Outcome(msgspec.Struct):
    file: str
    good: bool
    disclosed: tuple[str, ...]
    receipt: VerifiedReceipt


@click.command("verify-receipt")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--key", metavar="KEY", help="The public key that must have signed, or a file with the service's keys.")
@click.option("--text", "texts", type=click.Path(path_type=Path), multiple=True, help="A disclosed text to check.")
@json_option
def command(file: Path, key: str | None, texts: tuple[Path, ...], as_json: bool) -> None:
    """Check a receipt: the signature, the ranking to the byte, the words. No service and no text is needed.

    Without `--key`, the receipt could be anybody's: compare the printed key with `GET /receipt-keys` of the service.
    """
    trusted = None if key is None else _trusted(key)
    try:
        found = verifying.verify(_read(file, as_json=as_json), trusted)
    except ReceiptRefuted as reason:
        terminal.end(terminal.EXIT_FAILED, f"{file}: {reason}", as_json=as_json)
    disclosed = []
    for text in texts:
        try:
            disclosed.append(verifying.disclosed(found.texts, _read(text, as_json=as_json)))
        except ReceiptRefuted as reason:
            terminal.end(terminal.EXIT_FAILED, f"{text}: {reason}", as_json=as_json)
    if as_json:
        terminal.print_json(_Outcome(str(file), True, tuple(disclosed), found))
        return
    say(one_line(f"{file} is good: {_summary(found)}"))
    say(one_line(f"signed by {found.key}" + ("" if trusted else ", which nobody has vouched for: see --key")))
    if not found.same_as_at_end:
        say("The round ended with another ranking, under the rules of an earlier version.")
    for line in _answering(found):
        say(one_line(line))
    others = {HUMAN: found.human, CANDIDATES: found.candidates}
    for ground in found.grounds:
        say(f"\n“{one_line(ground.words)}”\n  follows from")
        for name in ground.follow_from:
            for line in _figures(name, others[name] if name in others else getattr(found.ranking, name)):
                say("    " + one_line(line))
    for name in disclosed:
        say(f"\nThe text {one_line(name)} is the one that was judged.")


def _summary(found: VerifiedReceipt) -> str:
    counts = listed([counted(found.verdicts, "verdict"), counted(found.scores, "score"), counted(found.votes, "vote")])
    return f"its ranking follows from {counts} of round {found.round} of run {found.run}, to the byte"


def _answering(found: VerifiedReceipt) -> Iterator[str]:
    """Which models answered and judged, and where. Candidates have labels that the user gave them."""
    for candidate in found.candidates:
        what = "answers that were there before" if candidate.model is None else ModelAt(candidate.model, candidate.host)
        yield f"candidate {candidate.label}: {what}"
    for judge in found.judges:
        yield f"judge {ModelAt(judge.model, judge.host)}"


def _figures(name: str, value: object) -> list[str]:
    if not isinstance(value, tuple):
        return [f"{name}: {_plain(value)}"]
    rest = [f"… and {len(value) - _SHOWN:,} more"] if len(value) > _SHOWN else []
    return [*(f"{name}[{place}]: {_plain(entry)}" for place, entry in enumerate(value[:_SHOWN])), *rest]


def _plain(value: object) -> str:
    """A figure on one line; fields that say nothing are left out."""
    found = msgspec.to_builtins(value)
    if isinstance(found, dict):
        return ", ".join(f"{name} {_plain(entry)}" for name, entry in found.items() if entry is not None)
    if isinstance(found, list | tuple):
        return "(" + "; ".join(_plain(entry) for entry in found) + ")"
    return str(found)


def _trusted(key: str) -> frozenset[str]:
    """The keys in a file, as `GET /receipt-keys` lists them or one alone, or the key itself."""
    given = Path(key)
    if len(key) == _HEX_KEY and not given.exists():
        return frozenset({key.lower()})
    try:
        content = _bytes(given)
    except (OSError, ReceiptRefuted):
        refuse("--key: it is neither a public key of 64 hex digits nor a file that can be read")
    try:
        return frozenset(one.key for one in msgspec.json.decode(content, type=ReceiptKeys).items)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return frozenset({content.decode("ascii", "replace").strip().lower()})


def _read(path: Path, *, as_json: bool) -> bytes:
    try:
        return _bytes(path)
    except OSError as error:
        terminal.end(terminal.EXIT_FAILED, f"{path}: {error.strerror or 'cannot be read'}", as_json=as_json)
    except ReceiptRefuted as reason:
        terminal.end(terminal.EXIT_FAILED, f"{path}: {reason}", as_json=as_json)


def _bytes(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        OSError, Refuted
    """
    with path.open("rb") as file:
        content = file.read(verifying.MAX_BYTES + 1)
    if len(content) > verifying.MAX_BYTES:
        raise ReceiptRefuted(f"it holds more than {verifying.MAX_BYTES >> 20} MiB")
    return content
