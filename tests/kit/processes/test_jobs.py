"""The lists of what the service's workers may run, and that nothing of it needs a file once the door is closed."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from carrel.documents.extract import Extract, text_of
from carrel.documents.jobs import JOBS as DOCUMENTS
from carrel.judges import run_passports
from carrel.kit.processes.jobs import Jobs
from carrel.providers.local.work import answer
from carrel.reports import rendering
from carrel.reports.jobs import JOBS as REPORTS
from carrel.runs.engine.jobs import JOBS as MODELS
from carrel.runs.verdicts import judgement
from tests.documents import files
from tests.providers.local.test_provider import CALLS as ANSWERS
from tests.support.report_inputs import report_input, sent

PROGRAM = """
import sys
import msgspec
from {module} import JOBS
JOBS.ready()
JOBS.prepare()
held = set(sys.modules)
answers = [next(JOBS.answers(call)) for call in msgspec.msgpack.decode(sys.stdin.buffer.read())]
opened = sorted(set(sys.modules) - held)
sys.stdout.buffer.write(msgspec.msgpack.encode([opened, answers]))
"""
WHOLE = report_input("aabb")
PACKED = judgement.pack(WHOLE.evidence)
SENT = sent(WHOLE)
READ: list[tuple[str, bytes]] = [
    *(("pdf", files.pdf("One.", "Two.")), ("pdf", files.pdf("Locked.", password="")), ("txt", b"Words.")),
    *(("docx", files.docx(files.paragraph("Words."))), ("html", b"<p>Words &amp; &nbsp; more"), ("csv", b"a,b")),
    *(("eml", b"Subject: a\n\nWords."), ("pptx", b"PK")),
    *(("pdf", files.pdf("x")[:99]), ("docx", b"PK"), ("txt", b"\xff")),
]
Calls = list[tuple[Callable[..., Any], tuple[Any, ...]]]
CALLS: dict[str, tuple[Jobs, Calls]] = {
    "documents": (DOCUMENTS, [(text_of, (claimed, memoryview(body), 1000)) for claimed, body in READ]),
    "models": (
        MODELS,
        [
            *((answer, (model, matter, None, 7)) for model, matter in ANSWERS),
            (judgement.conclude, (PACKED,)),
            (judgement.decide, (PACKED,)),
        ],
    ),
    "reports": (
        REPORTS,
        [
            *((form, (SENT, other)) for form in (rendering.as_json, rendering.as_page) for other in (None, SENT)),
            (rendering.as_entries, (SENT,)),
            (judgement.answer, (PACKED, None, {}, True)),
            (run_passports.drawn, (PACKED, {}, {}, {})),
        ],
    ),
}


@pytest.mark.parametrize("kind", CALLS)
def test_what_a_worker_runs_needs_no_file_once_it_has_prepared(kind: str) -> None:
    jobs, calls = CALLS[kind]
    # In a process of its own, because this one has imported everything.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=jobs.module)],
        input=msgspec.msgpack.encode([b"".join(jobs.call(fn, args)) for fn, args in calls]),
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    opened, answers = msgspec.msgpack.decode(done.stdout)
    assert opened == []
    for (fn, args), told in zip(calls, answers, strict=True):
        assert _outcome(jobs.result, fn, bytearray(told)) == _outcome(fn, *args)


def test_a_view_is_sent_from_where_it_is_and_read_where_it_came() -> None:
    held = bytearray(b"Words. " * 10)
    pieces = DOCUMENTS.call(text_of, ("txt", memoryview(held), 1000))
    assert [piece.obj is held for piece in pieces if isinstance(piece, memoryview)] == [True]
    frame = b"".join(pieces)
    assert msgspec.msgpack.decode(frame) == {"type": "text_of", "claimed": "txt", "body": held, "max_bytes": 1000}
    assert DOCUMENTS.result(text_of, bytearray(next(DOCUMENTS.answers(frame)))) == Extract(held.decode(), [])


def _outcome(fn: Callable[..., Any], *args: Any) -> Any:
    try:
        return fn(*args)
    except Exception as error:  # noqa: BLE001 - both sides have to end alike, whatever it is
        return type(error)
