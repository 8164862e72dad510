"""What a line of log may hold, at every level."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from carrel.http.answers import problem
from carrel.kit import logs
from carrel.kit.logs import keep_allowed, tail

CANARY = "canary-5f1c"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    yield
    logging.raiseExceptions = raising
    logs.configure("info")
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def configured(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    logs.configure("debug")
    return capsys


def lines(capture: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    out, err = capture.readouterr()
    assert out == ""
    return [json.loads(line) for line in err.splitlines()]


def test_a_line_is_json_with_level_and_time(configured: pytest.CaptureFixture[str]) -> None:
    logs.info("run started", run="01a", count=3)
    (line,) = lines(configured)
    assert line.pop("time").endswith("Z")  # type: ignore[attr-defined]
    assert line == {"event": "run started", "level": "info", "run": "01a", "count": 3}


def test_only_keys_of_the_list_pass_at_debug_too(configured: pytest.CaptureFixture[str]) -> None:
    logs.info("x", name=CANARY, path=CANARY, body=CANARY, error=CANARY, code="c")
    (line,) = lines(configured)
    assert CANARY not in str(line)
    assert line["code"] == "c"


def test_below_the_level_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("error")
    logs.warning("x")
    assert lines(capsys) == []


@pytest.mark.parametrize(
    "secret",
    [
        "0123456789abcdef" * 4,
        "eyJ1dWlkIjoiM2YxYzJiOWUtMDAwMSIsImV4cCI6MTgwMDAwfQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ",
        "sk-abcdefghijklmnop",
        "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-",
    ],
)
def test_what_looks_like_a_secret_is_blanked_even_under_an_allowed_key(secret: str) -> None:
    event = keep_allowed({"event": f"with {secret} inside", "at": [secret], "code": secret})
    assert secret not in str(event)
    assert event["event"] == "with [redacted] inside"


def test_ids_of_ours_are_kept() -> None:
    run = "019a2b3c-4d5e-7f60-8123-456789abcdef"
    assert keep_allowed({"run": run, "task_key": "r1.score.d3.c2.s1.j1.s1", "status": 200}) == {
        "run": run,
        "task_key": "r1.score.d3.c2.s1.j1.s1",
        "status": 200,
    }


def test_an_object_is_named_by_its_type_and_a_long_text_is_cut() -> None:
    event = keep_allowed({"code": ValueError(CANARY), "reason": "a b " * 200, "at": [{"k": CANARY}]})
    assert event["code"] == "ValueError"
    assert len(str(event["reason"])) == 300
    assert event["at"] == ["dict"]


def test_of_other_libraries_only_the_bare_fact_is_logged(configured: pytest.CaptureFixture[str]) -> None:
    foreign = logging.getLogger("somebody.else")
    foreign.debug("secret %s", CANARY)
    foreign.info("secret %s", CANARY)
    foreign.warning("went wrong: %s", CANARY)
    try:
        raise ValueError(CANARY)
    except ValueError:
        foreign.exception("first line\nsecond line %s", CANARY)
    first, second = lines(configured)
    assert first == {"level": "warning", "logger": "somebody.else", "event": "went wrong: %s"}
    assert second["event"] == "first line"
    assert second["kind"] == "ValueError"
    assert CANARY not in str([first, second])


def test_an_unexpected_error_is_logged_by_its_type_and_place(configured: pytest.CaptureFixture[str]) -> None:
    try:
        raise KeyError(CANARY)
    except KeyError as error:
        problem.report(error, "r1")
    (line,) = lines(configured)
    assert line["kind"] == "KeyError"
    assert line["request_id"] == "r1"
    assert "test_logs.py" in str(line["at"])
    assert CANARY not in str(line)


class Full:
    """A stream whose disk is full."""

    @property
    def buffer(self) -> "Full":
        return self

    def write(self, _: object) -> int:
        raise OSError

    def flush(self) -> None:
        raise OSError


def test_a_line_that_cannot_be_written_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    logs.configure("info")
    monkeypatch.setattr(sys, "stderr", Full())
    logs.info("x")


@pytest.mark.parametrize(
    ("uuid", "shown"),
    [("", ""), ("a", ""), ("ab", "b"), ("abc", "c"), ("abcdefgh", "efgh"), ("0123456789abcdef0", "9abcdef0")],
)
def test_of_a_uuid_the_last_eight_characters_or_the_last_half_are_shown(uuid: str, shown: str) -> None:
    assert tail(uuid) == shown
