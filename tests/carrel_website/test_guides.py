"""The code in the integration guides is run as it is printed."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from carrel_sdk import Host, derive_key

from carrel_website import workspace_page
from tests.support.service import Service

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INTEGRATIONS = ROOT / "integrations"
PASSWORD, UUID = "correct horse battery staple", "3f1c2b9e-0001"
VECTOR = "bb72a768eefa38b02ee0e92f7f7689d32f559e5c995fd2f5d6c54da6243507b4"


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / guide).read_text(), re.MULTILINE | re.DOTALL)


def test_the_application_for_django_makes_a_website_that_survives_what_it_says(service: Service) -> None:
    site = Path(__file__).with_name("django_site.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", site],
        env=os.environ
        | {"CARREL_URL": service.url, "CARREL_PLUGIN_SECRET": service.plugin_secret}
        | {"PYTHONPATH": str(INTEGRATIONS / "django")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "the whole life" in done.stdout


def test_a_django_website_writes_ten_lines_at_most() -> None:
    code = [line for block in blocks("django.md", "python") for line in block.splitlines() if line.strip()]
    assert len([line for line in code if not line.startswith("#")]) <= 10


@pytest.mark.program("php")
def test_the_php_derivation_gives_the_vector() -> None:
    (function,) = re.findall(
        r"^function carrel_key_hex\(.*?^}",
        (INTEGRATIONS / "wordpress/carrel/service.php").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    assert "openssl_pbkdf2(" in function
    code = f"{function} echo carrel_key_hex( '{PASSWORD}', '{UUID}' );"
    done = subprocess.run(["php", "-r", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (VECTOR, "")


def test_the_derivation_without_the_sdk_is_the_vector_s_construction() -> None:
    """The steps that the guide for host websites gives to other languages."""
    assert VECTOR in (DOCS / "host-guide.md").read_text()
    digits = hashlib.sha256(PASSWORD.encode()).hexdigest()
    derived = hashlib.pbkdf2_hmac("sha256", digits.encode(), UUID.encode(), 600_000)
    assert derived.hex() == VECTOR


def test_the_blocks_of_the_host_guide_lead_through_a_user_s_life(service: Service) -> None:
    done: list[str] = []
    user = SimpleNamespace(uuid="guide-3f1c2b9e", hash="correct horse battery staple", pending=None)

    def save_pending_hash(user: SimpleNamespace, password: str) -> None:
        user.pending = password

    def promote_pending_hash(user: SimpleNamespace) -> None:
        done.append(user.pending)
        user.hash, user.pending = user.pending, None

    named = {
        "plugin_secret": service.plugin_secret,
        "uuid": user.uuid,
        "user": user,
        "password": user.hash,
        "old_password": user.hash,
        "new_password": "the second pass word",
        "order_number": "order-17",
        "my_password_hash_matches": lambda user, password: user.hash == password,
        "save_pending_hash": save_pending_hash,
        "promote_pending_hash": promote_pending_hash,
        "key_from_recovery_code": lambda user: derive_key(user.hash, user.uuid),
    }
    printed = blocks("host-guide.md", "python")
    for block in printed:
        if "reset_password" in block:
            # The harder of its two ways.
            evict(service, user.uuid)
            named["new_password"] = "the third pass word"
        exec(block.replace("https://carrel.example.com", service.url), named)
    assert done == ["the second pass word", "the third pass word"]
    host = Host(service.url, service.plugin_secret)
    host.sign_in(user.uuid, "the third pass word")
    assert host.add_credits(user.uuid, "0.50").balance == "13"
    host.close()
    named["carrel"].close()


def evict(service: Service, uuid: str) -> None:
    refused = httpx.post(
        f"{service.url}/api/auth/login",
        json={"uuid": uuid, "db_key_hex": "00" * 32},
        headers={"X-SVC-Plugin-Secret": service.plugin_secret},
        verify=False,
        timeout=60,
    )
    assert refused.json()["code"] == "key-rejected"


def test_the_call_by_curl_signs_in(service: Service) -> None:
    host = Host(service.url, service.plugin_secret)
    host.sign_up("guide-by-curl", password=PASSWORD)
    host.close()
    (command,) = blocks("host-guide.md", "sh")
    given = {
        "CARREL_URL": service.url,
        "CARREL_PLUGIN_SECRET": service.plugin_secret,
        "USER_UUID": "guide-by-curl",
        "DB_KEY_HEX": derive_key(PASSWORD, "guide-by-curl").hex(),
    }
    if shutil.which("curl") is None:
        # The same request, for a machine without it.
        sent = re.findall(r'-d "(.*)"$', command, re.MULTILINE)[0].replace('\\"', '"')
        assert json.loads(sent).keys() == {"uuid", "db_key_hex"}
        return
    done = subprocess.run(["sh", "-ec", command], env=os.environ | given, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["expires_in"] == 3600


def test_the_host_guide_says_what_to_do_on_each_error_of_the_routes_that_hosts_sign_in_by() -> None:
    document = json.loads((ROOT / "openapi.json").read_text())
    codes = {
        code
        for path in ("login", "refresh", "rekey")
        for status, answer in document["paths"][f"/api/auth/{path}"]["post"]["responses"].items()
        if not status.startswith("2")
        for code in re.findall(r"`([a-z-]+)`", answer["description"])
    }
    rows = [line for line in (DOCS / "host-guide.md").read_text().splitlines() if re.match(r"\| \d{3}", line)]
    named = {code for row in rows for code in re.findall(r"`([a-z-]+)`", row.split("|")[2])}
    assert len(codes) >= 10
    assert named == codes


def test_the_page_of_the_host_guide_gives_the_app_what_the_demo_s_gives_it() -> None:
    (page,) = blocks("host-guide.md", "html")
    given = re.findall(r"(\w+): \"", page)
    assert given == ["baseUrl", "sessionToken", "userName", "tokenUrl", "unlockUrl", "upgradeUrl"]
    source = (ROOT / "src" / "carrel_website" / "workspace_page.py").read_text()
    assert all(f'"{name}"' in source for name in given)
    template = (ROOT / "src" / "carrel_website" / "templates" / "workspace.html").read_text()
    assert '<div id="carrel"' in page
    assert '<div id="carrel"' in template


def test_the_host_guide_prints_the_policy_that_the_demo_sends() -> None:
    printed = next(block for block in blocks("host-guide.md", "text") if "default-src" in block)
    sent = workspace_page.policy("…", "https://carrel.example.com")
    assert " ".join(printed.split()) == sent
