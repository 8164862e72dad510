"""The code in the integration guides is run as it is printed."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from demo import desk_page
from tests.support.service import Service

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PASSWORD, UUID = "correct horse battery staple", "3f1c2b9e-0001"
VECTOR = "bb72a768eefa38b02ee0e92f7f7689d32f559e5c995fd2f5d6c54da6243507b4"
PHP_DERIVATION = "return hash_pbkdf2( 'sha256', hash( 'sha256', $password ), $uuid, 600000, 64 );"


def blocks(guide: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / guide).read_text(), re.MULTILINE | re.DOTALL)


def test_the_django_guide_makes_a_website_that_survives_what_it_says(tmp_path: Path, service: Service) -> None:
    (tmp_path / "desks").mkdir()
    (tmp_path / "desks" / "__init__.py").touch()
    printed = blocks("django.md", "python")
    assert len(printed) == 6
    for block in printed:
        name = block.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(block)
    shutil.copy(Path(__file__).with_name("django_site.py"), tmp_path)
    done = subprocess.run(
        [sys.executable, "-W", "error", "django_site.py"],
        cwd=tmp_path,
        env=os.environ | {"CARREL_URL": service.url, "CARREL_PLUGIN_SECRET": service.plugin_secret},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "the whole life" in done.stdout


def test_signing_in_takes_ten_lines() -> None:
    (block,) = [block for block in blocks("django.md", "python") if "class CarrelBackend" in block]
    code = [line for line in block.splitlines() if line.strip() and not line.startswith(("#", "from ", "import "))]
    assert len(code) <= 10


def test_the_php_derivation_gives_the_vector() -> None:
    """In PHP where there is one. Elsewhere its two steps in Python: this checks the construction, and not PHP."""
    (plugin,) = blocks("wordpress.md", "php")
    assert PHP_DERIVATION in plugin
    assert VECTOR in (DOCS / "host-guide.md").read_text()
    php = shutil.which("php")
    if php is not None:
        (function,) = re.findall(r"^function carrel_key_hex.*?^}", plugin, re.MULTILINE | re.DOTALL)
        program = f"{function} echo carrel_key_hex($argv[1], $argv[2]);"
        done = subprocess.run([php, "-r", program, "--", PASSWORD, UUID], capture_output=True, text=True, check=True)
        assert done.stdout == VECTOR
    # hash() gives lowercase hexadecimal digits, and the length of hash_pbkdf2() counts such digits.
    digits = hashlib.sha256(PASSWORD.encode()).hexdigest()
    derived = hashlib.pbkdf2_hmac("sha256", digits.encode(), UUID.encode(), 600_000).hex()[:64]
    assert derived == VECTOR


def test_the_host_guide_prints_the_policy_that_the_demo_sends() -> None:
    printed = next(block for block in blocks("host-guide.md", "text") if "default-src" in block)
    sent = desk_page.policy("…", "https://carrel.example.com")
    assert " ".join(printed.split()) == sent
