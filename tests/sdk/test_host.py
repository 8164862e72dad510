"""The host's side against the real service: users, sessions, membership, credits, the password's change."""

from collections.abc import Iterator
from decimal import Decimal
from uuid import uuid4

import pytest
from carrel_sdk import LOCKED, Conflict, Host, KeyRejected, MemorySessions, Session, SessionEnded
from carrel_sdk.calls import Calls
from carrel_sdk.errors import CarrelApiError
from carrel_sdk.models import Me
from carrel_sdk.transport import Transport

from tests.support.service import Service

PASSWORD = "correct horse battery staple"


@pytest.fixture
def host(service: Service) -> Iterator[Host]:
    host = Host(service.url, service.plugin_secret)
    yield host
    host.close()


@pytest.fixture
def uuid() -> str:
    return f"sdk-{uuid4()}"


def me(service: Service, token: str) -> Me:
    transport = Transport(service.url)
    try:
        return Calls(transport, token).get("/users/me", Me)
    finally:
        transport.close()


def test_a_user_is_signed_up_paid_for_and_deleted(service: Service, host: Host, uuid: str) -> None:
    session = host.sign_up(uuid, membership="paid", password=PASSWORD)
    assert host.session(uuid) == session.token
    assert host.add_credits(uuid, Decimal("12.50"), "order 17", idempotency_key="17").balance == "12.5"
    assert host.add_credits(uuid, Decimal("12.50"), "order 17", idempotency_key="17").balance == "12.5"
    seen = me(service, session.token)
    assert (seen.uuid, seen.membership, seen.credits) == (uuid, "paid", "12.5")
    assert host.set_membership(uuid, "free").membership == "free"
    assert me(service, session.token).membership == "free"
    assert host.delete(uuid)
    assert not host.delete(uuid)
    assert host.session(uuid) is LOCKED


def test_signing_up_twice_signs_in_and_keeps_the_first_password(host: Host, uuid: str) -> None:
    assert host.sign_up(uuid) is None
    with pytest.raises(Conflict):
        host.sign_up(uuid)
    host.sign_up(uuid, password=PASSWORD)
    host.sign_up(uuid, password=PASSWORD)
    with pytest.raises(KeyRejected):
        host.sign_up(uuid, password="another")


def test_a_wrong_password_is_rejected_and_locks(host: Host, uuid: str) -> None:
    host.sign_up(uuid, password=PASSWORD)
    with pytest.raises(KeyRejected) as caught:
        host.sign_in(uuid, "wrong")
    assert caught.value.code == "key-rejected"
    assert host.session(uuid) is LOCKED
    host.sign_in(uuid, PASSWORD)
    assert host.session(uuid) is not LOCKED


def test_an_unknown_user_is_rejected(host: Host, uuid: str) -> None:
    with pytest.raises(KeyRejected) as caught:
        host.sign_in(uuid, PASSWORD)
    assert caught.value.code == "user-not-provisioned"


def test_a_host_without_a_kept_token_gets_one_without_the_password(service: Service, host: Host, uuid: str) -> None:
    host.sign_up(uuid, password=PASSWORD)
    restarted = Host(service.url, service.plugin_secret)
    token = restarted.session(uuid)
    assert isinstance(token, str)
    assert me(service, token).uuid == uuid
    restarted.close()


def test_a_changed_password_ends_every_session_and_only_the_new_one_opens(
    service: Service, host: Host, uuid: str
) -> None:
    before = host.sign_up(uuid, password=PASSWORD)
    change = host.change_password(uuid, PASSWORD, "new")
    assert not change.already_done
    assert me(service, change.session.token).uuid == uuid
    with pytest.raises(SessionEnded) as caught:
        me(service, before.token)
    assert caught.value.code == "session-token-revoked"
    with pytest.raises(KeyRejected):
        host.sign_in(uuid, PASSWORD)
    host.sign_in(uuid, "new")


def test_a_change_that_the_host_did_not_record_is_completed_by_calling_again(host: Host, uuid: str) -> None:
    host.sign_up(uuid, password=PASSWORD)
    host.change_password(uuid, PASSWORD, "new")
    assert host.change_password(uuid, PASSWORD, "new").already_done
    # The other way to complete it: the user signs in with the new password, and the host sees that it is accepted.
    host.sign_in(uuid, "new")


def test_a_password_cannot_be_changed_with_a_wrong_one_or_before_the_first_sign_in(host: Host, uuid: str) -> None:
    host.sign_up(uuid)
    with pytest.raises(Conflict) as caught:
        host.change_password(uuid, PASSWORD, "new")
    assert caught.value.code == "workspace-absent"
    host.sign_in(uuid, PASSWORD)
    with pytest.raises(KeyRejected):
        host.change_password(uuid, "wrong", "new")
    host.sign_in(uuid, PASSWORD)


def test_a_refreshed_token_replaces_the_kept_one(service: Service, uuid: str) -> None:
    seconds = [0.0]
    host = Host(service.url, service.plugin_secret, clock=lambda: seconds[0])
    host.sign_up(uuid, password=PASSWORD)
    seconds[0] = 3301
    token = host.session(uuid)
    assert isinstance(token, str)
    assert host.session(uuid) == token
    host.close()


def test_a_wrong_secret_is_told_apart_from_a_wrong_password(service: Service, uuid: str) -> None:
    stranger = Host(service.url, "x" * 40)
    with pytest.raises(CarrelApiError) as caught:
        stranger.sign_in(uuid, PASSWORD)
    assert caught.value.code == "plugin-secret-invalid"
    stranger.close()


def test_after_a_restart_of_the_service_everybody_is_locked_until_the_password_comes(
    tmp_path_factory: pytest.TempPathFactory, uuid: str
) -> None:
    own = Service(tmp_path_factory.mktemp("restarted"))
    own.start()
    store = MemorySessions()
    host = Host(own.url, own.plugin_secret, sessions=store)
    session = host.sign_up(uuid, password=PASSWORD)
    own.restart()
    with pytest.raises(SessionEnded) as caught:
        me(own, session.token)
    assert caught.value.code == "key-not-cached"
    # The host keeps the token for its 55 minutes unless a page tells it to forget.
    store.put(Session(uuid, session.token, 0))
    assert host.session(uuid) is LOCKED
    host.sign_in(uuid, PASSWORD)
    assert host.session(uuid) is not LOCKED
    host.close()
    assert own.stop() == 0
