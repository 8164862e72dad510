"""`carrel content`: documents, instructions, criteria and fragments."""

import sys
from pathlib import Path
from typing import cast, get_args

import rich_click as click
from carrel_sdk import CarrelApiError
from carrel_sdk.models import Content, ContentType

from carrel.cli.interface import printing, terminal
from carrel.cli.interface.printing import say
from carrel.cli.interface.reading import read_bytes, read_text, variables
from carrel.cli.interface.terminal import UserCommand, user_command

_TYPES = click.Choice(get_args(ContentType))
_READ_BY_THE_SERVICE = frozenset({".pdf", ".docx", ".docm", ".pptx", ".pptm", ".eml", ".mbox"})


@click.group("content", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Documents, instructions, criteria and fragments."""


@command.command("add")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--type", "kind", type=_TYPES, default="input_document", show_default=True)
@click.option("--name", help="Its name; the file's otherwise.")
@click.option("--tag", "tags", multiple=True)
@user_command
def add(cli: UserCommand, files: tuple[Path, ...], kind: str, name: str | None, tags: tuple[str, ...]) -> None:
    """Add each file as a content; `-` is stdin. The service reads the text of PDF, Word, PPTX and EML files."""
    if name is not None and len(files) > 1:
        terminal.end(terminal.EXIT_USAGE, "--name is for one file", as_json=cli.as_json)
    for file in files:
        try:
            made = _added(cli, file, kind, name, tags)
        except CarrelApiError:
            if len(files) > 1:
                say(f"carrel: at {file}; the ones before it were added", stderr=True)
            raise
        cli.show(made, f"{made.id}  {made.name}")


@command.command("list")
@click.argument("words", nargs=-1)
@click.option("--type", "kind", type=_TYPES)
@click.option("--tag")
@user_command
def list_contents(cli: UserCommand, words: tuple[str, ...], kind: str | None, tag: str | None) -> None:
    """List contents, newest first. With WORDS, only those that contain all of them."""
    found = cli.workspace.contents.find(" ".join(words) or None, type=cast(ContentType | None, kind), tag=tag)
    cli.show_rows(
        found,
        {
            "id": lambda item: item.id,
            "type": lambda item: item.type,
            "size": lambda item: _in_bytes(item.body_bytes),
            "name": lambda item: item.name,
        },
    )


@command.command("show")
@click.argument("content_id")
@click.option("--version", type=int, metavar="N", help="As it was saved as this version.")
@user_command
def show(cli: UserCommand, content_id: str, version: int | None) -> None:
    """Print the body of one content; with `--json`, everything about it."""
    contents = cli.workspace.contents
    content = contents.get(content_id) if version is None else contents.version(content_id, version)
    if cli.as_json or printing.is_to_terminal():
        cli.show(content, content.body)
    else:
        sys.stdout.write(content.body)


@command.command("versions")
@click.argument("content_id")
@user_command
def versions(cli: UserCommand, content_id: str) -> None:
    """List the versions of a content, newest first."""
    cli.show_rows(
        cli.workspace.contents.versions(content_id),
        {
            "version": lambda one: str(one.version),
            "saved": lambda one: one.updated_at[:19].replace("T", " "),
            "size": lambda one: _in_bytes(one.body_bytes),
            "name": lambda one: one.name,
        },
    )


@command.command("replace")
@click.argument("content_id")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@user_command
def replace(cli: UserCommand, content_id: str, file: Path) -> None:
    """Save a file as the next version of a content."""
    content = cli.workspace.contents.get(content_id)
    content.body = read_text(cli, file)
    saved = cli.workspace.contents.save(content)
    cli.show(saved, f"{saved.id}  version {saved.version}")


@command.command("resolve")
@click.argument("content_id")
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="A text for a placeholder.")
@user_command
def resolve(cli: UserCommand, content_id: str, given: tuple[str, ...]) -> None:
    """Print a content with its placeholders replaced, as a run would see it."""
    resolved = cli.workspace.contents.resolve(content_id, variables(cli, given))
    cli.show(resolved, resolved.body)
    if resolved.unresolved and not cli.as_json:
        say(f"carrel: open placeholders: {', '.join(resolved.unresolved)}", stderr=True)


@command.command("counts")
@user_command
def counts(cli: UserCommand) -> None:
    """Count the contents of each type."""
    found = cli.workspace.contents.counts()
    lines = [f"{count:6}  {kind}" for kind, count in found.by_type.items()]
    cli.show(found, "\n".join([*lines, f"{found.total:6}  in all"]))


@command.command("delete")
@click.argument("content_ids", nargs=-1, required=True)
@user_command
def delete(cli: UserCommand, content_ids: tuple[str, ...]) -> None:
    """Delete contents, unless a preset or another content uses them."""
    for content_id in content_ids:
        cli.workspace.contents.delete(content_id)
        cli.show_done("deleted", content_id)


def _added(cli: UserCommand, file: Path, kind: str, name: str | None, tags: tuple[str, ...]) -> Content:
    if kind == "input_document" and file.suffix.lower() in _READ_BY_THE_SERVICE:
        return _upload(cli, file, name, tags)
    called = name or ("stdin" if str(file) == "-" else file.name)
    return cli.workspace.contents.create(called, cast(ContentType, kind), read_text(cli, file), tags=list(tags))


def _upload(cli: UserCommand, file: Path, name: str | None, tags: tuple[str, ...]) -> Content:
    """Upload a file and return the content that the service makes of it."""
    document = cli.workspace.documents.upload(file.name, read_bytes(cli, file), name=name)
    made = cli.workspace.contents.get(document.content_id)
    if not tags:
        return made
    made.tags = list(tags)
    return cli.workspace.contents.save(made)


def _in_bytes(count: int) -> str:
    return f"{count:,} B" if count < 10_000 else f"{count / 1024:,.0f} kB"
