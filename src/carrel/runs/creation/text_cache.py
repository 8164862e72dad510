"""Contents on their way into a run's snapshot: resolved with the texts that were given, and kept."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from carrel.config import Settings
from carrel.contents import criteria as criteria_texts
from carrel.contents import store as contents
from carrel.contents.budget import Budget
from carrel.contents.resolve import ResolvedText, Slot
from carrel.errors import BadInput, FieldError
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.providers.base import Criterion
from carrel.runs.costs.quotes import bytes_of
from carrel.runs.creation import likeness
from carrel.runs.creation.likeness import Sketch
from carrel.runs.model import texts
from carrel.vault.ids import ContentId


class VariablesOpen(BadInput):
    """A text has variables without a value. Nothing was spent."""

    code = "variables-open"
    detail = "Some variables have no value; see errors."


class TextSize(NamedTuple):
    """How long a resolved text is, and in how many places the input goes into it. With 0 the input follows it."""

    length: int
    places: int


_NOTHING = TextSize(0, 0)
_MOST_SHOWN: Final = 40


class TextCache:
    """Resolves each content once with the texts that were given, keeps it, and collects the variables without a value.

    All of them together have one budget. `seq` is the run for which the cache keeps the texts; without a run it only
    checks them. `fields` are the names that instructions for candidates may use for columns of a data set.
    """

    def __init__(
        self,
        conn: Connection,
        seq: int | None,
        given: Mapping[str, str],
        settings: Settings,
        fields: Collection[str] = (),
    ) -> None:
        self._conn = conn
        self._seq = seq
        self._settings = settings
        self._given = given
        self._fields = fields
        self.used_fields: set[str] = set()
        """Those of `fields` that the instructions asked for so far use."""
        self._open: dict[str, None] = {}
        self._kept: dict[ContentId, int] = {}
        self._sizes: dict[ContentId, TextSize] = {}
        self._sketches: dict[ContentId, Sketch] = {}
        self._budget = Budget(settings.max_run_text_bytes)

    def instructions(self, content_id: ContentId | None, *, of_rows: bool = False) -> int | None:
        """Resolve instructions and return their number. Every placeholder in them needs a value.

        With `of_rows`, a column of the data set is one, which each row brings.
        """
        if content_id is None:
            return None
        if content_id not in self._kept:
            found = self._resolved(content_id, self._fields if of_rows else ())
            self.used_fields |= {slot.name for slot in found.slots if slot.name in self._fields}
            self._open |= dict.fromkeys(found.unresolved)
            self._sizes[content_id] = TextSize(found.size, len(found.slots))
            self._kept[content_id] = self._keep(found.body, found.slots)
        return self._kept[content_id]

    def material(self, content_id: ContentId) -> int:
        """Resolve a text to work on and return its number.

        Only the variables that the text declares count: other braces may be part of the text.
        """
        if content_id not in self._kept:
            body, size = self._material(content_id)
            self._sizes[content_id] = TextSize(size, 0)
            self._kept[content_id] = self._keep(body)
            if self._seq is not None:
                self._sketches[content_id] = likeness.sketch(body)
        return self._kept[content_id]

    def text(self, body: str) -> int:
        """Keep a text of a row and return its number."""
        self._budget.read(bytes_of(body))
        return self._keep(body)

    def texts(self, bodies: Sequence[str]) -> list[int]:
        """Keep the texts of some rows and return their numbers."""
        self._budget.read(sum(map(bytes_of, bodies)))
        return texts.keep_all(self._conn, self._seq, bodies) if self._seq is not None else [0] * len(bodies)

    def schema(self, schema: dict[str, Any] | None) -> int | None:
        """Keep the schema of a candidate's answers and return its number; `None` if there is none."""
        return None if schema is None else self.text(as_json(schema))

    def _material(self, content_id: ContentId) -> tuple[str, int]:
        source = contents.source(self._conn, content_id)
        if not source.variables:
            self._budget.read(source.size)
            return source.body, source.size
        found = self._resolved(content_id)
        self._open |= dict.fromkeys(name for name in found.unresolved if name in source.variables)
        return found.body, found.size

    def sketch(self, content_id: ContentId) -> Sketch:
        """The sketch of a material that was kept before."""
        return self._sketches.get(content_id, ())

    def size(self, content_id: ContentId | None) -> TextSize:
        """The size of instructions or material that were resolved before; zero without a content."""
        return self._sizes.get(content_id, _NOTHING) if content_id is not None else _NOTHING

    def criteria(self, content_id: ContentId, path: str) -> tuple[Criterion, ...]:
        """Resolve criteria and parse them. `path` is where the configuration names them.

        Raises:
            BadInput: with the values that were given, they are none.
        """
        found = self._resolved(content_id)
        self._open |= dict.fromkeys(found.unresolved)
        if found.unresolved:
            return ()
        try:
            return criteria_texts.parse(found.body, self._settings.max_criteria_bytes)
        except BadInput as error:
            faults = tuple(FieldError(fault.path.replace("body", path, 1), fault.message) for fault in error.errors)
            raise BadInput(error.code, errors=faults) from None

    def _resolved(self, content_id: ContentId, fields: Collection[str] = ()) -> ResolvedText:
        return contents.resolved(self._conn, content_id, self._given, self._settings, self._budget, fields)

    def _keep(self, text: str, slots: list[Slot] | None = None) -> int:
        return 0 if self._seq is None else texts.keep(self._conn, self._seq, text, slots)

    def refuse_open(self) -> None:
        """Go on only if every variable has a value.

        Raises:
            VariablesOpen: naming every variable without a value.
        """
        if self._open:
            raise VariablesOpen(
                errors=tuple(FieldError(f"variables.{_shown(name)}", "has no value") for name in self._open)
            )


def _shown(name: str) -> str:
    """A name in the braces of a text of the user's own; a longer one is hardly a name."""
    return name if len(name) <= _MOST_SHOWN else "?"
