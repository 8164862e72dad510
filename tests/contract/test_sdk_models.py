"""The structs of the SDK say what `openapi.json` says, field by field: names, types, what may be missing or null."""

import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any, Final

import carrel_sdk
import msgspec
import pytest
from msgspec import inspect

SCHEMAS: Final[dict[str, Any]] = json.loads(Path("openapi.json").read_text(encoding="utf-8"))["components"]["schemas"]

NAMED_OTHERWISE: Final = {
    "account.Counts": "UserCounts",
    "catalogue._Set": "ModelPrices",
    "account.Limits": "UserLimits",
    "account.User": "UserOut",
    "admin.ReadLog": "SharedLog",
    "contents.ContentVersion": "VersionSummary",
    "evaluation.BoardRun": "Member",
    "github.Imported": "ImportOutcome",
    "judges.OwnFamilyLift": "FamilyLift",
    "host._SessionOut": "SessionOut",
    "metering.Usage": "UsageReport",
    "presets.PresetDraft": "PresetIn",
    "presets._Drafts": "Drafts",
    "program_keys.OwnProgramKeys": "ProgramKeys",
    "program_keys.ProgramSession": "ProgramSessionOut",
    "provider_keys.LastTest": "LastKeyTest",
    "ranking.JudgeAgreement": "PairAgreement",
    "ranking.Figures": "Ranking",
    "ranking.Ranking": "RankingOut",
    "rate_limits._Listed": "RateLimits",
    "run_models.Estimate": "DryRun",
    "run_models.Generated": "GeneratedDocument",
    "run_models.LogEntry": "Entry",
    "run_models.SharedLog": "SharedLogOut",
    "settings.Settings": "UserSettings",
    "single.Generated": "Completion",
    "transport._Fault": "Fault",
    "transport._Problem": "Problem",
}
"""Schemas that the SDK calls by a name of its own."""

NO_SCHEMA: Final = {
    "calls._Page": "stands for every schema of a page; its two fields are those of each",
    "run_models.AnswerPart": "a server-sent event of a streamed answer",
    "run_models.RunEvent": "made of a server-sent event",
    "sessions._Payload": "what is inside a session token",
    "single._Piece": "a server-sent event of a streamed answer",
}

OF_THE_SDK: Final = {"etag"}
"""Fields that the SDK fills in itself: the header's ETag."""


def structs() -> dict[str, type[msgspec.Struct]]:
    """Every struct of the SDK by its module and name."""
    found: dict[str, type[msgspec.Struct]] = {}
    for module in pkgutil.iter_modules(carrel_sdk.__path__):
        held = importlib.import_module(f"carrel_sdk.{module.name}")
        for name, value in vars(held).items():
            if isinstance(value, type) and issubclass(value, msgspec.Struct) and value.__module__ == held.__name__:
                found[f"{module.name}.{name}"] = value
    return found


STRUCTS: Final = structs()
SCHEMA_OF: Final = {
    struct: NAMED_OTHERWISE.get(key, struct.__name__) for key, struct in STRUCTS.items() if key not in NO_SCHEMA
}


def of_sdk(kind: inspect.Type) -> Any:
    """A type of the SDK in the words of `of_schema`."""
    if isinstance(kind, inspect.Metadata):
        return of_sdk(kind.type)
    if isinstance(kind, inspect.UnionType):
        return frozenset(of_sdk(member) for member in kind.types)
    if isinstance(kind, inspect.StructType):
        return ("struct", SCHEMA_OF.get(kind.cls))
    if isinstance(kind, inspect.LiteralType):
        return ("one of", frozenset(kind.values))
    if isinstance(kind, inspect.EnumType):
        return ("one of", frozenset(member.value for member in kind.cls))
    if isinstance(kind, inspect.DictType):
        return ("object", of_sdk(kind.value_type))
    if isinstance(kind, inspect.CollectionType):
        return ("array", of_sdk(kind.item_type))
    words: dict[type[inspect.Type], str] = {
        inspect.AnyType: "anything",
        inspect.NoneType: "null",
        inspect.StrType: "string",
        inspect.IntType: "integer",
        inspect.FloatType: "number",
        inspect.BoolType: "boolean",
    }
    return words[type(kind)]


def of_schema(schema: dict[str, Any]) -> Any:
    """The type that a schema describes; formats and limits apart."""
    if not schema:
        return "anything"
    if "$ref" in schema:
        return ("struct", schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return frozenset(of_schema(member) for member in schema["anyOf"])
    if "enum" in schema:
        values = frozenset(schema["enum"])
        return frozenset({("one of", values - {None}), "null"}) if None in values else ("one of", values)
    if schema["type"] == "array":
        # The members of a tuple are of one type.
        return ("array", of_schema(schema["items"] or schema["prefixItems"][0]))
    if schema["type"] == "object":
        inner = schema.get("additionalProperties", {})
        return ("object", of_schema({} if inner is True else inner))
    return schema["type"]


def fits(sdk: Any, schema: Any) -> bool:
    """Whether the SDK takes what the schema describes, and nothing else; any text stands for one of some words."""
    if isinstance(sdk, frozenset) or isinstance(schema, frozenset):
        ours = sdk if isinstance(sdk, frozenset) else frozenset({sdk})
        theirs = schema if isinstance(schema, frozenset) else frozenset({schema})
        return all(any(fits(one, other) for one in ours) for other in theirs) and all(
            any(fits(one, other) for other in theirs) for one in ours
        )
    if isinstance(sdk, tuple) and isinstance(schema, tuple) and sdk[0] == schema[0] != "one of":
        return (sdk[0] != "struct" and fits(sdk[1], schema[1])) or sdk == schema
    return bool(sdk == schema or (sdk == "string" and isinstance(schema, tuple) and schema[0] == "one of"))


def words(kind: Any) -> str:
    """A type in words that are the same in every process."""
    return " or ".join(sorted(words(member) for member in kind)) if isinstance(kind, frozenset) else str(kind)


def differences(struct: type[msgspec.Struct], schema: dict[str, Any], *, is_sent: bool = False) -> list[str]:
    """What a struct and a schema do not agree on, in words; `is_sent`: the struct is the body of a request."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    fields = {field.encode_name: field for field in info.fields if field.name not in OF_THE_SDK}
    properties: dict[str, Any] = schema["properties"]
    found = [f"{name}: not in the schema" for name in fields.keys() - properties.keys()]
    found += [f"{name}: not in the SDK" for name in properties.keys() - fields.keys()]
    for name in fields.keys() & properties.keys():
        ours, theirs = of_sdk(fields[name].type), of_schema(properties[name])
        if not fits(ours, theirs):
            found.append(f"{name}: {words(ours)} in the SDK, {words(theirs)} in the schema")
        # What the service always tells may have a default: an earlier service did not tell it.
        if fields[name].required and name not in schema.get("required", ()):
            found.append(f"{name}: may be missing")
        if is_sent and not fields[name].required and name in schema.get("required", ()):
            found.append(f"{name}: must be sent")
    return sorted(found)


@pytest.mark.parametrize("key", sorted(set(STRUCTS) - set(NO_SCHEMA)))
def test_a_struct_of_the_sdk_says_what_the_document_says(key: str) -> None:
    is_sent = key.startswith("configuration.") or key == "presets.PresetDraft"
    assert differences(STRUCTS[key], SCHEMAS[SCHEMA_OF[STRUCTS[key]]], is_sent=is_sent) == []


def test_every_schema_of_a_page_has_the_fields_of_the_sdk_s_page() -> None:
    page = {field.encode_name for field in msgspec.structs.fields(STRUCTS["calls._Page"])}
    pages = [schema for name, schema in SCHEMAS.items() if name.endswith("Page")]
    assert len(pages) > 10
    assert all(set(schema["properties"]) == page for schema in pages)


def test_the_tables_name_nothing_that_is_gone() -> None:
    assert set(NAMED_OTHERWISE) | set(NO_SCHEMA) <= set(STRUCTS)
    assert set(NAMED_OTHERWISE.values()) <= set(SCHEMAS)
    assert len(STRUCTS) > 80


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda schema: schema["properties"].pop("cost"), "cost: not in the schema"),
        (lambda schema: schema["properties"].update(more={"type": "string"}), "more: not in the SDK"),
        (
            lambda schema: schema["properties"].update(key={"type": "integer"}),
            "key: string in the SDK, integer in the schema",
        ),
        (lambda schema: schema["required"].remove("key"), "key: may be missing"),
        (
            lambda schema: schema["properties"].update(repeat={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            "repeat: integer in the SDK, integer or null in the schema",
        ),
    ],
)
def test_a_difference_is_found(change: Any, difference: str) -> None:
    schema = json.loads(json.dumps(SCHEMAS["Task"]))
    change(schema)
    assert differences(STRUCTS["run_models.Task"], schema) == [difference]
