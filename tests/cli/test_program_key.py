"""`carrel program-key`, and a program that has nothing but its key in the environment."""

import msgspec
import pytest
from carrel_sdk.models import NewProgramKey, ProgramKey

from tests.cli.conftest import Terminal
from tests.support.service import Service


def test_a_key_is_made_used_listed_and_revoked(signed_in: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert signed_in("program-key", "create", "CI").exit_code == 2
    assert signed_in("program-key", "create", "CI", "--scope", "admin").exit_code == 2
    made = signed_in("program-key", "create", "CI", "--scope", "read", "--scope", "run", "--days", "7")
    assert made.exit_code == 0
    # Alone on stdout, so that it can go into a secret store without being seen.
    key = made.stdout.strip()
    assert key.startswith("carrel_pk_")
    assert "Shown this once" in made.stderr
    other = msgspec.json.decode(
        signed_in("program-key", "create", "other", "--scope", "write", "--json").stdout, type=NewProgramKey
    )
    assert other.program_key not in repr(other)
    listed = signed_in("program-key", "list")
    assert "CI" in listed.output
    assert key not in listed.output
    first = msgspec.json.decode(signed_in("program-key", "list", "--json").stdout.splitlines()[1], type=ProgramKey)
    assert first.last_used_at is None

    with monkeypatch.context() as program:
        program.delenv("CARREL_TOKEN")
        program.setenv("CARREL_PROGRAM_KEY", key)
        assert signed_in("workspace", "show").exit_code == 0
        refused = signed_in("content", "delete", "any")
        assert (refused.exit_code, "scope" in refused.output) == (1, True)
        assert "has to sign in" in signed_in("program-key", "list").output
    assert signed_in("program-key", "revoke", first.id).exit_code == 0
    assert signed_in("program-key", "revoke", first.id).exit_code == 4
    states = [
        msgspec.json.decode(line, type=ProgramKey).state
        for line in signed_in("program-key", "list", "--json").stdout.splitlines()
    ]
    assert states == ["active", "revoked"]
    with monkeypatch.context() as program:
        program.delenv("CARREL_TOKEN")
        program.setenv("CARREL_PROGRAM_KEY", key)
        ended = signed_in("workspace", "show")
        assert (ended.exit_code, "was revoked" in ended.output) == (3, True)
        assert key not in ended.output
        program.setenv("CARREL_PROGRAM_KEY", "a session token")
        assert signed_in("workspace", "show").exit_code == 3


def test_a_program_key_is_never_stored_as_a_login(signed_in: Terminal, service: Service) -> None:
    key = signed_in("program-key", "create", "CI", "--scope", "read").stdout.strip()
    answer = signed_in("login", "--token-stdin", "--url", service.url, stdin=f"{key}\n")
    assert answer.exit_code == 2
    assert "CARREL_PROGRAM_KEY" in answer.output
    assert key not in answer.output
