"""The compose file: hardened as `docs/deploying.md` says, with files and variables that exist."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from carrel.config import PREFIX, SECRET_FIELDS, Settings

FOLDER = Path(__file__).parents[2] / "deploy"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    return loaded


def test_both_services_have_a_read_only_root_no_capabilities_and_no_new_privileges(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"carrel", "proxy"}
    for service in compose["services"].values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "privileged" not in service
    assert "cap_add" not in compose["services"]["carrel"]
    assert compose["services"]["proxy"]["cap_add"] == ["NET_BIND_SERVICE"]


def test_only_the_proxy_can_be_reached_and_it_waits_for_a_healthy_service(compose: dict[str, Any]) -> None:
    assert "ports" not in compose["services"]["carrel"]
    assert "network_mode" not in compose["services"]["carrel"]
    assert compose["services"]["proxy"]["depends_on"] == {"carrel": {"condition": "service_healthy"}}


def test_limits_leave_no_core_dump_and_room_for_keys(compose: dict[str, Any]) -> None:
    limits = compose["services"]["carrel"]["ulimits"]
    assert limits == {"core": 0, "memlock": 64 * 1024 * 1024, "nofile": 1_048_576}


def test_files_volumes_and_secrets_that_are_named_exist(compose: dict[str, Any]) -> None:
    build = compose["services"]["carrel"]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).is_file()
    for service in compose["services"].values():
        for mount in service["volumes"]:
            source = mount.partition(":")[0]
            assert source in compose["volumes"] or (FOLDER / source).is_file(), mount
    wanted = {
        f"{PREFIX}{name.upper()}"
        for name in SECRET_FIELDS
        if name not in ("old_service_key", "etcd_password", "metrics_secret", "webhook_secret")
    }
    assert set(compose["services"]["carrel"]["secrets"]) == set(compose["secrets"]) == wanted
    for name, secret in compose["secrets"].items():
        assert secret == {"file": f"secrets/{name}"}


def test_the_variables_of_the_service_are_settings(compose: dict[str, Any]) -> None:
    for name in compose["services"]["carrel"]["environment"]:
        assert name.removeprefix(PREFIX).lower() in Settings.__struct_fields__


def test_images_are_pinned_by_a_tag(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        name, _, tag = service["image"].partition(":")
        assert "/" not in name
        assert tag[0].isdigit()
