"""Imports an export in one transaction, under new ids. The same rules hold as for input of a user."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from graphlib import CycleError, TopologicalSorter
from typing import Final, NoReturn

import msgspec

from carrel.checks.compiler import SourceText
from carrel.config import Settings
from carrel.contents import store as contents
from carrel.contents.resolve import VariableCycle
from carrel.contents.schemas import ContentIn
from carrel.datasets import store as data_sets
from carrel.datasets.readers import ReadTable
from carrel.datasets.store import TableInfo
from carrel.errors import BadInput, FieldError, Malformed
from carrel.http.answers.etag import ANY_VERSION
from carrel.http.requests.body import decode
from carrel.http.requests.validation import join
from carrel.kit.plain_text import NOT_TEXT, is_text
from carrel.kit.sqlite.database import Connection
from carrel.kit.structs import narrowed
from carrel.presets import check, drafts
from carrel.presets import store as presets
from carrel.presets.drafts import DraftIn
from carrel.presets.schemas import PresetIn
from carrel.providers import own_prices
from carrel.providers.own_prices import MAX_PRICES, ModelPriceIn
from carrel.providers.registry import Registry
from carrel.settings import store as settings_
from carrel.settings.schemas import UserSettings
from carrel.transfer import pieces
from carrel.transfer.entries import (
    CONTENTS,
    DATA_SETS,
    DRAFTS,
    FORMAT,
    MANIFEST,
    MODEL_PRICES,
    PRESETS,
    SETTINGS,
    VERSION,
    ContentLine,
    DataSetLine,
    DraftLine,
    ExportManifest,
    Imported,
    PresetLine,
    PriceLine,
)
from carrel.transfer.package import Package
from carrel.transfer.pieces import ImportForeign, ImportTooLarge, ImportUnreadable, PieceFile
from carrel.transfer.renamed import renamed, renamed_json
from carrel.vault.ids import ContentId, DataSetId, DraftId, PresetId

MAX_CONTENTS: Final = 100_000
MAX_DATA_SETS: Final = 1_000
MAX_PRESETS: Final = 1_000
MAX_PRESETS_BYTES: Final = 8 * 1024 * 1024
"""Of all presets together: each is checked against the contents that it names, up to 20,000 times in 330 kB."""
MAX_LINKS: Final = 100_000
"""Variables of all contents together that lead to a content."""
_MANIFEST_BYTES: Final = 4_096
_UNKNOWN: Final = "names a content that is not in the export"


def bring_in(
    conn: Connection,
    import_id: str,
    size: int,
    settings: Settings,
    registry: Registry,
    read_table: ReadTable,
    is_abandoned: Callable[[], bool] = lambda: False,
) -> Imported:
    """Read the zip of `size` bytes that is stored in pieces, store its contents, and delete the pieces.

    Raises:
        Unavailable: `is_abandoned` says that nobody waits for it any more.
        ImportUnreadable, ImportForeign, ImportTooLarge, ImportReplaced
        TooManyPrices, TooManyDrafts: the user would have more of them than are allowed.
        BadInput: something in it breaks a rule; the path begins with `contents[0]`, `presets[0]` or `settings`.
    """
    package = Package(PieceFile(conn, import_id, size), is_abandoned)
    _require_ours(package)
    ids = _bring_contents(conn, package, settings)
    _link(conn, package, settings, ids)
    tables = _bring_data_sets(conn, package, settings, read_table)
    _bring_prices(conn, package, settings)
    made = _bring_presets(conn, package, settings, registry, ids, tables)
    new_ids = [*ids.items(), *tables.items(), *made.items()]
    _bring_drafts(conn, package, settings, {old.encode(): new.encode() for old, new in new_ids})
    with _at("settings"):
        wanted = decode(package.text(SETTINGS, settings.max_json_bytes, ImportForeign), UserSettings, settings)
        settings_.put(conn, wanted, ANY_VERSION, registry)
    pieces.drop(conn, import_id)
    return Imported(len(ids), len(made), len(tables))


def sources(conn: Connection, import_id: str, size: int, settings: Settings) -> list[SourceText]:
    """What a worker has to compile before the presets of the zip are stored. To be scanned.

    Raises:
        ImportUnreadable, ImportForeign, ImportTooLarge, ImportReplaced
        BadInput: a preset is not well-formed.
    """
    package = Package(PieceFile(conn, import_id, size))
    _require_ours(package)
    found: list[SourceText] = []
    for path, _, data in _preset_lines(package, settings):
        found += check.sources(data, path)
    return found


def _require_ours(package: Package) -> None:
    try:
        manifest = msgspec.json.decode(package.text(MANIFEST, _MANIFEST_BYTES, ImportForeign), type=ExportManifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ImportForeign from None
    if (manifest.format, manifest.version) != (FORMAT, VERSION):
        raise ImportForeign


def _content_lines(package: Package, settings: Settings) -> Iterator[tuple[str, ContentLine]]:
    for number, line in enumerate(package.lines(CONTENTS, settings.max_json_bytes)):
        if number >= MAX_CONTENTS:
            raise ImportTooLarge
        path = f"contents[{number}]"
        with _at(path):
            yield path, decode(line, ContentLine, settings)


def _bring_contents(conn: Connection, package: Package, settings: Settings) -> dict[ContentId, ContentId]:
    """Create every content, with its variables still open. Returns the new ids by the old ones."""
    ids: dict[ContentId, ContentId] = {}
    for path, line in _content_lines(package, settings):
        with _at(path):
            if line.id in ids:
                raise BadInput.at("id", "is there twice")
            # Documents and answers may be longer than a user's input.
            is_document = line.type in ("input_document", "output_document", "reference_document")
            most = settings.max_upload_bytes if is_document else settings.max_body_bytes
            body = _decoded(package.text(line.file, most))
            if not is_text(body):
                raise BadInput.at("body", NOT_TEXT)
            data = narrowed(ContentIn, line, body=body, variables=dict.fromkeys(line.variables))
            ids[line.id] = contents.create(conn, data, settings).id
    return ids


def _link(conn: Connection, package: Package, settings: Settings, ids: dict[ContentId, ContentId]) -> None:
    """Link the variables, when all contents exist: first check where each leads, then write all of them."""
    _refuse_circles(package, settings, ids)
    for _, line in _content_lines(package, settings):
        if any(line.variables.values()):
            contents.link(conn, ids[line.id], {name: linked and ids[linked] for name, linked in line.variables.items()})


def _refuse_circles(package: Package, settings: Settings, ids: dict[ContentId, ContentId]) -> None:
    # All at once: a search from each single content would take hours if all of them include each other.
    graph: dict[ContentId, list[ContentId]] = {}
    links = 0
    for path, line in _content_lines(package, settings):
        with _at(path):
            for name, linked in line.variables.items():
                if linked is not None:
                    links += 1
                    if links > MAX_LINKS:
                        raise ImportTooLarge
                    holder, new = _known(ids, line.id), _known(ids, linked, join("variables", name))
                    graph.setdefault(holder, []).append(new)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        _name(package, settings, ids, *error.args[1][:2])


def _name(
    package: Package, settings: Settings, ids: dict[ContentId, ContentId], linked: ContentId, holder: ContentId
) -> NoReturn:
    """Refuse the variables of `holder` that lead to `linked`, because that is a circle."""
    found = [
        FieldError(join(path, join("variables", name)), "leads back to this content")
        for path, line in _content_lines(package, settings)
        if ids[line.id] == holder
        for name, old in line.variables.items()
        if old is not None and ids[old] == linked
    ]
    raise VariableCycle(errors=tuple(found))


def _bring_data_sets(
    conn: Connection, package: Package, settings: Settings, read_table: ReadTable
) -> dict[DataSetId, DataSetId]:
    """Create every data set. Returns the new ids by the old ones. Earlier programs exported none."""
    ids: dict[DataSetId, DataSetId] = {}
    for number, line in enumerate(package.lines(DATA_SETS, settings.max_json_bytes, or_nothing=True)):
        if number >= MAX_DATA_SETS:
            raise ImportTooLarge
        with _at(f"data_sets[{number}]"):
            kept = decode(line, DataSetLine, settings)
            if kept.id in ids:
                raise BadInput.at("id", "is there twice")
            roles = {column.name: column.role for column in kept.columns}
            described = TableInfo(kept.name, kept.description, kept.format, kept.bytes)
            with closing(read_table(package.pieces(kept.file), "jsonl", roles)) as table:
                ids[kept.id] = data_sets.create(conn, described, table).id
    return ids


def _bring_prices(conn: Connection, package: Package, settings: Settings) -> None:
    """Set the prices of models, before any preset with a budget needs them. Earlier programs exported none."""
    for number, line in enumerate(package.lines(MODEL_PRICES, settings.max_json_bytes, or_nothing=True)):
        if number >= MAX_PRICES:
            raise ImportTooLarge
        with _at(f"model_prices[{number}]"):
            kept = decode(line, PriceLine, settings)
            own_prices.put(conn, kept.model, narrowed(ModelPriceIn, kept), ANY_VERSION)


def _bring_presets(
    conn: Connection,
    package: Package,
    settings: Settings,
    registry: Registry,
    ids: dict[ContentId, ContentId],
    tables: dict[DataSetId, DataSetId],
) -> dict[str, PresetId]:
    """Create every preset. Returns the new ids by the old ones."""
    made: dict[str, PresetId] = {}
    for path, old, data in _preset_lines(package, settings):
        with _at(path):
            if data.rows is not None and data.rows.data_set not in tables:
                raise BadInput.at("rows.data_set", "names a data set that is not in the export")
            try:
                own = renamed(data, ids.__getitem__, tables.__getitem__)
            except KeyError:
                raise BadInput.at("", _UNKNOWN) from None
            made[old] = presets.add(conn, own, registry)
    return made


def _preset_lines(package: Package, settings: Settings) -> Iterator[tuple[str, str, PresetIn]]:
    """Every preset with its path and the id that it had."""
    room = MAX_PRESETS_BYTES
    for number, line in enumerate(package.lines(PRESETS, settings.max_json_bytes)):
        room -= len(line)
        if number >= MAX_PRESETS or room < 0:
            raise ImportTooLarge
        path = f"presets[{number}]"
        with _at(path):
            kept = decode(line, PresetLine, settings)
        yield path, kept.id, narrowed(PresetIn, kept)


def _bring_drafts(conn: Connection, package: Package, settings: Settings, new_ids: Mapping[bytes, bytes]) -> None:
    """Keep every unfinished set-up. What it names and the export does not hold stays as it is: it is unfinished."""
    for number, line in enumerate(package.lines(DRAFTS, settings.max_json_bytes, or_nothing=True)):
        with _at(f"preset_drafts[{number}]"):
            kept = decode(renamed_json(line, new_ids), DraftLine, settings)
            data = DraftIn(name=kept.name, form=kept.form, preset_id=kept.preset_id, body=kept.body)
            drafts.put(conn, DraftId(conn.new_id()), data, ANY_VERSION)


def _known(ids: dict[ContentId, ContentId], old: ContentId, path: str = "") -> ContentId:
    new = ids.get(old)
    if new is None:
        raise BadInput.at(path, _UNKNOWN)
    return new


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise ImportUnreadable from None


@contextmanager
def _at(root: str) -> Iterator[None]:
    """Add to each fault the part of the export that it is in."""
    try:
        yield
    except Malformed:
        raise ImportUnreadable from None
    except BadInput as error:
        error.errors = tuple(
            fault if fault.path.startswith(root) else FieldError(join(root, fault.path), fault.message)
            for fault in error.errors
        )
        raise
