"""Request bodies: read only after the guards, within their limit, and decoded strictly in one step.

Litestar decodes JSON first and converts it leniently then (`"1"` passes for 1), takes any content type, and its
messages repeat values. It lets a DTO do the decoding instead, so a DTO does.
"""

from collections.abc import Callable, Generator
from functools import cache
from typing import Any

import msgspec
from litestar.connection import ASGIConnection
from litestar.dto import AbstractDTO
from litestar.dto.data_structures import DTOFieldDefinition
from litestar.types import ReceiveMessage
from litestar.typing import FieldDefinition

from carrel.errors import BadInput, FieldError
from carrel.kit import json_elements
from carrel.kit.http import faults
from carrel.kit.http.limits import Check, compiled, told
from carrel.kit.http.problem import Malformed
from carrel.kit.http.schema import Hidden, In
from carrel.kit.http.validation import explain
from carrel.kit.plain_text import names_nul
from carrel.kit.sqlite.database import wipe

LIMITS = "carrel.limits"
"""The key under which the application's state holds the settings that limit inputs."""


def keep_pieces(connection: ASGIConnection[Any, Any, Any, Any]) -> Callable[[], None]:
    """Keep the pieces of a body that may hold a key, which the framework puts together; a function that wipes them.

    For a guard. The function is for the end of the request, however it ends.
    """
    pieces: list[bytes] = []
    receive = connection.receive

    async def keeping() -> ReceiveMessage:
        message = await receive()
        if message["type"] == "http.request":
            pieces.append(message["body"])
        return message

    def forget() -> None:
        for piece in pieces:
            wipe(piece)

    connection.receive = keeping
    return forget


class JsonBody(AbstractDTO[Any]):
    """Decodes `data: JSONBody[T]` of every route."""

    @classmethod
    def is_supported_model_type_field(cls, field_definition: FieldDefinition) -> bool:
        """Every request body; never a response."""
        return field_definition.name == "data"

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        """Make the decoder now, so that a type that cannot be decoded fails at start."""
        _decoder(field_definition.annotation)

    @classmethod
    def create_openapi_schema(cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any) -> Any:
        """The type's own schema."""
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Generator[DTOFieldDefinition, None, None]:
        """None: nothing is renamed or hidden."""
        yield from ()

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        """Never: msgspec knows nested structs itself."""
        return False

    def decode_bytes(self, value: bytes) -> Any:
        """The struct in `value`; bytes that held a secret are overwritten.

        Raises:
            BadInput: naming every fault, up to a bound.
        """
        request = self.asgi_connection
        annotation = request.route_handler.parsed_data_field.annotation
        try:
            return decode(value, annotation, request.app.state[LIMITS])
        finally:
            if isinstance(annotation, type) and issubclass(annotation, Hidden):
                # No later request may be of that length, and until then it would lie about in free memory.
                wipe(value)


def decode(value: bytes, annotation: Any, limits: object) -> Any:
    """`value` as `annotation`, within `limits`.

    Raises:
        BadInput: it has more elements than its type allows; or naming every fault, up to a bound, or else every limit
            that is exceeded.
    """
    most = _most_elements(annotation)
    if json_elements.are_more_than(most, value):
        raise BadInput.at("", f"must have at most {most:,} elements")
    try:
        data = _decoder(annotation).decode(value)
        if names_nul(value):
            raise BadInput(errors=faults.of_characters(data))
    except msgspec.ValidationError as error:
        raise BadInput(errors=faults.of_body(value, annotation, limits, explain(str(error)))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # RecursionError: arrays nested a hundred thousand deep.
        raise Malformed(detail="The body is not valid JSON.") from None
    found: list[FieldError] = []
    check = _check(annotation)
    if check is not None:
        check(data, "", limits, found)
    if found:
        raise BadInput(errors=told(found))
    return data


@cache
def _most_elements(annotation: Any) -> int:
    return max(getattr(member, "MAX_ELEMENTS", In.MAX_ELEMENTS) for member in faults.members(annotation))


@cache
def _decoder(annotation: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(annotation)


@cache
def _check(annotation: Any) -> Check | None:
    return compiled(annotation)
