"""The closed list of what one kind of worker may run, and the frames in which calls and answers travel.

A frame is eight bytes of length and a tagged struct in MessagePack. The structs follow from the signatures of the
functions: a call is named after its function and has its parameters as fields. Whoever receives a frame checks it
against these types before anything else sees it, so a frame can name nothing and change nothing.

A function whose first parameter is an `Iterator[bytes]` is a stream: it takes pieces of a file as it needs them, and
what it yields comes back one by one. Between `PieceRequest` and what is wanted, a frame is nothing but a piece; an
empty one is the end.
"""

import inspect
import struct
from collections.abc import Callable, Iterator
from functools import cached_property, reduce
from io import BufferedIOBase
from operator import or_
from typing import Annotated, Any, Final, NamedTuple, cast, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

from carrel.errors import CarrelError, FieldError

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


_Words = Annotated[str, Meta(max_length=300)]


class KnownError(Struct, frozen=True, tag="refused", forbid_unknown_fields=True):
    """The function raised one of the errors on the list; `error` is the name of its class.

    `faults` are the paths and messages of an error about input.
    """

    error: Annotated[str, Meta(max_length=64)]
    faults: Annotated[list[tuple[_Words, _Words]], Meta(max_length=50)] = []


class UnknownError(Struct, frozen=True, tag="failed", forbid_unknown_fields=True):
    """The call was not of its type, or the function raised something else: `error`, for the log."""

    error: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]{1,64}\Z")]


class PieceRequest(Struct, frozen=True, tag="wanted", forbid_unknown_fields=True):
    """A stream needs the next piece."""


class StreamEnd(Struct, frozen=True, tag="ended", forbid_unknown_fields=True):
    """A stream has given everything."""


WANTED: Final = msgspec.msgpack.encode(PieceRequest())


class CallLimits(NamedTuple):
    """The greatest frames, in bytes, that a worker is sent and that are accepted from it, and the time of a call.

    `cpu_seconds` is processor time, which does not pass while others have the processor; 0 sets no limit. The kernel
    ends a process that uses more. (A hijacked one could prevent that, but not the end of the call's `timeout_seconds`.)
    """

    call: int = 256 * MIB
    answer: int = 256 * MIB
    cpu_seconds: float = 0.0


BOUNDS: Final = CallLimits()


class _Form(NamedTuple):
    """One function, the struct of a call of it, and what its answers are checked against.

    `done` has the result; of a stream, one of those that it yields.
    """

    function: Callable[..., object]
    call: type[Struct]
    done: type[Struct]
    answers: "msgspec.msgpack.Decoder[Any]"
    is_stream: bool


class Jobs:
    """The functions of one kind of worker. A module of its own holds the list as `JOBS`: the process finds it there.

    `kind` is what the log calls such workers. `errors` are the errors that the functions raise on purpose; each must be
    made without arguments, or as an error about input with nothing but its faults. `prepare` does everything that needs
    a file, such as imports, because the process cannot open any file afterwards. `memory_bytes` bounds what calls
    add to the address space of the process.
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
        return self._checked(fn, answer).value

    def part(self, fn: Callable[..., object], answer: bytearray) -> "PieceRequest | StreamEnd | Any":
        """What a stream says: that it wants a piece, that it has ended, or a struct with a `value` that it yields.

        Raises: as `result`.
        """
        return self._checked(fn, answer)

    def _checked(self, fn: Callable[..., object], answer: bytearray) -> Any:
        try:
            found = self._forms[fn.__name__, fn].answers.decode(answer)
        except (msgspec.DecodeError, ValueError, RecursionError, MemoryError, OverflowError):
            raise WorkerLied from None
        if isinstance(found, UnknownError):
            raise WorkerFailed(found.error)
        if isinstance(found, KnownError):
            raise self._refusal(found)
        return found

    def _refusal(self, found: KnownError) -> Exception:
        error = self._errors.get(found.error)
        if error is None:
            return WorkerLied()
        if found.faults and issubclass(error, CarrelError):
            return error(errors=tuple(FieldError(*fault) for fault in found.faults))
        return error()

    # The process's side -----------------------------------------------------------------------------------------------

    def answers(self, call: bytes, ask: Callable[[], bytes] = bytes) -> Iterator[bytes]:
        """Run a call and return the frames of its answer one by one, without their lengths.

        There is one, but for a stream, which gets the pieces that it wants from `ask`.
        """
        try:
            asked = self._calls.decode(call)
            form = self._by_call[type(asked)]
            arguments = [getattr(asked, name) for name in asked.__struct_fields__]
            if form.is_stream:
                found = cast(Iterator[object], form.function(iter(ask, b""), *arguments))
                yield from (_encode(form.done(value)) for value in found)
                yield _encode(StreamEnd())
            else:
                yield _encode(form.done(form.function(*arguments)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller has to hear that there is no result
            yield _encode(self._excuse(error))

    def _excuse(self, error: Exception) -> KnownError | UnknownError:
        name = type(error).__name__
        if self._errors.get(name) is not type(error):
            return UnknownError(name)
        return KnownError(name, list(error.errors) if isinstance(error, CarrelError) else [])

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


def send(stream: BufferedIOBase, frame: bytes) -> None:
    """Send a frame, for the process."""
    stream.write(LENGTH.pack(len(frame)))
    stream.write(frame)
    stream.flush()


def receive(stream: BufferedIOBase) -> bytes:
    """Receive a frame, for the process; none when the service has hung up."""
    begun = stream.read(LENGTH.size)
    if len(begun) < LENGTH.size:
        return b""
    (length,) = LENGTH.unpack(begun)
    received = stream.read(length)
    return received if len(received) == length else b""


_encode = msgspec.msgpack.Encoder().encode


def _form(fn: Callable[..., object]) -> _Form:
    hints = get_type_hints(fn, include_extras=True)
    parameters = list(inspect.signature(fn).parameters.items())
    is_stream = bool(parameters) and hints[parameters[0][0]] == Iterator[bytes]
    fields: list[Any] = [
        (name, hints[name]) if one.default is one.empty else (name, hints[name], one.default)
        for name, one in parameters[is_stream:]
    ]
    call = msgspec.defstruct(fn.__name__, fields, frozen=True, tag=fn.__name__, forbid_unknown_fields=True)
    value = get_args(hints["return"])[0] if is_stream else hints["return"]
    done = msgspec.defstruct("Done", [("value", value)], frozen=True, tag="done", forbid_unknown_fields=True)
    answers = cast(
        Any,
        done | KnownError | UnknownError | PieceRequest | StreamEnd if is_stream else done | KnownError | UnknownError,
    )
    return _Form(fn, call, done, msgspec.msgpack.Decoder(answers), is_stream)
