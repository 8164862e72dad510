"""The SDK has a method for every route of users and hosts, and each goes to the route that openapi.json describes."""

import json
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from carrel_sdk import CarrelError, Host, Workspace, derive, event_stream
from carrel_sdk.configuration import Configuration, Generation
from carrel_sdk.contents import Content
from carrel_sdk.github import Connection
from carrel_sdk.presets import Preset, PresetDraft
from carrel_sdk.settings import Settings

from tests.support.wire import Wire

CONTENT, PRESET, RUN = "{content_id}", "{preset_id}", "{run_id}"
GENERATION = Generation(candidates=[])
content = Content(id=CONTENT, name="n", type="fragment", body="", version=1, created_at="", updated_at="")
connection = Connection(
    id="{connection_id}", name="n", repository="o/r", base_url="u", hint="", version=1, created_at="", updated_at=""
)
preset = Preset(id=PRESET, name="n", inputs=[], generation=GENERATION, version=1, created_at="", updated_at="")

OF_USERS: list[Callable[[Workspace], object]] = [
    lambda desk: desk.me(),
    lambda desk: desk.credits(),
    lambda desk: next(desk.ledger()),
    lambda desk: desk.export_to(BytesIO()),
    lambda desk: desk.import_from(BytesIO()),
    lambda desk: desk.contents.create("n", "fragment"),
    lambda desk: next(desk.contents.find()),
    lambda desk: desk.contents.get(CONTENT),
    lambda desk: desk.contents.save(content),
    lambda desk: desk.contents.delete(CONTENT),
    lambda desk: desk.contents.duplicate(CONTENT),
    lambda desk: desk.contents.resolve(CONTENT),
    lambda desk: desk.contents.counts(),
    lambda desk: next(desk.contents.versions(CONTENT)),
    lambda desk: desk.documents.upload("a.txt", b"x"),
    lambda desk: next(desk.documents.each()),
    lambda desk: desk.documents.get("{document_id}"),
    lambda desk: desk.documents.original("{document_id}"),
    lambda desk: desk.documents.delete("{document_id}"),
    lambda desk: desk.presets.create(PresetDraft(name="n", inputs=[], generation=GENERATION)),
    lambda desk: next(desk.presets.each()),
    lambda desk: desk.presets.get(PRESET),
    lambda desk: desk.presets.save(preset),
    lambda desk: desk.presets.delete(PRESET),
    lambda desk: desk.presets.duplicate(PRESET),
    lambda desk: desk.presets.execute(PRESET),
    lambda desk: desk.presets.estimate(PRESET),
    lambda desk: desk.runs.create(configuration=Configuration(inputs=[], generation=GENERATION)),
    lambda desk: desk.runs.estimate(Configuration(inputs=[], generation=GENERATION)),
    lambda desk: next(desk.runs.find()),
    lambda desk: desk.runs.count(),
    lambda desk: desk.runs.get(RUN),
    lambda desk: desk.runs.replace(RUN, name="n"),
    lambda desk: desk.runs.delete(RUN),
    lambda desk: desk.runs.delete_many(["x"]),
    lambda desk: desk.runs.start(RUN),
    lambda desk: desk.runs.pause(RUN),
    lambda desk: desk.runs.resume(RUN),
    lambda desk: desk.runs.cancel(RUN),
    lambda desk: desk.runs.skip(RUN, "{task_key}"),
    lambda desk: desk.runs.reevaluate(RUN),
    lambda desk: desk.runs.checkpoint(RUN),
    lambda desk: desk.runs.ranking(RUN),
    lambda desk: desk.runs.report_html(RUN),
    lambda desk: desk.runs.report_json(RUN),
    lambda desk: next(desk.runs.tasks(RUN)),
    lambda desk: desk.runs.generated(RUN, "{generated_id}"),
    lambda desk: desk.runs.generated_markdown(RUN, "{generated_id}"),
    lambda desk: next(desk.runs.logs(RUN)),
    lambda desk: desk.runs.logs_count(RUN),
    lambda desk: next(desk.runs.logs_tail(RUN)),
    lambda desk: desk.runs.share_logs(RUN),
    lambda desk: desk.runs.export(RUN),
    lambda desk: desk.votes.next(RUN),
    lambda desk: desk.votes.cast(RUN, "p", "tie"),
    lambda desk: next(desk.votes.each(RUN)),
    lambda desk: desk.votes.count(RUN),
    lambda desk: desk.votes.withdraw(RUN, "{vote_id}"),
    lambda desk: next(desk.runs.events(RUN)),
    lambda desk: next(desk.provider_keys.each()),
    lambda desk: desk.provider_keys.store("openai", "k"),
    lambda desk: desk.provider_keys.get("{provider}"),
    lambda desk: desk.provider_keys.delete("{provider}"),
    lambda desk: desk.provider_keys.test("{provider}"),
    lambda desk: desk.github.connect("n", "o/r", "t"),
    lambda desk: next(desk.github.each()),
    lambda desk: desk.github.get("{connection_id}"),
    lambda desk: desk.github.save(connection),
    lambda desk: desk.github.delete("{connection_id}"),
    lambda desk: desk.github.test("{connection_id}"),
    lambda desk: desk.github.tree("{connection_id}", "docs"),
    lambda desk: desk.github.import_files("{connection_id}", ["a.md"]),
    lambda desk: desk.github.export_contents("{connection_id}", ["c"]),
    lambda desk: desk.github.export_run("{connection_id}", "r"),
    lambda desk: desk.rate_limits.list(),
    lambda desk: desk.rate_limits.set("{provider}"),
    lambda desk: desk.rate_limits.reset("{provider}"),
    lambda desk: desk.single.generate("m", "p"),
    lambda desk: desk.single.score("m", "d", "a", "c"),
    lambda desk: desk.single.compare("m", "d", "a", "b"),
    lambda desk: desk.evaluation.leaderboard(like="r"),
    lambda desk: desk.evaluation.judges(),
    lambda desk: desk.settings.get(),
    lambda desk: desk.settings.save(Settings()),
    lambda desk: next(desk.models.each()),
    lambda desk: desk.models.get("{model}"),
    lambda desk: desk.metering.usage(),
    lambda desk: next(desk.metering.calls()),
]
OF_HOSTS: list[Callable[[Host], object]] = [
    lambda host: host.sign_up("{uuid}"),
    lambda host: host.sign_in("{uuid}", "pw"),
    lambda host: host.session("{uuid}"),
    lambda host: host.change_password("{uuid}", "pw", "new"),
    lambda host: host.reset_password("{uuid}", "new"),
    lambda host: host.set_membership("{uuid}", "paid"),
    lambda host: host.set_membership("{uuid}", "free"),
    lambda host: host.add_credits("{uuid}", "1"),
    lambda host: host.delete("{uuid}"),
]


def described(credential: str) -> set[tuple[str, str]]:
    """The routes that take this credential, as openapi.json has them."""
    document = json.loads((Path(__file__).parents[2] / "openapi.json").read_text())
    return {
        (method.upper(), path.removeprefix("/api"))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if {credential: []} in operation.get("security", [])
    }


def requested(wire: Wire) -> set[tuple[str, str]]:
    return {(request.method, path) for request, path in zip(wire.requests, wire.paths, strict=True)}


def test_a_user_reaches_every_route_of_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_BACKOFF_SECONDS", 0.0)
    wire = Wire(httpx.Response(200, json={"items": [], "next_cursor": None}))
    with Workspace("http://127.0.0.1:1", "t", http=wire) as desk:
        for call in OF_USERS:
            # The answer is none that the method expects; where it went is what counts.
            with suppress(CarrelError, StopIteration):
                call(desk)
        with suppress(CarrelError):
            desk.contents.version(CONTENT, 7)
    went = {(method, path.replace("/7", "/{version}")) for method, path in requested(wire)}
    assert went == described("SessionToken")


def test_a_host_reaches_every_route_of_its_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derive, "ITERATIONS", 1)
    wire = Wire(httpx.Response(200, json={}))
    host = Host("http://127.0.0.1:1", "x" * 40, http=wire)
    for call in OF_HOSTS:
        with suppress(CarrelError):
            call(host)
    assert requested(wire) == described("PluginSecret")
