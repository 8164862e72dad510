"""The closed list of what one kind of worker may run, and the frames in which calls and answers travel.

A frame is eight bytes of length and a tagged struct in MessagePack. The structs follow from the signatures of the
functions: a call is named after its function and has its parameters as fields. Whoever receives a frame checks it
against these types before anything else sees it, so a frame can name nothing and change nothing.
"""

import inspect
import struct
from collections.abc import Callable
from functools import cached_property, reduce
from operator import or_
from typing import Annotated, Any, Final, NamedTuple, cast, get_type_hints

import msgspec
from msgspec import Meta, Struct

LENGTH: Final = struct.Struct(">Q")
MIB: Final = 1024 * 1024
_MAP: Final = struct.Struct(">BH")
_MAP_16: Final = 0xDE
_BYTES: Final = struct.Struct(">BI")
_BYTES_32: Final = 0xC6
"""The first byte of a map and of bytes in MessagePack, before their length in 16 or 32 bits."""


class WorkerError(Exception):
    """A call has no result."""


class WorkerDied(WorkerError):
    """The process ended during the call, or the worker was closed. An open worker starts another for the next call."""


class WorkerTimedOut(WorkerError):
    """The call took longer than allowed, and its process was ended."""


class WorkerFailed(WorkerError):
    """The function raised an error that is not on the list, or its result does not have the type that it promises."""


class WorkerLied(WorkerError):
    """The process sent something that is no answer to the call. It was ended, because nothing of it can be trusted."""


class Refused(Struct, frozen=True, tag="refused", forbid_unknown_fields=True):
    """The function raised one of the errors on the list; `error` is the name of its class."""

    error: Annotated[str, Meta(max_length=64)]


class Failed(Struct, frozen=True, tag="failed", forbid_unknown_fields=True):
    """The call was not of its type, or the function raised something else: `error`, for the log."""

    error: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]{1,64}\Z")]


class Bounds(NamedTuple):
    """The greatest frames, in bytes, that a worker is sent and that are accepted from it, and the time of a call.

    `cpu_seconds` is processor time, which does not pass while others have the processor; 0 sets no limit. The kernel
    ends a process that uses more. (A hijacked one could prevent that, but not the end of the call's `timeout_seconds`.)
    """

    call: int = 256 * MIB
    answer: int = 256 * MIB
    cpu_seconds: float = 0.0


BOUNDS: Final = Bounds()


class _Form(NamedTuple):
    """One function, the struct of a call of it, and what its answers are checked against."""

    function: Callable[..., object]
    call: type[Struct]
    done: type[Struct]
    answers: "msgspec.msgpack.Decoder[Any]"


class Jobs:
    """The functions of one kind of worker. A module of its own holds the list as `JOBS`: the process finds it there.

    `kind` is what the log calls such workers. `errors` are the errors that the functions raise on purpose; each must be
    made without arguments. `prepare` does everything that needs a file, such as imports, because the process cannot
    open any file afterwards. `memory_bytes` bounds the address space of the process.
    """

    def __init__(
        self,
        kind: str,
        module: str,
        functions: tuple[Callable[..., object], ...],
        *,
        errors: tuple[type[Exception], ...] = (),
        prepare: Callable[[], object] = lambda: None,
        memory_bytes: int = 1024 * MIB,
    ) -> None:
        self.kind = kind
        self.module = module
        self.prepare = prepare
        self.memory_bytes = memory_bytes
        self._functions = functions
        self._errors = {error.__name__: error for error in errors}

    # The service's side -----------------------------------------------------------------------------------------------

    def call(self, fn: Callable[..., object], args: tuple[object, ...]) -> list[bytes | memoryview]:
        """The frame of a call, without its length, in pieces. An argument that is a view is a piece and not copied.

        Raises:
            KeyError: the function is not on the list.
        """
        form = self._forms[fn.__name__, fn]
        if not any(isinstance(arg, memoryview) for arg in args):
            return [_encode(form.call(*args))]
        # What the encoder would make of the struct.
        pieces: list[bytes | memoryview] = [_MAP.pack(_MAP_16, 1 + len(args)), _encode("type"), _encode(fn.__name__)]
        for name, arg in zip(form.call.__struct_fields__, args, strict=False):
            pieces.append(_encode(name))
            pieces += [_BYTES.pack(_BYTES_32, arg.nbytes), arg] if isinstance(arg, memoryview) else [_encode(arg)]
        return pieces

    def result(self, fn: Callable[..., object], answer: bytearray) -> object:
        """What a call of the function gave, according to a frame that nobody has checked yet.

        Raises:
            WorkerLied: this is no answer to such a call.
            WorkerFailed: the function failed.
            Exception: one of the errors on the list.
        """
        try:
            found = self._forms[fn.__name__, fn].answers.decode(answer)
        except (msgspec.DecodeError, ValueError, RecursionError, MemoryError, OverflowError):
            raise WorkerLied from None
        if isinstance(found, Failed):
            raise WorkerFailed(found.error)
        if isinstance(found, Refused):
            error = self._errors.get(found.error)
            raise WorkerLied if error is None else error()
        return found.value

    # The process's side -----------------------------------------------------------------------------------------------

    def answer(self, call: bytes) -> bytes:
        """Run a call and return the frame of its answer, without its length."""
        try:
            asked = self._calls.decode(call)
            form = self._by_call[type(asked)]
            value = form.function(*(getattr(asked, name) for name in asked.__struct_fields__))
            return _encode(form.done(value))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller has to hear that there is no result
            name = type(error).__name__
            return _encode(Refused(name) if self._errors.get(name) is type(error) else Failed(name))

    def ready(self) -> None:
        """Make the types now, because that imports modules, too."""
        _ = self._calls

    @cached_property
    def _forms(self) -> dict[tuple[str, Callable[..., object]], _Form]:
        return {(fn.__name__, fn): _form(fn) for fn in self._functions}

    @cached_property
    def _by_call(self) -> dict[type[Struct], _Form]:
        return {form.call: form for form in self._forms.values()}

    @cached_property
    def _calls(self) -> "msgspec.msgpack.Decoder[Any]":
        return msgspec.msgpack.Decoder(reduce(or_, self._by_call))


_encode = msgspec.msgpack.Encoder().encode


def _form(fn: Callable[..., object]) -> _Form:
    hints = get_type_hints(fn, include_extras=True)
    fields: list[Any] = [
        (name, hints[name]) if one.default is one.empty else (name, hints[name], one.default)
        for name, one in inspect.signature(fn).parameters.items()
    ]
    call = msgspec.defstruct(fn.__name__, fields, frozen=True, tag=fn.__name__, forbid_unknown_fields=True)
    done = msgspec.defstruct("Done", [("value", hints["return"])], frozen=True, tag="done", forbid_unknown_fields=True)
    answers = cast(Any, done | Refused | Failed)
    return _Form(fn, call, done, msgspec.msgpack.Decoder(answers))
