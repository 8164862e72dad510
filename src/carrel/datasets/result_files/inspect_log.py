"""Logs of Inspect: a JSON log, or an .eval file, which is a zip with one JSON file for each sample.

A sample is a row, and the model of the log is the only candidate: others come from other logs, joined by sample.
"""

import importlib
import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, Final, NamedTuple

from carrel.datasets.result_files.answers import AnswerTable, Grade, ResultFile, Unreadable, get, shown, text_of
from carrel.datasets.result_files.json_text import decoded

_MOST_BYTES: Final = 1 << 30
"""Of all files in the zip, which are read one by one."""
_MOST_SAMPLE_BYTES: Final = 64 * 1024 * 1024
_MOST_CHARACTERS: Final = 64 * 1024 * 1024
"""Of all texts together: more than a data set may have."""
_MOST_FILES: Final = 100_000
_ENTRY: Final = b"PK\x01\x02"
"""What begins an entry in the zip's table of contents."""
_ZSTD: Final = 93
"""How Inspect packs since version 0.3.206."""
_PACKINGS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTD})
_DAMAGES: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(ArithmeticError, ValueError, RuntimeError, EOFError),
)
_WINDOW_LOG: Final = _MOST_SAMPLE_BYTES.bit_length() - 1
"""What unpacking looks back at takes no more than a sample may have."""
_LETTERS: Final = 26
_DIGITS: Final = 18
_ATTACHMENT: Final = "attachment://"


def read_packed(body: bytes) -> AnswerTable:
    """The answers in an .eval file.

    Raises:
        Unreadable: it is no such zip, or naming the field.
    """
    if body.count(_ENTRY) > _MOST_FILES:
        raise Unreadable(f"the .eval file holds more than {_MOST_FILES:,} files")
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            entries = file.infolist()
            if sum(entry.file_size for entry in entries) > _MOST_BYTES:
                raise Unreadable("the .eval file holds more than 1 GiB")
            if any(entry.file_size > _MOST_SAMPLE_BYTES for entry in entries):
                raise Unreadable(f"a sample in the .eval file holds more than {_MOST_SAMPLE_BYTES >> 20} MiB")
            if any(entry.compress_type not in _PACKINGS for entry in entries):
                words = "the .eval file is packed in a way that Carrel cannot read"
                raise Unreadable(f"{words}; `inspect log convert FILE --to json --output-dir FOLDER` unpacks it")
            names = file.namelist()
            start = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            if start is None:
                raise Unreadable("the zip has no header.json: it is no .eval file of Inspect")
            header = decoded(_unpacked(file, start))
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            return _answers(header, _decoded(file, samples))
    except _DAMAGES as error:
        if isinstance(error, RecursionError):
            raise
        raise Unreadable("the .eval file is damaged") from None


def _decoded(file: zipfile.ZipFile, names: Iterable[str]) -> Iterator[Any]:
    """The samples one by one: the transcript of one may be as long as all answers together."""
    for name in names:
        yield decoded(_unpacked(file, name))


def _unpacked(file: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of an entry, never more of them than its table of contents says."""
    entry = file.getinfo(name)
    if entry.compress_type != _ZSTD:
        return file.read(name)
    # `zipfile` would unpack with zstd whatever comes, and look at the size afterwards.
    packed = zipfile.ZipInfo(entry.orig_filename)
    packed.flag_bits, packed.header_offset = entry.flag_bits, entry.header_offset
    packed.compress_size = packed.file_size = entry.compress_size
    zstd = unpacker()
    window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
    try:
        found: bytes = zstd.ZstdDecompressor(options=window).decompress(file.open(packed).read(), entry.file_size + 1)
    except zstd.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from None
    if len(found) != entry.file_size or zlib.crc32(found) != entry.CRC:
        raise zipfile.BadZipFile
    return found


def unpacker() -> ModuleType:
    """What unpacks zstd. It is imported late, so that the terminal program works without the service's packages."""
    return importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def fits(file: ResultFile) -> bool:
    """Whether it is such a log as JSON."""
    return isinstance(get(file.document, "eval"), dict) and "version" in file.document


def read(file: ResultFile) -> AnswerTable:
    """The answers in a log as JSON.

    Raises:
        Unreadable: naming the field.
    """
    if not fits(file):
        raise Unreadable("eval and version are missing: this is no log of Inspect")
    samples = file.document.get("samples")
    return _answers(file.document, samples if isinstance(samples, list) else ())


def _answers(log: Any, samples: Iterable[Any]) -> AnswerTable:
    model = get(log, "eval", "model")
    if not isinstance(model, str) or not model:
        raise Unreadable("eval.model is missing")
    if model in ("sample", "id", "input", "expected"):
        raise Unreadable(f"eval.model is {model}, which is the name of a column")
    found: list[_Row] = []
    left = _MOST_CHARACTERS
    for number, sample in enumerate(samples):
        found.append(_row(sample, model, f"samples[{number}]"))
        left -= sum(len(text or "") for text in found[-1].cells.values())
        if left < 0:
            raise Unreadable(f"its texts have more than {_MOST_CHARACTERS:,} characters")
    if not found:
        raise Unreadable("the log has no samples")
    # Epochs ask the same again: their rows count together.
    repeated = len({row.epoch for row in found}) > 1
    rows: dict[str, dict[str, str | None]] = {}
    grades: list[Grade] = []
    for number, row in enumerate(found):
        row_id = f"{row.sample}#{row.epoch}" if repeated else row.sample
        if row_id in rows:
            raise Unreadable(f"samples[{number}] has the id {shown(row_id)}, which is there already")
        rows[row_id] = {"id": row_id, "sample": row.sample, **row.cells}
        grades += (Grade(row_id, model, name, value) for name, value in row.scores)
    expected = "expected" if any(row["expected"] for row in rows.values()) else None
    return AnswerTable(
        # The zip lists samples in the order in which they ended.
        rows=sorted(rows.values(), key=_order),
        id="id",
        inputs=("input",),
        candidates=(model,),
        expected=expected,
        group="sample" if repeated else None,
    ).graded(grades)


class _Row(NamedTuple):
    """A sample: its id, its epoch, its texts by column, and what scorers gave it."""

    sample: str
    epoch: str
    cells: dict[str, str | None]
    scores: list[tuple[str, Any]]


def _row(sample: Any, model: str, at: str) -> _Row:
    sample_id = get(sample, "id")
    if not isinstance(sample_id, str | int):
        raise Unreadable(f"{at}.id is missing")
    asked = _text(sample, get(sample, "input"))
    if asked is None:
        raise Unreadable(f"{at}.input is missing")
    choices = get(sample, "choices")
    if isinstance(choices, list):
        asked += "".join(f"\n{_letter(place)}) {text_of(choice)}" for place, choice in enumerate(choices))
    target = get(sample, "target")
    if isinstance(target, list):
        target = " | ".join(text_of(one) or "" for one in target)
    cells = {"input": asked, "expected": text_of(target), model: _answer(sample)}
    scores = get(sample, "scores")
    scores = scores if isinstance(scores, dict) else {}
    given = [pair for name, one in scores.items() for pair in _given(str(name), get(one, "value"))]
    return _Row(str(sample_id), str(get(sample, "epoch")), cells, given)


def _given(scorer: str, value: Any) -> list[tuple[str, Any]]:
    """What a scorer gave: one value, or several under names."""
    return [(f"{scorer}, {name}", one) for name, one in value.items()] if isinstance(value, dict) else [(scorer, value)]


def _letter(place: int) -> str:
    """What names a choice: a letter, and a number after Z."""
    return chr(ord("A") + place) if place < _LETTERS else str(place + 1)


def _answer(sample: Any) -> str | None:
    """What the model answered in the end; nothing if the sample failed."""
    if get(sample, "error") is not None:
        return None
    said = get(sample, "output", "choices", 0, "message", "content")
    return _text(sample, said if said else get(sample, "output", "completion"))


def _text(sample: Any, value: Any) -> str | None:
    """A text; long ones may lie among the sample's attachments."""
    text = text_of(value)
    if text is not None and text.startswith(_ATTACHMENT):
        return text_of(get(sample, "attachments", text.removeprefix(_ATTACHMENT)))
    return text


def _order(row: dict[str, str | None]) -> tuple[int, str]:
    """Numbers by their size, and texts after them."""
    sample = str(row["id"])
    first = sample.partition("#")[0]
    return (int(first) if first.isdecimal() and len(first) <= _DIGITS else 1 << 62, sample)
