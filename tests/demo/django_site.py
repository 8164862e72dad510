"""A Django website made of the blocks of docs/django.md, its whole life long; run by test_guides.py."""

import json
import os
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import carrel_sdk.derive
import django
from carrel_sdk import Host
from django.conf import settings

# The slow derivation is tested elsewhere.
carrel_sdk.derive.ITERATIONS = 1  # type: ignore[misc]
FIRST, SECOND, THIRD = " the first pass word ", "the second pass word'\"\\", "the third pass word"
TEMPLATES = {
    "workspace.html": '{{ carrel|json_script:"given" }}',
    "unlock.html": "the password, please {{ wrong }}",
    "reset.html": "{{ form.errors }}",
    "away.html": "away",
}

settings.configure(
    SECRET_KEY="of-this-test",
    ALLOWED_HOSTS=["testserver"],
    CARREL_URL=os.environ["CARREL_URL"],
    CARREL_PLUGIN_SECRET=os.environ["CARREL_PLUGIN_SECRET"],
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "workspaces"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {"loaders": [("django.template.loaders.locmem.Loader", TEMPLATES)]},
        }
    ],
    AUTHENTICATION_BACKENDS=["workspaces.passwords.PendingBackend", "django.contrib.auth.backends.ModelBackend"],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    LOGIN_REDIRECT_URL="workspace",
    LOGIN_URL="login",
    ROOT_URLCONF=__name__,
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.contrib.auth.tokens import default_token_generator  # noqa: E402
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils.http import urlsafe_base64_encode  # noqa: E402
from workspaces import leaving, passwords, service, views  # type: ignore[import-not-found]  # noqa: E402  # needs the settings
from workspaces.models import Workspace  # type: ignore[import-not-found]  # noqa: E402

change = PasswordChangeView.as_view(form_class=passwords.CarrelPasswordChangeForm, success_url="/workspace")
urlpatterns = [
    path("login", LoginView.as_view(template_name="unlock.html"), name="login"),
    path("logout", LogoutView.as_view(next_page="/login")),
    path("workspace", views.workspace, name="workspace"),
    path("token", views.token),
    path("unlock", views.unlock, name="unlock"),
    path("change", change),
    path(
        "reset/<uidb64>/<token>/", passwords.CarrelResetView.as_view(template_name="reset.html", success_url="/login")
    ),
]


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
    return browser.post("/change", {"old_password": old, "new_password1": new, "new_password2": new})


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
    carrel = service.carrel
    registers_while_the_service_is_down(carrel)
    browser = signs_in_and_is_locked_out(user)
    changes(browser)
    dies_in_the_middle(carrel)
    forgets(user)
    signs_out(carrel)
    browser = entered(SECOND)
    uuid = str(Workspace.objects.get().uuid)
    leaving.delete_account(User.objects.get())
    assert not Workspace.objects.exists()
    assert carrel.delete(uuid) is False
    assert browser.get("/token").status_code == 401
    carrel.close()


def registers_while_the_service_is_down(carrel: Any) -> None:
    """The sign-in works, and so does a change before the first workspace."""
    bob = User.objects.create_user("bob", password=FIRST)
    service.carrel = Host("http://127.0.0.1:9", "x" * 40)
    browser = Client()
    assert browser.post("/login", {"username": "bob", "password": FIRST}).status_code == 302
    assert not Workspace.objects.get().made
    service.carrel.close()
    service.carrel = carrel
    assert change_password(browser, FIRST, SECOND).status_code == 302
    assert browser.get("/workspace").headers["Location"] == "/unlock"
    assert browser.post("/unlock", {"password": SECOND}).headers["Location"] == "/workspace"
    assert browser.get("/workspace").status_code == 200
    leaving.delete_account(bob)


def signs_in_and_is_locked_out(user: Any) -> Client:
    assert signed_in(SECOND) is None
    assert not Workspace.objects.exists(), "a stranger's guess makes nothing"
    browser = entered(FIRST)
    workspace = Workspace.objects.get()
    assert workspace.made
    page = browser.get("/workspace")
    assert "no-store" in page.headers["Cache-Control"]
    token = browser.get("/token").json()["session_token"]
    assert token in page.content.decode()
    assert Client().get("/token").status_code == 401

    evict(workspace)
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = browser.cookies
    assert strict.post("/token").status_code == 401
    assert browser.get("/workspace").headers["Location"] == "/unlock"
    wrong = browser.post("/unlock", {"password": SECOND})
    assert (wrong.status_code, "True" in wrong.content.decode()) == (200, True)
    assert browser.post("/unlock", {"password": FIRST}).headers["Location"] == "/workspace"
    assert strict.post("/token").status_code == 200

    away, views.carrel = views.carrel, Host("http://127.0.0.1:9", "x" * 40)
    assert [browser.get(place).status_code for place in ("/workspace", "/token")] == [503, 503]
    views.carrel = away
    return browser


def changes(browser: Client) -> None:
    # The process died after the first sign-in, before it recorded that there is a workspace.
    Workspace.objects.update(made=False)
    assert change_password(browser, FIRST, SECOND).status_code == 302
    assert browser.get("/workspace").status_code == 200
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
            assert browser.get("/token").status_code == 401, "nobody gets a token before it is known which counts"
            assert browser.get("/workspace").headers["Location"] == "/unlock"
            if settled_by == "signing in":
                assert signed_in(SECOND) is None
                assert entered(counts).get("/workspace").status_code == 200
            else:
                assert browser.post("/unlock", {"password": SECOND}).status_code == 200
                assert browser.post("/unlock", {"password": counts}).headers["Location"] == "/workspace"
            assert not Workspace.objects.get().pending
            assert signed_in(SECOND) is None
            if counts == new and settled_by == "signing in":
                change_password(entered(THIRD), THIRD, SECOND)
    assert entered(THIRD).get("/workspace").status_code == 200


def forgets(user: Any) -> None:
    user.refresh_from_db()
    assert reset_password(user, FIRST).status_code == 302, "the key is in memory"
    assert entered(FIRST).get("/workspace").status_code == 200
    evict(Workspace.objects.get())
    user.refresh_from_db()
    for old in ("", THIRD):
        refused = reset_password(user, SECOND, old)
        assert "could not be re-encrypted" in refused.content.decode()
        assert not Workspace.objects.get().pending
    assert reset_password(user, SECOND, FIRST).status_code == 302
    assert signed_in(FIRST) is None
    assert entered(SECOND).get("/workspace").status_code == 200


def signs_out(carrel: Any) -> None:
    here, elsewhere = entered(SECOND), entered(SECOND)
    token = elsewhere.get("/token").json()["session_token"]
    assert here.post("/logout").status_code == 302
    assert refusal(token) == "key-not-cached", "the key is gone, for other browsers as well"
    assert elsewhere.get("/workspace").headers["Location"] == "/unlock"
    service.carrel = Host("http://127.0.0.1:9", "x" * 40)
    assert elsewhere.post("/logout").status_code == 302, "the website lets people out while the service is down"
    service.carrel.close()
    service.carrel = carrel


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
