"""The ranking of a run's candidates, in words and in figures. Fields that a newer service adds are ignored."""

import msgspec


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What the ranking supports. Never show `sentence` without `scope`; `notes` are doubts, most serious first.

    `checks` are what else was tried to overturn it. `grey`: there are too few documents to read anything off the
    intervals. `doubted`: a note is serious, so a decided verdict is not beyond doubt.
    """

    outcome: str
    sentence: str
    scope: str
    notes: list[str]
    grey: bool
    checks: list[str] = []
    doubted: bool = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate; `place` counts from 1, None when it was not compared.

    `win_share` is the part of its comparisons that it won, between `low` and `high` in 95 of 100 such runs. `rating` is
    in logits around 0. `score` is between 0 and 1; it has an interval where nothing was compared. Show `first_low`
    instead of `low` where it is there: it allows for the luck that helped to be first of several. `widened`: an end of
    the interval reaches so much further for verdicts that are missing.
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


class DocumentsNeeded(msgspec.Struct, frozen=True):
    """From how many to how many documents would tell a lead in 80 of 100 runs."""

    low: int
    high: int


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's lead over one candidate, by common opponents. `excludes_zero`: chance alone does not explain it.

    `head_to_head` is the leader's share of its direct meetings with this one, on `met` documents. `beaten_after`: so
    many documents told the candidate from the leader of then, and it took no further part. `held_back`: only verdicts
    that are missing keep the lead from being more than chance.
    """

    candidate: str
    scale: str
    lead: float
    excludes_zero: bool
    low: float | None = None
    high: float | None = None
    documents_needed: DocumentsNeeded | None = None
    head_to_head: float | None = None
    met: int = 0
    beaten_after: int | None = None
    held_back: bool = False


class AdjustedShare(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's win share if all answers were equally long."""

    candidate: str
    win_share: float
    low: float | None = None
    high: float | None = None


class LengthAdjusted(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking as it would be with equally long answers. `reason` says why there is none.

    `taste` is the chance that the longer of two equally good answers wins.
    """

    documents: int
    taste: float | None = None
    taste_low: float | None = None
    taste_high: float | None = None
    rows: list[AdjustedShare] = []
    leaders: list[str] = []
    reason: str | None = None


class Beaten(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that another one beat after so many documents; it took no further part."""

    candidate: str
    by: str
    documents: int


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Look `number` of `of`, when `documents` of the `planned` ones were compared, `before` of them at the look before.

    `stopped`: the run ended there, for it was decided.
    `part` of the error of 5 % is spent on it: each interval is at 1 − .05 · part, so that all looks hold together.
    """

    number: int
    of: int
    before: int
    documents: int
    planned: int
    part: float
    stopped: bool = False
    beaten: tuple[Beaten, ...] = ()


class ComparisonCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the comparisons that were planned; `by_rule` were decided without a call."""

    planned: int = 0
    agreed: int = 0
    flip: int = 0
    inconsistent: int = 0
    by_rule: int = 0
    invalid: int = 0
    missing: int = 0


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The leader's win share if each open verdict went against it, and for it.

    `overturned_by` are the candidates that could then be level or ahead; `overturning` verdicts decide about that.
    """

    open_verdicts: int
    share_worst: float
    share_best: float
    overturned_by: list[str]
    overturning: int


class LongerText(msgspec.Struct, frozen=True, kw_only=True):
    """How often the longer text won; in `share` each document counts once."""

    won: int = 0
    of: int = 0
    documents: int = 0
    share: float | None = None
    low: float | None = None
    high: float | None = None


class Distrust(msgspec.Struct, frozen=True, kw_only=True):
    """A reason not to trust the judges; a `decisive` one takes the word *best* away."""

    kind: str
    sentence: str
    decisive: bool


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """How documents belong together: `independent` groups, a document alone being one.

    `near` counts the documents whose text is nearly that of an earlier one. `by` is what the run groups documents by:
    `tag`, `name` or `map`; `suggested` what seems to make groups where none were given.
    """

    independent: int
    by: str | None = None
    near: int = 0
    suggested: str | None = None


class WithoutJudge(msgspec.Struct, frozen=True, kw_only=True):
    """Who leads when one judge is left out."""

    judge: str
    leaders: list[str]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """All candidates, the leading ones first. `best` is None unless each of its leads is more than chance explains.

    `basis` is `scores` when nothing was compared: then leaders and contrasts are by scores. It is `checks` or `answers`
    when no judge took part: then nobody leads. `look` is None for a run that looks once, at its end. `grouping` is
    there if documents belong together, or may do so.
    """

    rows: list[Row]
    leaders: list[str]
    contrasts: list[Contrast]
    documents: int
    judges: list[str]
    best: str | None = None
    exploratory: bool = False
    basis: str = "comparisons"
    length_adjusted: LengthAdjusted | None = None
    look: Look | None = None
    distrust: list[Distrust] = []
    found_chance: float | None = None
    found_chance_low: float | None = None
    found_chance_high: float | None = None
    counts: ComparisonCounts = ComparisonCounts()
    groups: list[list[str]] = []
    score_leaders: list[str] = []
    without_judge: list[WithoutJudge] = []
    bounds: Bounds | None = None
    longer_text: LongerText = LongerText()
    checked_by_human: bool = False
    grouping: Grouping | None = None


class Alpha(msgspec.Struct, frozen=True, kw_only=True):
    """Krippendorff's alpha over `units` that at least two of the `judges` judged; `reason` says why there is none."""

    value: float | None = None
    reason: str | None = None
    judges: int = 0
    units: int = 0


class JudgeAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How often the judges `first` and `second` agreed on the pairs that both judged."""

    first: str
    second: str
    same: int
    of: int
    alpha: Alpha = Alpha()


class HumanCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Blind votes of so many `voters`: of the `judged` pairs, `sided` agree with the judges."""

    votes: int
    voters: int = 1
    documents: int = 0
    ties: int = 0
    sided: int
    judged: int
    leaders: list[str]
    share: float | None = None
    low: float | None = None
    high: float | None = None
    judges: list[JudgeAgreement]


class PeopleShare(msgspec.Struct, frozen=True, kw_only=True):
    """The share that people would give to a candidate. `alone`: by the votes alone; `judges`: what the judges say."""

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
    """The share that people would give to `first` against `second`."""

    first: str
    second: str
    share: float | None = None
    low: float | None = None
    high: float | None = None
    judges: float | None = None
    documents: int = 0


class StandIn(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a judge may stand in for a person: it does for `replaces` of the `voters` that could be tested."""

    judge: str
    voters: int
    replaces: int | None = None
    advantage: float | None = None
    passes: bool = False


class PeopleVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What people would say about `documents`, from the judges on all and votes on `voted` of them."""

    sentence: str
    notes: list[str]
    best: str | None
    leaders: list[str]
    voted: int
    documents: int
    votes: int
    voters: int
    rows: list[PeopleShare]
    pairs: list[PeoplePair]
    agreement: Alpha | None
    stand_ins: list[StandIn]


class LookTaken(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found at a look on its way: who led alone, whom it dropped, and how many calls that saved.

    `decided`: the run ended here.
    """

    number: int
    documents: int
    leader: str | None
    dropped: list[str]
    decided: bool
    saved: int


class PassRate(msgspec.Struct, frozen=True, kw_only=True):
    """The mean over `documents` of values from 0 to 1, with its 95 % interval; `missing` documents have no value."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    documents: int = 0
    missing: int = 0


class CheckColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A check that needs no judge. A `share` gives any number from 0 to 1, another check only 0 or 1."""

    name: str
    kind: str
    required: bool = False
    share: bool = False


class CandidateChecks(msgspec.Struct, frozen=True, kw_only=True):
    """How often one candidate passes each check, the mean of all, and how often it passes every required one."""

    candidate: str
    mean: PassRate
    rates: list[PassRate]
    required: PassRate | None = None


class CheckResults(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks of a run say. Each row has its rates in the order of `checks`."""

    sentence: str
    checks: list[CheckColumn]
    rows: list[CandidateChecks]


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """The ranking of one round; `human` and `people` are None if nobody voted.

    `looks` are those that a run which may stop early took on its way. `checks` is None if the run has none.
    """

    round: int
    verdict: Statement
    ranking: Figures
    human: HumanCheck | None = None
    people: PeopleVerdict | None = None
    looks: list[LookTaken] = []
    checks: CheckResults | None = None
