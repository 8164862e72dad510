"""How many bytes the inputs of a run have, and what a call reads besides them, before there is a run."""

from collections.abc import Collection, Sequence

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.presets.configuration import Candidate, Comparison, Configuration, Scoring
from carrel.runs.costs.quotes import bytes_of, texts_of_criteria
from carrel.runs.creation.row_inputs import RowInputs
from carrel.runs.creation.text_cache import TextCache
from carrel.runs.model.setup import Round
from carrel.vault.ids import ContentId


class RowSizes:
    """The bytes of each row with its reference, and of the answers that its columns hold."""

    def __init__(self, conn: Connection, configuration: Configuration, fields: Collection[str]) -> None:
        inputs = RowInputs(conn, configuration)
        inputs.require_room(fields)
        self.documents: list[int] = []
        self.outputs: list[int] = []
        self.finished = [0] * len(configuration.generation.candidates)
        for row in inputs.each():
            self.documents.append(bytes_of(row.text) + bytes_of(row.reference or ""))
            for ordinal, text in row.outputs.items():
                self.outputs.append(bytes_of(text))
                self.finished[ordinal - 1] += 1


class SharedBytes:
    """The bytes that a call reads besides the answers, from texts that `text_cache` has resolved."""

    def __init__(self, text_cache: TextCache, configuration: Configuration, judging: Round) -> None:
        self._text_cache = text_cache
        self._configuration = configuration
        self._criteria = sum(bytes_of(text) for text in texts_of_criteria(judging.criteria))

    def documents(self) -> list[int]:
        """The size of each document together with its reference."""
        sizes, references = self._text_cache.size, self._configuration.references
        return [sizes(one).length + sizes(references.get(one)).length for one in self._configuration.inputs]

    def candidates(self, candidates: Sequence[Candidate], usual: ContentId | None) -> tuple[int, int]:
        """The size of the longest instructions, and in how many places they name the document."""
        shared, places = self._longest([candidate.instructions or usual for candidate in candidates if candidate.model])
        schemas = [as_json(one.response_schema) for one in candidates if one.response_schema is not None]
        # Once beside the prompt, and once in its words.
        shared += 2 * max((bytes_of(schema) for schema in schemas), default=0)
        return shared + (self._criteria if self._configuration.generation.show_criteria else 0), places

    def judges(self, judging: Scoring | Comparison | None) -> tuple[int, int]:
        """The same for judges, which always see the criteria."""
        shared, places = self._longest([None if judging is None else judging.instructions])
        return shared + self._criteria, places

    def _longest(self, instructions: Sequence[ContentId | None]) -> tuple[int, int]:
        sizes = [self._text_cache.size(one) for one in instructions]
        return max((size.length for size in sizes), default=0), max((1, *(size.places for size in sizes)))
