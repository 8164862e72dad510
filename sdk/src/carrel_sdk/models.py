"""What goes over the wire, as structs.

Written by `sdk/generate.py` from `openapi.json`. Change the structs of the service, and run `make openapi client`.
"""

from typing import Any, Literal, TypeAlias, TypedDict

import msgspec

from carrel_sdk.behaviour import Hidden, RunStates, TasksDone

Choice: TypeAlias = Literal["first", "second", "tie"]
ColumnRole: TypeAlias = Literal["expected", "group", "id", "messages", "metadata", "output", "variable"]
ContentType: TypeAlias = Literal[
    "combination_instructions",
    "comparison_instructions",
    "criteria",
    "fragment",
    "generation_instructions",
    "input_document",
    "output_document",
    "reference_document",
    "scoring_instructions",
]
Format: TypeAlias = Literal["csv", "docx", "eml", "html", "md", "pdf", "pptx", "txt"]
KeyState: TypeAlias = Literal["active", "deactivated", "expired", "password-changed", "restored", "revoked"]
Membership: TypeAlias = Literal["free", "paid"]
RunState: TypeAlias = Literal[
    "cancelled", "completed", "completed_with_errors", "failed", "paused", "pending", "running"
]
Scope: TypeAlias = Literal["read", "run", "write"]
TableFormat: TypeAlias = Literal["csv", "json", "jsonl", "ods", "tsv", "xls", "xlsx"]
TaskState: TypeAlias = Literal["cancelled", "failed", "pending", "running", "skipped", "succeeded"]


class LastTest(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of the last test call."""

    ok: bool
    at: str


class ProviderKey(msgspec.Struct, frozen=True, kw_only=True):
    """A stored key as Carrel shows it; `hint` is its last four characters."""

    provider: str
    hint: str
    base_url: str | None = None
    created_at: str
    updated_at: str
    last_test: LastTest | None = None


class SharedLogSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A shared log in the operator's list. It does not name its user."""

    share_id: str
    created_at: str
    expires_at: str
    entry_count: int = 0


class SharedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One row as it is shared: the list of allowed fields.

    Nothing else of a log row is copied, also if rows get new fields.
    """

    at: str
    level: str
    event: str
    task_key: str | None = None
    state: str | None = None
    code: str | None = None
    model: str | None = None
    attempt: int | None = None
    latency_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class ReadLog(SharedLogSummary, frozen=True, kw_only=True):
    """A shared log with its rows, oldest first."""

    entries: list[SharedEntry] = []


class SafeToRestart(msgspec.Struct, frozen=True, kw_only=True):
    """`safe` is true while no run is active; users whose keys are cached will have to log in again.

    Only the host and the operator, who show their secret, learn the two numbers.
    """

    safe: bool
    active_runs: int = 0
    cached_keys: int = 0


class UserUsage(msgspec.Struct, frozen=True, kw_only=True):
    """A user as the operator sees one. Amounts are decimal strings, in credits.

    `signed_in`: the key is in the memory of this process. `workspace_megabytes` and `calls_per_day` are None where the
    user has no limit of their own.
    """

    uuid: str
    membership: Membership
    created_at: str
    suspended_at: str | None = None
    signed_in: bool = False
    active_runs: int = 0
    disk_bytes: int = 0
    workspace_megabytes: int | None = None
    calls_per_day: int | None = None
    credits: str
    credits_spent: str


class WriteOffSum(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of which the host bore a part, and the credits that nobody was charged for them."""

    calls: int
    credits: str


class WriteOff(WriteOffSum, frozen=True, kw_only=True):
    """What the host bore on one UTC day."""

    day: str


class WriteOffs(msgspec.Struct, frozen=True, kw_only=True):
    """What the host bore by UTC day, newest first, and in all."""

    items: list[WriteOff]
    total: WriteOffSum


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars for a million tokens, as decimal strings, once more than `above_tokens` are read."""

    above_tokens: int
    input_per_million: str
    cached_read_per_million: str
    cached_write_per_million: str
    output_per_million: str


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """The price of a million tokens, in US dollars as decimal strings, its first day, and its source.

    `above` are the higher rates of long prompts; they apply to all tokens of such a call. Every call that was made at
    this price carries its `id`. `effective_date` is None if the price list knows no earlier price. The `source` is
    `own` if the user has set the price: it is that of the user's own key, and credits never pay by it.
    """

    id: str
    input_per_million: str
    cached_read_per_million: str
    cached_write_per_million: str
    output_per_million: str
    above: list[Rates] = []
    effective_date: str | None = None
    source: str


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model under its full name `provider:name`.

    `host` is the host that answers with the key that is stored, None if it is the provider's own. List prices and
    limits hold at the provider's own hosts only.

    `reason` is a code that says why the model is not `available`. `context_tokens` and `output_tokens` are None if a
    model has no limit or it is unknown; `prices` is None if they are unknown. No list that Carrel reads offline holds
    output limits, so none is known yet. `ends_on` is the day on which its provider switches it off, by `ends_source`,
    and None if that is unknown: then nobody is known to have announced one.
    """

    model: str
    provider: str
    host: str | None = None
    family: str
    description: str
    roles: list[str] = []
    available: bool = False
    reason: str | None = None
    context_tokens: int | None = None
    output_tokens: int | None = None
    prices: Prices | None = None
    ends_on: str | None = None
    ends_source: str | None = None


class ModelEnding(msgspec.Struct, frozen=True, kw_only=True):
    """A model that is switched off soon, or was. `days` are those that are left; 0 or fewer once it is off.

    `sentence` says it to people.
    """

    model: str
    ends_on: str
    days: int = 0
    source: str
    sentence: str


class ModelEndings(msgspec.Struct, frozen=True, kw_only=True):
    """Models that are switched off within 60 days, or were, the first to end first.

    `read_on` is the day of the table that comes with the service; what the lists of providers say goes before it.
    """

    items: list[ModelEnding]
    read_on: str


class ModelPrice(msgspec.Struct, frozen=True, kw_only=True):
    """A price that the user has set, for the calls that the user's own key pays for.

    `model` is `provider:name`, or a provider alone: then the price is that of all its models for which the user has set
    none and whose list price is not known.
    """

    model: str
    input_per_million: str
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    output_per_million: str
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    updated_at: str


class ModelPrices(msgspec.Struct, frozen=True, kw_only=True):
    """Every price that the user has set, by model."""

    items: list[ModelPrice]


class Content(msgspec.Struct, kw_only=True):
    """A content with its body."""

    id: str
    name: str
    type: ContentType
    body: str
    variables: dict[str, str | None] = {}
    description: str
    tags: list[str] = []
    version: int = 0
    created_at: str
    updated_at: str
    etag: str = ""


class ContentChange(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A content as it is to be. The fields that Carrel keeps may be sent back as they are stored."""

    name: str
    type: ContentType
    body: str = ""
    variables: dict[str, str | None] = {}
    description: str = ""
    tags: list[str] = []


class ContentCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many contents there are, in all and of each type."""

    total: int
    by_type: dict[str, int] = {}


class ContentIn(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A content as its user writes it. A variable links its placeholder to a content, or leaves it open (None)."""

    name: str
    type: ContentType
    body: str = ""
    variables: dict[str, str | None] = {}
    description: str = ""
    tags: list[str] = []


class ContentFields(TypedDict, total=False):
    """What a `ContentIn` may have."""

    variables: dict[str, str | None]
    description: str
    tags: list[str]


class ContentSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A content in a list: how its body begins and how many bytes it has."""

    id: str
    name: str
    type: ContentType
    variables: dict[str, str | None] = {}
    description: str
    tags: list[str] = []
    version: int = 0
    created_at: str
    updated_at: str
    body_preview: str
    body_bytes: int = 0


class ContentVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a content, the present one included; `updated_at` is when it was saved."""

    version: int
    name: str
    updated_at: str
    body_preview: str
    body_bytes: int = 0


class CriterionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion as its user wrote it: every value is a text, and None where the user gave none."""

    name: str | None
    description: str | None = None
    weight: str | None = None
    minimum: str | None = None
    maximum: str | None = None


class CriteriaRows(msgspec.Struct, frozen=True, kw_only=True):
    """Criteria as rows. `comments` says whether the text has comments, which no row holds."""

    rows: list[CriterionRow]
    comments: bool = False


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """A placeholder that was replaced, and the content it was replaced by; None if by a text that was given."""

    name: str
    content_id: str | None = None


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """A body with its placeholders replaced; those in `unresolved` still stand in it."""

    body: str
    unresolved: list[str] = []
    used: list[Used] = []


class Column(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A column and what its cells are.

    `id` names the row. `variable` is what the row asks; a prompt may name it as `{{question}}`. `messages` is a
    conversation whose next turn is asked for. `expected` is the reference. Rows of one `group` count together.
    `output` is a finished answer. `metadata` is anything else.
    """

    name: str
    role: ColumnRole


class DataSet(msgspec.Struct, kw_only=True):
    """A table whose rows are inputs of runs. Every change makes a new version; runs keep the rows that they took."""

    id: str
    name: str
    description: str
    format: TableFormat
    columns: list[Column] = []
    row_count: int = 0
    bytes: int = 0
    version: int = 0
    created_at: str
    updated_at: str
    etag: str = ""


class DataSetChange(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A data set's name and the roles of its columns, as they are to be. Another column as `id` names the rows anew.

    The client may send back the fields that Carrel keeps, unchanged, and the `notes` of an upload.
    """

    name: str
    description: str = ""
    columns: list[Column]


class DataSetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `number` counts from 1; `values` are its cells by column, None where there is none."""

    number: int
    id: str
    values: dict[str, str | None] = {}


class DataSetSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A data set in a list. `bytes` is the size of its file."""

    id: str
    name: str
    description: str
    format: TableFormat
    columns: list[Column] = []
    row_count: int = 0
    bytes: int = 0
    version: int = 0
    created_at: str
    updated_at: str


class DataSetVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a data set, the present one included; `updated_at` is when it was saved."""

    version: int
    name: str
    columns: list[Column] = []
    row_count: int = 0
    updated_at: str


class Check(msgspec.Struct, omit_defaults=True, kw_only=True, rename={"schema_": "schema"}):
    """One check of every answer. It needs no judge and costs no call.

    - `contains`: every one of `texts` stands in the answer. `not_contains`: none of them does. Without `texts`, both
      look for the expected output.
    - `forbidden`: none of `texts` stands in the answer as whole words, in any case.
    - `regex`: the answer holds a match of `pattern`, in the syntax of RE2. `^` and `$` are the ends of the answer.
    - `equals`: the answer is the expected output. With `tolerance`, two numbers may differ by so much.
    - `fields`: the share of the fields of the expected output, which is JSON, that the answer has with the same values,
      in any order of keys. A field beyond these counts like a wrong one. Numbers may differ by `tolerance`, which also
      lets a text such as "1,200" be a number, and dates (ISO 8601) by `days`; with `unordered`, lists are sets. With
      `least`, the answer passes if the share is at least this.
    - `json`: the answer is valid JSON. `json_schema`: it also follows `schema`.
    - `length`: the answer has at least `least` and at most `most` words.
    - `rouge_l`, `chrf`: the share by which the answer overlaps with the expected output (ROUGE-L by words, chrF by
      characters). With `least`, the answer passes if the share is at least this.
    - `grade`: the number from 0 to 1 that the row has in the column which `columns` names for the candidate: what
      another program gave the answer. With `least`, the answer passes if the number is at least this.

    The expected output of a document is its reference, unless the check has an `expected` of its own, or names in
    `column` a column of the data set (role `metadata`). For `regex` the pattern is there; `json`, `json_schema` and
    `length` are made of the rows that have anything there. A document without any has no mark. `ignore_case` and
    `ignore_space` go with `contains`, `not_contains`, `equals` and `fields`; `ignore_case` also with `regex`.
    `ignore_prefix` (a first `Answer:`, `Label:` or the like) and `ignore_fence` (Markdown's fence around the whole) go
    with `equals`, `fields`, `json` and `json_schema`. Results say how many answers pass only because of that. An answer
    that fails a `required` check loses by rule against one that passes all of them, and gets the least score on every
    criterion. `name` names the check in results; without one it has the name of its kind.
    """

    kind: Literal[
        "chrf",
        "contains",
        "equals",
        "fields",
        "forbidden",
        "grade",
        "json",
        "json_schema",
        "length",
        "not_contains",
        "regex",
        "rouge_l",
    ]
    name: str = ""
    required: bool = False
    texts: list[str] = []
    pattern: str | None = None
    expected: str | None = None
    schema_: dict[str, Any] | None = None
    least: float | None = None
    most: float | None = None
    tolerance: float | None = None
    ignore_case: bool = False
    ignore_space: bool = False
    ignore_prefix: bool = False
    ignore_fence: bool = False
    unordered: bool = False
    days: int | None = None
    column: str | None = None
    columns: dict[str, str] = {}


class TablePreview(msgspec.Struct, frozen=True, kw_only=True):
    """What a file would become, with its first fifty rows, of whose cells there are at most 200 characters.

    `sheets` are those of a spreadsheet, the one that is read first. `columns` have the roles that were chosen or that
    names suggest; `notes` are those of an upload. `source` is the program that wrote the file, and `checks` are the
    grades in it, as checks of a run.
    """

    format: TableFormat
    sheets: list[str] = []
    columns: list[Column] = []
    row_count: int = 0
    rows: list[DataSetRow] = []
    notes: list[str] = []
    source: str
    """One of deepeval, inspect, langfuse, lm-eval, openai, promptfoo, ragas, table."""
    checks: list[Check] = []


class UploadedDataSet(DataSet, kw_only=True):
    """A data set whose table came just now. `notes` say what was left out, or taken otherwise than names suggest."""

    notes: list[str] = []


class DocumentRemark(msgspec.Struct, frozen=True, kw_only=True):
    """Something of a file that is not in its text, or may be wrong there, and how often.

    A `doubtful_page` may be wrong, and all of a file with a `guessed_encoding`, Windows-1252.

    A picture counts when nothing describes it, a page when it shows no text, such as a scanned one. `pages` are the
    numbers of the first hundred of them.
    """

    kind: str
    """One of attachment, comment, deleted_text, doubtful_page, guessed_encoding, header_or_footer, hidden_text,
    page_without_text, picture, placeholder, unreadable_page.
    """
    count: int = 0
    pages: list[int] = []


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """An uploaded file; its text is the content `content_id`, whose version is its own.

    `remarks` say what of the file is not in the text, as it was read last; files read before there were any have none.
    """

    id: str
    content_id: str
    name: str
    file_name: str
    format: Format
    bytes: int = 0
    text_bytes: int = 0
    remarks: list[DocumentRemark] = []
    version: int = 0
    created_at: str


class PdfPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a PDF: a picture of it as a JPEG, and the text that was read from it, which may be none.

    `is_doubtful` says that the text may not be what the page shows.
    """

    number: int
    pages: int = 0
    text: str
    is_doubtful: bool = False
    image: str


class BoardRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run on a leaderboard. `preset_id` is None if the run has no preset, or none any more."""

    id: str
    name: str
    finished_at: str | None = None
    preset_id: str | None = None


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """The words about a ranking. Always show `sentence` with `scope`; `notes` are doubts, the most serious first.

    `doubt` is the one of them that could change the decision, with what settles it: show it beside the sentence, and
    the others with the method.
    `checks` are what was tried to overturn the verdict, apart from what `notes` say already: show them, too. `grey`
    says that intervals should be drawn grey, because there are too few documents to read anything from them.
    `doubted`: one of the notes is serious, so do not show even a decided verdict as if nothing spoke against it.
    """

    outcome: str
    """One of anecdote, decided, disconnected, level, nothing, too_few, undecided."""
    sentence: str
    scope: str
    notes: list[str] = []
    grey: bool = False
    checks: list[str] = []
    doubted: bool = False
    doubt: str | None = None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate. `place` counts from 1, equal for those that are level, `None` when it met nobody ("not compared").

    `rating` is in logits around a mean of 0: 0.8 ahead means preferred in 69 % of comparisons. Intervals hold at 95 %,
    where the run looks more than once at all its looks together. They are `None` for a single document, ratings also
    when the candidates fall into groups that never met. `score` is between 0 and 1, with an interval where scores are
    all there is to rank by. `documents` are those on which it met anyone (or was scored), `comparisons` the verdicts
    that counted: `won` in both orders, `tied` without a clear winner (a tie, a flip, a win and a tie), or lost. From
    three judges of equal weight on, `panel_low` to `panel_high` is an interval of the win share that also covers the
    choice of judges. `first_low` stands instead of `low` where somebody picks this candidate because it is first of
    three or more: luck helped to make it so. `widened`: an end of the win share's intervals reaches so much further for
    verdicts that are missing and that the others' do not explain; ratings are those of what was said.
    """

    candidate: str
    place: int | None = None
    win_share: float | None = None
    low: float | None = None
    high: float | None = None
    rating: float | None = None
    rating_low: float | None = None
    rating_high: float | None = None
    score: float | None = None
    score_low: float | None = None
    score_high: float | None = None
    documents: int = 0
    comparisons: int = 0
    won: int = 0
    tied: int = 0
    first_low: float | None = None
    panel_low: float | None = None
    panel_high: float | None = None
    widened: float = 0.0
    is_best: bool = False


class DocumentsNeeded(msgspec.Struct, frozen=True, kw_only=True):
    """From how many to how many documents would tell a lead with a chance of 80 %."""

    low: int
    high: int = 0


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's lead over one candidate, by their common opponents, with an interval.

    The scale is the win share, or the score when nothing was compared. If the two have no common opponent on any
    document, it is the rating, without an interval. `ahead`: this lead by itself is more than chance explains, by
    the interval at 95 % and by a count of signs over documents or their groups; the leader is best if it is ahead
    of all. `excludes_zero`: this candidate is ruled out, because the leader is best, or because the lead would be
    `ahead` even if any two of the candidates had been picked for their distance. `low` has the error of that, and
    is 0 where tests decide otherwise than the interval. `held_back`: it would be `ahead`, but for verdicts, scores
    or marks that are missing and could have gone against the leader. `documents_needed` is from how many to how
    many documents would tell, `None` if that cannot be told yet. `head_to_head` is the leader's share of its direct
    meetings with this one, on `met` documents. `beaten_after`: a look at so many documents told it from the leader
    of then, and it took no further part.
    """

    candidate: str
    scale: str
    """One of rating, score, win_share."""
    lead: float = 0.0
    low: float | None = None
    high: float | None = None
    excludes_zero: bool = False
    ahead: bool = False
    documents_needed: DocumentsNeeded | None = None
    head_to_head: float | None = None
    met: int = 0
    beaten_after: int | None = None
    held_back: bool = False


class ComparisonCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the verdicts that were planned; `agreed` includes two ties."""

    planned: int
    agreed: int = 0
    flip: int = 0
    inconsistent: int = 0
    by_rule: int = 0
    invalid: int = 0
    missing: int = 0


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's win share with every verdict that is missing or invalid against it, and for it (Manski 1990).

    Where scores are all there is, it is the leader's mean score, and open scores stand in the place of verdicts.
    `overturned_by` are the candidates that could be level or ahead if all of them had gone the wrong way, and
    `overturning` the number of the leader's and those candidates' verdicts that are open.
    """

    open_verdicts: int
    share_worst: float = 0.0
    share_best: float = 0.0
    overturned_by: list[str] = []
    overturning: int = 0


class WithoutJudge(msgspec.Struct, frozen=True, kw_only=True):
    """Who leads when one judge is left out; several if they are level, nobody if the rest does not connect them."""

    judge: str
    leaders: list[str] = []


class LongerText(msgspec.Struct, frozen=True, kw_only=True):
    """How often the longer text won, where one won and one was longer; `share` gives each document one voice."""

    won: int
    of: int = 0
    documents: int = 0
    share: float | None = None
    low: float | None = None
    high: float | None = None


class AdjustedShare(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's win share at equal lengths, with an interval at 95 %."""

    candidate: str
    win_share: float = 0.0
    low: float | None = None
    high: float | None = None


class LengthAdjusted(msgspec.Struct, frozen=True, kw_only=True):
    """The second view; in `rows` the greatest share comes first. `reason` says why there is none.

    `taste` is the chance that the longer of two equally good answers wins which differ in length as answers here
    commonly do: ½ is indifference.
    """

    documents: int
    taste: float | None = None
    taste_low: float | None = None
    taste_high: float | None = None
    rows: list[AdjustedShare] = []
    leaders: list[str] = []
    reason: str | None = None
    """One of all are equally long, length and candidate cannot be told apart."""


class Beaten(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that another one beat at a look, when so many documents were compared; it takes no further part."""

    candidate: str
    by: str
    documents: int = 0


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Look `number` of `of` comes when `documents` of the `planned` ones are compared.

    `before` of them were compared at the look before. Its intervals are at 1 − .05 · part each, which makes those of
    all looks hold together at 95 %. `stopped` says that the run ended here because it was decided. `beaten` are the
    candidates that earlier looks told from their leader.
    """

    number: int
    of: int = 0
    before: int = 0
    documents: int = 0
    planned: int = 0
    part: float = 0.0
    stopped: bool = False
    beaten: list[Beaten] = []


class Distrust(msgspec.Struct, frozen=True, kw_only=True):
    """A reason not to trust the judges; a `decisive` one takes the word *best* away.

    `check`: judges are built in, or failed the check of judges. `chance`: a judge is no better than a coin. `unproven`:
    it cannot yet be told from one. `flips`: it often decides by the order of the answers. `opposed`: the judges
    contradict each other. `family`: all are of the leader's family. `length`: the leader may lead by its length.
    `missing`: verdicts, scores or marks are missing that others do not explain, and a lead could be chance if they had
    gone against the leader. `malformed`: a judge's replies often cannot be used.
    """

    kind: str
    """One of chance, check, family, flips, length, malformed, missing, opposed, unproven."""
    sentence: str
    decisive: bool = False


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """How the documents of a ranking belong together: `independent` groups, a document alone being one.

    `near` counts the documents whose text is nearly that of an earlier one. `by` and `suggested` are those of `Groups`.
    """

    independent: int
    by: str | None = None
    """One of map, name, tag."""
    near: int = 0
    suggested: str | None = None
    """One of map, name, tag."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report or an answer shows; the same evidence gives the same bytes.

    `basis` is `scores` when nothing was compared but something was scored: then leaders, contrasts, bounds and groups
    are about scores. It is `checks` when the verdict is by checks, and they are about what `measure` names; and
    `answers` when a run has neither judge nor check: then nobody leads. `majority` is what somebody reaches who always
    gives the most frequent of the expected answers, where they are classes: whoever is best is ahead of that, too.
    `judged_leaders` are those of the judges where the verdict is by checks. `leaders` have the greatest win share,
    several if they are level. `groups` has more than one entry when candidates never met, directly or through others:
    then nobody leads. `exploratory`: weights were moved after seeing results. `look` is `None` where a run looks once,
    at its end; else it is the one that this was found at, or that is next, and intervals and contrasts are as strict as
    that look is. `grouping` is there if documents belong together, or may do so: then all intervals are those of groups
    of documents. `found_chance` is the chance that judges who agree as these did would have found a true lead of 69 %
    on all documents of the run; for most kinds of judges it lies between `found_chance_low` and `found_chance_high` in
    four of five runs. `None` where nothing was compared, where there are too few documents, where some belong together,
    and where verdicts of only two candidates are missing.
    """

    rows: list[Row]
    leaders: list[str] = []
    best: str | None = None
    contrasts: list[Contrast] = []
    documents: int = 0
    judges: list[str] = []
    counts: ComparisonCounts
    groups: list[list[str]] = []
    score_leaders: list[str] = []
    bounds: Bounds | None = None
    without_judge: list[WithoutJudge] = []
    longer_text: LongerText
    checked_by_human: bool = False
    exploratory: bool = False
    basis: str = "comparisons"
    """One of answers, checks, comparisons, scores."""
    length_adjusted: LengthAdjusted | None = None
    look: Look | None = None
    distrust: list[Distrust] = []
    grouping: Grouping | None = None
    found_chance: float | None = None
    found_chance_low: float | None = None
    found_chance_high: float | None = None
    measure: str | None = None
    """One of accuracy, checks, macro_f1, required."""
    majority: float | None = None
    judged_leaders: list[str] = []


class PassRate(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of one value from 0 to 1 for each document, with its 95 % interval by document.

    `share` is `None` without documents. `missing` documents have no value.
    """

    share: float | None
    low: float | None = None
    high: float | None = None
    documents: int = 0
    missing: int = 0


class BoardCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate of a leaderboard, by its label in the ranking; `runs` are those that it took part in, newest first.

    `host` is where its model answers, None if it is the provider's own.
    `passes` is how often it passes every required check, or the mean of all checks, in its newest run that makes the
    checks of the board's newest run with checks: rates of different checks are not comparable. `cost_per_answer` is the
    mean over its answers in all runs, with the answers that a combined one is made of; None if a cost is unknown, or if
    the answers existed before. The times are those of the calls that made answers; `p95_latency_ms` needs 20 of them.
    """

    candidate: str
    model: str | None = None
    host: str | None = None
    runs: list[str] = []
    answers: int = 0
    delivered: int = 0
    mean_words: float | None = None
    passes: PassRate | None = None
    cost_per_answer: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    median_latency_ms: int | None = None
    p95_latency_ms: int | None = None


class Alpha(msgspec.Struct, frozen=True, kw_only=True):
    """α, or the reason why there is none; `units` are the things that at least two judges judged.

    `undefined`: nothing varied, or nothing was judged twice.
    """

    value: float | None
    reason: str | None = None
    """One of needs two judges, undefined."""
    judges: int = 0
    units: int = 0


class JudgeAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """The number of comparisons on which two judges agreed, of those that both judged."""

    first: str
    second: str
    same: int = 0
    of: int = 0
    alpha: Alpha


class HumanCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a person's blind votes say.

    Of the `judged` votes on which the judges have an opinion too, `sided` came to the same outcome as they did
    together, by their weights; a judge that flipped has none. `leaders` go by the votes alone, `share` is their win
    share with an interval at 95 % by document. There are none where the votes do not connect the candidates, or are
    fewer than ten or on fewer than five documents. `judges` sets the person against each judge, flips left out.
    """

    votes: int
    voters: int = 0
    documents: int = 0
    ties: int = 0
    sided: int = 0
    judged: int = 0
    leaders: list[str] = []
    judges: list[JudgeAgreement] = []
    share: float | None = None
    low: float | None = None
    high: float | None = None


class PeopleShare(msgspec.Struct, frozen=True, kw_only=True):
    """The share of comparisons that people would give to a candidate, with a 95 % interval.

    `alone` is the same from the votes alone, and `judges` what the judges say on all documents. `reliance` is the part
    of the judges' word that the estimate uses: 0 leaves them out. There is no share with votes on fewer than ten of its
    `documents`, or of their groups.
    """

    candidate: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    alone: float | None = None
    alone_low: float | None = None
    alone_high: float | None = None
    judges: float | None = None
    reliance: float | None = None
    documents: int = 0
    is_best: bool = False


class PeoplePair(msgspec.Struct, frozen=True, kw_only=True):
    """The share of `first` against `second` that people would give, as in `PeopleShare`."""

    first: str
    second: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    judges: float | None = None
    documents: int = 0


class StandIn(msgspec.Struct, frozen=True, kw_only=True):
    """Of the `voters` who could be tested, the judge may stand in for `replaces`; it passes with at least half of them.

    `advantage` is the mean probability that the judge agrees with the other voters at least as well as a voter does.
    Both are without a value if fewer than three people voted on the same 30 comparisons as others and the judge.
    `voters_agree`: each of them agrees with the others more often than by chance; otherwise no judge passes.
    """

    judge: str
    voters: int = 0
    replaces: int | None = None
    advantage: float | None = None
    passes: bool = False
    voters_agree: bool = True


class PeopleVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What people would say about `documents`, in words and figures, best first. They voted on `voted` of these.

    `best` beats every other candidate at 95 %. `agreement` is that of several voters with each other; `stand_ins` says,
    from three voters on, which judge may stand in for one of them.
    """

    sentence: str
    notes: list[str] = []
    best: str | None = None
    leaders: list[str] = []
    voted: int = 0
    documents: int = 0
    votes: int = 0
    voters: int = 0
    rows: list[PeopleShare] = []
    pairs: list[PeoplePair] = []
    agreement: Alpha | None = None
    stand_ins: list[StandIn] = []


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Another leaderboard; ask for it by one of its runs. `labels` are those of the candidates in these runs."""

    runs: list[BoardRun]
    documents: int = 0
    judges: list[str] = []
    labels: list[str] = []


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Runs over the same documents, with the same judges, criteria and instructions, ranked as if they were one run.

    `others` are the leaderboards of further runs, the newest first. `note` is a doubt that belongs to every result of
    several runs. `verdict` and `ranking` are None if no run has finished. `people` is what people would say, from the
    votes in all of these runs; it stands beside the ranking of the judges. `candidates` are in the order in which the
    newest run has them. `left_out` older runs are on no leaderboard.
    """

    runs: list[BoardRun]
    documents: int = 0
    judges: list[str] = []
    verdict: Statement | None = None
    ranking: Figures | None = None
    candidates: list[BoardCandidate] = []
    human: HumanCheck | None = None
    people: PeopleVerdict | None = None
    note: str | None = None
    others: list[Board] = []
    left_out: int = 0


class ConnectionChange(Hidden, msgspec.Struct, omit_defaults=True, kw_only=True):
    """A changed connection. Without a `token` the stored one stays, but not if `base_url` changes.

    A client may send back the fields that only Carrel changes, as they are stored.
    """

    name: str
    repository: str
    """`owner/name`"""
    token: str | None = None
    branch: str | None = None
    base_url: str = "https://api.github.com"


class ConnectionTest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call with the token: what it gives access to, or the code of the error."""

    ok: bool
    latency_ms: int | None = None
    default_branch: str | None = None
    private: bool | None = None
    can_write: bool | None = None
    code: str | None = None


class ExportedTo(msgspec.Struct, frozen=True, kw_only=True):
    """The branch after the export. `changed` is false if all files were there already, as they are."""

    commit: str
    branch: str
    new_branch: bool = False
    changed: bool = False
    files: list[str] = []


class LastConnectionTest(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of the last test."""

    ok: bool
    at: str


class GithubConnection(msgspec.Struct, kw_only=True):
    """A connection as it is shown; `hint` is the last four characters of its token."""

    id: str
    name: str
    repository: str
    branch: str | None = None
    base_url: str
    hint: str
    version: int = 0
    created_at: str
    updated_at: str
    last_test: LastConnectionTest | None = None
    etag: str = ""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A file that became a content."""

    path: str
    content_id: str
    name: str


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """A file that did not become a content.

    `github-not-found`: there is no file at this path; `too-large`; `not-text`: it is not UTF-8; `invalid-input`: it is
    not a valid content of this type.
    """

    path: str
    code: str
    """One of github-not-found, invalid-input, not-text, too-large."""


class ImportOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result for each file."""

    commit: str
    imported: list[Taken] = []
    refused: list[Left] = []


class TreeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder; `bytes` is a file's size. Links and other repositories are `other`."""

    path: str
    kind: str
    """One of file, folder, other."""
    bytes: int | None = None


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """What is in one folder at a commit; `truncated` when GitHub did not list all of it."""

    commit: str
    path: str
    entries: list[TreeEntry] = []
    truncated: bool = False


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """What can be spent (`balance`), and what is held back for calls in flight (`reserved`)."""

    balance: str
    reserved: str
    updated_at: str


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The service answers."""

    status: str
    """One of ok."""
    version: str
    uptime_seconds: int = 0


class SessionOut(Hidden, msgspec.Struct, frozen=True, kw_only=True):
    """A new session token and its lifetime in seconds."""

    session_token: str
    expires_in: int = 3600


class User(msgspec.Struct, frozen=True, kw_only=True):
    """A user as the host sees one."""

    uuid: str
    membership: Membership
    created_at: str


class DefaultJudge(msgspec.Struct, frozen=True, kw_only=True):
    """A model that judges unless the user chooses others.

    `grounds` say why: it was right in the part `right` of its check, or a model of its class, which was `measured`, was
    right in that part of the pairs of LLMBar-Natural, as `source` says. A built-in judge is a `demonstration`.
    """

    model: str
    host: str | None = None
    family: str
    grounds: str
    """One of check, class, demonstration."""
    right: float | None = None
    measured: str | None = None
    source: str | None = None


class DefaultJudges(msgspec.Struct, frozen=True, kw_only=True):
    """Who judges these candidates by default, and a sentence that says why, or why nobody is good enough."""

    judges: list[DefaultJudge]
    sentence: str


class Parameters(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What a caller may set on a model; `None` leaves it to the model.

    `thinking_budget` is the most tokens that a model thinks, which count as output. The answer ends before the first
    text of `stop`. `extra` are fields of the protocol that are sent as they are: at most 4,096 bytes, and none that
    Carrel sets itself.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: Literal["high", "low", "max", "medium", "minimal", "none", "xhigh"] | None = None
    top_k: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    thinking_budget: int | None = None
    verbosity: Literal["high", "low", "medium"] | None = None
    stop: list[str] | None = None
    extra: dict[str, Any] | None = None


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """A share of `of` things; each document has one voice. The interval is `None` for a single document."""

    share: float | None
    low: float | None = None
    high: float | None = None
    of: int = 0
    documents: int = 0


class TrapResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge did on the pairs with one trap; without a lean it is right in both orders."""

    trap: str
    """One of length, none, orders, position."""
    right: Rate


class Leniency(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a judge scores than the other judges of the same answers, on scales from 0 to 1."""

    difference: float | None
    low: float | None = None
    high: float | None = None
    documents: int = 0


class Passport(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge behaves.

    `verdicts` were asked for in both orders, and `invalid` of them stayed malformed; the rates are of the others.
    `consistent`: the same word in both orders. `flips`: opposite winners. `first`: of the words that name a winner,
    those for the answer shown first; a judge without a lean to a position has one half. `longer`: the longer text won.
    `with_people`: agreement with a person's blind votes, where a tie or a flip agrees by half with a winner.
    """

    verdicts: int
    invalid: int = 0
    consistent: Rate
    flips: Rate
    first: Rate
    longer: LongerText
    with_people: Rate
    leniency: Leniency


class JudgeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said on the built-in pairs. `asked` words of `of` are there; it is finished when all are.

    `host` is the host that answered, None if it is the provider's own.
    `right` is the agreement with the known better answers: a judge that flips is right by half. A finished check is
    `passed` with nine of ten words right, of all that were asked for. `cost` is None where a call's cost is unknown.
    """

    id: str
    model: str
    host: str | None = None
    parameters: Parameters
    bench: str
    started_at: str
    finished_at: str | None = None
    passed: bool | None = None
    asked: int = 0
    of: int = 0
    right: Rate
    traps: list[TrapResult] = []
    passport: Passport
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""


class JudgeCheckCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of this judge costs: `likely` with short replies, `most` if every reply is as long as it may be.

    Both are None where the price is not known. A judge that thinks for long costs more than is likely.
    """

    model: str
    host: str | None = None
    calls: int = 0
    likely: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    most: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""


class OwnFamilyLift(msgspec.Struct, frozen=True, kw_only=True):
    """How much higher a judge puts its own family over the others than judges of other families do, in win share.

    By document, with a t-interval at 95 %; `reason` says why there is no number.
    """

    lift: float | None
    low: float | None = None
    high: float | None = None
    documents: int = 0
    reason: str | None = None
    """One of cannot be told, every candidate is of its family, no candidate of its family."""


class JudgeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One judge. `flips_to_first` are the flips in which the text shown first won both times.

    `invalid_share` is of the verdicts and scores that came back at all; `flagged` when it is above 10 %.
    """

    judge: str
    agreed: int = 0
    flips: int = 0
    flips_to_first: int = 0
    inconsistent: int = 0
    invalid: int = 0
    missing: int = 0
    scores_given: int = 0
    scores_invalid: int = 0
    scores_missing: int = 0
    invalid_share: float | None = None
    flagged: bool = False
    own_family_lift: OwnFamilyLift


class JudgePassport(msgspec.Struct, frozen=True, kw_only=True):
    """One model at one host as a judge: over the newest finished runs, and in its newest check.

    `host` is None if it is the provider's own.
    `in_runs` and `health` are None if it judged in none of `runs`. `agreement` is with each other judge of the same
    pairs. `cost_per_verdict` is what both orders cost, re-asks included.
    """

    model: str
    host: str | None = None
    family: str | None = None
    runs: int = 0
    in_runs: Passport | None = None
    health: JudgeHealth | None = None
    agreement: list[JudgeAgreement] = []
    cost_per_verdict: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    check: JudgeCheck | None = None


class JudgePassports(msgspec.Struct, frozen=True, kw_only=True):
    """Every model that judged or was checked, by name and host. `runs` is how many finished runs were read."""

    items: list[JudgePassport]
    runs: int = 0


class CallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to call a model. Tokens are None if the provider did not report them.

    `host` is the host that was called, None if it is the provider's own. `price_id` names the price that was used;
    `told` means that the provider said itself what the call cost.
    `reserved` and `charged` are credits; they are None if no credits pay.
    `charged` is also None for a moment after a call whose cost is unknown, until it is decided who pays.
    """

    id: str
    run_id: str | None = None
    task_key: str | None = None
    phase: str | None = None
    attempt: int = 0
    provider: str
    model: str
    host: str | None = None
    outcome: str | str
    """One of answered, failed, malformed, unknown-outcome."""
    """One of running."""
    code: str | None = None
    input_tokens: int | None = None
    cached_read_tokens: int | None = None
    cached_write_tokens: int | None = None
    output_tokens: int | None = None
    price_id: str | None = None
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    reserved: str | None = None
    charged: str | None = None
    latency_ms: int | None = None
    started_at: str
    finished_at: str | None = None


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over calls that have ended. `cost` adds up the known costs; the calls without one are `unknown_calls`.

    `charged` is what these calls took of the user's credits.
    """

    calls: int
    unknown_calls: int = 0
    input_tokens: int = 0
    cached_read_tokens: int = 0
    cached_write_tokens: int = 0
    output_tokens: int = 0
    cost: str
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    charged: str


class UsageItem(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one group. A field that was not grouped by is None; so is `run_id` of calls outside of runs.

    Where calls are grouped by model, those at another host are another group; `host` is None at the provider's own.
    """

    totals: Totals
    day: str | None = None
    model: str | None = None
    host: str | None = None
    provider: str | None = None
    run_id: str | None = None
    phase: str | None = None


class UsageReport(msgspec.Struct, frozen=True, kw_only=True):
    """The groups in order, and the total, which equals the sum of the groups to the millionth."""

    items: list[UsageItem]
    total: Totals


class Alternative(msgspec.Struct, frozen=True, kw_only=True):
    """One model. `likely_cost` is that of an answer, by its list price and the sizes of the preset's texts.

    `fits` is whether the longest input is likely to leave room for an answer. Each is None where it is unknown.
    """

    model: str
    host: str | None = None
    likely_cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    context_tokens: int | None = None
    fits: bool | None = None
    ends_on: str | None = None


class Alternatives(msgspec.Struct, frozen=True, kw_only=True):
    """Models in place of the `baseline`, the cheapest first. `today` is its own one, None if its answers are finished.

    They are those that your keys open now, without those that are switched off within 60 days. What an answer has cost,
    and how good the candidate was, say the preset's trends.
    """

    baseline: str
    today: Alternative | None = None
    items: list[Alternative] = []


class DocumentGroups(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What makes documents belong together. Those of one group count together, because they tell much the same.

    `tag`: the first of a document's tags that begins with `prefix`, such as `topic:`. `name`: the folder in its name
    (`letters/anna 1`), or else the words before the first mark or number. `map`: `of` has the group of each input.
    A document without a group stands alone.
    """

    by: Literal["map", "name", "tag"]
    prefix: str = ""
    of: dict[str, str] = {}


class DraftSummary(msgspec.Struct, frozen=True, kw_only=True):
    """An unfinished set-up without its body."""

    id: str
    name: str
    form: str
    """One of comparison, preset."""
    preset_id: str | None = None
    version: int = 0
    updated_at: str


class Draft(DraftSummary, frozen=True, kw_only=True):
    """An unfinished set-up."""

    body: dict[str, Any] = {}
    etag: str = ""


class Drafts(msgspec.Struct, frozen=True, kw_only=True):
    """Every unfinished set-up, the last changed one first."""

    items: list[DraftSummary]


class CallCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of each phase. Calls that judge combined answers count among `score` and `compare`."""

    generate: int
    score: int = 0
    compare: int = 0
    total: int = 0
    combine: int = 0


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """What the planned documents can decide: the lead is found with a chance from `chance` to `chance_high`.

    About `documents_enough_low` to `documents_enough` documents find it in 80 of 100 runs, the fewer the less the judge
    agrees with itself; `None` if no number of the table does.
    """

    documents: int
    candidates: int = 0
    chance: float = 0.0
    chance_high: float = 0.0
    documents_enough: int | None = None
    documents_enough_low: int | None = None
    sentence: str


class Saving(msgspec.Struct, frozen=True, kw_only=True):
    """What a run that may stop early would probably not need, if the best is preferred to the second in 69 %."""

    calls: int
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""


class EconomyCosts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run costs if its calls go in batches, and what it costs if each goes by itself."""

    likely_cost: str | None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    worst_cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    likely_cost_at_once: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    worst_cost_at_once: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""


class KnownPart(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the costs where some price is not: the sums over all other calls, in US dollars.

    `likely_unknown_calls` of the likely cost and `worst_unknown_calls` of the worst one come on top, at a price that
    nobody knows. `unpriced_models` are those whose price is not known; a search of the web has a fee that is in no
    price list, so the calls of a model that searches count among these too, whatever its tokens cost.
    """

    likely_cost: str
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    worst_cost: str
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    likely_unknown_calls: int = 0
    worst_unknown_calls: int = 0
    unpriced_models: list[str] = []


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What executing would take, and what it could decide. A cost is None where a price is not known.

    `known_part` says what is known where some price is not. Calls and costs are those of a run that compares
    everything. `stopping` says when the run may stop earlier; it is None unless that is wanted. `saving` is what it
    would then probably not need. `economy` has both prices where the calls can go in batches; `likely_cost` and
    `worst_cost` are the one that this run pays. `over_budget` says what does not fit into the budget, before the run
    pauses there. `endings` are models that are switched off within 60 days, or were.
    """

    calls: CallCounts
    likely_cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    worst_cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    documents: int = 0
    candidates: int = 0
    power: Power
    stopping: str | None = None
    saving: Saving | None = None
    economy: EconomyCosts | None = None
    known_part: KnownPart | None = None
    over_budget: str | None = None
    endings: list[ModelEnding] = []


class DroppedPart(msgspec.Struct, omit_defaults=True, kw_only=True):
    """How many parts of one kind an imported suite has that the preset leaves out, such as `assertion llm-rubric`."""

    kind: str
    count: int


class ExportedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A preset as the text of a `promptfooconfig.yaml`; `dropped` is what promptfoo has no word for."""

    config: str
    dropped: list[DroppedPart] = []


class Rows(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Rows of a data set as inputs.

    Of all rows, those whose columns have exactly the values in `where`; an empty value stands for an empty cell. With
    `row`, only the row of this number, counted from 1. With None, `version` is the newest one when the run is made.
    """

    data_set: str
    where: dict[str, str] = {}
    version: int | None = None
    row: int | None = None


class Candidate(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One way to do the job: a model with its parameters and its prompt, or texts that exist already.

    `label` names the candidate in the ranking; without one it has the model's name. `instructions` replace the
    preset's. `existing` holds finished answers; with rows of a data set, `column` names the column that does. `model`
    answers the inputs that have none; it is required unless every input has an answer, or a column is named. With
    `grounding`, the model may search the web by its provider's own tool; where it is `required`, an answer that
    names no page loses against one that does. With `response_schema`, a JSON schema, the model answers in JSON that
    follows it; an answer that does not loses against one that does.
    """

    label: str = ""
    model: str | None = None
    """`provider:name`"""
    parameters: Parameters = msgspec.field(default_factory=Parameters)
    instructions: str | None = None
    existing: dict[str, str] = {}
    column: str | None = None
    grounding: Literal["allowed", "off", "required"] = "off"
    response_schema: dict[str, Any] | None = None


class Generation(msgspec.Struct, omit_defaults=True, kw_only=True):
    """How answers are made. With `show_criteria`, the candidates see the criteria by which judges judge them."""

    candidates: list[Candidate]
    repeats: int = 1
    show_criteria: bool = False


class Judge(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A model that judges. Only the ratio of the judges' weights counts."""

    model: str
    """`provider:name`"""
    weight: float = 1.0
    parameters: Parameters = msgspec.field(default_factory=Parameters)


class Scoring(msgspec.Struct, omit_defaults=True, kw_only=True):
    """How judges score each answer by itself, criterion by criterion."""

    judges: list[Judge]
    criteria: str
    instructions: str | None = None
    repeats: int = 1


class Comparison(msgspec.Struct, omit_defaults=True, kw_only=True):
    """How judges compare answers, in pairs and in both orders.

    `finalists` is how many of the candidates that scored best are compared; with None it follows from the number of
    candidates. With `stop_when_decided` the run looks at every tenth of the documents, or at every fifth one if that is
    later: it goes on without the candidates that the leader has beaten by then, and ends once one is best. Each look is
    stricter than a single test would be. It never stops early with fewer than 13 documents, or where answers are
    combined.
    """

    judges: list[Judge]
    instructions: str | None = None
    finalists: int | None = None
    stop_when_decided: bool = False


class Combination(msgspec.Struct, omit_defaults=True, kw_only=True):
    """How models combine the best answers to each document into one.

    Each of `candidates` combines with a model and takes part under its own label (default: "combined by" and the
    model). Judges judge its answers like any others. `sources` is how many answers go in: those of the candidates that
    the judges put first over all documents. A candidate's `instructions` replace the shared ones.
    """

    candidates: list[Candidate]
    instructions: str | None = None
    sources: int = 2


class RunLimits(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What a run may use: calls at once, seconds and attempts for each call, US dollars in all (None: no limit)."""

    concurrency: int = 8
    timeout_seconds: int = 120
    max_attempts: int = 3
    budget: str | None = None
    """US dollars, as a decimal with at most 6 places: `12.5`, as a string or a number."""


class Output(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Where answers go besides the run itself.

    With `library`, the run writes them into the library when it completes, as contents of type `output_document`: one
    for each document of the `best` candidate, or of all. With `github`, Carrel sends them through a `connection` into
    the folder `path`, as one commit on `branch`, or on the connection's own branch without one. If sending fails, the
    run's log says so, and the run does not fail.
    """

    destination: Literal["github", "library", "none"] = "none"
    answers: Literal["all", "best"] = "best"
    connection: str | None = None
    path: str = ""
    branch: str | None = None


class Configuration(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Everything that determines a run.

    Its inputs are either documents, `inputs`, or `rows` of a data set. `references` holds, for some of the inputs, a
    text that good answers agree with; `groups` says which documents belong together. With None, only those with nearly
    the same text do. Columns of a data set say both for its rows.
    Judges score or compare the answers, or `checks` are made, which need no judge. Without any of them, a run only
    makes answers, which judges can judge later. `headline` says by which of both the verdict is: by judges if there are
    any, else by checks, unless it is given. `macro_f1` is the mean F1 over the classes that the expected outputs of a
    check `equals` are. With `economy`, calls go in batches at half the price, which a provider
    answers within a day; it goes with models of OpenAI and Anthropic, and with built-in ones. With `reuse`, answers and
    verdicts are those of earlier runs wherever the same was asked of the same model with the same parameters.
    """

    inputs: list[str] = []
    rows: Rows | None = None
    generation: Generation
    instructions: str | None = None
    references: dict[str, str] = {}
    scoring: Scoring | None = None
    comparison: Comparison | None = None
    combination: Combination | None = None
    limits: RunLimits = msgspec.field(default_factory=RunLimits)
    billing: Literal["credits", "own_keys"] = "own_keys"
    economy: bool = False
    reuse: bool = False
    output: Output = msgspec.field(default_factory=Output)
    groups: DocumentGroups | None = None
    checks: list[Check] = []
    headline: Literal["checks", "judges", "macro_f1"] | None = None
    dropped: list[DroppedPart] = []


class PresetDraft(Configuration, omit_defaults=True, kw_only=True):
    """A preset as its user writes it."""

    name: str
    description: str = ""
    tags: list[str] = []


class Preset(PresetDraft, omit_defaults=True, kw_only=True):
    """A preset with its whole configuration."""

    id: str
    version: int
    created_at: str
    updated_at: str
    etag: str = ""


class ImportedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """What was made: a data set of the tests, a content for each prompt, and a preset with checks.

    Where no provider is one that Carrel can call, there is an unfinished set-up in place of the preset, `draft`, which
    needs models. `criteria` are what judges score in place of a model that grades: by the suite's grader, else by the
    default judges. `dropped` is what was left out, also in the preset and in every verdict of it.
    """

    data_set: UploadedDataSet
    prompts: list[str] = []
    criteria: str | None = None
    preset: Preset | None = None
    draft: DraftSummary | None = None
    dropped: list[DroppedPart] = []


class PresetSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A preset in a list."""

    id: str
    name: str
    description: str
    tags: list[str] = []
    version: int = 0
    created_at: str
    updated_at: str
    input_count: int = 0
    candidate_labels: list[str] = []


class Progress(TasksDone, msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of the present round, including those that are planned later.

    `eta_seconds` is known while the run is under way, once enough of its phase has ended to measure its speed. `saved`
    counts the tasks that the looks of a run that may stop early made unnecessary, and `saved_cost` is about what they
    would have cost, by the mean of those that were done; None if that is not known.
    """

    total: int
    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    percent: int = 0
    eta_seconds: int | None = None
    saved: int = 0
    saved_cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""


class Spend(msgspec.Struct, frozen=True, kw_only=True):
    """What all calls together cost. `unknown_calls` are the calls whose cost is unknown; their cost comes on top.

    `reused` counts the tasks that took the result of an earlier run in place of a call.
    """

    cost: str
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    unknown_calls: int = 0
    reused: int = 0


class RunSummary(RunStates, msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. A `trial` only tried its candidates on one input."""

    id: str
    name: str
    preset_id: str | None = None
    state: RunState
    pause_reason: str | None = None
    """One of budget, credits, key-absent, membership, provider, quota, service-restarted, service-stopped,
    unknown-costs, user.
    """
    phase: str | None = None
    """One of combine, compare, generate, score."""
    round: int = 0
    progress: Progress
    spend: Spend
    verdict: str | None = None
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    pinned: bool = False
    tags: list[str] = []
    trial: bool = False


class Run(RunSummary, frozen=True, kw_only=True):
    """A run with the configuration that it was made from. `quiesced`: no call is in flight, it is safe to kill.

    `hosts` has the host of each of its models that answers elsewhere than at its provider's own host.
    """

    configuration: Configuration
    hosts: dict[str, str] = {}
    quiesced: bool = False
    version: int = 0
    etag: str = ""


class CheckRate(msgspec.Struct, frozen=True, kw_only=True):
    """How often the candidate passes one check, by its name."""

    check: str
    rate: PassRate


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The mean difference between a candidate and its baseline over documents, candidate minus baseline.

    With an error of 5 % each, the true one is not below `low`, and not above `high`. `independent` is the number of
    documents, or of groups of them. About `needed` documents would decide it; `None` if that cannot be told, or if it
    is decided.
    """

    difference: float
    low: float = 0.0
    high: float = 0.0
    documents: int = 0
    independent: int = 0
    outcome: str
    """One of better, not_worse, undecided, worse."""
    needed: int | None = None


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One run. What it does not know of the candidate is None, and so is everything if the candidate is not in it.

    `changed` names what is not as in the run before; `answers` are those that existed before the run. `outcome` is that
    of the verdict, which names `best` if it is decided. `preferred` is the candidate's win share in this run, or its
    mean score where nothing was compared: with other candidates in the run it means something else. `passes` is how
    often it passes every required check, or the mean of all checks. `cost` is the whole run's. `gate` says whether it
    is worse than the baseline, and `against` by how much, by judges. `fell` names the checks that are clearly below the
    last good run before. `good` follows from `gate` or from `fell`; None if nobody can say.
    """

    run: str
    name: str
    created_at: str
    finished_at: str | None = None
    changed: list[str] = []
    data_set_version: int | None = None
    documents: int = 0
    outcome: str
    """One of anecdote, decided, disconnected, level, nothing, too_few, undecided."""
    best: str | None = None
    basis: str
    """One of answers, checks, comparisons, scores."""
    preferred: PassRate | None = None
    passes: PassRate | None = None
    checks: list[CheckRate] = []
    cost: str
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    unknown_calls: int = 0
    cost_per_answer: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    median_latency_ms: int | None = None
    gate: str | None = None
    """One of better, not_worse, undecided, worse."""
    against: Change | None = None
    fell: list[str] = []
    good: bool | None = None


class Trends(msgspec.Struct, frozen=True, kw_only=True):
    """The newest finished runs of a preset, the newest first, and what each says of one candidate.

    `rule` says in words when a run is good, and `last_good` is the newest such run. `candidates` are all labels in
    these runs, `checks` the names of all checks. `left_out` older runs are not shown. `endings` are models of the
    newest run that are switched off within 60 days, or were.
    """

    preset_id: str
    candidate: str | None = None
    baseline: str | None = None
    margin: float = 0.0
    candidates: list[str] = []
    checks: list[str] = []
    points: list[TrendPoint] = []
    last_good: str | None = None
    rule: str
    left_out: int = 0
    endings: list[ModelEnding] = []


class ProgramKey(msgspec.Struct, frozen=True, kw_only=True):
    """A program key as its user sees it. `last_used_at` is told to the minute."""

    id: str
    name: str
    scopes: list[Scope] = []
    state: KeyState
    created_at: str
    expires_at: str
    last_used_at: str | None = None
    ended_at: str | None = None


class NewProgramKey(Hidden, ProgramKey, frozen=True, kw_only=True):
    """A new key. `program_key` is shown this once; nobody can show it again."""

    program_key: str


class OwnProgramKeys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys, the newest first; one that has ended is listed for 30 days. `allowed`: the operator allows new ones."""

    items: list[ProgramKey]
    allowed: bool = False
    most: int = 0


class ProgramSession(Hidden, msgspec.Struct, frozen=True, kw_only=True):
    """A session token for the program, its lifetime in seconds, and what the program may do with it."""

    session_token: str
    expires_in: int = 0
    uuid: str
    program: str
    scopes: list[Scope] = []


class KeyTest(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call with the key: the models that it may call, or the code of the error.

    A server without a list is `ok` with the code `models-not-listed`: its models can be called by their names. `said`
    are the provider's own words.
    """

    ok: bool
    latency_ms: int | None = None
    models: list[str] = []
    code: str | None = None
    said: str | None = None


class RateLimit(msgspec.Struct, frozen=True, kw_only=True):
    """How fast a provider may be called; `is_default` until the user sets other limits.

    `concurrency_now` is how many calls at once the provider has accepted: it is halved when the provider refuses calls
    as too many, and grows again up to `concurrency`. `in_flight` counts the current calls; `wait_seconds` is how long
    no call may begin.
    """

    provider: str
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrency: int = 0
    is_default: bool = False
    concurrency_now: int = 0
    in_flight: int = 0
    wait_seconds: float = 0.0


class RateLimitList(msgspec.Struct, frozen=True, kw_only=True):
    """Every provider, by name."""

    items: list[RateLimit]


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the log. `state` and `code` are the run's or the task's, as the event says.

    `kind` is the kind of the task that `task_key` names; both are None where the event concerns the whole run.
    """

    seq: int
    at: str
    level: str
    """One of error, info, warning."""
    event: str
    """One of answer-noted, answers-delayed, answers-not-sent, answers-sent, attempt-failed, attempt-lost,
    check-failed, look-taken, phase-started, round-started, run-cancelled, run-created, run-finished, run-paused,
    run-resumed, run-retried, run-started, task-decided, task-failed, task-reused, task-skipped, task-succeeded,
    vote-cast, vote-undone, vote-withdrawn, votes-imported.
    """
    task_key: str | None = None
    kind: str | None = None
    """One of combine, compare, generate, score."""
    state: str | None = None
    code: str | None = None
    model: str | None = None
    attempt: int | None = None
    latency_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class CandidateFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's figures between 0 and 1, one for each document in order; a list is empty if it would hold none.

    `checks` is the mean of an answer's marks. The other lists have numbers of documents, counted from 1: where it is
    still to answer, where it has no answer that was delivered, where a limit of tokens cut its answer off, and where a
    judge flipped about it.
    """

    candidate: str
    win_share: list[float | None] = []
    score: list[float | None] = []
    checks: list[float | None] = []
    awaited: list[int] = []
    failed: list[int] = []
    cut_off: list[int] = []
    flipped: list[int] = []


class AnswerFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of every answer of a round. Candidates are in the order of the plan; of repeats the first counts.

    `flips` counts the flips on each document, and is empty if there are none. `disagreements` are the numbers of the
    documents on which two judges name opposite winners of the same answers.
    """

    documents: int
    candidates: list[CandidateFigures] = []
    flips: list[int] = []
    disagreements: list[int] = []


class AnswerNote(msgspec.Struct, frozen=True, kw_only=True):
    """A star and a note on an answer."""

    document: int
    document_name: str
    candidate: str
    repeat: int = 0
    starred: bool = False
    note: str
    updated_at: str


class AnswerBeginnings(msgspec.Struct, frozen=True, kw_only=True):
    """A document, how it begins, and the beginnings of its answers, in the order of the run's candidates.

    An answer is None where there is none. `checks` are the marks of each answer, in the order of the run's checks. All
    but the name is empty if only names are wanted.
    """

    document: int
    name: str
    question: str
    answers: list[str | None] = []
    checks: list[list[float | None]] = []


class Beginnings(msgspec.Struct, frozen=True, kw_only=True):
    """The rows in the order of their documents. `found` are the documents that hold the words, if words were given."""

    rows: list[AnswerBeginnings]
    found: list[int] | None = None


class TaskCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of the present round by state."""

    pending: int
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands, durably. Three fields divide the tasks that have not begun, `counts.pending`.

    `remaining` names the planned tasks, at most 10,000 of them; `unlisted` is how many more are planned; `unplanned` is
    how many tasks will be planned in later phases, once it is known which candidates they concern.
    """

    state: RunState
    phase: str | None = None
    """One of combine, compare, generate, score."""
    round: int = 0
    counts: TaskCounts
    remaining: list[str] = []
    unlisted: int = 0
    unplanned: int = 0
    spend: Spend
    quiesced: bool = False
    committed_at: str


class ClassFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One class as a candidate tells it: the shares of hits among what it said and among what is, and their F1.

    `confused` is how many documents of this class it gave to each class, in their order, and last to none of them;
    several answers to one document count as parts.
    """

    name: str
    precision: PassRate
    recall: PassRate
    f1: PassRate
    confused: list[float] = []


class CandidateClasses(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate: how often it is right, and the means of the classes' precision, recall and F1."""

    candidate: str
    accuracy: PassRate
    macro_f1: PassRate
    micro_f1: float = 0.0
    weighted_f1: float = 0.0
    macro_precision: float = 0.0
    macro_recall: float = 0.0
    classes: list[ClassFigures] = []


class ClassResults(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a run by classes; without any, `sentence` says why. No verdict follows from them.

    Figures are those of scikit-learn with the expected answers as its `labels`. The last row is that of the most
    frequent answer, `majority`.
    """

    sentence: str
    check: str | None = None
    classes: list[str] = []
    majority: str | None = None
    rows: list[CandidateClasses] = []


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was not deleted, and the code of the error that says why."""

    id: str
    code: str


class Deleted(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a bulk deletion."""

    deleted: list[str]
    refused: list[Refused] = []


class GateSource(msgspec.Struct, frozen=True, kw_only=True):
    """What one source says.

    `comparisons`: the win share against the baseline, minus one half. `scores`: the mean score. `required`: the share
    of documents that pass every required check. `checks`: the mean of all checks. `check`: one of them, by its `name`.
    `macro_f1`: the mean F1 over classes.
    `change` is None without documents on which both took part. So many verdicts or scores are `missing`, or
    documents of which marks are; what others do not explain of them counts against the candidate in `low`, and for
    it in `high`. On `unanswered` documents only the baseline gave an answer, which counts against the candidate.
    """

    kind: str
    """One of check, checks, comparisons, macro_f1, required, scores."""
    name: str
    decides: bool = False
    change: Change | None = None
    missing: int = 0
    unanswered: int = 0


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the candidate is worse than the baseline.

    `not_worse`, or even `better`: every source that decides shows that it is not worse by `margin` or more, and no
    source shows that it is worse. `worse`: some source shows that. `undecided`: neither; about `needed` documents would
    tell.
    """

    outcome: str
    """One of better, not_worse, undecided, worse."""
    sentence: str
    candidate: str
    baseline: str
    margin: float = 0.0
    sources: list[GateSource] = []
    needed: int | None = None


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as the provider counted them; built-in models count words."""

    input: int
    output: int = 0


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge gave an answer: a number for each criterion. `by_rule`: the answer was not delivered."""

    round: int
    judge: str
    repeat: int = 0
    fate: str
    """One of by_rule, given, invalid."""
    marks: dict[str, float] = {}
    reason: str | None = None


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A page on which an answer rests, as the provider names it."""

    url: str
    title: str


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of one candidate to one input, by a `model` at a `host` (None: the provider's own).

    `input` is the id of the document, or that of the row of a data set. `content_id` is set if a run wrote the
    answer into the library and the content still exists. `checks` has the mark of each check, from 0 to 1; None where
    a check could not be made. `citations` are the pages that the answer rests on; an answer that `lacks_citations`
    had to name some, and counts as not delivered. `thought` is what the model wrote before its answer, where its server
    does not keep that apart: it is neither judged nor counted.
    """

    id: str
    task_key: str
    input: str
    input_name: str
    candidate: str
    model: str | None = None
    host: str | None = None
    repeat: int = 0
    body: str
    finish_reason: str
    """One of length, refused, stop."""
    tokens: Tokens
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    scores: list[Marks] = []
    created_at: str
    version: int = 0
    content_id: str | None = None
    thought: str | None = None
    checks: dict[str, float | None] = {}
    citations: list[Citation] = []
    lacks_citations: bool = False


class LogCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows the log has."""

    count: int


class LookTaken(msgspec.Struct, frozen=True, kw_only=True):
    """What a round found at a look on its way, when so many `documents` were compared.

    `leader` led alone, or nobody did. The `dropped` took no further part. `decided`: the round ended here. `saved` is
    the number of calls that the look made unnecessary.
    """

    number: int
    documents: int = 0
    leader: str | None = None
    dropped: list[str] = []
    decided: bool = False
    saved: int = 0


class CheckColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A check. A `share` gives any number from 0 to 1, another check only 0 or 1.

    Of `lenient` answers, the check says better only because of what it ignores; None if it ignores nothing.
    """

    name: str
    kind: str
    """One of chrf, contains, equals, fields, forbidden, grade, json, json_schema, length, not_contains, regex,
    rouge_l.
    """
    required: bool = False
    share: bool = False
    lenient: int | None = None


class FieldFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One field over all answers of a candidate: in how many it is right, wrong, missing, or more than was expected.

    `field` is its path, such as `items[].price`, in the JSON that `check` compares; items of lists count one by one.
    """

    check: str
    field: str
    right: int = 0
    wrong: int = 0
    missing: int = 0
    extra: int = 0


class CandidateChecks(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of one candidate: of each check, of their mean, and of passing every required one.

    `required` is `None` where no check is required. `fields` are those of checks that compare fields.
    """

    candidate: str
    mean: PassRate
    required: PassRate | None = None
    rates: list[PassRate] = []
    fields: list[FieldFigures] = []


class CheckResults(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks of a run say, in words and figures. Each row has its rates in the order of `checks`."""

    sentence: str
    checks: list[CheckColumn] = []
    rows: list[CandidateChecks] = []


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking of a round, in words and in figures, with what blind votes say, and what people would say.

    `looks` are those that a run which may stop early took on its way. `checks` is what the checks come to that need no
    judge; None if the run has none. `hosts` has the host of each candidate whose model did not answer at its provider's
    own host; judges are named with theirs.
    """

    round: int
    verdict: Statement
    ranking: Figures
    human: HumanCheck | None = None
    people: PeopleVerdict | None = None
    looks: list[LookTaken] = []
    checks: CheckResults | None = None
    hosts: dict[str, str] = {}


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict in everyday words: what to do, and why, with money.

    `marks`, of 4, are how sure that is, and `sure` says it in words.
    `beside` is weighed against the `first`: the best of those that cost much less, or else the next one. `doubt` is the
    one that matters most; `settled_by` says what would settle it, where something can. `beside` is worse on
    `worse_total` documents; `worse_on` are the numbers of the worst.
    """

    headline: str
    reason: str
    marks: int = 0
    sure: str
    first: str | None = None
    beside: str | None = None
    doubt: str | None = None
    settled_by: str | None = None
    """One of documents, votes."""
    worse_on: list[int] = []
    worse_total: int = 0


class ReplacementOption(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate beside today's. `holds`: not worse by the margin, among all candidates together.

    `gate` looks at this candidate alone. `saves_per_month` is below 0 if it costs more; None where a cost is unknown.
    """

    candidate: str
    holds: bool = False
    gate: GateResult
    cost_per_answer: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    saves_per_month: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    ends_on: str | None = None


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """Which candidate may take the place of today's, the `baseline`. `options` are in the order of their costs."""

    sentence: str
    chosen: str | None = None
    baseline: str
    margin: float = 0.0
    calls_per_month: int = 0
    cost_per_answer: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    cost_per_month: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    ends_on: str | None = None
    options: list[ReplacementOption] = []


class RunCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many runs there are, in total and in each state."""

    total: int
    by_state: dict[str, int] = {}


class SharedLog(msgspec.Struct, frozen=True, kw_only=True):
    """A copy of a log that the operator can read until `expires_at`; `fields` are all that it holds."""

    share_id: str
    expires_at: str
    fields: list[str] = []


class SplitRow(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate on the rows of a part.

    `preferred` is its win share, or its mean score where nothing was compared; None where no judge said anything.
    `passes` is how often it passes every required check, or the mean of all checks where none is required; None
    without checks. `rates` has the rate of each check.
    """

    candidate: str
    preferred: PassRate | None = None
    passes: PassRate | None = None
    rates: list[PassRate] = []


class SplitPart(msgspec.Struct, frozen=True, kw_only=True):
    """The rows with one value; or those without a value (`none`); or those of all rarer values together (`others`).

    `values` counts the values. Of the `planned` verdicts, `missing` ones were never said or could not be read.
    """

    kind: str
    """One of none, others, value."""
    value: str | None = None
    values: int = 0
    documents: int = 0
    few: bool = False
    planned: int = 0
    missing: int = 0
    rows: list[SplitRow] = []


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a run by the values of a column. Exploratory: `notes` say why.

    `columns` are those that the run can be split by. `checks` are those of `rates`.
    """

    column: str | None
    columns: list[str] = []
    basis: str
    """One of comparisons, none, scores."""
    checks: list[CheckColumn] = []
    parts: list[SplitPart] = []
    notes: list[str] = []


class TaskError(msgspec.Struct, frozen=True, kw_only=True):
    """Why a task brought no result. `said` are the provider's own words about it, where it said any."""

    code: str
    message: str
    said: str | None = None


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One step. `document` is the number of the input; candidates are named by label, judges by name.

    In a comparison, `order` says whether the judge saw the candidate's answer first (`ab`) or the opponent's (`ba`).
    `reused`: the result is that of an earlier run.
    """

    key: str
    kind: str
    """One of combine, compare, generate, score."""
    state: TaskState
    round: int = 0
    attempts: int = 0
    document: int = 0
    document_name: str
    candidate: str
    opponent: str | None = None
    judge: str | None = None
    repeat: int = 0
    order: str | None = None
    """One of ab, ba."""
    generated_id: str | None = None
    error: TaskError | None = None
    started_at: str | None = None
    finished_at: str | None = None
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    reused: bool = False


class Settings(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The one settings object of a user. What is left out of a `PUT` goes back to its default.

    `density` is how close the rows of tables stand. `locale` is a BCP 47 tag, `timezone` an IANA name; None: those of
    the browser. Usage is counted in days of the time zone, or of UTC. `resume_after_restart` says whether runs that a
    restart interrupted go on at the next login. `retention_days` is how long finished runs are kept that are not
    pinned; None keeps them.
    """

    theme: Literal["dark", "light", "system"] = "system"
    density: Literal["comfortable", "compact"] = "comfortable"
    locale: str | None = None
    timezone: str | None = None
    default_candidates: list[str] = []
    default_judges: list[str] = []
    resume_after_restart: bool = True
    retention_days: int | None = None
    etag: str = ""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge said in one order; `fault` if it stayed malformed."""

    word: str
    """One of first, invalid, missing, second, tie."""
    reason: str | None = None
    fault: str | None = None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Which answer is better. `fate` is `agreed` only if the judge said the same in both orders.

    `winner` is None where it did not, or did not say. In `ab` the answer `a` was shown first, in `ba` second. `host` is
    the host that answered, None if it is the provider's own.
    """

    judge: str
    host: str | None = None
    winner: str | None = None
    """One of a, b, tie."""
    fate: str
    """One of agreed, by_rule, flip, inconsistent, invalid, missing."""
    ab: Said
    ba: Said
    calls: list[str] = []
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    latency_ms: int = 0


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one call as the provider counted them; built-in models count words.

    The provider read `cached_tokens` from its cache, and they cost less. It wrote `written_tokens` to the cache, and
    they may cost more. `input_tokens` are the other tokens that the model read. A model's thoughts are output.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `id` is the id of its metering row; `cost` is None if the price or the tokens are unknown.

    `host` is the host that answered, None if it is the provider's own.

    `finish_reason`: the answer was complete, it reached the output limit, or the model refused. `thought` is what the
    model wrote before its answer, where its server does not keep that apart itself.
    """

    id: str
    model: str
    host: str | None = None
    text: str
    thought: str | None = None
    finish_reason: str
    """One of length, refused, stop."""
    usage: Usage | None = None
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    latency_ms: int = 0


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A score on each criterion, on its own scale, by the `judge`; `host` answered, None if it is the provider's own.

    `marks` and `reason` are None if the judge's replies stayed malformed; `fault` says how the last one was. `calls`
    are ids of rows in the metering, re-asks included; `cost` is None where that of one of them is unknown.
    """

    judge: str
    host: str | None = None
    marks: dict[str, float] | None = None
    reason: str | None = None
    fault: str | None = None
    calls: list[str] = []
    cost: str | None = None
    """US dollars, as a decimal with at most 6 places: `0.0125`."""
    latency_ms: int = 0


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """How much was imported, under new ids. The settings are now those of the export."""

    contents: int
    presets: int = 0
    data_sets: int = 0


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """How many bytes of an import in parts are here; the next part begins there."""

    received_bytes: int


class JudgeSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge said of a pair. `winner` is None for a tie and where the judge has no opinion, as after a flip.

    `reasons` are what it wrote, first in the order of the disagreement's `a` and `b`, then in the other.
    """

    judge: str
    fate: str
    """One of agreed, by_rule, flip, inconsistent, invalid, missing."""
    winner: str | None = None
    reasons: list[str | None] = []


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A vote that came to another outcome than the judges together; a winner is None for a tie."""

    document: int
    document_name: str
    a: str
    b: str
    repeat: int = 0
    voter: str
    winner: str | None = None
    judges_winner: str | None = None
    judges: list[JudgeSaid] = []


class ScoresOfPeople(msgspec.Struct, frozen=True, kw_only=True):
    """What voters scored by one criterion: the mean over `answers`, which count alike, each by the mean of its voters.

    `judges` is the mean of the judges on those of the answers that they scored, and `apart` how far the two are from
    each other on one answer; both are None where the judges scored none. `alpha` is how far several voters agree.
    """

    criterion: str
    answers: int = 0
    people: float = 0.0
    judges: float | None = None
    apart: float | None = None
    alpha: float | None = None


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """How much more there is here than there: the mean over the documents of both sides, paired by document.

    `low` and `high` are its interval at 95 %, `None` for a single document or group of them. `independent` is the
    number of documents, or of groups of them. `better` or `worse` only if the difference is more than chance explains,
    by the same rules as a lead within a run.
    """

    difference: float
    low: float | None = None
    high: float | None = None
    documents: int = 0
    independent: int = 0
    outcome: str
    """One of better, undecided, worse."""


class SinceRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round beside the latest earlier one (`round`) whose judges compared, on the documents kept for the test.

    These are half of the run's; `criteria-proposal` with `half` reads the others alone. A vote counts if judges of both
    rounds were asked about its pair and answered: 1 where they came to its outcome, ½ where they have no opinion, as
    after a flip, so that a question does not gain by making judges flip on what is hard. `agreement` and `before` are
    the means of that by document in this round and in the earlier one, None without such votes. `changed` is what
    differs in how the rounds compare, and `sentence` says what follows.
    """

    round: int
    changed: list[str] = []
    votes: int = 0
    agreement: float | None = None
    before: float | None = None
    difference: PairedDifference | None = None
    sentence: str


class AgainstJudges(msgspec.Struct, frozen=True, kw_only=True):
    """Votes beside the judges together, by their weights.

    Of `judged` votes on which the judges have an opinion, `same` came to their outcome. `agreement` is the mean of that
    by document, with its interval at 95 %. `both_bad` votes found neither answer good enough. `scores` are by criteria,
    from those who scored the answers besides. `since` is None for a round that is still judged or compared nothing, and
    without an earlier round that compared.
    """

    votes: int
    both_bad: int = 0
    judged: int = 0
    same: int = 0
    agreement: PassRate
    disagreements: list[Disagreement] = []
    scores: list[ScoresOfPeople] = []
    since: SinceRound | None = None


class Rubric(msgspec.Struct, frozen=True, kw_only=True):
    """What a criterion means, and the ends of its scale."""

    description: str
    minimum: float = 0.0
    maximum: float = 0.0


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says in a conversation."""

    role: str
    """One of assistant, system, user."""
    content: str


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers to one document, without names and in random order. `left` counts the pairs after this one.

    `turns` are the conversation with whose transcript the document begins; `rubric` says what each criterion means and
    on which scale it is scored.
    """

    pair: str
    document_name: str
    document: str
    reference: str | None = None
    instructions: str | None = None
    criteria: list[str] = []
    rubric: dict[str, Rubric] = {}
    first: str
    second: str
    left: int = 0
    turns: list[Turn] = []


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wrote: as the reason of a vote, or as a note on an answer. `document` is its number in the run."""

    kind: str
    """One of note, vote."""
    document: int = 0
    text: str


class ProposedCriterion(msgspec.Struct, frozen=True, kw_only=True):
    """A criterion as a row of a criteria text, how many `votes` and `notes` mention it, and up to three of these."""

    criterion: CriterionRow
    votes: int = 0
    notes: int = 0
    quotes: list[Opinion] = []


class CriteriaProposal(msgspec.Struct, frozen=True, kw_only=True):
    """What people's words ask for, most mentioned first; a criterion that fewer than `least` mention is not proposed.

    `votes` gave a reason and `notes` have a text, which is read up to its 500th character. `rare` names the criteria
    that too few mention. Of `unrecognised` votes and notes no word is known; up to three are quoted.
    """

    proposals: list[ProposedCriterion]
    least: int = 0
    votes: int = 0
    notes: int = 0
    rare: list[str] = []
    unrecognised: int = 0
    unrecognised_quotes: list[Opinion] = []


class PairScores(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Scores of the answer that stands first and of the second, by the name of the criterion. Any may be left out."""

    first: dict[str, float] = {}
    second: dict[str, float] = {}


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """A vote in the list, with names. `winner` is None for a tie, and `voter` empty for the user.

    `reason` is why somebody voted so, empty where they did not say it; `scores` are None where nothing was scored.
    """

    id: str
    document: int = 0
    document_name: str
    first: str
    second: str
    repeat: int = 0
    verdict: Choice
    winner: str | None = None
    voted_at: str
    voter: str
    both_bad: bool = False
    reason: str
    scores: PairScores | None = None


class VoteCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many votes of all voters count, and how many pairs Carrel can still show to this one.

    `both_bad` of the votes found neither answer good enough.
    """

    votes: int
    left: int = 0
    both_bad: int = 0


class Voted(msgspec.Struct, frozen=True, kw_only=True):
    """A vote that counts. It does not name the authors of the answers, so that the next vote is blind, too."""

    id: str
    verdict: Choice
    voted_at: str
    votes: int = 0


class VotesImported(msgspec.Struct, frozen=True, kw_only=True):
    """How many lines were `imported`, how many were `known` already, and how many votes the run has now."""

    imported: int
    known: int = 0
    votes: int = 0


class VoteUndone(msgspec.Struct, frozen=True, kw_only=True):
    """The pair that waits for a vote again, and how many votes count now."""

    pair: str
    votes: int = 0


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the balance, and the balance after it."""

    id: str
    kind: str
    """One of add, refund, release, reserve, settle."""
    amount: str
    balance: str
    reference: str | None = None
    reason: str | None = None
    created_at: str


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many rows of each kind the workspace holds."""

    contents: int
    presets: int = 0
    runs: int = 0


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator allows one user; `calls_per_day` of models, by UTC days, is None without a limit."""

    json_bytes: int
    upload_bytes: int = 0
    import_bytes: int = 0
    name_characters: int = 0
    body_bytes: int = 0
    workspace_megabytes: int = 0
    calls_per_day: int | None = None
    event_streams: int = 0


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Users as they see themselves; `credits` is a decimal string."""

    uuid: str
    membership: Membership
    created_at: str
    credits: str
    counts: Counts
    limits: Limits


class OpenSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session: what one token stands for, or several tokens of the same second.

    `session` is the epoch second of issue, which names it. `last_used_at` is told to the minute.
    """

    session: int
    issued_at: str
    expires_at: str
    last_used_at: str
    is_this_one: bool = False


class OpenSessions(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions that were issued or used since the service started, the latest first.

    While `complete` is false, there may be others, which are at most an hour old. Signing out ends those, too.
    """

    items: list[OpenSession]
    complete: bool = False
