"""A program's client: it exchanges its key by itself, again when a session has ended, and shows it nowhere."""

import traceback
from uuid import uuid4

import httpx
import msgspec
import pytest
from carrel_sdk import CarrelApiError, Host, ProgramKeyRefused, SessionEnded, Workspace

from tests.support.service import Service
from tests.support.wire import Wire, problem

KEY = "carrel_pk_ada." + "0" * 128
SESSION = httpx.Response(
    200,
    json={"session_token": "carrel_pt_a.b", "expires_in": 3600, "uuid": "ada", "program": "p", "scopes": ["read"]},
)
ME = httpx.Response(200, json={"balance": "1", "reserved": "0", "updated_at": ""})


def test_a_program_signs_in_and_comes_back_after_a_sign_out_and_not_after_a_revocation(service: Service) -> None:
    host = Host(service.url, service.plugin_secret)
    uuid = f"program-{uuid4()}"
    with Workspace(service.url, str(host.sign_up(uuid, membership="paid", password="pw").token)) as user:
        made = user.program_keys.create("CI", "read", days=1)
        with Workspace(service.url, made.program_key) as program:
            assert program.me().uuid == uuid
            with pytest.raises(CarrelApiError, match="scope-missing"):
                program.contents.create("n", "fragment")
            user.sign_out()
            assert program.me().uuid == uuid
            host.sign_in(uuid, "pw")
            with Workspace(service.url, str(host.session(uuid))) as back:
                (listed,) = back.program_keys.list().items
                assert listed.last_used_at is not None
                back.program_keys.revoke(made.id)
            with pytest.raises(ProgramKeyRefused):
                program.me()
    host.close()


@pytest.mark.parametrize("code", ["session-token-expired", "session-token-revoked", "key-not-cached"])
def test_whatever_has_ended_the_session_the_key_is_exchanged_once_more(code: str) -> None:
    wire = Wire(SESSION, problem(401, code), SESSION, ME)
    with Workspace("http://127.0.0.1:1", KEY, http=wire) as program:
        assert program.credits().balance == "1"
    assert wire.paths == ["/auth/program", "/credits", "/auth/program", "/credits"]
    assert msgspec.json.decode(wire.requests[0].content) == {"program_key": KEY}
    assert "X-SVC-Session-Token" not in wire.requests[0].headers

    for_ever = Wire(SESSION, problem(401, code), SESSION, problem(401, code))
    with Workspace("http://127.0.0.1:1", KEY, http=for_ever) as program, pytest.raises(SessionEnded):
        program.credits()


def test_a_program_key_stands_in_no_repr_and_no_traceback() -> None:
    with Workspace("http://127.0.0.1:1", KEY, http=Wire(problem(401, "program-key-expired"))) as program:
        with pytest.raises(ProgramKeyRefused) as refused:
            program.me()
        told = "".join(traceback.TracebackException.from_exception(refused.value, capture_locals=True).format())
    assert KEY not in told + repr(program) + repr(program.program_keys)
