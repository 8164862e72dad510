"""The host's calls over a bad network: what is kept, what is tried again, what is never shown."""

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
from carrel_sdk import deadline, host_calls
from carrel_sdk.derive import derive_key
from carrel_sdk.errors import CarrelApiError, CarrelUnreachable, Conflict, KeyRejected, TryLater
from carrel_sdk.host import Host
from carrel_sdk.rekeying import PasswordChangeUnknown
from carrel_sdk.sessions import LOCKED, MemorySessions, Session, expiry_of

from tests.support.wire import Step, Wire, problem

SECRET = "a-plugin-secret-of-a-host-0123456789"
PASSWORD = "correct horse battery staple"
UUID = "3f1c2b9e-0001"


class Clock:
    """Wall time that stands still until it is moved."""

    seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def host_over(wire: httpx.BaseTransport, clock: Clock | None = None) -> Host:
    return Host("http://127.0.0.1:1", SECRET, http=wire, clock=clock or Clock())


def token(name: str, expires_at: int = 1_003_600) -> str:
    payload = json.dumps({"uuid": UUID, "exp": expires_at, "v": 1}).encode()
    return base64.urlsafe_b64encode(payload).rstrip(b"=").decode() + "." + name


def session_answer(name: str, expires_at: int = 1_003_600) -> httpx.Response:
    return httpx.Response(200, json={"session_token": token(name, expires_at), "expires_in": 3600})


# Sessions ---------------------------------------------------------------------------------------------------------


def test_a_session_is_handed_out_for_55_minutes_and_then_refreshed(clock: Clock) -> None:
    wire = Wire(session_answer("first"), session_answer("second", 1_006_900))
    host = host_over(wire, clock)
    assert host.session(UUID) == token("first")
    clock.seconds += 55 * 60 - 1
    assert host.session(UUID) == token("first")
    clock.seconds += 1
    assert host.session(UUID) == token("second", 1_006_900)
    assert wire.paths == ["/auth/refresh", "/auth/refresh"]
    assert wire.bodies == [{"uuid": UUID}] * 2


def test_a_session_after_a_restart_of_the_service_is_locked(clock: Clock) -> None:
    store = MemorySessions()
    store.put(Session(UUID, token("old"), clock.seconds))
    host = Host("http://127.0.0.1:1", SECRET, sessions=store, http=Wire(problem(401, "key-not-cached")), clock=clock)
    assert host.session(UUID) is LOCKED
    assert store.get(UUID) is None


def test_a_refresh_refused_for_the_secret_is_an_error_and_not_locked() -> None:
    with pytest.raises(CarrelApiError) as caught:
        host_over(Wire(problem(401, "plugin-secret-invalid"))).session(UUID)
    assert caught.value.code == "plugin-secret-invalid"


def test_a_refresh_is_sent_once_when_nobody_answers() -> None:
    wire = Wire(httpx.ReadTimeout("late"))
    with pytest.raises(CarrelUnreachable) as caught:
        host_over(wire).session(UUID)
    assert caught.value.sent
    assert len(wire.requests) == 1


def test_a_slow_refresh_does_not_replace_the_session_of_a_later_sign_in(clock: Clock) -> None:
    store = MemorySessions()

    def overtaken(_: httpx.Request) -> httpx.Response:
        store.put(Session(UUID, token("after the rekey", 1_003_601), clock.seconds + 3300))
        return session_answer("before the rekey", 1_003_600)

    host = Host("http://127.0.0.1:1", SECRET, sessions=store, http=Wire(overtaken), clock=clock)
    host.session(UUID)
    assert host.session(UUID) == token("after the rekey", 1_003_601)


def test_the_memory_store_forgets_the_oldest_beyond_its_limit() -> None:
    store = MemorySessions(limit=2)
    for uuid in ("a", "b", "a", "c"):
        store.put(Session(uuid, token(uuid), 0))
    assert [store.get(uuid) is not None for uuid in "abc"] == [True, False, True]
    store.drop("c")
    store.drop("c")
    assert store.get("c") is None


@pytest.mark.parametrize("text", ["", ".", "a.b", "!!!.x", "e30.x", base64.b64encode(b'{"exp":"1"}').decode()])
def test_a_token_that_does_not_say_its_end_ends_at_once(text: str) -> None:
    assert expiry_of(text) == 0


# Sign-in ----------------------------------------------------------------------------------------------------------


def test_a_sign_in_delivers_the_derived_key_with_the_secret_and_keeps_the_session() -> None:
    wire = Wire(session_answer("signed in"))
    host = host_over(wire)
    assert host.sign_in(UUID, PASSWORD).token == token("signed in")
    assert wire.bodies == [{"uuid": UUID, "db_key_hex": derive_key(PASSWORD, UUID).hex()}]
    assert wire.requests[0].headers["x-svc-plugin-secret"] == SECRET
    assert host.session(UUID) == token("signed in")
    host.forget(UUID)
    host.session(UUID)
    assert wire.paths == ["/auth/login", "/auth/refresh"]


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("late"), httpx.ConnectError("refused"), problem(503, "busy")])
def test_a_sign_in_is_never_sent_twice(failure: Step) -> None:
    wire = Wire(failure)
    with pytest.raises((CarrelUnreachable, TryLater)):
        host_over(wire).sign_in(UUID, PASSWORD)
    assert len(wire.requests) == 1


def test_a_rejected_key_ends_the_kept_session() -> None:
    wire = Wire(session_answer("good"), problem(401, "key-rejected"), problem(401, "key-not-cached"))
    host = host_over(wire)
    host.sign_in(UUID, PASSWORD)
    with pytest.raises(KeyRejected):
        host.sign_in(UUID, "wrong")
    assert host.session(UUID) is LOCKED


def test_an_unreachable_service_leaves_the_kept_session() -> None:
    wire = Wire(session_answer("good"), httpx.ConnectError("refused"))
    host = host_over(wire)
    host.sign_in(UUID, PASSWORD)
    with pytest.raises(CarrelUnreachable):
        host.sign_in(UUID, PASSWORD)
    assert host.session(UUID) == token("good")


def test_signing_up_again_after_a_lost_answer_signs_in() -> None:
    wire = Wire(problem(409, "user-exists"), session_answer("in"))
    assert host_over(wire).sign_up(UUID, membership="paid", password=PASSWORD).token == token("in")
    assert wire.paths == ["/users", "/auth/login"]
    assert wire.bodies[0] == {"uuid": UUID, "membership": "paid"}


def test_signing_up_without_a_password_tells_that_the_user_exists() -> None:
    with pytest.raises(Conflict):
        host_over(Wire(problem(409, "user-exists"))).sign_up(UUID)


def test_creating_and_paying_are_sent_once_more_under_the_same_key() -> None:
    created = httpx.Response(201, json={"uuid": UUID, "membership": "free", "created_at": "t"})
    wire = Wire(httpx.ReadTimeout("late"), created)
    host_over(wire).sign_up(UUID)
    keys = [request.headers["idempotency-key"] for request in wire.requests]
    assert len(keys) == 2
    assert len(set(keys)) == 1

    balance = httpx.Response(200, json={"balance": "5", "reserved": "0", "updated_at": "t", "new": True})
    wire = Wire(httpx.ConnectError("refused"), balance)
    assert host_over(wire).add_credits(UUID, "5", "order", idempotency_key="order-17").balance == "5"
    assert [request.headers["idempotency-key"] for request in wire.requests] == ["order-17"] * 2


# The password's change --------------------------------------------------------------------------------------------


def test_a_change_of_password_rekeys_with_both_keys_and_keeps_the_new_session() -> None:
    wire = Wire(session_answer("rekeyed"))
    host = host_over(wire)
    change = host.change_password(UUID, PASSWORD, "new")
    assert not change.already_done
    assert wire.bodies == [
        {
            "uuid": UUID,
            "old_db_key_hex": derive_key(PASSWORD, UUID).hex(),
            "new_db_key_hex": derive_key("new", UUID).hex(),
        }
    ]
    assert host.session(UUID) == change.session.token


@pytest.mark.parametrize(
    "first",
    [problem(401, "key-rejected"), httpx.ReadTimeout("late"), httpx.Response(502, text="<h1>Bad gateway</h1>")],
)
def test_a_change_that_had_happened_is_found_out_by_signing_in_with_the_new_password(first: Step) -> None:
    wire = Wire(first, session_answer("in"))
    assert host_over(wire).change_password(UUID, PASSWORD, "new").already_done
    assert wire.paths == ["/auth/rekey", "/auth/login"]
    assert wire.bodies[1]["db_key_hex"] == derive_key("new", UUID).hex()


def test_two_rejected_keys_mean_that_nothing_was_changed() -> None:
    with pytest.raises(KeyRejected):
        host_over(Wire(problem(401, "key-rejected"))).change_password(UUID, "wrong", "new")


@pytest.mark.parametrize("then", [problem(401, "key-rejected"), httpx.ConnectError("refused")])
def test_a_lost_rekey_that_cannot_be_confirmed_stays_unknown(then: Step) -> None:
    with pytest.raises(PasswordChangeUnknown):
        host_over(Wire(httpx.ReadTimeout("late"), then)).change_password(UUID, PASSWORD, "new")


def test_a_rejected_old_key_and_no_answer_for_the_new_one_stay_unknown() -> None:
    wire = Wire(problem(401, "key-rejected"), httpx.ConnectError("refused"))
    with pytest.raises(PasswordChangeUnknown):
        host_over(wire).change_password(UUID, PASSWORD, "new")


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (httpx.ConnectError("refused"), CarrelUnreachable),
        (problem(503, "workspace-busy"), TryLater),
        (problem(409, "workspace-absent"), Conflict),
        (problem(507, "storage-full"), CarrelApiError),
    ],
)
def test_a_refused_rekey_is_not_followed_by_a_sign_in(refusal: Step, kind: type[Exception]) -> None:
    wire = Wire(refusal)
    with pytest.raises(kind):
        host_over(wire).change_password(UUID, PASSWORD, "new")
    assert wire.paths == ["/auth/rekey"]


# What is never shown ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    [httpx.ReadTimeout("late"), problem(401, "key-rejected"), httpx.Response(200, text="{}"), httpx.Response(500)],
)
def test_no_error_shows_a_secret_in_its_text_its_chain_or_its_frames(failure: Step) -> None:
    host = host_over(Wire(failure))
    secrets = [SECRET, PASSWORD, "new-password", derive_key(PASSWORD, UUID).hex()]
    secrets += [repr(derive_key(password, UUID)) for password in (PASSWORD, "new-password")]
    calls: list[Callable[[], object]] = [
        lambda: host.sign_in(UUID, PASSWORD),
        lambda: host.sign_up(UUID, password=PASSWORD),
        lambda: host.change_password(UUID, PASSWORD, "new-password"),
        lambda: host.reset_password(UUID, "new-password"),
        lambda: host.reset_password(UUID, "new-password", old_key=derive_key(PASSWORD, UUID)),
        lambda: host.session(UUID),
    ]
    for call in calls:
        with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is, it must not show them
            call()
        text = repr(caught.value)
        assert not [secret for secret in secrets if secret in text]
        error: BaseException | None = caught.value
        while error is not None:
            frame = error.__traceback__
            while frame is not None:
                if "carrel_sdk" in frame.tb_frame.f_code.co_filename:
                    values = repr(frame.tb_frame.f_locals)
                    assert not [secret for secret in secrets if secret in values]
                frame = frame.tb_next
            error = error.__cause__ or error.__context__


def test_nothing_prints_a_secret_or_token() -> None:
    host = host_over(Wire(session_answer("hidden-token")))
    session = host.sign_in(UUID, PASSWORD)
    shown = repr((host, session, host._sessions, host._calls, host._calls._transport))
    assert "hidden-token" not in shown
    assert SECRET not in shown
    assert UUID not in shown


@pytest.mark.parametrize("secret", ["", "with space", "tab\t", "umlaut-ä", "line\n"])
def test_a_secret_that_cannot_be_a_header_is_refused_without_being_shown(secret: str) -> None:
    with pytest.raises(ValueError, match="visible ASCII") as caught:
        Host("http://127.0.0.1:1", secret)
    assert secret == "" or secret not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://carrel.example", "ftp://127.0.0.1", "127.0.0.1:8000", "http://127.0.0.1.evil.example"]
)
def test_a_host_speaks_https_except_to_its_own_machine(address: str) -> None:
    with pytest.raises(ValueError, match="https"):
        Host(address, SECRET)
    Host("https://carrel.example", SECRET).close()
    Host("http://localhost:8000", SECRET).close()
    Host("http://[::1]:8000", SECRET).close()
    Host("http://carrel.internal:8000", SECRET, allow_http=True).close()


# Time-outs, over real sockets -------------------------------------------------------------------------------------


@contextmanager
def dripping_server() -> Iterator[int]:
    """A server that sends one byte of its answer every 20 ms, for ever: no single read ever times out."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = threading.Event()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not ended.wait(0.02):
                    connection.sendall(b" ")

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        ended.set()
        thread.join()


def test_a_call_ends_in_time_even_if_the_answer_drips_on() -> None:
    with dripping_server() as port:
        host = Host(f"http://127.0.0.1:{port}", SECRET, call_seconds=0.3)
        # Without a limit it would drip on for ever.
        with pytest.raises(CarrelUnreachable) as caught:
            host.session(UUID)
        assert caught.value.sent
    for late in [thread for thread in threading.enumerate() if thread.name == "carrel-sdk-call"]:
        late.join()
    host.close()


def test_the_limits_are_one_second_to_connect_and_ten_for_the_whole() -> None:
    wire = Wire(session_answer("x"))
    host = host_over(wire)
    host.session(UUID)
    assert wire.requests[0].extensions["timeout"] == {"connect": 1.0, "read": 10.0, "write": 10.0, "pool": 10.0}
    assert host_calls.CALL_SECONDS == 10


def test_nothing_is_sent_when_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(CarrelUnreachable) as caught:
        Host(f"http://127.0.0.1:{port}", SECRET).sign_in(UUID, PASSWORD)
    assert not caught.value.sent


def test_within_returns_what_was_in_time_and_none_otherwise() -> None:
    release = threading.Event()
    assert deadline.within(5, lambda: 7) == 7
    assert deadline.within(0.01, release.wait) is None
    release.set()
