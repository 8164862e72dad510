"""The systemd units: what they forbid, how `systemd-analyze` rates them, and that their commands can be typed."""

import configparser
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from carrel.cli.main import main

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"
UNIT = FOLDER / "carrel.service"
NODE = FOLDER / "carrel@.service"
MAP = FOLDER / "carrel-map.service"
WORST_EXPOSURE = 2.0
ON = (
    *("NoNewPrivileges", "PrivateDevices", "PrivateMounts", "PrivateTmp", "PrivateUsers", "ProtectClock"),
    *("ProtectControlGroups", "ProtectHome", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules"),
    *("ProtectKernelTunables", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality"),
    *("MemoryDenyWriteExecute", "RemoveIPC"),
)


def settings(section: str, unit: Path = UNIT) -> Iterator[tuple[str, str]]:
    """In order; a directive may stand several times."""
    lines = unit.read_text().partition(f"[{section}]\n")[2].partition("\n[")[0].splitlines()
    for line in lines:
        if line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name, value


def test_it_has_the_sections_of_a_service() -> None:
    parsed = configparser.RawConfigParser(strict=False)
    parsed.read(UNIT)
    assert parsed.sections() == ["Unit", "Service", "Install"]


def test_privileges_devices_and_the_rest_of_the_machine_are_out_of_reach() -> None:
    service = dict(settings("Service"))
    assert [name for name in ON if service.get(name) != "yes"] == []
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == service["AmbientCapabilities"] == ""
    assert service["UMask"] == "0077"
    assert service["StateDirectoryMode"] == "0700"


def test_a_core_dump_is_never_written_and_keys_can_be_locked() -> None:
    service = dict(settings("Service"))
    assert service["LimitCORE"] == "0"
    assert service["LimitMEMLOCK"] == "64M"


def test_its_command_can_be_typed() -> None:
    _, name, *words = shlex.split(dict(settings("Service"))["ExecStart"])
    command = main.get_command(click.Context(main), name)
    assert command is not None
    context = command.make_context(name, words)
    assert context.params["behind_proxy"] is True
    assert context.params["data_dir"] == "/var/lib/carrel"


def test_a_node_is_forbidden_what_a_single_service_is() -> None:
    own = {"ExecStart", "EnvironmentFile", "Environment", "StateDirectory", "WorkingDirectory", "Restart", "RestartSec"}
    own |= {"RestartPreventExitStatus"}
    single, node = ([one for one in settings("Service", unit) if one[0] not in own] for unit in (UNIT, NODE))
    assert single == node


def test_the_command_of_a_node_names_its_own_folder_and_port() -> None:
    service = dict(settings("Service", NODE))
    filled = service["ExecStart"].replace("${NODE_PORT}", "8401").replace("%i", "a")
    _, name, *words = shlex.split(filled)
    command = main.get_command(click.Context(main), name)
    assert command is not None
    context = command.make_context(name, words)
    assert (context.params["port"], context.params["data_dir"]) == (8401, "/var/lib/carrel/a")
    assert (service["Environment"], service["StateDirectory"]) == ("CARREL_NODE_NAME=%i", "carrel carrel/%i")


def test_the_map_is_kept_where_the_configuration_of_haproxy_looks_for_it() -> None:
    _, name, part, *words = shlex.split(dict(settings("Service", MAP))["ExecStart"])
    group = main.get_command(click.Context(main), name)
    assert isinstance(group, click.Group)
    kept = group.commands[part].make_context(part, words).params
    configured = group.commands["haproxy"].make_context("haproxy", []).params
    assert (str(kept["socket"]), str(kept["map_file"])) == (configured["socket"], configured["map_file"])


@pytest.mark.program("systemd-analyze")
@pytest.mark.parametrize("unit", [UNIT, NODE, MAP], ids=lambda unit: unit.stem)
def test_its_exposure_is_two_at_most(unit: Path) -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
    assert exposure is not None, said
    assert float(exposure[1]) <= WORST_EXPOSURE
