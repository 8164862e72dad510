"""`carrel doctor`: whether the service can run well here, before it is started or restarted.

It changes nothing, opens no user's file, and works beside a running service. Exit codes: 0 nothing is wrong;
1 something is; 2 wrong usage.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import msgspec
import rich_click as click

from carrel import __version__, config
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import data_dir_option, env_file_option, json_option
from carrel.cli.interface.terminal import CommandOutput
from carrel.cli.serving import examination
from carrel.cli.serving.examination import Finding

_SIGNS: Final = {"good": "✓", "look": "!", "bad": "✗"}
_SECONDS: Final = 10.0
_CLOCK_SECONDS: Final = 60.0


class _Health(msgspec.Struct):
    version: str


@click.command("doctor")
@click.option("--url", help="Also ask the service at this address, as its users reach it.")
@data_dir_option
@env_file_option
@json_option
def command(url: str | None, data_dir: str | None, env_file: Path | None, as_json: bool) -> None:
    """Look at configuration, secrets, disk, clock, versions, backups and memory, and say what is wrong.

    Run it as the service's account, with the service's environment.
    """
    overrides = {} if data_dir is None else {"data_dir": data_dir}
    file = env_file or Path(".env")
    findings = list(examination.everything(file, lambda: config.load(env_file=file, overrides=overrides)))
    if url is not None:
        findings += _remote(url.rstrip("/").removesuffix("/api"))
    CommandOutput(as_json, terminal.wide_console()).show_rows(
        findings,
        {"": lambda one: _SIGNS[one.state], "what": lambda one: one.what, "finding": lambda one: one.words},
    )
    if any(one.state == "bad" for one in findings):
        raise SystemExit(terminal.EXIT_FAILED)


def _remote(url: str) -> Iterator[Finding]:
    """What somebody sees who comes from outside, without a secret."""
    try:
        with httpx.Client(base_url=url, timeout=_SECONDS) as client:
            health, metrics = client.get("/api/health"), client.get("/api/metrics")
    except (httpx.HTTPError, httpx.InvalidURL):
        yield Finding("address", "bad", f"{url} does not answer")
        return
    try:
        running = msgspec.json.decode(health.content, type=_Health).version
    except msgspec.DecodeError:
        yield Finding("address", "bad", f"{url} answers {health.status_code}, and it is not Carrel that answers")
        return
    same = running == __version__
    yield Finding(
        "version", "good" if same else "look", f"{running} runs" + ("" if same else f", {__version__} is here")
    )
    off = examination.seconds_off(health.headers.get("date"))
    if off is not None and abs(off) > _CLOCK_SECONDS:
        yield Finding("clock", "bad", f"the clocks of this machine and of {url} differ by {abs(off):,.0f} s")
    if metrics.headers.get("content-type", "").startswith("application/problem+json"):
        yield Finding("proxy", "look", f"the operator's routes can be reached at {url}; close them to the public")
    else:
        yield Finding("proxy", "good", "the operator's routes cannot be reached there")
