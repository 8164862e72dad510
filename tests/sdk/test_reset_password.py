"""A rekey for somebody who has forgotten the password: by the key in memory, or by one that was kept for recovery."""

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from carrel_sdk import (
    CarrelUnreachable,
    Conflict,
    Host,
    KeyRejected,
    MemorySessions,
    OldKeyRequired,
    PasswordChangeUnknown,
    TryLater,
    derive_key,
)
from carrel_sdk.sessions import LOCKED, Session

from tests.sdk.test_host_network import PASSWORD, SECRET, UUID, Clock, host_over, session_answer, token
from tests.support.service import Service
from tests.support.wire import Step, Wire, problem

BROKEN = httpx.Response(502, text="<h1>Bad gateway</h1>")


@pytest.fixture
def host(service: Service) -> Iterator[Host]:
    host = Host(service.url, service.plugin_secret)
    yield host
    host.close()


@pytest.fixture
def uuid(host: Host) -> str:
    uuid = f"sdk-{uuid4()}"
    host.sign_up(uuid, password=PASSWORD)
    return uuid


def lock(host: Host, uuid: str) -> None:
    """The key leaves the service's memory."""
    with pytest.raises(KeyRejected):
        host.sign_in(uuid, "nobody's")


# Against the service ----------------------------------------------------------------------------------------------


def test_while_the_key_is_in_memory_the_new_password_is_all_it_takes(host: Host, uuid: str) -> None:
    change = host.reset_password(uuid, "new")
    assert host.session(uuid) == change.session.token
    with pytest.raises(KeyRejected):
        host.sign_in(uuid, PASSWORD)
    host.sign_in(uuid, "new")


def test_without_it_the_old_key_is_required_and_that_is_a_type(host: Host, uuid: str) -> None:
    lock(host, uuid)
    with pytest.raises(OldKeyRequired) as caught:
        host.reset_password(uuid, "new")
    assert isinstance(caught.value, Conflict)
    assert host.session(uuid) is LOCKED
    host.sign_in(uuid, PASSWORD)


def test_a_kept_key_opens_the_workspace_for_the_new_password(host: Host, uuid: str) -> None:
    lock(host, uuid)
    with pytest.raises(KeyRejected):
        host.reset_password(uuid, "new", old_key=bytes(32))
    assert not host.reset_password(uuid, "new", old_key=derive_key(PASSWORD, uuid)).already_done
    assert host.reset_password(uuid, "new", old_key=derive_key(PASSWORD, uuid)).already_done
    host.sign_in(uuid, "new")


def test_who_never_signed_in_has_nothing_to_reset(host: Host) -> None:
    uuid = f"sdk-{uuid4()}"
    with pytest.raises(KeyRejected) as unknown:
        host.reset_password(uuid, "new")
    assert unknown.value.code == "user-not-provisioned"
    host.sign_up(uuid)
    with pytest.raises(Conflict) as absent:
        host.reset_password(uuid, "new")
    assert absent.value.code == "workspace-absent"


# Over a bad network -----------------------------------------------------------------------------------------------


def test_the_key_in_memory_is_asked_for_by_leaving_the_old_one_out() -> None:
    wire = Wire(session_answer("rekeyed"))
    host = host_over(wire)
    assert host.session(UUID) == host.reset_password(UUID, "new").session.token
    assert wire.bodies[-1] == {"uuid": UUID, "new_db_key_hex": derive_key("new", UUID).hex()}


@pytest.mark.parametrize("lost", [httpx.ReadTimeout("late"), BROKEN, problem(500, "internal")])
def test_a_lost_answer_is_asked_for_again_and_never_by_a_login_that_would_drop_the_key(lost: Step) -> None:
    wire = Wire(lost, session_answer("again"))
    host_over(wire).reset_password(UUID, "new")
    assert wire.paths == ["/auth/rekey"] * 2


@pytest.mark.parametrize(
    "then", [httpx.ConnectError("died"), httpx.ReadTimeout("late"), problem(503, "unavailable"), BROKEN]
)
def test_a_refusal_after_a_lost_answer_is_no_proof_that_nothing_happened(then: Step) -> None:
    with pytest.raises(PasswordChangeUnknown):
        host_over(Wire(httpx.ReadTimeout("late"), then)).reset_password(UUID, "new")


def test_a_service_that_did_it_and_restarted_is_found_out_by_a_login_which_costs_nothing_any_more() -> None:
    wire = Wire(httpx.ReadTimeout("late"), problem(409, "old-key-required"), session_answer("in"))
    host_over(wire).reset_password(UUID, "new")
    assert wire.paths == ["/auth/rekey", "/auth/rekey", "/auth/login"]
    wire = Wire(httpx.ReadTimeout("late"), problem(409, "old-key-required"), problem(401, "key-rejected"))
    with pytest.raises(PasswordChangeUnknown):
        host_over(wire).reset_password(UUID, "new")


@pytest.mark.parametrize(
    ("refusal", "kind"), [(httpx.ConnectError("refused"), CarrelUnreachable), (problem(503, "unavailable"), TryLater)]
)
def test_what_never_happened_is_asked_once_and_leaves_the_kept_session(refusal: Step, kind: type[Exception]) -> None:
    store = MemorySessions()
    clock = Clock()
    store.put(Session(UUID, token("kept"), clock.seconds + 60))
    wire = Wire(refusal)
    host = Host("http://127.0.0.1:1", SECRET, sessions=store, http=wire, clock=clock)
    with pytest.raises(kind):
        host.reset_password(UUID, "new")
    assert wire.paths == ["/auth/rekey"]
    assert host.session(UUID) == token("kept")


def test_a_kept_key_of_the_wrong_length_goes_nowhere_and_is_not_shown() -> None:
    wire = Wire(session_answer("no"))
    with pytest.raises(ValueError, match="32 bytes") as caught:
        host_over(wire).reset_password(UUID, "new", old_key=b"secret")
    assert "secret" not in repr(caught.value)
    assert wire.paths == []
