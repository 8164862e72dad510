"""A real WordPress with our plugin: Debian's files, a MariaDB of its own, and PHP's own server."""

import getpass
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import httpx
import psutil

from tests.browser.browser import DIST
from tests.support.model_server import Running, model_server
from tests.support.processes import ended
from tests.support.service import Service, free_port

Answer = TypeVar("Answer")
HERE = Path(__file__).parent
PLUGIN = HERE.parents[2] / "integrations" / "wordpress" / "carrel"
PROGRAM = Path("/usr/share/wordpress")
MODULES = tuple(f"/usr/lib/php/*/{name}.so" for name in ("mysqli", "xml"))
NEEDED = ("php", *MODULES, "mariadbd", "mariadb-install-db", str(PROGRAM / "wp-load.php"))
"""Without these there is no WordPress, or no XML-RPC in it. Debian: wordpress, mariadb-server-core, php-xml."""
_START_SECONDS = 60
_DIALOG = httpx.Timeout(60)


@dataclass
class WordPress:
    """The website's address, its folder, and what tests do to it."""

    folder: Path
    service: Service
    models: Running
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def workspace_url(self) -> str:
        return f"{self.url}/wp-admin/admin-post.php?action=carrel_workspace"

    @property
    def token_url(self) -> str:
        return f"{self.url}/wp-admin/admin-ajax.php?action=carrel_token"

    # What PHP does --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Serve. Two workers beside the first, so that requests of two browsers meet."""
        with (self.folder / "php.log").open("ab") as log:
            self.server = subprocess.Popen(
                [*self._php, "-S", f"127.0.0.1:{self.port}", "-t", str(self.folder)],
                env=self._environment() | {"PHP_CLI_SERVER_WORKERS": "3"},
                cwd=self.folder,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        _until(self._answers, self.server, self.folder / "php.log")

    def stop(self) -> None:
        """All of its workers, also those whose parent a test has killed. Until each has ended, it holds the port."""
        if self.server is not None:
            workers = [one for one in psutil.process_iter() if _group_of(one.pid) == self.server.pid]
            with suppress(ProcessLookupError):
                os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
            assert all(ended(one.pid, within_seconds=_START_SECONDS) for one in workers)
            self.server = None

    def run(self, code: str) -> str:
        """Run PHP code inside WordPress, as WP-CLI does; what it printed."""
        file = self.folder / "run.php"
        file.write_text(f"<?php require ABSPATH . 'wp-load.php'; {code}")
        return self._run(file)

    def install(self) -> None:
        """Put the folder together and fill the database."""
        for entry in PROGRAM.iterdir():
            if entry.name not in {"wp-config.php", "wp-content"}:
                (self.folder / entry.name).symlink_to(entry)
        shutil.copy(HERE / "wp-config.php", self.folder)
        plugin, own = self.folder / "wp-content" / "plugins" / "carrel", self.folder / "wp-content" / "mu-plugins"
        shutil.copytree(PLUGIN, plugin)
        (self.folder / "compiled").mkdir()
        own.mkdir()
        (self.folder / "wp-content" / "themes").mkdir()
        shutil.copy(HERE / "faults.php", own)
        # As it is, but for the slowness of the derivation, which a test of the guides has a vector for.
        text = (plugin / "service.php").read_text()
        assert " 600000," in text
        (plugin / "service.php").write_text(text.replace(" 600000,", " 1000,"))
        self._run(HERE / "install.php")

    @property
    def _php(self) -> list[str]:
        """What PHP compiles is kept on the disk: it starts often here, and WordPress is large."""
        kept = ["opcache.enable_cli=1", f"opcache.file_cache={self.folder / 'compiled'}"]
        said = ["error_reporting=-1", "display_errors=stderr", "zend.exception_ignore_args=On"]
        first = [f"auto_prepend_file={HERE / 'prepend.php'}"]
        return ["php", *(argument for setting in (*kept, *said, *first) for argument in ("-d", setting))]

    def _run(self, file: Path) -> str:
        done = subprocess.run(
            [*self._php, file],
            env=self._environment(),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_START_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "WORDPRESS_FOLDER": str(self.folder),
            "WORDPRESS_SOCKET": str(self.folder / "db" / "socket"),
            "WORDPRESS_URL": self.url,
            "CARREL_URL": self.service.url,
            "CARREL_PLUGIN_SECRET": self.service.plugin_secret,
        }

    def _answers(self) -> bool:
        try:
            with urlopen(f"{self.url}/wp-login.php", timeout=10) as answer:
                return bool(answer.status == 200)
        except HTTPError:
            raise
        except (URLError, ConnectionError):
            return False

    # What the test's own plugin does --------------------------------------------------------------------------------

    @contextmanager
    def fault(self, what: str) -> Iterator[None]:
        """What goes wrong in here: `refuse` every request, or a kind of fault and the route of the service.

        PHP dies `before` the call or `after` it; its answer is to `lose`; or two requests of the website `meet` there.
        """
        file = self.folder / "fault.txt"
        file.write_text(what)
        try:
            yield
        finally:
            # Also if a test fails here, so that those after it do not.
            file.unlink()
            (self.folder / "met.txt").unlink(missing_ok=True)
            if what.startswith(("before", "after")):
                self.stop()
                self.start()

    def at_once(self, route: str, call: Callable[[int], Answer]) -> list[Answer]:
        """The answers of two requests, of which the second comes while the first is at this route of the service."""
        with self.fault(f"meet {route}"), ThreadPoolExecutor() as threads:
            first = threads.submit(call, 0)
            while not (self.folder / "met.txt").exists():
                assert not first.done(), "the first request did not come there"
                time.sleep(0.02)
            second = call(1)
            return [first.result(), second]

    def letter(self) -> str:
        """The link in the latest mail, which is taken away."""
        file = self.folder / "mail.txt"
        (link,) = re.findall(r"http://\S+action=rp\S+", file.read_text())
        file.unlink()
        return str(link)

    def asked(self) -> list[str]:
        """What the service was asked since the last look."""
        file = self.folder / "asked.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def complaints(self) -> str:
        """What PHP said about the plugin."""
        file = self.folder / "complaints.txt"
        return file.read_text() if file.exists() else ""

    # Users without a browser ----------------------------------------------------------------------------------------

    def visitor(self) -> httpx.Client:
        """A browser without scripts."""
        return httpx.Client(base_url=self.url, timeout=_DIALOG, follow_redirects=False)

    def sign_in(self, name: str, password: str) -> httpx.Client | None:
        """A visitor who is signed in; None if WordPress refuses."""
        visitor = self.visitor()
        answer = visitor.post("/wp-login.php", data={"log": name, "pwd": password})
        if answer.status_code == 302:
            return visitor
        visitor.close()
        return None


def _group_of(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


@contextmanager
def open_wordpress() -> Iterator[WordPress]:
    """Everything started, with the administrator and nobody else. Nothing is left of it."""
    folder = Path(tempfile.mkdtemp(prefix="wordpress-"))
    folder.chmod(0o755)
    with model_server() as models:
        service = Service(folder / "service", settings={"CARREL_PROVIDER_HOSTS": models.host})
        site = WordPress(folder, service, models)
        service.settings |= {"CARREL_CORS_ORIGINS": site.url, "CARREL_APP_DIR": str(DIST)}
        try:
            with _database(folder / "db"):
                site.install()
                service.start()
                site.start()
                yield site
        finally:
            site.stop()
            if service.process is not None:
                service.kill()
            shutil.rmtree(folder)


@contextmanager
def _database(folder: Path) -> Iterator[None]:
    """MariaDB on a socket of its own, without an open port; as an account without rights, if this one may choose."""
    folder.mkdir()
    user = "nobody" if os.geteuid() == 0 else getpass.getuser()
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    path = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin"}
    common = ["--no-defaults", f"--user={user}", f"--datadir={folder / 'data'}", f"--tmpdir={folder}"]
    fresh = ["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"]
    made = subprocess.run(
        ["mariadb-install-db", *common, *fresh], env=path, capture_output=True, text=True, timeout=_START_SECONDS
    )
    assert made.returncode == 0, made.stdout + made.stderr
    log, socket = folder / "log", folder / "socket"
    options = ["--skip-networking", f"--socket={socket}", f"--pid-file={folder / 'pid'}", f"--log-error={log}"]
    quick = ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M", "--performance-schema=OFF"]
    server = subprocess.Popen(["mariadbd", *common, *options, *quick], env=path, stderr=subprocess.DEVNULL)
    try:
        _until(socket.exists, server, log)
        create = "CREATE DATABASE wordpress CHARACTER SET utf8mb4"
        subprocess.run(
            ["php", "-r", f"(new mysqli('localhost', 'root', '', '', 0, '{socket}'))->query('{create}');"], check=True
        )
        yield
    finally:
        server.kill()
        server.wait()


def _until(holds: object, process: subprocess.Popen[bytes], log: Path) -> None:
    assert callable(holds)
    deadline = time.monotonic() + _START_SECONDS
    while not holds():
        said = log.read_text(errors="replace") if log.exists() else ""
        assert process.poll() is None, f"it ended with {process.returncode}:\n{said}"
        assert time.monotonic() < deadline, f"it does not answer:\n{said}"
        time.sleep(0.02)
