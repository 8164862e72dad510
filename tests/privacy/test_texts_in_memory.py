"""How much of a user's texts stays in memory after the key has gone: freed memory is overwritten, save small objects.

Python keeps what its objects of up to 512 bytes held, until other objects take their place. So a few sentences stay.
The test prints how many with `-s`. Only root may read the memory of the service.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.memory import traces
from tests.support.run_setup import exported, finished, text_of
from tests.support.service import Service

CANARY = "canarysentenceAlabaster"
"""In every sentence."""
TEXTS = [(1, 300), (4, 3_000), (20, 20_000), (100, 90_000)]
"""Of how many pieces a text is made, and after how many characters it is cut off."""
MOST_IN_SERVICE = 300
MOST_IN_WORKERS = 1_500
"""Of some 25,000 sentences that were there. 40 to 130 are usual in the service, 800 to 900 in its workers."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.start()
    yield service
    service.stop()


class User:
    def __init__(self, client: httpx.Client, plugin: dict[str, str]) -> None:
        self._client = client
        self._plugin = plugin
        self.session: dict[str, str] = {}
        assert client.post("/users", json={"uuid": "ada", "membership": "paid"}, headers=plugin).is_success
        answer = self.sign_in("ab")
        self.session = {"X-SVC-Session-Token": answer.json()["session_token"]}

    def sign_in(self, digits: str) -> httpx.Response:
        body = {"uuid": "ada", "db_key_hex": digits * 32}
        return self._client.post("/auth/login", json=body, headers=self._plugin)

    def get(self, path: str) -> httpx.Response:
        return self._client.get(path, headers=self.session).raise_for_status()

    def post(self, path: str, body: object = None) -> str:
        return str(self._client.post(path, json=body, headers=self.session).raise_for_status().json()["id"])

    def content(self, kind: str, body: str) -> str:
        return self.post("/contents", {"name": kind, "type": kind, "body": body})

    def use_everything(self) -> None:
        """Write texts, read and search them, run over them, report and export."""
        ids = []
        for number in range(60):
            pieces, characters = TEXTS[number % len(TEXTS)]
            text = "\n".join(text_of(number * 7 + piece, CANARY) for piece in range(pieces))
            ids.append(self.content("input_document", text[:characters]))
        for content in ids:
            assert CANARY in self.get(f"/contents/{content}").text
        self.get("/contents?limit=50")
        self.get("/contents?q=harbour")
        judges = [{"model": "local:reader"}, {"model": "local:statistician"}]
        configuration = {
            "inputs": ids[:12],
            "instructions": self.content("generation_instructions", "Summarise {{document}} now."),
            "generation": {"candidates": [{"model": "local:lexrank"}, {"model": "local:lead"}]},
            "scoring": {
                "judges": judges,
                "criteria": self.content("criteria", "- name: coverage\n  description: what the document says\n"),
            },
            "comparison": {"judges": judges},
        }
        run = self.post("/runs", {"configuration": configuration})
        self.post(f"/runs/{run}/start")
        assert finished(self._client, self.session, run) == "completed"
        assert CANARY in self.get(f"/runs/{run}/report").text
        assert self._client.post(f"/runs/{run}/export", headers=self.session).is_success
        assert exported(self._client, self.session, run)
        self.get("/users/me/export")


def copies(pid: int) -> int:
    """Of sentences. Of the canary, either half counts."""
    return traces(pid, {"sentence": CANARY.encode()}).total() // 2


def test_few_sentences_outlive_an_eviction(service: Service) -> None:
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    with httpx.Client(base_url=f"{service.url}/api", timeout=60) as client:
        user = User(client, plugin)
        user.use_everything()
        before = copies(service.pid)
        assert user.sign_in("00").status_code == 401
        workers = [child.pid for child in psutil.Process(service.pid).children(recursive=True)]
        after, in_workers = copies(service.pid), sum(map(copies, workers))
    print(f"sentences in memory: {before} before, {after} after the eviction, {in_workers} in {len(workers)} workers")
    assert before > 10_000, "the search would not find them"
    assert after < MOST_IN_SERVICE
    assert workers
    assert in_workers < MOST_IN_WORKERS
