"""The structs of the SDK, from the schemas of `openapi.json`: those that its modules import from `carrel_sdk.models`.

What a client sends is exact: it leaves out what has its default, and takes only the words of the service. An answer may
come from an earlier or a newer service. Unknown fields are ignored, and a word is any text, unless the SDK has a name
for the words. Numbers, lists and the like may be missing and are then empty, but not the first field of a struct: where
that is not, the answer is something else.
"""

import ast
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

NAMES: Final = {
    "Calls": "CallCounts",
    "DryRun": "Estimate",
    "Figures": "AnswerFigures",
    "GeneratedDocument": "Generated",
    "LastKeyTest": "LastTest",
    "PresetIn": "PresetDraft",
    "ProgramKeys": "OwnProgramKeys",
    "ProgramSessionOut": "ProgramSession",
    "Ranking": "Figures",
    "RankingOut": "Ranking",
    "RateLimits": "RateLimitList",
    "SharedLog": "ReadLog",
    "SharedLogOut": "SharedLog",
    "UserCounts": "Counts",
    "UserLimits": "Limits",
    "UserOut": "User",
    "UserSettings": "Settings",
}
"""Schemas that the SDK calls by a name of its own."""
WORDS: Final = {
    "Choice": "Vote.verdict",
    "ColumnRole": "Column.role",
    "ContentType": "Content.type",
    "Format": "Document.format",
    "KeyState": "ProgramKey.state",
    "Membership": "User.membership",
    "RunState": "Run.state",
    "Scope": "ProgramKey.scopes",
    "TableFormat": "DataSet.format",
    "TaskState": "Task.state",
}
"""Sets of words that have a name, and a field with them."""
BASES: Final = {
    "ConnectionChange": ("Hidden",),
    "Draft": ("DraftSummary",),
    "NewProgramKey": ("Hidden", "ProgramKey"),
    "Preset": ("PresetDraft",),
    "PresetDraft": ("Configuration",),
    "ProgramSession": ("Hidden",),
    "Progress": ("TasksDone",),
    "ReadLog": ("SharedLogSummary",),
    "Run": ("RunSummary",),
    "RunSummary": ("RunStates",),
    "SessionOut": ("Hidden",),
    "UploadedDataSet": ("DataSet",),
    "WriteOff": ("WriteOffSum",),
}
"""What a struct is besides: another one with more fields, or a class of `carrel_sdk.behaviour`."""
KEYWORDS: Final = {"ContentFields": ("ContentIn", "body")}
"""The optional fields of a struct as keywords of a method, besides those that it has as parameters of their own."""
FIELDS: Final = {"schema": "schema_"}
"""Fields that have another name in Python."""
TYPES: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEADER: Final = '''"""What goes over the wire, as structs.

Written by `sdk/generate.py` from `openapi.json`. Change the structs of the service, and run `make openapi client`.
"""

from typing import Any, Literal, TypeAlias, TypedDict

import msgspec
from carrel_sdk.behaviour import Hidden, RunStates, TasksDone

'''


def imported(sources: Iterable[Path]) -> list[str]:
    """The names that modules import from `carrel_sdk.models`, in their order."""
    nodes = (node for source in sources for node in ast.walk(ast.parse(source.read_text("utf-8"))))
    froms = (node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "carrel_sdk.models")
    return [alias.name for node in froms for alias in node.names]


def generated(document: Json, wanted: Iterable[str]) -> str:
    """The module, before it is formatted: the structs that are wanted, and before each those that it refers to."""
    schemas = _Schemas(document)
    ordered: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in ordered and name in schemas.by_name:
            for other in schemas.referred(name):
                add(other)
            ordered[name] = schemas.struct(name)

    for name in wanted:
        of, *parameters = KEYWORDS.get(name, (name,))
        add(of)
        if of != name:
            ordered[name] = schemas.keywords(name, of, parameters)
    aliases = [f"{name}: TypeAlias = {_literal(words)}\n" for words, name in schemas.named.items()]
    return HEADER + "".join(aliases) + "\n\n" + "\n\n".join(ordered.values())


class _Schemas:
    """The document by the SDK's names."""

    def __init__(self, document: Json) -> None:
        self.by_name: dict[str, Json] = {
            NAMES.get(name, name): schema for name, schema in document["components"]["schemas"].items()
        }
        self.named: dict[tuple[str, ...], str] = {}
        for alias, place in WORDS.items():
            name, field = place.split(".")
            self.named[_words(self.by_name[name]["properties"][field])] = alias
        self._saved = set(_saved(document["paths"]))
        self._sent = set[str]()
        bodies = [
            operation.get("requestBody", {}) for path in document["paths"].values() for operation in path.values()
        ]
        self._send(bodies)

    def referred(self, name: str) -> Iterator[str]:
        """The structs that have to stand before this one."""
        yield from BASES.get(name, ())
        yield from _references(list(self._properties(name).values()))

    def struct(self, name: str) -> str:
        """One class."""
        fields, bases = self._fields(name), BASES.get(name, ())
        parents = [base for base in bases if base in self.by_name]
        inherited = {field: kind for parent in parents for field, (kind, _) in self._fields(parent).items()}
        own = [f"    {field}: {kind}{rest}" for field, (kind, rest) in fields.items() if inherited.get(field) != kind]
        changes = not parents if name in self._saved else any(parent in self._saved for parent in parents)
        options = ["omit_defaults=True"] if self._is_sent(name) else [] if changes else ["frozen=True"]
        renamed = {here: there for there, here in FIELDS.items() if here in fields}
        options += ["kw_only=True", *([f"rename={renamed}"] if renamed else [])]
        head = f"class {name}({', '.join([*bases, *([] if parents else ['msgspec.Struct']), *options])}):\n"
        return head + _docstring(self.by_name[name]["description"]) + "".join(own)

    def keywords(self, name: str, of: str, parameters: Collection[str]) -> str:
        """A class of the optional fields of `of`, without these."""
        left = {field: kind for field, (kind, rest) in self._fields(of).items() if rest.startswith(" = ")}
        fields = [f"    {field}: {kind}\n" for field, kind in left.items() if field not in parameters]
        return f"class {name}(TypedDict, total=False):\n{_docstring(f'What a `{of}` may have.')}{''.join(fields)}"

    def _send(self, node: Any) -> None:
        for name in set(_references(node)) - self._sent:
            self._sent.add(name)
            self._send(list(self._properties(name, is_sent=True).values()))

    def _is_sent(self, name: str) -> bool:
        return name in self._sent or any(self._is_sent(base) for base in BASES.get(name, ()))

    def _properties(self, name: str, *, is_sent: bool | None = None) -> Json:
        """The fields, without those of a body that only the service changes: no client has to send them back."""
        schema = self.by_name[name]
        optional = schema["properties"].keys() - schema["required"]
        kept = {field for field in optional if "default" not in schema["properties"][field]}
        is_sent = self._is_sent(name) if is_sent is None else is_sent
        return {field: value for field, value in schema["properties"].items() if not is_sent or field not in kept}

    def _fields(self, name: str) -> dict[str, tuple[str, str]]:
        """The type of each field, and what stands behind it."""
        is_sent, required = self._is_sent(name), self.by_name[name]["required"]
        found: dict[str, tuple[str, str]] = {}
        for field, schema in self._properties(name).items():
            kind, default = self._type(schema, is_sent=is_sent), ""
            if "default" in schema:
                default = f" = {self._default(schema)}"
            elif not is_sent and (found or field not in required):
                default = _empty(kind)
            parts = (schema, *schema.get("anyOf", ()))
            said = [one["description"] for one in parts if "description" in one]
            said += [f"One of {', '.join(_words(one))}." for one in parts if "enum" in one and kind.startswith("str")]
            found[FIELDS.get(field, field)] = kind, f"{default}\n" + "".join(map(_docstring, said))
        if name in self._saved:
            found["etag"] = "str", ' = ""\n'
        return found

    def _type(self, schema: Json, *, is_sent: bool) -> str:
        if "$ref" in schema:
            return _name(schema)
        if "anyOf" in schema:
            return " | ".join(self._type(member, is_sent=is_sent) for member in schema["anyOf"])
        if "enum" in schema:
            words = _words(schema)
            kind = self.named.get(words) or (_literal(words) if is_sent else "str")
            return f"{kind} | None" if None in schema["enum"] else kind
        if not schema:
            return "Any"
        if schema["type"] == "array":
            return f"list[{self._type(schema['items'], is_sent=is_sent)}]"
        if schema["type"] == "object":
            return f"dict[str, {self._type(schema.get('additionalProperties', {}), is_sent=is_sent)}]"
        # The SDK reads and sends amounts as texts, as the service tells them; the service takes numbers, too.
        return "str" if schema.get("format") == "decimal" else TYPES[schema["type"]]

    def _default(self, schema: Json) -> str:
        value = schema["default"]
        if "$ref" not in schema:
            return repr(value)
        name = _name(schema)
        if value and value != {field: one.get("default") for field, one in self.by_name[name]["properties"].items()}:
            raise ValueError(f"the default of a {name} is not that of its fields")
        return f"msgspec.field(default_factory={name})"


def _empty(kind: str) -> str:
    """The default of what an earlier service does not tell; nothing where there is none."""
    if kind.endswith("None"):
        return " = None"
    empty = {"bool": "False", "int": "0", "float": "0.0", "list": "[]", "dict": "{}"}.get(kind.partition("[")[0])
    return f" = {empty}" if empty else ""


def _saved(paths: Json) -> Iterator[str]:
    """What is read with an ETag and can be put back."""
    for path in paths.values():
        answers = [path.get(method, {}).get("responses", {}).get("200", {}) for method in ("get", "put")]
        if all("ETag" in answer.get("headers", {}) for answer in answers):
            yield _name(answers[0]["content"]["application/json"]["schema"])


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict) and "$ref" in node:
        yield _name(node)
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _references(child)


def _name(reference: Json) -> str:
    name: str = reference["$ref"].rpartition("/")[2]
    return NAMES.get(name, name)


def _words(schema: Json) -> tuple[str, ...]:
    return tuple(word for word in schema.get("items", schema)["enum"] if word is not None)


def _literal(words: Iterable[str]) -> str:
    return f"Literal[{', '.join(map(repr, words))}]"


def _docstring(description: str) -> str:
    if "\n" not in description:
        description = textwrap.fill(description, 110, break_on_hyphens=False)
    said = re.sub(r"\bnull\b", "None", description)
    text = "\n".join(f"    {line}".rstrip() for line in f'"""{said}'.splitlines())
    return text + ("\n    " if "\n" in said else "") + '"""\n'
