"""The files that a promptfoo configuration names: prompts and tests beside it, read as texts."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_NAMED: Final = re.compile(r"(?:file://)?((?:[\w.@*-]+/)*[\w.@*-]+\.(?:txt|md|jsonl?|ya?ml|csv))\b")
_MOST_FILES: Final = 100
_MOST_BYTES: Final = 1024 * 1024


def beside(config: Path, text: str) -> dict[str, str]:
    """The texts by their paths beside the configuration. Nothing outside of its folder is read."""
    folder = config.absolute().parent.resolve()
    found: dict[str, str] = {}
    texts = [text]
    while texts:
        for name in _NAMED.findall(texts.pop()):
            for file in _files(folder, name):
                path = file.relative_to(folder).as_posix()
                if path not in found and file != config.absolute().resolve() and len(found) < _MOST_FILES:
                    with suppress(OSError, UnicodeDecodeError):
                        found[path] = file.read_text(encoding="utf-8-sig")
                        # Tests in a file may name further ones.
                        texts += [found[path]] if file.suffix in (".yaml", ".yml") else []
    return found


def _files(folder: Path, name: str) -> Iterator[Path]:
    with suppress(OSError, ValueError):
        for file in folder.glob(name):
            real = file.resolve()
            if real.is_relative_to(folder) and real.is_file() and real.stat().st_size <= _MOST_BYTES:
                yield real
