"""A Django website with the application of integrations/django, its whole life long; run by test_guides.py."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import carrel_sdk.derive
import django
from django.conf import settings

# The slow derivation is tested elsewhere.
carrel_sdk.derive.ITERATIONS = 1  # type: ignore[misc]
FIRST, SECOND, THIRD = " the first pass word ", "the second pass word'\"\\", "the third pass word"

settings.configure(
    SECRET_KEY="of-this-test",
    ALLOWED_HOSTS=["testserver"],
    CARREL_URL=os.environ["CARREL_URL"],
    CARREL_PLUGIN_SECRET=os.environ["CARREL_PLUGIN_SECRET"],
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "carrel_django"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    AUTHENTICATION_BACKENDS=["carrel_django.backends.CarrelBackend"],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    LOGIN_REDIRECT_URL="carrel-workspace",
    LOGIN_URL="login",
    ROOT_URLCONF=__name__,
)
django.setup()

from carrel_django import service  # type: ignore[import-not-found]  # noqa: E402  # needs the settings
from carrel_django.models import Workspace  # type: ignore[import-not-found]  # noqa: E402
from carrel_django.views import AWAY, OLD_NEEDED, OLD_WRONG  # type: ignore[import-not-found]  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.auth.tokens import default_token_generator  # noqa: E402
from django.contrib.auth.views import LoginView, LogoutView  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.utils.http import urlsafe_base64_encode  # noqa: E402

urlpatterns = [
    path("login", LoginView.as_view(template_name="carrel/unlock.html"), name="login"),
    path("logout", LogoutView.as_view(next_page="/login")),
    path("", include("carrel_django.urls")),
]


@contextmanager
def away() -> Iterator[None]:
    """The service is down."""
    real, settings.CARREL_URL = settings.CARREL_URL, "http://127.0.0.1:9"
    for url in (settings.CARREL_URL, real):
        service.carrel().close()
        service.carrel.cache_clear()
        settings.CARREL_URL = url
        if url != real:
            yield


class Died(BaseException):
    """The website's process, at this line."""


def signed_in(password: str) -> Client | None:
    browser = Client()
    answer = browser.post("/login", {"username": "ada", "password": password})
    return browser if answer.status_code == 302 else None


def entered(password: str) -> Client:
    browser = signed_in(password)
    assert browser is not None
    return browser


def change_password(browser: Client, old: str, new: str) -> Any:
    return browser.post("/password/change/", {"old_password": old, "new_password1": new, "new_password2": new})


def reset_password(user: Any, new: str, old: str = "") -> Any:
    browser = Client()
    letter = f"/reset/{urlsafe_base64_encode(str(user.pk).encode())}/{default_token_generator.make_token(user)}/"
    form = browser.get(letter).headers["Location"]
    return browser.post(form, {"new_password1": new, "new_password2": new, "old_password": old})


def evict(workspace: Any) -> None:
    body = f'{{"uuid": "{workspace.uuid}", "db_key_hex": "{"0" * 64}"}}'.encode()
    headers = {"Content-Type": "application/json", "X-SVC-Plugin-Secret": os.environ["CARREL_PLUGIN_SECRET"]}
    try:
        urlopen(Request(f"{os.environ['CARREL_URL']}/api/auth/login", body, headers))
    except OSError as refused:
        # An answer that is an error holds its connection.
        getattr(refused, "close", lambda: None)()


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0)
    user = User.objects.create_user("ada", password=FIRST)
    registers_while_the_service_is_down()
    browser = signs_in_and_is_locked_out(user)
    changes(browser)
    dies_in_the_middle(service.carrel())
    forgets(user)
    signs_out()
    browser = entered(SECOND)
    uuid = str(Workspace.objects.get().uuid)
    User.objects.get().delete()
    assert not Workspace.objects.exists()
    assert service.carrel().delete(uuid) is False
    assert browser.get("/workspace/token/").status_code == 401
    service.carrel().close()


def registers_while_the_service_is_down() -> None:
    """The sign-in works, and so does a change before the first workspace."""
    call_command("check", fail_level="WARNING")
    bob = User.objects.create_user("bob", password=FIRST)
    browser = Client()
    with away():
        assert browser.post("/login", {"username": "bob", "password": FIRST}).status_code == 302
        refused = change_password(browser, FIRST, SECOND)
        assert (refused.status_code, AWAY in refused.content.decode()) == (200, True)
    assert not Workspace.objects.get().made
    assert not Workspace.objects.get().pending
    assert change_password(browser, FIRST, SECOND).status_code == 302
    assert browser.get("/workspace/").headers["Location"] == "/workspace/unlock/"
    assert browser.post("/workspace/unlock/", {"password": SECOND}).headers["Location"] == "/workspace/"
    assert browser.get("/workspace/").status_code == 200
    bob.delete()


def signs_in_and_is_locked_out(user: Any) -> Client:
    assert signed_in(SECOND) is None
    assert not Workspace.objects.exists(), "a stranger's guess makes nothing"
    browser = entered(FIRST)
    workspace = Workspace.objects.get()
    assert workspace.made
    page = browser.get("/workspace/")
    assert "no-store" in page.headers["Cache-Control"]
    token = browser.get("/workspace/token/").json()["session_token"]
    assert token in page.content.decode()
    assert Client().get("/workspace/token/").status_code == 401

    evict(workspace)
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = browser.cookies
    assert strict.post("/workspace/token/").status_code == 401
    assert browser.get("/workspace/").headers["Location"] == "/workspace/unlock/"
    wrong = browser.post("/workspace/unlock/", {"password": SECOND})
    assert (wrong.status_code, "does not open it" in wrong.content.decode()) == (200, True)
    assert browser.post("/workspace/unlock/", {"password": FIRST}).headers["Location"] == "/workspace/"
    assert strict.post("/workspace/token/").status_code == 200

    with away():
        assert [browser.get(place).status_code for place in ("/workspace/", "/workspace/token/")] == [503, 503]
    return browser


def changes(browser: Client) -> None:
    # The process died after the first sign-in, before it recorded that there is a workspace.
    Workspace.objects.update(made=False)
    assert change_password(browser, FIRST, SECOND).status_code == 302
    assert browser.get("/workspace/").status_code == 200
    assert signed_in(FIRST) is None


def dies_in_the_middle(carrel: Any) -> None:
    real = carrel.change_password

    def dies_after(*arguments: str) -> None:
        real(*arguments)
        raise Died

    def dies_before(*arguments: str) -> None:
        raise Died

    for dies, old, new, counts in ((dies_after, SECOND, THIRD, THIRD), (dies_before, THIRD, SECOND, THIRD)):
        for settled_by in ("signing in", "unlocking"):
            browser = entered(old)
            carrel.change_password = dies
            try:
                change_password(browser, old, new)
            except Died:
                assert Workspace.objects.get().pending
            carrel.change_password = real
            assert browser.get("/workspace/token/").status_code == 401, "no token before it is known which counts"
            assert browser.get("/workspace/").headers["Location"] == "/workspace/unlock/"
            if settled_by == "signing in":
                assert signed_in(SECOND) is None
                assert entered(counts).get("/workspace/").status_code == 200
            else:
                assert browser.post("/workspace/unlock/", {"password": SECOND}).status_code == 200
                assert browser.post("/workspace/unlock/", {"password": counts}).headers["Location"] == "/workspace/"
            assert not Workspace.objects.get().pending
            assert signed_in(SECOND) is None
            if counts == new and settled_by == "signing in":
                change_password(entered(THIRD), THIRD, SECOND)
    assert entered(THIRD).get("/workspace/").status_code == 200


def forgets(user: Any) -> None:
    user.refresh_from_db()
    assert reset_password(user, FIRST).status_code == 302, "the key is in memory"
    assert entered(FIRST).get("/workspace/").status_code == 200
    evict(Workspace.objects.get())
    user.refresh_from_db()
    for old, said in (("", OLD_NEEDED), (THIRD, OLD_WRONG)):
        refused = reset_password(user, SECOND, old)
        assert said in refused.content.decode()
        assert not Workspace.objects.get().pending
    assert reset_password(user, SECOND, FIRST).status_code == 302
    assert signed_in(FIRST) is None
    assert entered(SECOND).get("/workspace/").status_code == 200


def signs_out() -> None:
    here, elsewhere = entered(SECOND), entered(SECOND)
    token = elsewhere.get("/workspace/token/").json()["session_token"]
    assert here.post("/logout").status_code == 302
    assert refusal(token) == "key-not-cached", "the key is gone, for other browsers as well"
    assert elsewhere.get("/workspace/").headers["Location"] == "/workspace/unlock/"
    with away():
        assert elsewhere.post("/logout").status_code == 302, "the website lets people out while the service is down"


def refusal(token: str) -> str:
    """The code with which the service refuses a token."""
    ask = Request(f"{os.environ['CARREL_URL']}/api/users/me", headers={"X-SVC-Session-Token": token})
    try:
        urlopen(ask).close()
    except HTTPError as refused:
        with refused:
            return str(json.load(refused)["code"])
    return ""


if __name__ == "__main__":
    main()
    print("the whole life of a Django website")
