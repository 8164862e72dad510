"""The rows of presets: the configuration as one JSON text, and the list of contents that it holds."""

from typing import NamedTuple

from msgspec import structs

from carrel.config import Settings
from carrel.errors import NotFound
from carrel.http.answers.etag import IfMatch, require_unchanged
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select, as_json
from carrel.kit.structs import narrowed
from carrel.presets import rows, rules
from carrel.presets.check import checked
from carrel.presets.configuration import Configuration, contents_of, ids_of
from carrel.presets.schemas import Preset, PresetChange, PresetIn, PresetSummary
from carrel.providers.registry import Registry
from carrel.vault.ids import PresetId

SHORT_BYTES = 256 * 1024
"""The longest configuration that is read on the event loop."""

_COPY = "Copy of "


class _Row(NamedTuple):
    id: PresetId
    name: str
    description: str
    tags: list[str]
    version: int
    created_at: str
    updated_at: str
    configuration: Configuration | None


_rows = Select(_Row)
_short_rows = Select(_Row, configuration=f"CASE WHEN configuration_bytes <= {SHORT_BYTES} THEN configuration END")
_summaries = Select(PresetSummary)


def get(conn: Connection, preset_id: PresetId) -> Preset:
    """One preset.

    Raises:
        NotFound: there is no preset with this id.
    """
    row = _rows.one(conn, "FROM presets WHERE id = ?", preset_id)
    if row is None or row.configuration is None:
        raise NotFound
    return _preset(row, row.configuration)


def get_short(conn: Connection, preset_id: PresetId) -> Preset | None:
    """The preset, or `None` if its configuration is too long to be read on the event loop.

    Raises:
        NotFound: there is no preset with this id.
    """
    row = _short_rows.one(conn, "FROM presets WHERE id = ?", preset_id)
    if row is None:
        raise NotFound
    return None if row.configuration is None else _preset(row, row.configuration)


def find(conn: Connection, paging: Paging) -> Page[PresetSummary]:
    """One page of all presets, newest first."""
    return fetch(conn, paging, _summaries, "FROM presets")


def create(conn: Connection, data: PresetIn, registry: Registry) -> Preset:
    """Save a new preset.

    Raises:
        BadInput: as `check.checked` says.
    """
    return get(conn, add(conn, data, registry))


def add(conn: Connection, data: PresetIn, registry: Registry) -> PresetId:
    """Save a new preset as `create` does, and return its id. To read it back would take as long as all the rest."""
    configuration = checked(conn, configuration_of(data), registry)
    preset_id, now = PresetId(conn.new_id()), conn.now()
    conn.run(
        "INSERT INTO presets (id, name, description, tags, version, created_at, updated_at, input_count,"
        " candidate_labels, configuration_bytes, configuration) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)",
        *(preset_id, data.name, data.description, as_json(data.tags), now, now, *_columns(conn, configuration)),
    )
    _hold(conn, preset_id, configuration)
    return preset_id


def replace(conn: Connection, preset_id: PresetId, data: PresetChange, if_match: IfMatch, registry: Registry) -> Preset:
    """Replace everything but the id. Runs that were made from it do not change.

    Raises:
        BadInput: as `check.checked` says, or a read-only field is not as it is stored.
        NotFound: there is no preset with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    configuration = checked(conn, configuration_of(data), registry)
    if_match.require(_version(conn, preset_id))
    require_unchanged(data, lambda: get(conn, preset_id))
    conn.run(
        "UPDATE presets SET name = ?, description = ?, tags = ?, version = version + 1, updated_at = ?,"
        " input_count = ?, candidate_labels = ?, configuration_bytes = ?, configuration = ? WHERE id = ?",
        *(data.name, data.description, as_json(data.tags), conn.now(), *_columns(conn, configuration), preset_id),
    )
    _hold(conn, preset_id, configuration)
    return get(conn, preset_id)


def duplicate(conn: Connection, preset_id: PresetId, settings: Settings) -> Preset:
    """Copy a preset. The name of the copy says that it is one. The contents that it names are not checked again.

    Raises:
        NotFound: there is no preset with this id.
    """
    original = get(conn, preset_id)
    copy_id, now = PresetId(conn.new_id()), conn.now()
    conn.run(
        "INSERT INTO presets (id, name, description, tags, version, created_at, updated_at, input_count,"
        " candidate_labels, configuration_bytes, configuration) "
        "SELECT ?, ?, description, tags, 1, ?, ?, input_count, candidate_labels, configuration_bytes, configuration "
        "FROM presets WHERE id = ?",
        *(copy_id, (_COPY + original.name)[: settings.max_name_characters], now, now, preset_id),
    )
    _hold(conn, copy_id, configuration_of(original))
    return get(conn, copy_id)


def delete(conn: Connection, preset_id: PresetId, if_match: IfMatch) -> None:
    """Remove a preset. Its runs stay.

    Raises:
        NotFound: there is no preset with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    if_match.require(_version(conn, preset_id))
    conn.run("DELETE FROM presets WHERE id = ?", preset_id)


def configuration_of(preset: Configuration) -> Configuration:
    """The configuration alone, as a run snapshots it."""
    return narrowed(Configuration, preset)


def _hold(conn: Connection, preset_id: PresetId, configuration: Configuration) -> None:
    """Record which contents and which data set the preset holds, in place of the former ones."""
    seq = conn.value("SELECT seq FROM presets WHERE id = ?", preset_id)
    conn.run("DELETE FROM preset_contents WHERE preset_seq = ?", seq)
    held = ids_of(contents_of(configuration))
    conn.run(
        "INSERT INTO preset_contents (preset_seq, content_id) SELECT ?, value FROM json_each(?) ORDER BY value",
        *(seq, as_json(held)),
    )
    conn.run("DELETE FROM preset_data_sets WHERE preset_seq = ?", seq)
    if configuration.rows is not None:
        conn.run("INSERT INTO preset_data_sets VALUES (?, ?)", seq, configuration.rows.data_set)


def _version(conn: Connection, preset_id: PresetId) -> int:
    version: int | None = conn.value("SELECT version FROM presets WHERE id = ?", preset_id)
    if version is None:
        raise NotFound
    return version


def _columns(conn: Connection, configuration: Configuration) -> tuple[int, str, int, str]:
    documents = rows.count(conn, configuration, rows.table(conn, configuration))
    text = as_json(configuration)
    labels = [candidate.label for candidate in rules.everyone(configuration)]
    return documents, as_json(labels), len(text.encode()), text


def _preset(row: _Row, configuration: Configuration) -> Preset:
    return Preset(
        id=row.id,
        name=row.name,
        description=row.description,
        tags=row.tags,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
        **structs.asdict(configuration),
    )
