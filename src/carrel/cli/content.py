"""`carrel content`: documents, instructions, criteria and fragments."""

import sys
from pathlib import Path
from typing import cast, get_args

import rich_click as click
from carrel_sdk import CarrelApiError
from carrel_sdk.contents import Content, ContentType

from carrel.cli import terminal
from carrel.cli.terminal import UserCommand, user_command

_TYPES = click.Choice(get_args(ContentType))
_READ_BY_THE_SERVICE = frozenset({".pdf", ".docx"})


@click.group("content", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Documents, instructions, criteria and fragments."""


@command.command("add")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--type", "kind", type=_TYPES, default="input_document", show_default=True)
@click.option("--name", help="Its name; the file's otherwise.")
@click.option("--tag", "tags", multiple=True)
@user_command
def add(at: UserCommand, files: tuple[Path, ...], kind: str, name: str | None, tags: tuple[str, ...]) -> None:
    """Add files, each as a content of its own; `-` is stdin. Of PDF and Word files the service reads the text."""
    if name is not None and len(files) > 1:
        terminal.end(terminal.EXIT_USAGE, "--name is for one file", as_json=at.as_json)
    for file in files:
        try:
            made = _added(at, file, kind, name, tags)
        except CarrelApiError:
            if len(files) > 1:
                print(terminal.printable(f"carrel: at {file}; the ones before it were added"), file=sys.stderr)
            raise
        at.show(made, f"{made.id}  {made.name}")


@command.command("list")
@click.argument("words", nargs=-1)
@click.option("--type", "kind", type=_TYPES)
@click.option("--tag")
@user_command
def list_contents(at: UserCommand, words: tuple[str, ...], kind: str | None, tag: str | None) -> None:
    """List contents, newest first; those that hold all WORDS."""
    found = at.workspace.contents.find(" ".join(words) or None, type=cast(ContentType | None, kind), tag=tag)
    at.show_rows(
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
def show(at: UserCommand, content_id: str, version: int | None) -> None:
    """Print the body of one content; with `--json`, everything about it."""
    contents = at.workspace.contents
    content = contents.get(content_id) if version is None else contents.version(content_id, version)
    if at.as_json or sys.stdout.isatty():
        at.show(content, content.body)
    else:
        # Into a pipe or file goes what was put in, to the byte.
        sys.stdout.write(content.body)


@command.command("versions")
@click.argument("content_id")
@user_command
def versions(at: UserCommand, content_id: str) -> None:
    """List the versions of a content, newest first."""
    at.show_rows(
        at.workspace.contents.versions(content_id),
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
def replace(at: UserCommand, content_id: str, file: Path) -> None:
    """Save a file as the next version of a content."""
    content = at.workspace.contents.get(content_id)
    content.body = read(at, file)
    saved = at.workspace.contents.save(content)
    at.show(saved, f"{saved.id}  version {saved.version}")


@command.command("resolve")
@click.argument("content_id")
@click.option("--set", "given", multiple=True, metavar="NAME=TEXT", help="A text for a placeholder.")
@user_command
def resolve(at: UserCommand, content_id: str, given: tuple[str, ...]) -> None:
    """Print a content with its placeholders replaced, as a run would see it."""
    resolved = at.workspace.contents.resolve(content_id, variables(at, given))
    at.show(resolved, resolved.body)
    if resolved.unresolved and not at.as_json:
        print(f"carrel: open placeholders: {', '.join(resolved.unresolved)}", file=sys.stderr)


@command.command("counts")
@user_command
def counts(at: UserCommand) -> None:
    """Count the contents of each type."""
    found = at.workspace.contents.counts()
    lines = [f"{count:6}  {kind}" for kind, count in found.by_type.items()]
    at.show(found, "\n".join([*lines, f"{found.total:6}  in all"]))


@command.command("delete")
@click.argument("content_ids", nargs=-1, required=True)
@user_command
def delete(at: UserCommand, content_ids: tuple[str, ...]) -> None:
    """Delete contents, unless a preset or another content uses them."""
    for content_id in content_ids:
        at.workspace.contents.delete(content_id)


def read(at: UserCommand, file: Path) -> str:
    """A text file, or stdin for `-`; ends the program if it is none."""
    try:
        return _bytes(at, file).decode("utf-8-sig")
    except UnicodeDecodeError:
        terminal.end(terminal.EXIT_FAILED, f"{file} is no UTF-8 text", as_json=at.as_json)


def _added(at: UserCommand, file: Path, kind: str, name: str | None, tags: tuple[str, ...]) -> Content:
    if kind == "input_document" and file.suffix.lower() in _READ_BY_THE_SERVICE:
        return _upload(at, file, name, tags)
    called = name or ("stdin" if str(file) == "-" else file.name)
    return at.workspace.contents.create(called, cast(ContentType, kind), read(at, file), tags=tags)


def _bytes(at: UserCommand, file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError:
        terminal.end(terminal.EXIT_FAILED, f"{file} cannot be read", as_json=at.as_json)


def _upload(at: UserCommand, file: Path, name: str | None, tags: tuple[str, ...]) -> Content:
    """The content that the service makes of a file."""
    document = at.workspace.documents.upload(file.name, _bytes(at, file), name=name)
    made = at.workspace.contents.get(document.content_id)
    if not tags:
        return made
    made.tags = list(tags)
    return at.workspace.contents.save(made)


def variables(at: UserCommand, given: tuple[str, ...]) -> dict[str, str]:
    """The texts of `--set NAME=TEXT`."""
    pairs = [text.partition("=") for text in given]
    if not all(equals for _, equals, _ in pairs):
        terminal.end(terminal.EXIT_USAGE, "--set takes NAME=TEXT", as_json=at.as_json)
    return {name: text for name, _, text in pairs}


def _in_bytes(count: int) -> str:
    return f"{count:,} B" if count < 10_000 else f"{count / 1024:,.0f} kB"
