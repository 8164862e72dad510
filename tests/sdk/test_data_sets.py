"""Tables through the SDK, to the real service and back."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from carrel_sdk import CarrelApiError, Host, NotFound, VersionMismatch, Workspace
from carrel_sdk.models import Column

from tests.support.service import Service

TABLE = b"question,expected\nWhat?,That\nWho?,They\n"


@pytest.fixture
def workspace(service: Service) -> Iterator[Workspace]:
    host = Host(service.url, service.plugin_secret)
    uuid = f"workspace-{uuid4()}"
    host.sign_up(uuid, membership="paid", password="pw")
    with Workspace(service.url, lambda: str(host.session(uuid))) as workspace:
        yield workspace
    host.close()


def test_a_table_is_uploaded_read_changed_and_deleted(workspace: Workspace) -> None:
    data_sets = workspace.data_sets
    seen = data_sets.preview("q.csv", TABLE, columns={"expected": "metadata"})
    assert (seen.row_count, seen.rows[1].values, seen.columns[1].role) == (
        2,
        {"question": "Who?", "expected": "They"},
        "metadata",
    )
    made = data_sets.upload("q.csv", TABLE, name="Questions", columns={"expected": "metadata"})
    assert [(column.name, column.role) for column in made.columns] == [
        ("question", "variable"),
        ("expected", "metadata"),
    ]
    made.columns[1] = Column(name="expected", role="expected")
    changed = data_sets.save(data_sets.get(made.id))
    assert (changed.version, changed.etag) == (2, '"2.json"')
    with pytest.raises(VersionMismatch):
        data_sets.save(made)
    longer = data_sets.add_version(made.id, "q.csv", TABLE + b"Why?,\n", if_match=changed.etag)
    assert [row.values for row in data_sets.rows(made.id)][2:] == [{"question": "Why?", "expected": None}]
    assert [one.version for one in data_sets.versions(made.id)] == [3, 2, 1]
    assert [(one.id, one.row_count) for one in data_sets.each()] == [(longer.id, 3)]
    with pytest.raises(CarrelApiError) as refused:
        data_sets.upload("q.csv", TABLE + b",x\n", columns={"question": "variable"})
    assert [fault.path for fault in refused.value.errors] == ["rows[3].question"]
    data_sets.delete(made.id)
    with pytest.raises(NotFound):
        data_sets.get(made.id)
