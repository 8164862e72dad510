"""`carrel github`: connect repositories, import files as contents, and commit contents or answers."""

from typing import get_args

import msgspec
import rich_click as click
from carrel_sdk.github import GITHUB
from carrel_sdk.models import ContentType

from carrel.cli.interface import terminal
from carrel.cli.interface.reading import read_secret
from carrel.cli.interface.terminal import UserCommand, user_command
from carrel.evaluation.words import counted

_TYPES = click.Choice(get_args(ContentType))


@click.group("github", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Connect repositories on GitHub, import files as contents, and commit contents or answers."""


@command.command("connect")
@click.argument("repository", metavar="OWNER/NAME")
@click.option("--token-stdin", is_flag=True, help="Read GitHub's token from stdin.")
@click.option("--name", help="The connection's name.  [default: the repository's name]")
@click.option("--branch", help="The branch to work with.  [default: the repository's default branch]")
@click.option("--base-url", default=GITHUB, show_default=True, help="GitHub's API, or that of your own GitHub server.")
@user_command
def connect(
    cli: UserCommand, repository: str, token_stdin: bool, name: str | None, branch: str | None, base_url: str
) -> None:
    """Connect a repository. The encrypted workspace stores its token."""
    token = read_secret(cli, "token", "--token-stdin", given=token_stdin)
    made = cli.workspace.github.connect(name or repository, repository, token, branch=branch, base_url=base_url)
    cli.show(made, f"{made.id}  {made.name}")


@command.command("list")
@user_command
def list_connections(cli: UserCommand) -> None:
    """List connections, newest first."""
    cli.show_rows(
        cli.workspace.github.each(),
        {
            "id": lambda one: one.id,
            "name": lambda one: one.name,
            "repository": lambda one: one.repository,
            "branch": lambda one: one.branch or "",
            "token": lambda one: f"…{one.hint}",
            "last test": lambda one: terminal.tested(one.last_test),
        },
    )


@command.command("change")
@click.argument("connection_id")
@click.option("--token-stdin", is_flag=True, help="Read another token from stdin.")
@click.option("--name")
@click.option("--repository", metavar="OWNER/NAME")
@click.option("--branch", help="Another branch; an empty one means the repository's default branch.")
@user_command
def change(
    cli: UserCommand,
    connection_id: str,
    token_stdin: bool,
    name: str | None,
    repository: str | None,
    branch: str | None,
) -> None:
    """Change a connection. Values that you do not give stay."""
    connection = cli.workspace.github.get(connection_id)
    changed = msgspec.structs.replace(
        connection,
        name=connection.name if name is None else name,
        repository=connection.repository if repository is None else repository,
        branch=connection.branch if branch is None else branch or None,
    )
    token = read_secret(cli, "token", "--token-stdin", given=True) if token_stdin else None
    saved = cli.workspace.github.save(changed, token=token)
    cli.show(saved, f"{saved.id}  {saved.name}")


@command.command("test")
@click.argument("connection_id")
@user_command
def test(cli: UserCommand, connection_id: str) -> None:
    """Make one real, free call with the token; exit code 1 if GitHub rejects it."""
    found = cli.workspace.github.test(connection_id)
    if found.ok:
        words = "reads and writes" if found.can_write else "reads only"
        cli.show(found, f"{words}, {'private' if found.private else 'public'}, default branch {found.default_branch}")
    else:
        cli.show(found, f"refused: {found.code}")
        raise SystemExit(terminal.EXIT_FAILED)


@command.command("tree")
@click.argument("connection_id")
@click.argument("path", default="")
@click.option("--commit", metavar="SHA", help="Read the state at this commit.  [default: now]")
@user_command
def tree(cli: UserCommand, connection_id: str, path: str, commit: str | None) -> None:
    """List what is in a folder."""
    found = cli.workspace.github.tree(connection_id, path, commit=commit)
    if cli.as_json:
        terminal.print_json(found)
        return
    cli.show_rows(
        found.entries,
        {
            "path": lambda entry: entry.path,
            "kind": lambda entry: entry.kind,
            "bytes": lambda entry: "" if entry.bytes is None else f"{entry.bytes:,}",
        },
    )
    cli.show(found, f"commit {found.commit}" + (", not all of it" if found.truncated else ""))


@command.command("import")
@click.argument("connection_id")
@click.argument("paths", nargs=-1, required=True)
@click.option("--type", "kind", type=_TYPES, default="input_document", show_default=True)
@click.option("--tag", "tags", multiple=True)
@click.option("--commit", metavar="SHA", help="Read the state at this commit.  [default: now]")
@user_command
def import_(
    cli: UserCommand, connection_id: str, paths: tuple[str, ...], kind: str, tags: tuple[str, ...], commit: str | None
) -> None:
    """Import files as contents; exit code 1 if any could not be imported."""
    done = cli.workspace.github.import_files(connection_id, paths, type=kind, tags=tags, commit=commit)
    lines = [f"{one.content_id}  {one.name}" for one in done.imported]
    lines += [f"left out: {one.path} ({one.code})" for one in done.refused]
    cli.show(done, "\n".join(lines))
    if done.refused:
        raise SystemExit(terminal.EXIT_FAILED)


@command.command("export")
@click.argument("connection_id")
@click.option("--content", "contents", multiple=True, metavar="ID", help="A content to commit.")
@click.option("--run", "run_id", metavar="ID", help="A run whose answers to commit.")
@click.option("--answers", type=click.Choice(["best", "all"]), default="best", show_default=True)
@click.option("--path", default="", help="The folder in the repository.")
@click.option("--branch", help="The branch, created if it does not exist.  [default: the connection's]")
@click.option("--message", default="", help="The commit message.")
@user_command
def export(
    cli: UserCommand,
    connection_id: str,
    contents: tuple[str, ...],
    run_id: str | None,
    answers: str,
    path: str,
    branch: str | None,
    message: str,
) -> None:
    """Commit contents, or the answers of a run, to a branch. Repeating the command makes no second commit."""
    if bool(contents) == (run_id is not None):
        terminal.end(terminal.EXIT_USAGE, "give either --content or --run", as_json=cli.as_json)
    github = cli.workspace.github
    if run_id is not None:
        done = github.export_run(connection_id, run_id, answers=answers, path=path, branch=branch, message=message)
    else:
        done = github.export_contents(connection_id, contents, path=path, branch=branch, message=message)
    what = counted(len(done.files), "file") if done.changed else "nothing new"
    cli.show(done, f"{what} on {done.branch}, commit {done.commit}")


@command.command("disconnect")
@click.argument("connection_ids", nargs=-1, required=True)
@user_command
def disconnect(cli: UserCommand, connection_ids: tuple[str, ...]) -> None:
    """Delete connections with their tokens."""
    for connection_id in connection_ids:
        cli.workspace.github.delete(connection_id)
        cli.show_done("disconnected", connection_id)
