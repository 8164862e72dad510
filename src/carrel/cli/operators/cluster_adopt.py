"""`carrel cluster adopt`: let a node use a data folder that was restored.

Exit codes: 0 done; 1 etcd or the folder cannot be used; 2 wrong usage; 5 the node runs, or slots of it are moving.
"""

import secrets
from pathlib import Path

import click

from carrel.backup import archive
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import data_dir_option, env_file_option, one_line
from carrel.cli.interface.etcd import run, settings_with_etcd
from carrel.cli.interface.printing import say
from carrel.cli.interface.refusal import refuse
from carrel.cluster import adoption
from carrel.cluster.adoption import Adoption, SlotsChanged
from carrel.cluster.refusals import NodeTaken
from carrel.cluster.registry import ClusterRegistry
from carrel.evaluation.words import counted
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.vault.data_folder import DataFolder, FolderTaken


@click.command("adopt")
@click.argument("node")
@click.option("--yes", is_flag=True, help="Do it: what the lost disk had beyond this folder is given up.")
@data_dir_option
@env_file_option
def adopt(node: str, yes: bool, data_dir: str | None, env_file: Path | None) -> None:
    """Let NODE use a data folder that was restored from a snapshot or a backup, in place of a disk that is lost.

    Give the command on the node's machine, before the node starts. Without `--yes` it says what the folder holds of the
    node's slots, and changes nothing. Every session of the node's users ends.
    """
    settings = settings_with_etcd(env_file, data_dir)
    data, key = settings.data_dir, settings.service_key.reveal()
    if not (data / archive.SERVICE).exists():
        refuse(f"{data} holds no data; restore a copy into it first")

    async def work(found: ClusterRegistry) -> Adoption:
        planned = await adoption.plan(found, node, data, key, lambda: secrets.token_hex(8))
        if planned.moving:
            words = (
                f"moving from {node} or to it: {counted(len(planned.moving), 'slot')}; carrel cluster abort stops them"
            )
            terminal.end(terminal.EXIT_CONFLICT, words, as_json=False)
        if yes:
            clock = SystemClock()
            archive.end_sessions(data, key, clock, uuid7_factory(clock))
            await adoption.carry_out(found, data, planned)
        return planned

    with one_line(data, as_json=False):
        try:
            with DataFolder(data):
                planned = run(settings, work, as_json=False)
        except (FolderTaken, NodeTaken):
            terminal.end(terminal.EXIT_CONFLICT, f"{node} runs, or another process uses {data}", as_json=False)
        except SlotsChanged:
            terminal.end(terminal.EXIT_CONFLICT, "the map changed meanwhile; give the command again", as_json=False)
    say(f"{data} holds users of {len(planned.held):,} of the {planned.own:,} slots of {node}")
    if planned.half:
        say(f"left out, with their users: {counted(len(planned.half), 'slot')} about to arrive")
    if not yes:
        refuse("what the lost disk had beyond this cannot come back afterwards: say --yes")
    say(f"{node} may start")
