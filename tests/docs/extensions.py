"""The eight changes of `docs/how-to-extend.md`, each made in a copy of the project as the guide says."""

import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TOOLS: Final = (".venv", "web/node_modules")
_MIGRATIONS: Final = "src/carrel/vault/migrations"


class Copy:
    """A copy of what git knows of the project, with the tools of this one. `edited` are the files touched by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.edited: set[str] = set()
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file() and not name.startswith("docs/screenshots/"):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for tools in TOOLS:
            (folder / tools).symlink_to(ROOT / tools)

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def add(self, path: str, text: str) -> None:
        """Make a new file."""
        assert not (self.folder / path).exists(), path
        self._write(path, text)

    def change(self, path: str, *changes: tuple[str, str]) -> None:
        """In a file, put the second text in the place of the first, which is there once."""
        text = self.read(path)
        for before, after in changes:
            assert text.count(before) == 1, (path, before)
            text = text.replace(before, after)
        self._write(path, text)

    def _write(self, path: str, text: str) -> None:
        self.edited.add(path)
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def migration(self, subject: str, sql: str) -> int:
        """Add a migration of workspaces with the next number; that number."""
        number = max(int(path.name[:4]) for path in (self.folder / _MIGRATIONS).glob("*.sql")) + 1
        self.add(f"{_MIGRATIONS}/{number:04}_{subject}.sql", sql)
        return number

    def earlier_rows(self, number: int, sql: str) -> None:
        """Add rows to the test of earlier schemas, after those of the last migration of workspaces."""
        end = "\n    },\n    ACCOUNT: {"
        self.change("tests/support/earlier_schemas.py", (end, f'\n        {number}: "{sql}",{end}'))


def weight(copy: Copy) -> None:
    copy.change("src/carrel/contents/criteria.py", ("MAX_WEIGHT = 1_000_000", "MAX_WEIGHT = 2_000_000"))
    copy.change("docs/user-guide/texts.md", ("more than 0 and at most 1,000,000", "more than 0 and at most 2,000,000"))


def protocol(copy: Copy) -> None:
    """A protocol that differs from another one in its name."""
    text = copy.read("src/carrel/providers/protocols/anthropic_messages.py")
    copy.add("src/carrel/providers/protocols/echo_messages.py", text.replace("MessagesWire", "EchoWire"))
    copy.change(
        "src/carrel/providers/catalogue.py",
        (
            "from carrel.providers.protocols.google_generate",
            "from carrel.providers.protocols.echo_messages import EchoWire\n"
            "from carrel.providers.protocols.google_generate",
        ),
        (
            '    "google": KnownProvider(',
            '    "echo": KnownProvider("Echo", EchoWire(), None),\n    "google": KnownProvider(',
        ),
    )


def state(copy: Copy) -> None:
    """A state in which a run has begun and not ended."""
    copy.change(
        "src/carrel/runs/model/states.py",
        ('\nState = Literal["pending", "running", ', '\nState = Literal["pending", "waiting", "running", '),
        ('frozenset({"running", "paused"})', 'frozenset({"waiting", "running", "paused"})'),
        ('"delete": ENDED | {"pending", "paused"}', '"delete": ENDED | {"pending", "waiting", "paused"}'),
    )
    words = "replace(sql, '''pending'', ''running'', ''paused''', '''pending'', ''waiting'', ''running'', ''paused''')"
    copy.migration(
        "waiting_runs",
        f"PRAGMA writable_schema = ON;\nUPDATE sqlite_schema SET sql = {words} WHERE name = 'runs';\n"
        "PRAGMA writable_schema = RESET;\n",
    )
    copy.change(
        "tests/runs/engine/test_every_move.py",
        ('"cancelled", {"pending", "running", "paused"}', '"cancelled", {"pending", "waiting", "running", "paused"}'),
        (
            "REACH: dict",
            "async def waiting(busy: Busy, ada: Reader) -> str:\n    run = await ada.made()\n"
            "    await busy.write(\"UPDATE runs SET state = 'waiting' WHERE id = ?\", run)\n    return run\n\n\n"
            "REACH: dict",
        ),
        ('    "running": running,\n', '    "waiting": waiting,\n    "running": running,\n'),
    )
    running = '  running: { words: "Running"'
    copy.change(
        "web/src/lib/states.ts", (running, f'  waiting: {{ words: "Waiting", tone: "", ended: false }},\n{running}')
    )


def field(copy: Copy) -> None:
    """A field that every version of a content has."""
    kept = "    description: str\n    tags: list[str]\n    version: int\n"
    text = copy.read("src/carrel/contents/schemas.py")
    assert text.count(kept) == 2, "of a content, and of one in a list"
    copy.change(
        "src/carrel/contents/schemas.py",
        (text, text.replace(kept, f"    language: str\n{kept}")),
        ('    description: Description = ""\n', '    description: Description = ""\n    language: Description = ""\n'),
    )
    shared = "name, description, tags, variables, updated_at, body_bytes, body_preview"
    number = copy.migration(
        "languages",
        "CREATE TABLE contents_rebuilt (\n    seq INTEGER PRIMARY KEY AUTOINCREMENT,\n    id TEXT NOT NULL UNIQUE,\n"
        + _columns(["name", "type", "description", "tags", "variables"])
        + "    version INTEGER NOT NULL,\n"
        + _columns(["created_at", "updated_at"])
        + "    body_bytes INTEGER NOT NULL,\n    body_preview TEXT NOT NULL,\n    criteria TEXT,\n"
        "    language TEXT NOT NULL DEFAULT '',\n    body TEXT NOT NULL\n) STRICT;\n"
        f"INSERT INTO contents_rebuilt (seq, id, type, version, created_at, criteria, {shared}, body)\n"
        f"    SELECT seq, id, type, version, created_at, criteria, {shared}, body FROM contents;\n"
        "CREATE TABLE content_versions_rebuilt (\n"
        "    content_seq INTEGER NOT NULL REFERENCES contents (seq) ON DELETE CASCADE,\n    version INTEGER NOT NULL,\n"
        + _columns(["name", "description", "tags", "variables", "updated_at"])
        + "    body_bytes INTEGER NOT NULL,\n    body_preview TEXT NOT NULL,\n    language TEXT NOT NULL DEFAULT '',\n"
        "    body TEXT NOT NULL,\n    PRIMARY KEY (content_seq, version)\n) STRICT;\n"
        f"INSERT INTO content_versions_rebuilt (content_seq, version, {shared}, body)\n"
        f"    SELECT content_seq, version, {shared}, body FROM content_versions;\n",
    )
    copy.earlier_rows(number, "UPDATE contents SET language = 'en'; UPDATE content_versions SET language = 'en'")
    tags = "it has a name, a type and, if you like, tags"
    copy.change("docs/user-guide/texts.md", (tags, f"{tags} and a language"))
    copy.change("tests/transfer/test_fields.py", ('    "tags": ["style', '    "language": "en",\n    "tags": ["style'))
    copy.change(
        "web/src/features/library/ContentFields.tsx",
        ("  description: true,\n", "  description: true,\n  language: true,\n"),
        (
            "      <TagsField ",
            '      <TextField\n        label="Language"\n        value={draft.language ?? ""}\n'
            '        faults={faultsAt(error, "language")}\n'
            "        onChange={(event) => onChange({ language: event.target.value })}\n      />\n      <TagsField ",
        ),
    )


def option(copy: Copy) -> None:
    """An option whose parameter the SDK has already."""
    trials = '@click.option("--trials"'
    copy.change(
        "src/carrel/cli/users/run.py",
        (trials, f'@click.option("--tag", help="Only runs with this tag.")\n{trials}'),
        ("def list_runs(cli: UserCommand, ", "def list_runs(cli: UserCommand, tag: str | None, "),
        ("find(state=cast(RunState | None, state), trial", "find(state=cast(RunState | None, state), tag=tag, trial"),
    )


def win_shares(copy: Copy) -> None:
    copy.change("src/carrel/evaluation/ranking/shares.py", ("LEVEL = 1e-9", "LEVEL = 1e-10"))


def page(copy: Copy) -> None:
    """A page that reads what no other page reads."""
    copy.add(
        "web/src/features/counts/CountsPage.tsx",
        'import { queryOptions, useQuery } from "@tanstack/react-query";\n'
        'import { data } from "carrel-sdk";\n'
        'import type { Api } from "../../api/client";\n'
        'import { queryKeys } from "../../api/queryKeys";\n'
        'import { useApi } from "../../app/context";\n'
        'import { Page } from "../../components/Page";\n'
        'import { QueryView } from "../../components/QueryView";\n\n'
        "function countQuery(api: Api) {\n"
        "  return queryOptions({\n"
        "    queryKey: queryKeys.runCount,\n"
        '    queryFn: ({ signal }) => data(api.client.GET("/api/runs/count", { signal })),\n'
        "  });\n"
        "}\n\n"
        "/** How many comparisons there are. */\n"
        "export function CountsPage() {\n"
        "  const query = useQuery(countQuery(useApi()));\n"
        "  return (\n"
        '    <Page title="Counts" intro="How many comparisons there are.">\n'
        "      <QueryView query={query} lines={1}>\n"
        "        {(count) => <p>{count.total} comparisons</p>}\n"
        "      </QueryView>\n"
        "    </Page>\n"
        "  );\n"
        "}\n",
    )
    copy.change(
        "web/src/api/queryKeys.ts",
        ('  settings: ["settings"],\n', '  settings: ["settings"],\n  runCount: ["run-count"],\n'),
    )
    route = (
        "const counts = createRoute({\n  getParentRoute: () => root,\n"
        '  path: "/counts",\n  component: lazyRouteComponent(\n'
        '    part(() => import("../features/counts/CountsPage")),\n    "CountsPage",\n  ),\n});\n\n'
    )
    copy.change(
        "web/src/app/router.tsx",
        ("const tree = root", f"{route}const tree = root"),
        ("  account,\n]);", "  account,\n  counts,\n]);"),
    )


def migration(copy: Copy) -> None:
    number = copy.migration("notes", "CREATE TABLE notes (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;\n")
    copy.earlier_rows(number, "INSERT INTO notes VALUES (1, 'Ahoy!')")


def _columns(names: Iterable[str]) -> str:
    return "".join(f"    {name} TEXT NOT NULL,\n" for name in names)


CHANGES: Final[dict[str, Callable[[Copy], None]]] = {
    "The limit of a criterion's weight": weight,
    "A provider protocol": protocol,
    "A state of a run": state,
    "A field of contents": field,
    "An option of a command": option,
    "The rule of win shares": win_shares,
    "A page in the app": page,
    "A migration": migration,
}
