"""Databases as earlier programs left them: the first migrations only, with a few rows in every table.

Whoever adds a migration that makes a table or a column adds rows for it to `ROWS`, under the number of the migration.
"""

from pathlib import Path
from typing import Final
from unittest.mock import patch

from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database, migrate
from carrel.kit.sqlite.database import Connection
from tests.support.clock import FakeClock

WORKSPACE: Final = "carrel.vault.migrations"
ACCOUNT: Final = "carrel.accounts.account_migrations"
SERVICE: Final = "carrel.accounts.service_migrations"

Rows = dict[str, list[tuple[object, ...]]]
"""The rows of each table, by the columns that the table had."""

_AT = "'2026-11-22T06:00:00.000Z'"
_RUN_ID = "'01900000-0000-7000-8000-000000000007'"
_CONFIGURATION = """'{"inputs":["c1"],"generation":{"candidates":[{"model":"test:echo","label":"A"}]}}'"""

ROWS: Final[dict[str, dict[int, str]]] = {
    WORKSPACE: {
        1: f"""
            INSERT INTO user_meta VALUES ('alice', {_AT});
            INSERT INTO idempotency VALUES ('POST /contents', 'k1', x'00', 201, x'7b7d', '"1"', {_AT});
        """,
        2: f"""
            INSERT INTO contents (id, name, type, description, tags, variables, version, created_at, updated_at,
                body_bytes, body_preview, body)
            VALUES ('c1', 'Ships', 'input_document', '', '["sea"]', '{{}}', 2, {_AT}, {_AT}, 5, 'Ahoy!', 'Ahoy!'),
                ('c2', 'Greeting', 'fragment', '', '[]', '{{"SHIPS": "c1"}}', 1, {_AT}, {_AT}, 9, '{{{{SHIPS}}}}',
                '{{{{SHIPS}}}}');
            INSERT INTO content_versions VALUES (1, 1, 'Ships', '', '[]', '{{}}', {_AT}, 3, 'Ay!', 'Ay!');
        """,
        3: f"""
            INSERT INTO presets VALUES (1, 'p1', 'Mine', '', '[]', 1, {_AT}, {_AT}, 1, '["A"]', 89, {_CONFIGURATION});
            INSERT INTO preset_contents VALUES (1, 'c1');
        """,
        4: f"""INSERT INTO settings VALUES (1, '{{"timezone":"UTC"}}', 1, {_AT})""",
        5: f"""
            INSERT INTO provider_key (provider, secret, created_at, updated_at)
            VALUES ('openai', 'sk-a-key-of-alice', {_AT}, {_AT})
        """,
        6: f"""
            INSERT INTO calls (id, run_id, task_key, attempt, provider, model, outcome, input_tokens, cost_micros,
                started_at, finished_at)
            VALUES ('k1', {_RUN_ID}, 'r1.generate.d1.c1.s1', 1, 'test', 'test:echo', 'answered', 7, 0, {_AT}, {_AT})
        """,
        7: f"""
            INSERT INTO runs (id, name, state, phase, tags, verdict, created_at, started_at, finished_at)
            VALUES ({_RUN_ID}, 'First', 'completed', 'compare', '["sea"]', 'A leads.', {_AT}, {_AT}, {_AT});
            INSERT INTO run_tags VALUES ('sea', 1);
            INSERT INTO run_snapshots (run, configuration, seed, fence, concurrency, timeout_seconds, max_attempts,
                show_criteria)
            VALUES (1, {_CONFIGURATION}, 'seed', 'fence', 4, 60.0, 3, 0);
            INSERT INTO run_texts VALUES (1, 1, x'01', '[]', 'Ahoy!');
            INSERT INTO run_documents VALUES (1, 1, 'c1', 'Ships', 1, NULL);
            INSERT INTO run_candidates (run, ordinal, label, model, parameters, repeats)
            VALUES (1, 1, 'A', 'test:echo', '{{}}', 1), (1, 2, 'B', NULL, '{{}}', 1);
            INSERT INTO run_existing VALUES (1, 2, 1, 1);
            INSERT INTO run_rounds (run, number, criteria) VALUES (1, 1, '[]');
            INSERT INTO run_judges VALUES (1, 1, 1, 'test:judge', 'test:judge', NULL, '{{}}', 1.0, 1.0, 1);
            INSERT INTO tasks (seq, run, round, key, kind, state, document, candidate, opponent, repeat, judge,
                judge_repeat, presented)
            VALUES (1, 1, 1, 'r1.generate.d1.c1.s1', 'generate', 'pending', 1, 1, NULL, 1, NULL, NULL, NULL),
                (2, 1, 1, 'r1.score.d1.c1.s1.j1.r1', 'score', 'pending', 1, 1, NULL, 1, 1, 1, NULL),
                (3, 1, 1, 'r1.compare.d1.c1.c2.s1.j1.ab', 'compare', 'pending', 1, 1, 2, 1, 1, NULL, 'ab');
            UPDATE tasks SET state = 'succeeded';
            INSERT INTO generated (id, task, run, document, candidate, repeat, finish_reason, delivered, words,
                input_tokens, output_tokens, cost_micros, created_at, body)
            VALUES ('g1', 1, 1, 1, 1, 1, 'stop', 1, 1, 7, 1, 0, {_AT}, 'Ahoy!');
            INSERT INTO run_sources VALUES (1, 1, 1, 1, 1);
            INSERT INTO scores VALUES (2, 'given', '{{"Style":4.0}}', 'Good.');
            INSERT INTO comparisons VALUES (3, 'first', NULL, 'The first.');
            INSERT INTO run_rankings VALUES (1, 1, '{{}}', 'A leads.');
            INSERT INTO run_log (run, at, level, event) VALUES (1, {_AT}, 'info', 'run-created');
        """,
        8: f"""
            INSERT INTO run_exports VALUES (1, 'b1', 1, 'ready', NULL, 2, {_AT});
            INSERT INTO run_export_pieces VALUES (1, 0, x'504b');
        """,
        9: "INSERT INTO run_outputs VALUES (1, 1, 'c2')",
        10: f"""
            INSERT INTO run_votes (id, run, document, candidate, opponent, repeat, presented, word, shown_at, voted_at)
            VALUES ('v1', 1, 1, 1, 2, 1, 'ba', 'first', {_AT}, {_AT})
        """,
        11: f"INSERT INTO rate_limits (provider, concurrency, updated_at) VALUES ('openai', 2, {_AT})",
        12: f"""
            INSERT INTO documents (id, content_id, file_name, format, bytes, created_at)
            VALUES ('f1', 'c1', 'ships.md', 'md', 5, {_AT});
            INSERT INTO document_pieces VALUES (1, 0, x'41686f7921');
        """,
        13: f"""
            INSERT INTO github_connections (id, name, repository, base_url, token, created_at, updated_at)
            VALUES ('h1', 'Texts', 'alice/texts', 'https://api.github.com', 'a-token-of-alice', {_AT}, {_AT})
        """,
        14: "INSERT INTO import_pieces VALUES ('i1', 0, x'504b')",
        15: """
            INSERT INTO run_deliveries (run, round, connection_id, answers, path, state)
            VALUES (1, 1, 'h1', 'best', '', 'done')
        """,
        18: "INSERT INTO run_looks VALUES (1, 1, 1, 10, 1, '[2]')",
        19: f"""
            INSERT INTO run_votes (id, run, voter, document, candidate, opponent, repeat, presented, word, shown_at,
                voted_at, chance, among)
            VALUES ('v2', 1, 'Ann', 1, 1, 2, 1, 'ab', 'tie', {_AT}, {_AT}, 0.5, 2)
        """,
        20: f"""
            INSERT INTO judge_checks VALUES (1, 'q1', 'local:reader', '{{}}', '1', {_AT}, NULL);
            INSERT INTO judge_check_words VALUES (1, 'tides', 'ab', 'first', 0);
        """,
        22: f"""
            INSERT INTO data_sets VALUES
                (1, 't1', 'Questions', '', 'csv', '[{{"name":"q","role":"variable"}}]', 1, 9, 2, 2, {_AT}, {_AT});
            INSERT INTO data_set_versions VALUES (1, 1, 'Questions', '', 'csv', '[]', 1, 9, 1, {_AT});
            INSERT INTO data_set_rows VALUES (1, 1, 2, 1, '1', '["Ahoy?"]');
            INSERT INTO preset_data_sets VALUES (1, 't1');
            UPDATE run_documents SET fields = '{{"q":1}}', messages = 1,
                metadata = '{{"lang":"en"}}';
        """,
        23: """
            INSERT INTO run_checks VALUES (1, 0, '{"kind":"json","name":"json"}', 0);
            INSERT INTO check_marks VALUES (1, 1, 1, '[1.0]');
        """,
        24: f"""
            INSERT INTO batches (id, run_id, round, model, state, remote_id, created_at)
            VALUES ('b1', 'r1', 1, 'openai:gpt-one', 'ended', 'batch_1', {_AT});
            INSERT INTO calls (id, attempt, provider, model, outcome, started_at, batch)
            VALUES ('k9', 1, 'openai', 'openai:gpt-one', 'running', {_AT}, 1);
        """,
        35: f"""
            INSERT INTO preset_drafts (id, name, form, preset_id, updated_at, body)
            VALUES ('u1', 'Unfinished', 'preset', 'p1', {_AT}, '{{"value":{{}}}}')
        """,
        39: "UPDATE judge_checks SET passed = 0",
        40: "UPDATE judge_checks SET seed = 'q2'",
        36: """
            UPDATE run_candidates SET host = 'llm.example.org' WHERE ordinal = 1;
            UPDATE run_judges SET host = 'llm.example.org';
            UPDATE generated SET host = 'llm.example.org';
            UPDATE judge_checks SET host = 'llm.example.org';
            UPDATE batches SET host = 'llm.example.org';
        """,
        34: f"""
            INSERT INTO model_prices (model, input_micros, output_micros, updated_at)
            VALUES ('ollama', 500000, 0, {_AT})
        """,
        31: """
            UPDATE run_votes SET word = 'tie', both_bad = 1;
            INSERT INTO run_notes VALUES (1, 1, 1, 1, 1, 1, 'Too long.', '2026-11-23T12:00:00Z');
        """,
        32: "UPDATE run_votes SET reason = 'It is shorter.' WHERE word IS NOT NULL",
        43: """UPDATE run_votes SET scores = '{"first":{"Clarity":4}}' WHERE word IS NOT NULL""",
        26: """
            UPDATE run_candidates SET grounding = 'allowed';
            INSERT INTO generated_citations VALUES (1, '[{"url":"https://example.org","title":"Ships"}]');
        """,
        30: "UPDATE runs SET trial = 1",
        27: "UPDATE run_candidates SET response_schema = 1; UPDATE run_checks SET candidates = '[1]'",
        25: "UPDATE tasks SET asked = x'00', reused = 1 WHERE seq = 2; UPDATE runs SET reused = 1",
    },
    ACCOUNT: {
        1: f"""
            INSERT INTO account VALUES ('alice', 'paid', {_AT}, 1700000000, 1, 5000000, 1000000, {_AT});
            INSERT INTO ledger (id, kind, amount_micros, balance_micros, created_at)
            VALUES ('l1', 'add', 6000000, 6000000, {_AT}), ('l2', 'reserve', -1000000, 5000000, {_AT});
            INSERT INTO idempotency VALUES ('POST /credits', 'k1', x'00', 201, x'7b7d', NULL, {_AT});
        """,
        2: f"INSERT INTO reservation VALUES ('r1', 1000000, {_AT})",
        3: f"UPDATE reservation SET swept_at = {_AT}",
        4: "INSERT INTO ended_session VALUES (1700000000)",
        6: """
            INSERT INTO program_key (id, name, scopes, created_at, expires_at, series, epoch, hash, wrapped)
            VALUES ('p1', x'00', 'read', 1700000000, 1700086400, 'f0', 0, x'01', x'02')
        """,
    },
    SERVICE: {
        1: f"""
            INSERT INTO provider_key (provider, secret, created_at, updated_at)
            VALUES ('openai', 'sk-a-key-of-all', {_AT}, {_AT});
            INSERT INTO shared_log (id, owner, entries, created_at, expires_at)
            VALUES ('s1', 'f00', x'5b5d', {_AT}, '2099-01-01T00:00:00.000Z');
            INSERT INTO deletion VALUES ('f01', 1700000000, 1);
        """,
        2: "INSERT INTO issuance VALUES (1, 1700000000)",
        3: "UPDATE issuance SET ended = 1600000000",
        4: """
            INSERT INTO write_off VALUES ('f00', '2026-11-21', 2, 30000);
            INSERT INTO holder VALUES ('f00', 'alice');
        """,
        5: "INSERT INTO roster VALUES ('f02', 'alice')",
        # The row of an unfinished rotation stands with today's schema, because no service starts with it.
        6: f"INSERT INTO receipt_key VALUES ('5a5a', {_AT})",
        7: "INSERT INTO program_secret VALUES (1, x'00')",
        8: """
            INSERT INTO slot_issuance VALUES (71, 1700000000, 1600000000);
            INSERT INTO slot_program_secret VALUES (71, x'01');
        """,
        9: "INSERT INTO audit VALUES (1, x'00', 0, '', '', 0)",
        10: f"""
            INSERT INTO webhook VALUES (1, 'w1', 'f00', 'credits.low', 'l1', '{{}}', {_AT}, 0, NULL);
            INSERT INTO rotation VALUES (1);
        """,
    },
}


def numbers(package: str) -> list[int]:
    """The numbers of the migrations of a package."""
    return [number for number, _ in migrate.load(package)]


def earlier(package: str) -> list[int]:
    """Every schema but today's, by the number of its last migration."""
    return numbers(package)[:-1]


def leave(path: Path, key: bytes | bytearray, package: str, number: int) -> Rows:
    """Make the database that a program left whose last migration was `number`; its rows."""
    clock = FakeClock()
    conn = database.create(path, key, clock=clock, new_id=uuid7_factory(clock))
    for one in numbers(package):
        if one <= number:
            migrate_to(conn, package, one)
            conn.execute(ROWS[package].get(one, "")).fetchall()
    left = {f"{table} ({', '.join(columns)})": _rows(conn, table, columns) for table, columns in _tables(conn).items()}
    database.complete(conn)
    return left


def migrate_to(conn: Connection, package: str, number: int) -> None:
    """Run the migrations up to a number, as the program did whose last one it was."""
    known = tuple(one for one in migrate.load(package) if one[0] <= number)
    # What makes a database of today's at once would make too much.
    with patch.object(migrate, "load", lambda _: known), patch.object(migrate, "all_at_once", lambda _: ""):
        migrate.migrate(conn, package)


def still_there(conn: Connection, left: Rows) -> Rows:
    """The rows now, by the columns of then."""
    return {head: _rows(conn, head.partition(" ")[0], head.partition("(")[2][:-1].split(", ")) for head in left}


def faults(conn: Connection) -> list[object]:
    """What SQLite finds to be wrong with a database."""
    checked = conn.column("PRAGMA integrity_check")
    return [*(one for one in checked if one != "ok"), *conn.all("PRAGMA foreign_key_check")]


def _tables(conn: Connection) -> dict[str, list[str]]:
    # The full-text index keeps its words in tables of its own.
    names = conn.column(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
        " ORDER BY name"
    )
    return {name: conn.column("SELECT name FROM pragma_table_info(?)", name) for name in names}


def _rows(conn: Connection, table: str, columns: list[str]) -> list[tuple[object, ...]]:
    return sorted(conn.all(f"SELECT {', '.join(columns)} FROM {table}"), key=repr)
