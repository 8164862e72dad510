"""The data of a report on its way to a worker: nothing is lost, and no long piece of it keeps the event loop."""

import msgspec
from msgspec.structs import replace

from carrel.reports import findings
from carrel.reports.rendering import as_json
from tests.support.report_inputs import report_input, sent

WHOLE = report_input("aabb")
MANY = 3_000


def test_a_packed_report_is_the_same_report() -> None:
    other = report_input("bbb", name="Before")
    assert as_json(sent(WHOLE), sent(other)) == msgspec.json.encode(findings.build(WHOLE, other))
    assert as_json(sent(WHOLE)) == msgspec.json.encode(findings.build(WHOLE))


def test_evidence_is_packed_in_pieces_however_much_there_is() -> None:
    evidence = replace(WHOLE.evidence, verdicts=WHOLE.evidence.verdicts * MANY)
    packed = sent(replace(WHOLE, evidence=evidence))
    assert len(packed.rest) < 20_000
    assert len(packed.evidence.verdicts) > 50
    assert max(map(len, packed.evidence.verdicts)) < 64 * 1024
