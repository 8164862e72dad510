"""The SDK has a method for every route of users and hosts, and each goes to the route that openapi.json describes."""

import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from carrel_sdk import AsyncWorkspace, CarrelError, Host, Workspace, event_stream
from carrel_sdk.aio import event_stream as aio_event_stream
from carrel_sdk.models import (
    Configuration,
    Content,
    DataSet,
    Generation,
    GithubConnection,
    Preset,
    PresetDraft,
    Settings,
)
from msgspec import inspect

from tests.support.wire import Wire

T = TypeVar("T")

CONTENT, PRESET, RUN, DATA_SET = "{content_id}", "{preset_id}", "{run_id}", "{data_set_id}"
GENERATION = Generation(candidates=[])


def filled(kind: type[T], **given: object) -> T:
    """A struct of which every field that is not given has another value than its default."""
    values = {field.name: given.get(field.name) or _other(field.type, field.default) for field in fields(kind)}
    return kind(**values)


def _other(kind: Any, default: object = None) -> Any:
    """A value of this type that is not the default."""
    if isinstance(kind, inspect.UnionType):
        return _other(next(one for one in kind.types if not isinstance(one, inspect.NoneType)), default)
    if isinstance(kind, inspect.LiteralType):
        return next(word for word in kind.values if word != default)
    if isinstance(kind, inspect.ListType):
        return [_other(kind.item_type)]
    if isinstance(kind, inspect.DictType):
        return {"k": _other(kind.value_type)}
    if isinstance(kind, inspect.StructType):
        return filled(kind.cls)
    plain: dict[type[inspect.Type], object] = {
        inspect.StrType: "s",
        inspect.IntType: 7,
        inspect.FloatType: 7.5,
        inspect.AnyType: "any",
    }
    return not default if isinstance(kind, inspect.BoolType) else plain[type(kind)]


def fields(kind: type[Any]) -> Iterable[inspect.Field]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return info.fields


content = filled(Content, id=CONTENT)
data_set = filled(DataSet, id=DATA_SET)
connection = filled(GithubConnection, id="{connection_id}")
preset = filled(Preset, id=PRESET)


def first(items: Any) -> object:
    """The first of them, or what waits for it."""
    return anext(items) if hasattr(items, "__anext__") else next(items)


OF_USERS: list[Callable[[Any], object]] = [
    lambda workspace: workspace.me(),
    lambda workspace: workspace.credits(),
    lambda workspace: first(workspace.ledger()),
    lambda workspace: workspace.sessions(),
    lambda workspace: workspace.end_session("{number}"),
    lambda workspace: workspace.sign_out(),
    lambda workspace: workspace.program_keys.create("n", "read"),
    lambda workspace: workspace.program_keys.list(),
    lambda workspace: workspace.program_keys.revoke("{program_key_id}"),
    lambda workspace: workspace.export_to(BytesIO()),
    lambda workspace: workspace.import_from(BytesIO()),
    lambda workspace: workspace.contents.create("n", "fragment"),
    lambda workspace: first(workspace.contents.find()),
    lambda workspace: workspace.contents.get(CONTENT),
    lambda workspace: workspace.contents.save(content),
    lambda workspace: workspace.contents.delete(CONTENT),
    lambda workspace: workspace.contents.duplicate(CONTENT),
    lambda workspace: workspace.contents.resolve(CONTENT),
    lambda workspace: workspace.contents.counts(),
    lambda workspace: workspace.contents.criteria_rows("- name: n"),
    lambda workspace: first(workspace.contents.versions(CONTENT)),
    lambda workspace: workspace.documents.upload("a.txt", b"x"),
    lambda workspace: first(workspace.documents.each()),
    lambda workspace: workspace.documents.get("{document_id}"),
    lambda workspace: workspace.documents.original("{document_id}"),
    lambda workspace: workspace.documents.reread("{document_id}"),
    lambda workspace: workspace.documents.page("{document_id}", 1),
    lambda workspace: workspace.documents.delete("{document_id}"),
    lambda workspace: workspace.data_sets.upload("a.csv", b"x"),
    lambda workspace: workspace.data_sets.preview("a.csv", b"x"),
    lambda workspace: workspace.data_sets.add_version(DATA_SET, "a.csv", b"x"),
    lambda workspace: first(workspace.data_sets.each()),
    lambda workspace: workspace.data_sets.get(DATA_SET),
    lambda workspace: first(workspace.data_sets.rows(DATA_SET)),
    lambda workspace: first(workspace.data_sets.versions(DATA_SET)),
    lambda workspace: workspace.data_sets.save(data_set),
    lambda workspace: workspace.data_sets.delete(DATA_SET),
    lambda workspace: workspace.presets.create(PresetDraft(name="n", inputs=[], generation=GENERATION)),
    lambda workspace: first(workspace.presets.each()),
    lambda workspace: workspace.presets.get(PRESET),
    lambda workspace: workspace.presets.save(preset),
    lambda workspace: workspace.presets.delete(PRESET),
    lambda workspace: workspace.presets.duplicate(PRESET),
    lambda workspace: workspace.presets.execute(PRESET),
    lambda workspace: workspace.presets.estimate(PRESET),
    lambda workspace: workspace.presets.alternatives("{preset_id}", baseline="today"),
    lambda workspace: workspace.presets.trends(PRESET),
    lambda workspace: workspace.presets.import_suite("prompts: [a]", files={"a": "b"}),
    lambda workspace: workspace.presets.export_suite(PRESET),
    lambda workspace: workspace.presets.drafts(),
    lambda workspace: workspace.presets.get_draft("{draft_id}"),
    lambda workspace: workspace.presets.save_draft("{draft_id}", "n", {}),
    lambda workspace: workspace.presets.delete_draft("{draft_id}"),
    lambda workspace: workspace.runs.create(configuration=Configuration(inputs=[], generation=GENERATION)),
    lambda workspace: workspace.runs.estimate(Configuration(inputs=[], generation=GENERATION)),
    lambda workspace: first(workspace.runs.find()),
    lambda workspace: workspace.runs.count(),
    lambda workspace: workspace.runs.get(RUN),
    lambda workspace: workspace.runs.replace(RUN, name="n"),
    lambda workspace: workspace.runs.delete(RUN),
    lambda workspace: workspace.runs.delete_many(["x"]),
    lambda workspace: workspace.runs.start(RUN),
    lambda workspace: workspace.runs.pause(RUN),
    lambda workspace: workspace.runs.resume(RUN),
    lambda workspace: workspace.runs.cancel(RUN),
    lambda workspace: workspace.runs.skip(RUN, "{task_key}"),
    lambda workspace: workspace.runs.retry(RUN),
    lambda workspace: workspace.runs.reevaluate(RUN),
    lambda workspace: workspace.runs.checkpoint(RUN),
    lambda workspace: workspace.runs.ranking(RUN),
    lambda workspace: workspace.runs.gate(RUN, baseline="today"),
    lambda workspace: workspace.runs.split(RUN, "lang"),
    lambda workspace: workspace.runs.classes(RUN),
    lambda workspace: workspace.runs.replacement(
        RUN, baseline="today", calls_per_month=7, margin=0.1, costs={"k": "1"}
    ),
    lambda workspace: workspace.runs.figures(RUN),
    lambda workspace: workspace.runs.beginnings(RUN, [1, 2], words="ship", answers=False),
    lambda workspace: workspace.runs.document_json(RUN, 1),
    lambda workspace: workspace.runs.report_html(RUN),
    lambda workspace: workspace.runs.report_json(RUN),
    lambda workspace: workspace.runs.receipt(RUN),
    lambda workspace: workspace.runs.receipt_text(RUN, "{text_name}"),
    lambda workspace: first(workspace.runs.tasks(RUN)),
    lambda workspace: workspace.runs.generated(RUN, "{generated_id}"),
    lambda workspace: workspace.runs.generated_markdown(RUN, "{generated_id}"),
    lambda workspace: first(workspace.runs.logs(RUN)),
    lambda workspace: workspace.runs.logs_count(RUN),
    lambda workspace: first(workspace.runs.logs_tail(RUN)),
    lambda workspace: workspace.runs.share_logs(RUN),
    lambda workspace: workspace.runs.export(RUN),
    lambda workspace: workspace.runs.note(RUN, 1, "c", starred=True),
    lambda workspace: first(workspace.runs.notes(RUN)),
    lambda workspace: workspace.votes.next(RUN),
    lambda workspace: workspace.votes.cast(RUN, "p", "tie"),
    lambda workspace: first(workspace.votes.each(RUN)),
    lambda workspace: workspace.votes.count(RUN),
    lambda workspace: workspace.votes.import_csv(RUN, "document,first,second,verdict\n", voter="Ann"),
    lambda workspace: workspace.votes.against_judges(RUN),
    lambda workspace: workspace.votes.criteria_proposal(RUN),
    lambda workspace: workspace.votes.undo(RUN, "{vote_id}"),
    lambda workspace: workspace.votes.withdraw(RUN, "{vote_id}"),
    lambda workspace: first(workspace.runs.events(RUN)),
    lambda workspace: first(workspace.provider_keys.each()),
    lambda workspace: workspace.provider_keys.store("openai", "k"),
    lambda workspace: workspace.provider_keys.get("{provider}"),
    lambda workspace: workspace.provider_keys.delete("{provider}"),
    lambda workspace: workspace.provider_keys.test("{provider}"),
    lambda workspace: workspace.github.connect("n", "o/r", "t"),
    lambda workspace: first(workspace.github.each()),
    lambda workspace: workspace.github.get("{connection_id}"),
    lambda workspace: workspace.github.save(connection),
    lambda workspace: workspace.github.delete("{connection_id}"),
    lambda workspace: workspace.github.test("{connection_id}"),
    lambda workspace: workspace.github.tree("{connection_id}", "docs"),
    lambda workspace: workspace.github.import_files("{connection_id}", ["a.md"]),
    lambda workspace: workspace.github.export_contents("{connection_id}", ["c"]),
    lambda workspace: workspace.github.export_run("{connection_id}", "r"),
    lambda workspace: workspace.rate_limits.list(),
    lambda workspace: workspace.rate_limits.set("{provider}"),
    lambda workspace: workspace.rate_limits.reset("{provider}"),
    lambda workspace: workspace.single.generate("m", "p"),
    lambda workspace: workspace.single.score("m", "d", "a", "c"),
    lambda workspace: workspace.single.compare("m", "d", "a", "b"),
    lambda workspace: workspace.evaluation.leaderboard(like="r"),
    lambda workspace: workspace.judges.list(),
    lambda workspace: workspace.judges.get("{model}"),
    lambda workspace: workspace.judges.check("local:reader"),
    lambda workspace: workspace.judges.check_cost("local:reader"),
    lambda workspace: workspace.judges.default(["local:lead"]),
    lambda workspace: workspace.settings.get(),
    lambda workspace: workspace.settings.save(Settings()),
    lambda workspace: first(workspace.models.each()),
    lambda workspace: workspace.models.get("{model}"),
    lambda workspace: workspace.models.endings(["local:lead"]),
    lambda workspace: workspace.models.prices(),
    lambda workspace: workspace.models.set_price("{model}", input_per_million="1", output_per_million="2"),
    lambda workspace: workspace.models.unset_price("{model}"),
    lambda workspace: workspace.metering.usage(),
    lambda workspace: first(workspace.metering.calls()),
]
OF_HOSTS: list[Callable[[Host], object]] = [
    lambda host: host.sign_up("{uuid}"),
    lambda host: host.sign_in("{uuid}", "pw"),
    lambda host: host.session("{uuid}"),
    lambda host: host.sign_out("{uuid}"),
    lambda host: host.change_password("{uuid}", "pw", "new"),
    lambda host: host.reset_password("{uuid}", "new"),
    lambda host: host.set_membership("{uuid}", "paid"),
    lambda host: host.set_membership("{uuid}", "free"),
    lambda host: host.add_credits("{uuid}", "1"),
    lambda host: host.write_offs(uuid="{uuid}"),
    lambda host: host.delete("{uuid}"),
]


def described(credential: str) -> set[tuple[str, str]]:
    """The routes that need this credential, as openapi.json has them. Those are left out that say more with it."""
    document = json.loads((Path(__file__).parents[2] / "openapi.json").read_text())
    return {
        (method.upper(), path.removeprefix("/api"))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if {credential: []} in operation.get("security", []) and {} not in operation["security"]
    }


def requested(wire: Wire) -> set[tuple[str, str]]:
    return {(request.method, path) for request, path in zip(wire.requests, wire.paths, strict=True)}


def _named(path: str) -> str:
    """The path as the interface describes it: versions and documents have numbers."""
    return (
        path.replace("/answers/1", "/answers/{document}")
        .replace("/pages/1", "/pages/{number}")
        .replace("/7", "/{version}")
    )


def test_a_user_reaches_every_route_of_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "BACKOFF_SECONDS", 0.0)
    wire = Wire(httpx.Response(200, json={"items": [], "next_cursor": None}))
    with Workspace("http://127.0.0.1:1", "t", http=wire) as workspace:
        for call in OF_USERS:
            # The answer is none that the method expects; where it went is what counts.
            with suppress(CarrelError, StopIteration):
                call(workspace)
        with suppress(CarrelError):
            workspace.contents.version(CONTENT, 7)
    went = {(method, _named(path)) for method, path in requested(wire)}
    assert went == described("SessionToken")


async def test_a_user_reaches_every_route_of_a_session_from_an_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aio_event_stream, "BACKOFF_SECONDS", 0.0)
    wire = Wire(httpx.Response(200, json={"items": [], "next_cursor": None}))
    async with AsyncWorkspace("http://127.0.0.1:1", "t", http=wire) as workspace:
        for call in OF_USERS:
            with suppress(CarrelError, StopAsyncIteration):
                result = call(workspace)
                assert isinstance(result, Awaitable)
                await result
        with suppress(CarrelError):
            await workspace.contents.version(CONTENT, 7)
    went = {(method, _named(path)) for method, path in requested(wire)}
    assert went == described("SessionToken")


def test_a_host_reaches_every_route_of_its_secret() -> None:
    wire = Wire(httpx.Response(200, json={}))
    host = Host("http://127.0.0.1:1", "x" * 40, http=wire)
    for call in OF_HOSTS:
        with suppress(CarrelError):
            call(host)
    assert requested(wire) == described("PluginSecret")


def written(path: str) -> set[str]:
    """The fields of what a `PUT` takes, without those that Carrel keeps itself and that a client need not send back."""
    document = json.loads((Path(__file__).parents[2] / "openapi.json").read_text())
    body = document["paths"][f"/api{path}"]["put"]["requestBody"]["content"]["application/json"]["schema"]
    schema = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    return {name for name, field in schema["properties"].items() if name in schema["required"] or "default" in field}


def test_what_is_put_has_every_field_that_may_be_written() -> None:
    """A field that a method left out would fall back to its default."""
    wire = Wire(httpx.Response(200, json={}))
    with Workspace("http://127.0.0.1:1", "t", http=wire) as workspace:
        for put in (
            lambda: workspace.contents.save(content),
            lambda: workspace.data_sets.save(data_set),
            lambda: workspace.github.save(connection, token="t"),
            lambda: workspace.models.set_price("{model}", input_per_million="1", output_per_million="2"),
            lambda: workspace.presets.save(preset),
            lambda: workspace.presets.save_draft("{draft_id}", "n", {}),
            lambda: workspace.rate_limits.set("{provider}"),
            lambda: workspace.runs.note(RUN, 1, "c"),
            lambda: workspace.runs.replace(RUN, name="n"),
            lambda: workspace.settings.save(filled(Settings)),
        ):
            with suppress(CarrelError):
                put()
    sent = {path: set(json.loads(request.content)) for path, request in zip(wire.paths, wire.requests, strict=True)}
    assert sent.keys() == {path for method, path in described("SessionToken") if method == "PUT"}
    assert sent == {path: written(path) for path in sent}
