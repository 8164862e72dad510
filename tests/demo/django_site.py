"""A Django website made of the blocks of docs/django.md, its whole life long; run by test_guides.py."""

import os
from typing import Any
from urllib.request import Request, urlopen

import carrel_sdk.derive
import django
from django.conf import settings

# The slow derivation is tested elsewhere.
carrel_sdk.derive.ITERATIONS = 1  # type: ignore[misc]
FIRST, SECOND, THIRD = " the first pass word ", "the second pass word'\"\\", "the third pass word"
TEMPLATES = {"desk.html": '{{ carrel|json_script:"given" }}', "unlock.html": "the password, please"}

settings.configure(
    SECRET_KEY="of-this-test",
    ALLOWED_HOSTS=["testserver"],
    CARREL_URL=os.environ["CARREL_URL"],
    CARREL_PLUGIN_SECRET=os.environ["CARREL_PLUGIN_SECRET"],
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "desks"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {"loaders": [("django.template.loaders.locmem.Loader", TEMPLATES)]},
        }
    ],
    AUTHENTICATION_BACKENDS=["desks.passwords.PendingBackend"],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    LOGIN_REDIRECT_URL="desk",
    LOGIN_URL="login",
    ROOT_URLCONF=__name__,
)
django.setup()

from desks import passwords, views  # type: ignore[import-not-found]  # noqa: E402  # needs the settings
from desks.models import Desk  # type: ignore[import-not-found]  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.auth.views import LoginView, PasswordChangeView  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402

change = PasswordChangeView.as_view(form_class=passwords.CarrelPasswordChangeForm, success_url="/desk")
urlpatterns = [
    path("login", LoginView.as_view(template_name="unlock.html"), name="login"),
    path("desk", views.desk, name="desk"),
    path("token", views.token),
    path("unlock", views.unlock, name="unlock"),
    path("change", change),
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


def evict(desk: Any) -> None:
    body = f'{{"uuid": "{desk.uuid}", "db_key_hex": "{"0" * 64}"}}'.encode()
    headers = {"Content-Type": "application/json", "X-SVC-Plugin-Secret": os.environ["CARREL_PLUGIN_SECRET"]}
    try:
        urlopen(Request(f"{os.environ['CARREL_URL']}/api/auth/login", body, headers))
    except OSError as refused:
        # An answer that is an error holds its connection.
        getattr(refused, "close", lambda: None)()


def main() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0)
    user = User.objects.create_user("ada", password=FIRST)
    desk = Desk.objects.create(user=user)
    carrel = passwords.carrel
    carrel.sign_up(str(desk.uuid))

    assert signed_in(SECOND) is None
    browser = entered(FIRST)
    page = browser.get("/desk")
    assert "no-store" in page.headers["Cache-Control"]
    token = browser.get("/token").json()["session_token"]
    assert token in page.content.decode()

    evict(desk)
    assert browser.post("/token").status_code == 401
    assert browser.get("/desk").headers["Location"] == "/unlock"
    assert browser.post("/unlock", {"password": SECOND}).status_code == 200
    assert browser.post("/unlock", {"password": FIRST}).headers["Location"] == "/desk"

    assert change_password(browser, FIRST, SECOND).status_code == 302
    assert browser.get("/desk").status_code == 200
    assert signed_in(FIRST) is None

    real = carrel.change_password

    def dies_after(*arguments: str) -> None:
        real(*arguments)
        raise Died

    def dies_before(*arguments: str) -> None:
        raise Died

    for dies, old, new, counts in ((dies_after, SECOND, THIRD, THIRD), (dies_before, THIRD, SECOND, THIRD)):
        browser = entered(old)
        carrel.change_password = dies
        try:
            change_password(browser, old, new)
        except Died:
            assert Desk.objects.get().pending
        assert signed_in(SECOND) is None
        assert entered(counts).get("/desk").status_code == 200
        assert not Desk.objects.get().pending
        assert signed_in(SECOND) is None
    carrel.close()


if __name__ == "__main__":
    main()
    print("the whole life of a Django website")
