"""The rows of presets: the configuration as one JSON text, and beside it which contents it holds."""

import msgspec
from msgspec.structs import asdict

from carrel.config import Settings
from carrel.errors import NotFound
from carrel.kit.http.etag import IfMatch
from carrel.kit.http.read_only import require_unchanged
from carrel.kit.sqlite.database import Connection, Row
from carrel.kit.sqlite.json_text import as_json
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.presets import rules
from carrel.presets.check import checked
from carrel.presets.configuration import Configuration, contents_of
from carrel.presets.schemas import Preset, PresetChange, PresetIn, PresetSummary
from carrel.providers.registry import Registry
from carrel.vault.ids import PresetId

SHORT_BYTES = 256 * 1024
"""The longest configuration that is read on the event loop."""

_COPY = "Copy of "
_HEAD = "id, name, description, tags, version, created_at, updated_at"
_configuration = msgspec.json.Decoder(Configuration)
_texts = msgspec.json.Decoder(list[str])


def get(conn: Connection, preset_id: PresetId) -> Preset:
    """One preset.

    Raises:
        NotFound: there is none with this id.
    """
    return _preset(conn.one(f"SELECT {_HEAD}, configuration FROM presets WHERE id = ?", preset_id))


def get_short(conn: Connection, preset_id: PresetId) -> Preset | None:
    """The preset, or `None` if its configuration is too long to be read on the event loop.

    Raises:
        NotFound: there is none with this id.
    """
    row = conn.one(
        f"SELECT {_HEAD}, CASE WHEN configuration_bytes <= ? THEN configuration END FROM presets WHERE id = ?",
        *(SHORT_BYTES, preset_id),
    )
    return None if row is not None and row[-1] is None else _preset(row)


def find(conn: Connection, paging: Paging) -> Page[PresetSummary]:
    """One page of all presets, newest first."""
    return fetch(conn, paging, f"SELECT seq, {_HEAD}, input_count, candidate_labels FROM presets", row=_summary)


def create(conn: Connection, data: PresetIn, registry: Registry) -> Preset:
    """Save a new preset.

    Raises:
        BadInput: as `check.checked` says.
    """
    configuration = checked(conn, configuration_of(data), registry)
    preset_id, now = PresetId(conn.new_id()), conn.now()
    conn.run(
        "INSERT INTO presets (id, name, description, tags, version, created_at, updated_at, input_count,"
        " candidate_labels, configuration_bytes, configuration) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)",
        *(preset_id, data.name, data.description, as_json(data.tags), now, now, *_columns(configuration)),
    )
    _hold(conn, preset_id, configuration)
    return get(conn, preset_id)


def replace(conn: Connection, preset_id: PresetId, data: PresetChange, if_match: IfMatch, registry: Registry) -> Preset:
    """Replace everything but the id. Runs that were made from it do not change.

    Raises:
        BadInput: as `check.checked` says, or a read-only field is not as it is stored.
        NotFound: there is none with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    configuration = checked(conn, configuration_of(data), registry)
    if_match.require(_version(conn, preset_id))
    require_unchanged(data, lambda: get(conn, preset_id))
    conn.run(
        "UPDATE presets SET name = ?, description = ?, tags = ?, version = version + 1, updated_at = ?,"
        " input_count = ?, candidate_labels = ?, configuration_bytes = ?, configuration = ? WHERE id = ?",
        *(data.name, data.description, as_json(data.tags), conn.now(), *_columns(configuration), preset_id),
    )
    _hold(conn, preset_id, configuration)
    return get(conn, preset_id)


def duplicate(conn: Connection, preset_id: PresetId, settings: Settings) -> Preset:
    """A copy with a name that says so; what it holds is not checked again.

    Raises:
        NotFound: there is none with this id.
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
    """Remove a preset; its runs stay.

    Raises:
        NotFound: there is none with this id.
        PreconditionFailed: it was changed in the meantime.
    """
    if_match.require(_version(conn, preset_id))
    conn.run("DELETE FROM presets WHERE id = ?", preset_id)


def configuration_of(preset: Configuration) -> Configuration:
    """The bare configuration of a preset, as a run snapshots it."""
    return Configuration(**{name: getattr(preset, name) for name in Configuration.__struct_fields__})


def _hold(conn: Connection, preset_id: PresetId, configuration: Configuration) -> None:
    """Note which contents the preset holds, in place of those that it held."""
    row = conn.one("SELECT seq FROM presets WHERE id = ?", preset_id)
    seq = row[0] if row is not None else None
    conn.run("DELETE FROM preset_contents WHERE preset_seq = ?", seq)
    held = sorted({content.id for content in contents_of(configuration)})
    conn.run(
        "INSERT INTO preset_contents (preset_seq, content_id) SELECT ?, value FROM json_each(?)", seq, as_json(held)
    )


def _version(conn: Connection, preset_id: PresetId) -> int:
    row = conn.one("SELECT version FROM presets WHERE id = ?", preset_id)
    if row is None:
        raise NotFound
    version: int = row[0]
    return version


def _columns(configuration: Configuration) -> tuple[int, str, int, str]:
    text = as_json(configuration)
    labels = [candidate.label for candidate in rules.everyone(configuration)]
    return len(configuration.inputs), as_json(labels), len(text.encode()), text


def _preset(row: Row | None) -> Preset:
    if row is None:
        raise NotFound
    preset_id, name, description, tags, version, created_at, updated_at, configuration = row
    return Preset(
        id=preset_id,
        name=name,
        description=description,
        tags=_texts.decode(tags),
        version=version,
        created_at=created_at,
        updated_at=updated_at,
        **asdict(_configuration.decode(configuration)),
    )


def _summary(
    preset_id: PresetId,
    name: str,
    description: str,
    tags: str,
    version: int,
    created_at: str,
    updated_at: str,
    input_count: int,
    candidate_labels: str,
) -> PresetSummary:
    return PresetSummary(
        preset_id,
        name,
        description,
        _texts.decode(tags),
        version,
        created_at,
        updated_at,
        input_count,
        _texts.decode(candidate_labels),
    )
