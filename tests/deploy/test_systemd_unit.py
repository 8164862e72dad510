"""The systemd unit: what it forbids the service, how `systemd-analyze` rates it, and that its command can be typed."""

import configparser
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from carrel.cli.main import main

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "carrel.service"
WORST_EXPOSURE = 2.0
ON = (
    *("NoNewPrivileges", "PrivateDevices", "PrivateMounts", "PrivateTmp", "PrivateUsers", "ProtectClock"),
    *("ProtectControlGroups", "ProtectHome", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules"),
    *("ProtectKernelTunables", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality"),
    *("MemoryDenyWriteExecute", "RemoveIPC"),
)


def settings(section: str) -> Iterator[tuple[str, str]]:
    """In order; a directive may stand several times."""
    lines = UNIT.read_text().partition(f"[{section}]\n")[2].partition("\n[")[0].splitlines()
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


@pytest.mark.program("systemd-analyze")
def test_its_exposure_is_two_at_most() -> None:
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNIT)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    exposure = re.search(r"Overall exposure level for carrel.service: ([0-9.]+)", said)
    assert exposure is not None, said
    assert float(exposure[1]) <= WORST_EXPOSURE
