"""Builds `openapi.json` from what the routes really check: signatures, guards, msgspec's schemas, the settings."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

import msgspec

from carrel import __version__
from carrel.accounts.accounts import MembershipRequired
from carrel.app.operation import Gate, Operation
from carrel.auth import guard
from carrel.auth.programs.scopes import PersonRequired
from carrel.auth.tokens import TokenExpired, TokenInvalid, TokenRevoked
from carrel.config import Settings
from carrel.errors import CarrelError
from carrel.http.answers import problem
from carrel.http.answers.problem import Problem
from carrel.http.answers.response import BINARY, JSON
from carrel.http.requests.routing import REQUIRED, Parameter, Routes
from carrel.vault.pool import KeyNotCached

Json = dict[str, Any]

_SESSION: Final = (guard.TokenMissing, TokenInvalid, TokenExpired, TokenRevoked, KeyNotCached)
_PLUGIN: Final = (guard.PluginSecretMissing, guard.PluginSecretInvalid)
_ADMIN: Final = (guard.AdminSecretMissing, guard.AdminSecretInvalid, guard.AdminDisabled)
OPEN: Final = ""
"""The scheme of a route that needs no credential, but says more to whoever shows one."""
_GATES: Final[Mapping[Callable[..., Any], Gate]] = {
    guard.session: Gate(("SessionToken",), _SESSION),
    guard.full: Gate(("SessionToken",), (*_SESSION, MembershipRequired)),
    guard.secret_in_body: Gate((OPEN,), ()),
    guard.plugin: Gate(("PluginSecret",), _PLUGIN),
    guard.admin: Gate(("AdminSecret",), _ADMIN),
    guard.session_or_plugin: Gate(
        ("SessionToken", "PluginSecret"),
        (guard.TokenMissing, TokenInvalid, TokenExpired, TokenRevoked, PersonRequired, guard.PluginSecretInvalid),
    ),
    guard.operator_if_named: Gate(
        (OPEN, "PluginSecret", "AdminSecret"),
        (guard.PluginSecretInvalid, guard.AdminSecretInvalid, guard.AdminDisabled),
    ),
    guard.plugin_or_admin: Gate(("PluginSecret", "AdminSecret"), (*_PLUGIN, *_ADMIN)),
}
"""What each guard requires, and the errors with which it refuses."""

SCHEMES: Final[Json] = {
    "SessionToken": {"type": "apiKey", "in": "header", "name": "X-SVC-Session-Token"},
    "PluginSecret": {"type": "apiKey", "in": "header", "name": "X-SVC-Plugin-Secret"},
    "AdminSecret": {"type": "apiKey", "in": "header", "name": "X-SVC-Admin-Secret"},
}
_REF_PREFIX: Final = "#/components/schemas/"
_REF: Final = _REF_PREFIX + "{name}"
_GENERIC: Final = re.compile(r"([A-Za-z]+)_([A-Za-z]+)_")
_IF_NONE_MATCH: Final[Json] = {
    "name": "If-None-Match",
    "in": "header",
    "schema": {"type": "string"},
    "required": False,
    "description": "Send it only if it has another ETag by now.",
}
_LIMIT_KEYWORDS: Final = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}


def text(routes: Routes, settings: Settings) -> str:
    """The document as it is committed and served: fields as the sources have them, indented, one newline at the end."""
    return json.dumps(document(routes, settings), indent=1, ensure_ascii=False) + "\n"


def document(routes: Routes, settings: Settings) -> Json:
    """The OpenAPI 3.1 document of every one of the `routes`, with the limits of the settings."""
    operations = list(_operations(routes))
    schemas = _Schemas(operations)
    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Carrel",
            "version": __version__,
            "description": "A private, encrypted workspace for each user. An error is a Problem with a stable `code`.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": _with_limits(paths, settings),
        "components": {"schemas": _with_limits(schemas.components, settings), "securitySchemes": SCHEMES},
    }


def _operations(routes: Routes) -> Iterator[Operation]:
    """Sorted, so that the document changes only when a route does."""
    documented = [endpoint for endpoint in routes.endpoints if endpoint.operation.include_in_schema]
    yield from sorted((Operation(one, _GATES) for one in documented), key=lambda one: (one.path, one.method))


class _Schemas:
    """The schemas of every type that an operation names, made together so that equal names get different schemas."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        # By identity, because annotations with the framework's own data cannot be hashed.
        wanted = [annotation for operation in operations for annotation in operation.annotations()]
        annotations = [Problem, *(member for annotation in wanted for member in _members(annotation))]
        generated, components = msgspec.json.schema_components(annotations, ref_template=_REF)
        made = _renamed(list(generated))
        named = {_plain(name): _renamed(schema) for name, schema in components.items()}
        self.components = {
            name: {**named[name], "title": name, "description": inspect.cleandoc(named[name]["description"])}
            for name in sorted(named)
        }
        self._made = {id(annotation): schema for annotation, schema in zip(annotations, made, strict=True)}
        self._kept = annotations

    def of(self, annotation: Any) -> Json:
        """The schema of an annotation, or a reference to it."""
        made = [deepcopy(self._made[id(member)]) for member in _members(annotation)]
        return made[0] if len(made) == 1 else {"anyOf": made}


def _plain(name: str) -> str:
    """msgspec's name of a schema as a client generator takes it: `Page_Task_` becomes `TaskPage`."""
    generic = _GENERIC.fullmatch(name)
    return f"{generic[2]}{generic[1]}" if generic else name


def _renamed(node: Any) -> Any:
    """`node` with every reference to a generic struct under its plain name."""
    if isinstance(node, list):
        return [_renamed(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _REF.format(name=_plain(value.removeprefix(_REF_PREFIX))) if key == "$ref" else _renamed(value)
        for key, value in node.items()
    }


def _members(annotation: Any) -> tuple[Any, ...]:
    """The annotation itself, or the structs that a route answers with in turn; msgspec has no schema for those."""
    members = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ()
    structs = [member for member in members if isinstance(member, type) and issubclass(member, msgspec.Struct)]
    return members if len(structs) > 1 else (annotation,)


def _describe(operation: Operation, schemas: _Schemas) -> Json:
    summary, _, rest = operation.documentation.partition("\n\n")
    described: Json = {
        "operationId": operation.name,
        "summary": " ".join(summary.split()),
        "tags": operation.tags,
        "responses": _responses(operation, schemas),
        "security": [{scheme: []} if scheme != OPEN else {} for scheme in operation.schemes],
    }
    if operation.scope is not None:
        described["x-scope"] = operation.scope
    if rest and not rest.lstrip().startswith("Raises:"):
        described["description"] = " ".join(rest.partition("Raises:")[0].split())
    parameters = [_parameter(parameter, schemas) for parameter in operation.parameters]
    if operation.tagged and operation.method == "GET":
        parameters.append(deepcopy(_IF_NONE_MATCH))
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        described["requestBody"] = {
            "required": operation.body_required,
            "content": {JSON: {"schema": schemas.of(operation.body)}},
        }
    elif operation.form is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"multipart/form-data": {"schema": operation.form}},
        }
    elif operation.takes is not None:
        # Client generators know files of this one media type only.
        described["requestBody"] = {
            "required": True,
            "description": f"`{operation.takes}` is taken as its media type, too.",
            "content": {BINARY: {"schema": _text_or_file(BINARY)}},
        }
    return described


def _parameter(parameter: Parameter, schemas: _Schemas) -> Json:
    schema = schemas.of(parameter.kind)
    required = parameter.default is REQUIRED
    found: Json = {"name": parameter.name, "in": parameter.place, "schema": schema, "required": required}
    if parameter.default not in (REQUIRED, None):
        schema["default"] = parameter.default
    if parameter.description is not None:
        found["description"] = parameter.description
    return found


def _responses(operation: Operation, schemas: _Schemas) -> Json:
    success: Json = {"description": "Done."}
    if operation.answer is not None:
        success["content"] = {
            kind: {"schema": schemas.of(operation.answer) if kind == JSON else _text_or_file(kind)}
            for kind in _with_binary(operation.media_types)
        }
    found: Json = {str(operation.status): success}
    if operation.also is not None:
        status, annotation = operation.also
        found[str(status)] = {"description": "Done.", "content": {JSON: {"schema": schemas.of(annotation)}}}
    if operation.tagged:
        success["headers"] = {"ETag": {"schema": {"type": "string"}, "description": "The version of this resource."}}
        if operation.method == "GET":
            found["304"] = {"description": "Not changed: `If-None-Match` names this version."}
    for status, errors in _by_status(operation.errors).items():
        found[str(status)] = {
            "description": " ".join(f"`{error.code}`: {error.detail}" for error in errors),
            "content": {problem.MEDIA_TYPE: {"schema": {"$ref": _REF.format(name="Problem")}}},
        }
    return found


def _with_binary(media_types: tuple[str, ...]) -> tuple[str, ...]:
    """With the general media type of files beside a special one: downloads have both, and generators know the first."""
    is_file = any(kind != JSON and not kind.startswith("text/") for kind in media_types)
    return (*media_types, BINARY) if is_file else media_types


def _text_or_file(media_type: str) -> Json:
    return {"type": "string"} if media_type.startswith("text/") else {"type": "string", "format": "binary"}


def _by_status(errors: Iterable[type[CarrelError]]) -> dict[int, list[type[CarrelError]]]:
    found: dict[int, list[type[CarrelError]]] = {}
    for error in errors:
        found.setdefault(error.status, []).append(error)
    return found


def _with_limits(node: Any, settings: Settings) -> Any:
    """`node` with every `x-limit` replaced by the keyword and the number that the settings give.

    A decimal may also be a number, which msgspec does not say.
    """
    if isinstance(node, list):
        return [_with_limits(entry, settings) for entry in node]
    if not isinstance(node, dict):
        return node
    found = {key: _with_limits(value, settings) for key, value in node.items() if key != "x-limit"}
    if "x-limit" in node:
        # A limit in bytes is one in characters too, for a character has at least one byte.
        found[_LIMIT_KEYWORDS[node["type"]]] = getattr(settings, node["x-limit"])
    if node.get("format") == "decimal":
        found["type"] = ["string", "number"]
    return found
