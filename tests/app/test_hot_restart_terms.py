"""Which process may take another's place: one that could give everything back."""

from typing import Any

import pytest
from msgspec.structs import fields, replace

from carrel.app.hot_restart import FORMAT, HotRestart, Terms
from carrel.auth.handed_over import HandedUser
from carrel.cli.serving.replacement import Replacement
from carrel.cli.serving.successor import HotRestartRefused
from carrel.config import Secret, Settings


@pytest.fixture
def terms(settings: Settings) -> Terms:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return Terms.of(settings)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"format": 0}, "the versions hand keys over differently"),
        ({"schemas": (1, 2, 3)}, "the versions have different schemas"),
        ({"service_key": "00"}, "CARREL_SERVICE_KEY differs"),
        ({"data": (0, 0)}, "CARREL_DATA_DIR is another folder"),
        ({"cipher": "sqlcipher"}, "CARREL_CIPHER differs"),
        ({"node": ("n2", "main")}, "CARREL_NODE_NAME or CARREL_CLUSTER differs"),
    ],
)
def test_each_difference_is_named(terms: Terms, change: dict[str, Any], reason: str) -> None:
    assert list(terms.differences(replace(terms, **change))) == [reason]
    assert list(terms.differences(terms)) == []


def test_terms_tell_the_service_key_apart_and_do_not_show_it(settings: Settings, terms: Terms) -> None:
    other = Terms.of(replace(settings, service_key=Secret(bytes(range(32, 64)))))
    assert other.service_key != terms.service_key
    assert settings.service_key.reveal().hex() not in repr(terms)


def test_whoever_changes_what_is_handed_over_raises_the_format() -> None:
    handed = [(field.name, str(field.type)) for field in fields(HandedUser)]
    assert (FORMAT, handed) == (
        1,
        [
            ("uuid", "carrel.vault.keyring.UserUuid"),
            ("idle_seconds", "<class 'float'>"),
            ("is_signed_out", "<class 'bool'>"),
            ("program_seconds", "<class 'int'>"),
            ("at_work", "<class 'bool'>"),
        ],
    )


async def test_it_is_off_unless_the_operator_allows_it(terms: Terms) -> None:
    with pytest.raises(HotRestartRefused, match="CARREL_HOT_RESTART is off"):
        await Replacement(HotRestart(), {}, lambda: terms, is_allowed=False).prepared()
