"""Logs of Inspect: a JSON log, or an .eval file, which is a zip with one JSON file for each sample.

A sample is a row, and the model of the log is the only candidate: others come from other logs, joined by sample.
"""

import io
import json
import zipfile
from typing import Any, Final

from carrel.cli.result_files.answers import Answers, Unreadable, get, shown, text_of

_MOST_BYTES: Final = 1 << 30
_PACKINGS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ATTACHMENT: Final = "attachment://"


def is_log(document: Any) -> bool:
    """Whether decoded JSON is such a log."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict) and "version" in document


def unpack(body: bytes) -> dict[str, Any]:
    """An .eval file as a JSON log would hold it.

    Raises:
        Unreadable: it is no such zip.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as file:
            if sum(entry.file_size for entry in file.infolist()) > _MOST_BYTES:
                raise Unreadable("the .eval file holds more than 1 GiB")
            if any(entry.compress_type not in _PACKINGS for entry in file.infolist()):
                words = "the .eval file is packed in a way that Carrel cannot read"
                raise Unreadable(f"{words}; `inspect log convert --to json` unpacks it")
            names = file.namelist()
            start = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            if start is None:
                raise Unreadable("the zip has no header.json: it is no .eval file of Inspect")
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            header: dict[str, Any] = json.loads(file.read(start))
            return header | {"samples": [json.loads(file.read(name)) for name in samples]}
    except (zipfile.BadZipFile, ValueError, TypeError, RecursionError, RuntimeError, EOFError):
        raise Unreadable("the .eval file is damaged") from None


def read(log: dict[str, Any]) -> Answers:
    """The answers in a log.

    Raises:
        Unreadable: naming the field.
    """
    model = get(log, "eval", "model")
    if not isinstance(model, str) or not model:
        raise Unreadable("eval.model is missing")
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise Unreadable("the log has no samples")
    if model in ("sample", "id", "input", "expected"):
        raise Unreadable(f"eval.model is {model}, which is the name of a column")
    repeated = len({get(sample, "epoch") for sample in samples}) > 1
    rows: dict[str, dict[str, str | None]] = {}
    for number, sample in enumerate(samples):
        row = _row(sample, model, f"samples[{number}]", repeated=repeated)
        if str(row["id"]) in rows:
            raise Unreadable(f"samples[{number}] has the id {shown(str(row['id']))}, which is there already")
        rows[str(row["id"])] = row
    expected = "expected" if any(row["expected"] for row in rows.values()) else None
    return Answers(
        # The zip lists samples in the order in which they ended.
        rows=sorted(rows.values(), key=_order),
        id="id",
        inputs=("input",),
        candidates=(model,),
        expected=expected,
        # Epochs ask the same again: their rows count together.
        group="sample" if repeated else None,
    )


def _row(sample: Any, model: str, at: str, *, repeated: bool) -> dict[str, str | None]:
    sample_id = get(sample, "id")
    if not isinstance(sample_id, str | int):
        raise Unreadable(f"{at}.id is missing")
    asked = _text(sample, get(sample, "input"))
    if asked is None:
        raise Unreadable(f"{at}.input is missing")
    choices = get(sample, "choices")
    if isinstance(choices, list):
        asked += "".join(f"\n{chr(ord('A') + place)}) {text_of(choice)}" for place, choice in enumerate(choices))
    target = get(sample, "target")
    if isinstance(target, list):
        target = " | ".join(text_of(one) or "" for one in target)
    epoch = f"#{get(sample, 'epoch')}" if repeated else ""
    return {
        "id": f"{sample_id}{epoch}",
        "sample": str(sample_id),
        "input": asked,
        "expected": text_of(target),
        model: _answer(sample),
    }


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
    return (int(first) if first.isdecimal() else 1 << 62, sample)
