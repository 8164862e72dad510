"""The operator's client, against the real service and over the wire."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from uuid import uuid4

import httpx
import pytest
from carrel_sdk import Admin, CarrelApiError, CarrelError, Host, NotFound

from tests.sdk.test_every_route import described, requested
from tests.support.service import Service
from tests.support.wire import Wire

CALLS: list[Callable[[Admin], object]] = [
    lambda admin: admin.system_keys.store("openai", "k"),
    lambda admin: next(admin.system_keys.each()),
    lambda admin: admin.system_keys.get("{provider}"),
    lambda admin: admin.system_keys.delete("{provider}"),
    lambda admin: next(admin.shared_logs.each()),
    lambda admin: admin.shared_logs.get("{share_id}"),
    lambda admin: admin.write_offs(),
    lambda admin: admin.delete_user("{uuid}"),
    lambda admin: admin.backup(BytesIO()),
    lambda admin: next(admin.users.each()),
    lambda admin: admin.users.get("{uuid}"),
    lambda admin: admin.users.suspend("{uuid}"),
    lambda admin: admin.users.reinstate("{uuid}"),
    lambda admin: admin.users.set_quota("{uuid}", None),
    lambda admin: admin.users.end_sessions("{uuid}"),
]


@pytest.fixture
def admin(service: Service) -> Iterator[Admin]:
    with Admin(service.url, service.admin_secret) as admin:
        yield admin


def test_an_operator_reaches_every_route_of_the_admin_secret() -> None:
    wire = Wire(httpx.Response(200, json={"items": [], "next_cursor": None}))
    with Admin("http://127.0.0.1:1", "x" * 40, http=wire) as admin:
        for call in CALLS:
            with suppress(CarrelError, StopIteration):
                call(admin)
    assert requested(wire) == described("AdminSecret")
    assert {request.headers["x-svc-admin-secret"] for request in wire.requests} == {"x" * 40}
    assert not any("x-svc-session-token" in request.headers for request in wire.requests)


def test_a_system_key_is_stored_listed_and_removed_and_never_comes_out(admin: Admin) -> None:
    stored = admin.system_keys.store("openai", "sk-of-this-test-1234")
    assert (stored.provider, stored.hint) == ("openai", "1234")
    assert admin.system_keys.get("openai") == stored
    assert [key.provider for key in admin.system_keys.each()] == ["openai"]
    assert "sk-of-this-test" not in repr(stored)
    admin.system_keys.delete("openai")
    with pytest.raises(NotFound):
        admin.system_keys.get("openai")


def test_a_user_is_deleted_once(admin: Admin, service: Service) -> None:
    uuid = f"sdk-{uuid4()}"
    host = Host(service.url, service.plugin_secret)
    host.sign_up(uuid)
    host.close()
    assert admin.delete_user(uuid)
    assert not admin.delete_user(uuid)


def test_a_log_that_nobody_shared_is_not_found(admin: Admin) -> None:
    unshared = str(uuid4())
    assert unshared not in {log.share_id for log in admin.shared_logs.each()}
    with pytest.raises(NotFound):
        admin.shared_logs.get(unshared)


def test_a_wrong_secret_is_refused_and_none_is_shown(service: Service) -> None:
    with Admin(service.url, "z" * 40) as outsider:
        with pytest.raises(CarrelApiError) as caught:
            next(outsider.system_keys.each())
        assert caught.value.code == "admin-secret-invalid"
        assert "z" * 40 not in repr((outsider, caught.value, outsider._calls, outsider._transport))
    for secret in ("", "with space", "umlaut-ä"):
        with pytest.raises(ValueError, match="visible ASCII"):
            Admin(service.url, secret)
