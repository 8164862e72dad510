"""The ranking of `carrel.evaluation`, written a second time over arrays, for thousands of tournaments at once.

`test_coverage.py` holds it to the original, figure by figure.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carrel.evaluation.ranking.bradley_terry import BASE_PRIOR, DELETED_PRIOR, PRIOR
from carrel.evaluation.ranking.contrasts import DECIDES_FROM
from carrel.evaluation.ranking.missing import CLEARLY, MARGIN, UNEVEN
from carrel.evaluation.statistics import signflips
from carrel.evaluation.statistics.failures import MISSED, SELDOM, withstand
from carrel.evaluation.statistics.intervals import ONE_SIDED, probability
from carrel.evaluation.statistics.leads import CLOSE, cut
from carrel.evaluation.statistics.quantiles import student, student_above
from tests.evaluation import missing_arrays
from tests.evaluation.missing_arrays import Heard

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

CONSTANTS = (ONE_SIDED, MISSED, SELDOM, CLOSE, DECIDES_FROM, MARGIN, CLEARLY, UNEVEN)
"""What was kept by others is drawn again: a trial of a few tournaments may come out alike."""
_LEVEL = 1e-9
_STEPS = 80
_FINE = 1e9
_HALVES = 20


class Intervals(NamedTuple):
    """By tournament and candidate; NaN where there is none."""

    low: Array
    high: Array

    def hold(self, value: Array) -> tuple[int, int]:
        """How many intervals hold the value, and how many there are."""
        there = ~np.isnan(self.low)
        return int(((self.low <= value) & (value <= self.high) & there).sum()), int(there.sum())


class Found(NamedTuple):
    """What `rank` finds; `best` is a candidate's place, -1 where none is called best."""

    shares: Intervals
    ratings: Intervals
    best: npt.NDArray[np.int64]


def logistic(x: Array) -> Array:
    found: Array = 1.0 / (1.0 + np.exp(-x))
    return found


def find(y: Array, candidates: int, part: float | None = None, said: Heard | None = None) -> Found:
    """`y` by tournament, document and pair, NaN where a pair did not meet; at a look, `part` of the error is spent.

    `said` is for several judges of whom some may have said nothing.
    """
    met, won = by_documents(y, candidates)
    there = met.sum(axis=3) > 0
    on_document = np.where(there, won.sum(axis=3) / np.maximum(met.sum(axis=3), 1.0), np.nan)
    documents = there.sum(axis=1)
    centre, error = _estimate(on_document, 0.5)
    p = probability(part or 1.0)
    ends = _reached(_bounds(centre, error, documents, p, 0.0, 1.0), on_document, None, p, 0.0, 1.0)
    shares = _widened(ends, met, won, missing_arrays.everybody(met), said)
    values, base, deleted = _jackknife(met, won)
    connected = _connected(met.sum(axis=1))
    occupied = met.sum(axis=(2, 3)) > 0
    slope = 4 * (candidates - 1) / candidates
    spread = _spread(deleted - base[:, None], occupied)
    rating_error = np.where(spread > _LEVEL, spread, slope * error)
    rating_error = np.where(connected[:, None], rating_error, np.nan)
    ratings = _bounds(values, rating_error, documents, p, -np.inf, np.inf)
    best = _best(met, won, centre, part or 1.0, said=said)
    return Found(shares, ratings, np.where(connected, best, -1))


def claims(
    met: Array,
    won: Array,
    groups: Places | None = None,
    said: Heard | None = None,
    *,
    intervals: bool = False,
    failures: bool = True,
) -> tuple[Intervals, npt.NDArray[np.int64]]:
    """Intervals of win shares, and who is called best, without ratings. `groups` are the documents' numbers.

    Whoever did not meet should have; `said` as in `find`. Without `intervals`, they are Student's alone;
    without `failures`, none is asked for.
    """
    there = met.sum(axis=3) > 0
    on_document = np.where(there, won.sum(axis=3) / np.maximum(met.sum(axis=3), 1.0), np.nan)
    centre, error, units = _estimated(on_document, 0.5, groups)
    ends = _bounds(centre, error, units, probability(), 0.0, 1.0)
    if intervals:
        ends = _reached(ends, on_document, groups, probability(), 0.0, 1.0)
    shares = _widened(ends, met, won, missing_arrays.everybody(met), said)
    return shares, _best(met, won, centre, 1.0, groups, said, failures=failures)


def upper_ends(values: Array) -> Array:
    """Of the means of shares by tournament, document and row, as failures leave them."""
    centre, error, units = _estimated(values, 0.5, None)
    ends = _bounds(centre, error, units, probability(), 0.0, 1.0)
    return _reached(ends, values, None, probability(), 0.0, 1.0).high


class Told(NamedTuple):
    """What a look finds: who leads, by tournament, over whom by a single lead, and whom it rules out."""

    first: npt.NDArray[np.intp]
    ahead: Flags
    beaten: Flags
    shares: Intervals


def tell(
    met: Array,
    won: Array,
    alive: Flags,
    part: float,
    asked: Flags | None = None,
    said: Heard | None = None,
    groups: Places | None = None,
    *,
    last: bool = True,
    intervals: bool = False,
) -> Told:
    """A look at tournaments in which those that are not `alive` were beaten before; then shares are by opponent.

    `asked` says who should have met on which document; without it, nothing is missing. `said` as in `find`.
    """
    heard = met.sum(axis=1)
    usual = won.sum(axis=1) / np.maximum(heard, 1.0)
    opponents = (heard > 0).sum(axis=2)
    centre = usual.sum(axis=2) / np.maximum(opponents, 1)
    there = met.sum(axis=3) > 0
    documents = there.sum(axis=1)
    often = documents[:, :, None] / np.maximum(heard, 1.0) / np.maximum(opponents, 1)[:, :, None]
    values = centre[:, None] + np.einsum("tdab,tab->tda", won - met * usual[:, None], often)
    whole = np.asarray(alive.sum(axis=1) == alive.shape[1])[:, None, None]
    values = np.where(whole, won.sum(axis=3) / np.maximum(met.sum(axis=3), 1.0), values)
    values = np.where(there, values, np.nan)
    centre, error, units = _estimated(values, 0.5, groups)
    shares = _bounds(centre, error, units, probability(part), 0.0, 1.0)
    if intervals:
        shares = _reached(shares, values, groups, probability(part), 0.0, 1.0)
    first = np.argmax(np.round(np.where(alive, centre, -1.0), 9), axis=1)
    gaps = leads(met, won, first)
    ahead = _told(gaps, _ahead(gaps, centre, first, part, alive, groups, last=last), groups)
    beaten = _ruled_out(gaps, ahead, centre, first, part, alive, groups)
    if asked is not None:
        worst = _at_worst(met, won, asked, first, said)
        holds = _told(worst, _ahead(worst, centre, first, part, alive, groups, last=last), groups)
        beaten &= _ruled_out(worst, holds, centre, first, part, alive, groups)
        ahead &= holds
        shares = _widened(shares, met, won, asked, said, whole[:, 0, 0])
    every = (ahead | ~alive | (np.arange(centre.shape[1]) == first[:, None])).all(axis=1)
    return Told(first, ahead, np.where(every[:, None], ahead, beaten & ahead), shares)


def ahead_of_all(values: Array, first: npt.NDArray[np.intp]) -> Flags:
    """Whether the first leads everybody as scores ask for it: values by tournament, document and candidate."""
    every, centre = np.arange(len(first)), values.mean(axis=1)
    gaps = values[every, :, first][:, :, None] - values
    itself = np.arange(centre.shape[1]) == first[:, None]
    alive = np.ones(centre.shape, dtype=bool)
    # The closest rival spares most questions about the others.
    closest = np.where(itself, -np.inf, centre).argmax(axis=1)
    t = _standardised(gaps[every, :, closest][:, :, None])[:, 0]
    some = t >= student(probability(), values.shape[1] - 1)
    if not some.any():
        return np.asarray(some)
    found = _ahead(gaps[some], centre[some], first[some], 1.0, alive[some], last=False)
    by_t = (found.told | itself[some]).all(axis=1)[:, None]
    found = found._replace(told=found.told & by_t, open=found.open & by_t)
    some[some] = (_told(gaps[some], found) | itself[some]).all(axis=1)
    return np.asarray(some)


def _ruled_out(
    gaps: Array,
    ahead: Flags,
    centre: Array,
    first: npt.NDArray[np.intp],
    part: float,
    alive: Flags,
    groups: Places | None,
) -> Flags:
    """Of those over whom the first leads: who could not have been picked for the distance of any two, step by step."""
    out = np.where((alive.sum(axis=1) < 3)[:, None], ahead, False)
    while True:
        fields = (alive & ~out).sum(axis=1)
        more = np.zeros_like(out)
        for field in np.unique(fields[fields > 1]).tolist():
            some = fields == field
            picked = part / (field * (field - 1) // 2)
            tested = _ahead(gaps[some], centre[some], first[some], picked, alive[some] & ~out[some], groups, last=False)
            more[some] = _told(gaps[some], tested, groups, failures=False)
        more &= ahead & ~out
        if not more.any():
            return np.asarray(out)
        out = out | more


class _Ahead(NamedTuple):
    """Over whom the first leads by Student's t and, where that is clear, by the count of signs; `open` is to count.

    `error` is what each lead may have, `tails` are Student's probabilities of what is open. `each` says that both tests
    must pass: no third one is left in the field, more looks follow, or documents belong together.
    """

    told: Flags
    open: Flags
    error: Array
    tails: dict[tuple[int, int], float]
    each: Flags


def _ahead(
    gaps: Array,
    centre: Array,
    first: npt.NDArray[np.intp],
    part: float,
    alive: Flags,
    groups: Places | None = None,
    *,
    last: bool = True,
) -> _Ahead:
    every = np.arange(len(first))
    there = ~np.isnan(gaps)
    documents = there.sum(axis=1)
    rivals = alive & (first[:, None] != np.arange(centre.shape[1]))
    apart = centre[every, first][:, None] - centre >= _LEVEL
    if groups is not None:
        members = _members(groups)
        independent = (np.einsum("tdk,dg->tgk", there, members) > 0).sum(axis=1)
        middle, error, units = _estimated(gaps, 0.0, groups)
        low = _bounds(middle, error, units, probability(part), -1.0, 1.0).low
        ahead = (low > 0) & (independent >= DECIDES_FROM) & apart & rivals
        return _Ahead(ahead, ahead.copy(), np.full(ahead.shape, ONE_SIDED * part), {}, np.ones(len(first), dtype=bool))
    t = _standardised(gaps)
    needed = np.array([np.inf, np.inf, *(student(probability(part), n) for n in range(1, int(documents.max()) + 1))])
    ahead = (t >= needed[documents]) & (documents >= DECIDES_FROM) & apart & rivals
    allowed = np.full(ahead.shape, ONE_SIDED * part)
    sums, squares = np.nansum(gaps, axis=1), np.nansum(gaps**2, axis=1)
    clear = np.exp(-(sums**2) / 2.0 / np.maximum(squares, 1e-12)) <= allowed
    still = ahead & ~clear
    tails = {(int(i), int(j)): student_above(float(t[i, j]), int(documents[i, j]) - 1) for i, j in np.argwhere(still)}
    return _Ahead(ahead, still, allowed, tails, (rivals.sum(axis=1) < 2) | (not last))


def _told(gaps: Array, ahead: _Ahead, groups: Places | None = None, *, failures: bool = True) -> Flags:
    """Over whom the first leads by both tests together, in spite of failures."""
    told = ahead.told.copy()
    for place, rival in np.argwhere(ahead.open):
        told[place, rival] = _signs(gaps[place, :, rival], ahead, int(place), int(rival), groups)
    found = np.argwhere(told)
    if len(found) and failures:
        (sums, _), usual = _units(np.stack([gaps[place, :, rival] for place, rival in found]), groups)
        rows, error = sums / usual[:, None], float(ahead.error.flat[0])
        holds = withstand(rows, np.ones(len(rows)), error)
        again = _cut(rows[~holds])
        holds[~holds] = withstand(again, np.ones(len(again)), error)
        told[tuple(found.T)] = holds
    return told


def _cut(rows: Array) -> Array:
    return np.minimum(rows, cut(rows)[:, None])


def _standardised(gaps: Array) -> Array:
    """Means in units of their errors, from values that are cut."""
    count, documents, width = gaps.shape
    rows = gaps.transpose(0, 2, 1).reshape(count * width, documents)
    centre, error = _estimate(rows[:, :, None], 0.0)
    some = centre[:, 0] > 0
    centre[some], error[some] = _estimate(_cut(rows[some])[:, :, None], 0.0)
    found: Array = (centre / error).reshape(count, width)
    return found


def _units(values: Array, groups: Places | None) -> tuple[tuple[Array, Array], Array]:
    """Sums and sizes of the groups in each row of documents, NaN where there is none, and a group's usual size."""
    there = ~np.isnan(values)
    if groups is None:
        return (values, there.astype(float)), np.ones(len(values))
    members = _members(groups)
    sizes = there @ members
    sums = np.where(sizes > 0, np.nan_to_num(values) @ members, np.nan)
    return (sums, sizes), sizes.sum(axis=1) / np.maximum((sizes > 0).sum(axis=1), 1)


def _reached(ends: Intervals, values: Array, groups: Places | None, p: float, least: float, most: float) -> Intervals:
    """Each end as far away as rare failures reach; `values` by tournament, document and candidate."""
    count, _, width = values.shape
    (sums, sizes), usual = _units(values.transpose(0, 2, 1).reshape(count * width, -1), groups)
    low = _lower_ends(sums, sizes, usual, least, ends.low.reshape(-1), 1.0 - p)
    high = -_lower_ends(-sums, sizes, usual, -most, -ends.high.reshape(-1), 1.0 - p)
    return Intervals(low.reshape(count, width), high.reshape(count, width))


def _lower_ends(sums: Array, sizes: Array, usual: Array, least: float, start: Array, error: float) -> Array:
    def holds(at: Array, some: Places) -> Flags:
        rows = (sums[some] - at[:, None] * sizes[some]) / usual[some, None]
        return withstand(rows, at - least, error)

    found = start.copy()
    asked = np.flatnonzero(start > least)
    asked = asked[~holds(start[asked], asked)] if len(asked) else asked
    low, high = np.full(len(asked), least), start[asked]
    for _ in range(_HALVES):
        middle = (low + high) / 2.0
        held = holds(middle, asked) if len(asked) else np.zeros(0, dtype=bool)
        low, high = np.where(held, middle, low), np.where(held, high, middle)
    found[asked] = low
    return found


def _signs(gap: Array, ahead: _Ahead, place: int, rival: int, groups: Places | None = None) -> bool:
    """The count does not depend on the order of the documents, nor on that of their groups."""
    if groups is not None:
        there = ~np.isnan(gap)
        gap = (np.where(there, gap, 0.0) @ _members(groups))[there @ _members(groups) > 0]
    found = _kept(tuple(np.sort(np.rint(gap[~np.isnan(gap)] * _FINE).astype(int)).tolist()))
    error = float(ahead.error[place, rival])
    if ahead.each[place] or found.equal > CLOSE * error:
        return found.probability <= error
    return (found.probability + ahead.tails[place, rival]) / 2 <= error


@lru_cache(maxsize=100_000)
def _kept(fine: tuple[int, ...]) -> signflips.Count:
    return signflips.count([gap / _FINE for gap in fine])


def _best(
    met: Array,
    won: Array,
    centre: Array,
    part: float,
    groups: Places | None = None,
    said: Heard | None = None,
    *,
    failures: bool = True,
) -> npt.NDArray[np.int64]:
    """Who leads everybody by more than chance explains, by common opponents."""
    first = np.argmax(np.round(centre, 9), axis=1)
    gaps = leads(met, won, first)
    alive = np.ones(centre.shape, dtype=bool)
    found = _ahead(gaps, centre, first, part, alive, groups)
    itself = np.arange(centre.shape[1]) == first[:, None]
    by_t = (found.told | itself).all(axis=1)
    found = found._replace(open=found.open & by_t[:, None])
    ahead = (_told(gaps, found, groups, failures=failures) | itself).all(axis=1)
    heard = met if said is None else said.part
    whole = met.shape[1] * met.shape[2] * (met.shape[2] - 1)
    named = np.flatnonzero(ahead & (heard.sum(axis=(1, 2, 3)) < whole - _LEVEL))
    if not len(named):
        return np.where(ahead, first, -1)
    asked = missing_arrays.everybody(met)[named]
    ours = None if said is None else said._replace(part=said.part[named])
    worst = _at_worst(met[named], won[named], asked, first[named], ours)
    shown = _told(
        worst, _ahead(worst, centre[named], first[named], part, alive[named], groups), groups, failures=failures
    )
    ahead[named] = (shown | itself[named]).all(axis=1)
    return np.where(ahead, first, -1)


def _at_worst(met: Array, won: Array, asked: Flags, first: npt.NDArray[np.intp], said: Heard | None = None) -> Array:
    """The first's leads if what is missing, and others do not explain, goes against it: `ranking.missing`."""
    every = np.arange(len(met))
    gone, open_part = missing_arrays.gone(met, asked, said), missing_arrays.unexplained(met, asked, said)
    lost = gone * open_part[:, None, :, None]
    between = gone * np.maximum(open_part[:, None, :, None], open_part[:, None, None, :])
    straight = missing_arrays.mixed(met, won, between, said, 0.0)[every, :, first]
    meeting = np.where(met > 0, 1.0, between)[every, :, first]
    presence = np.where(met > 0, 1.0, lost)
    ours, theirs = (missing_arrays.mixed(met, won, lost, said, end) for end in (0.0, 1.0))
    our_y, our_presence = ours[every, :, first], presence[every, :, first]
    gaps = np.full(met.shape[:3], np.nan)
    for rival in range(met.shape[2]):
        common = our_presence * presence[:, :, rival]
        common[every, :, first] = 0.0
        common[:, :, rival] = 0.0
        direct = meeting[:, :, rival]
        terms = common.sum(axis=2) + direct
        there = terms > _LEVEL
        weights = np.sqrt(terms)
        usual = weights.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
        sums = (common * (our_y - theirs[:, :, rival])).sum(axis=2) + direct * (2.0 * straight[:, :, rival] - 1.0)
        gap = sums / np.maximum(terms, _LEVEL) * weights / np.maximum(usual, _LEVEL)
        gaps[..., rival] = np.where(there, gap, np.nan)
    return gaps


def _widened(
    shares: Intervals,
    met: Array,
    won: Array,
    asked: Flags,
    said: Heard | None = None,
    by_document: Flags | None = None,
) -> Intervals:
    """Each end moved by what is missing, and others do not explain."""
    found = missing_arrays.reaches(met, won, asked, said, by_document)
    if found is None:
        return shares
    return Intervals(np.maximum(shares.low - found[0], 0.0), np.minimum(shares.high + found[1], 1.0))


def leads(met: Array, won: Array, first: npt.NDArray[np.intp]) -> Array:
    """The first's lead over each, by tournament, document and candidate, by common opponents; NaN where none is."""
    every = np.arange(len(met))
    k = met.shape[-1]
    if met.sum() == met.size // k * (k - 1):
        # Everybody met everybody.
        shares = won.sum(axis=3) / (k - 1)
        return np.asarray(shares[every, :, first][:, :, None] - shares)
    ours, our_wins = met[every, :, first], won[every, :, first]
    common = ours[:, :, None] * met
    sums = (common * (our_wins[:, :, None] - won)).sum(axis=3) + ours * (our_wins - won[every, :, :, first])
    terms = common.sum(axis=3) + ours
    there = terms > 0
    weights = np.sqrt(terms)
    usual = weights.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
    return np.where(there, sums / np.maximum(terms, 1.0) * weights / np.maximum(usual, _LEVEL), np.nan)


def fit(met: Array, won: Array, prior: float) -> Array:
    """Bradley–Terry by Newton for a whole batch: `met` and `won` are (…, K, K)."""
    k = met.shape[-1]
    off = 1.0 - np.eye(k)
    n = np.broadcast_to((met + prior) * off, won.shape)
    w = (won + prior / 2) * off
    theta = np.zeros(won.shape[:-1])
    for _ in range(_STEPS):
        p = logistic(theta[..., :, None] - theta[..., None, :])
        curve = n * p * (1.0 - p)
        hessian = np.eye(k) * curve.sum(axis=-1)[..., None] - curve + 1.0
        step = np.linalg.solve(hessian, (w - n * p).sum(axis=-1)[..., None])[..., 0]
        theta = theta + step / np.maximum(1.0, np.abs(step).max(axis=-1, keepdims=True) / 1.5)
        if np.abs(step).max() < 1e-10:
            break
    centred: Array = theta - theta.mean(axis=-1, keepdims=True)
    return centred


def by_documents(y: Array, k: int) -> tuple[Array, Array]:
    """Who met whom, and who won how much of it, by tournament and document."""
    first, second = np.triu_indices(k, 1)
    heard = ~np.isnan(y)
    known = np.where(heard, y, 0.0)
    met = np.zeros((*y.shape[:2], k, k))
    won = np.zeros_like(met)
    met[:, :, first, second] = met[:, :, second, first] = heard
    won[:, :, first, second], won[:, :, second, first] = known, heard - known
    return met, won


def _estimate(values: Array, neutral: float) -> tuple[Array, Array]:
    """Mean and standard error over axis 1, with one neutral value more in the error; NaN for fewer than two."""
    there = ~np.isnan(values)
    n = there.sum(axis=1)
    known = np.where(there, values, 0.0)
    centre = known.sum(axis=1) / np.maximum(n, 1)
    unanimous = (np.abs(np.where(there, values - neutral, 0.0)) < 1e-12).all(axis=1)
    extra = np.where(unanimous, neutral + (0.5 if neutral else 1.0), neutral)
    middle = (known.sum(axis=1) + extra) / (n + 1)
    squares = np.where(there, (values - middle[:, None]) ** 2, 0.0).sum(axis=1) + (extra - middle) ** 2
    return centre, np.where(n >= 2, np.sqrt(squares) / np.maximum(n, 1), np.nan)


def _members(groups: Places) -> Array:
    """Which document is of which group, as ones and zeros."""
    return np.asarray(groups[:, None] == np.unique(groups), dtype=float)


def _estimated(values: Array, neutral: float, groups: Places | None) -> tuple[Array, Array, Places]:
    """`_estimate` by groups of documents, by `statistics.clusters`, and how many units the error has."""
    there = ~np.isnan(values)
    n = there.sum(axis=1)
    if groups is None:
        return *_estimate(values, neutral), n
    members = _members(groups)
    known = np.where(there, values, 0.0)
    sizes = np.einsum("tdc,dg->tgc", there.astype(float), members)
    occupied = (sizes > 0).sum(axis=1)
    centre = known.sum(axis=1) / np.maximum(n, 1)
    usual = n / np.maximum(occupied, 1)
    unanimous = (np.abs(np.where(there, values - neutral, 0.0)) < 1e-12).all(axis=1)
    extra = np.where(unanimous, neutral + (0.5 if neutral else 1.0), neutral)
    middle = (known.sum(axis=1) + extra * usual) / np.maximum(n + usual, 1)
    moved = np.einsum("tdc,dg->tgc", known, members) - sizes * middle[:, None]
    outside = 1.0 - sizes / np.maximum(n + usual, 1)[:, None]
    whole = 1.0 - 1.0 / (occupied + 1)
    squares = ((moved * whole[:, None] / np.maximum(outside, _LEVEL)) ** 2).sum(axis=1)
    error = np.sqrt(squares + (usual * (extra - middle)) ** 2) / np.maximum(n, 1)
    units = np.floor(n**2 / np.maximum((sizes**2).sum(axis=1), 1) + _LEVEL).astype(np.int64)
    return centre, np.where(occupied >= 2, error, np.nan), np.maximum(units, 2)


def _bounds(centre: Array, error: Array, n: npt.NDArray[np.int64], p: float, least: float, most: float) -> Intervals:
    reaches = np.array([np.nan, np.nan, *(student(p, freedom) for freedom in range(1, int(n.max()) + 1))])
    reach = reaches[n] * error
    return Intervals(np.maximum(least, centre - reach), np.minimum(most, centre + reach))


def _jackknife(met: Array, won: Array) -> tuple[Array, Array, Array]:
    all_met, all_won = met.sum(axis=1), won.sum(axis=1)
    values = fit(all_met, all_won, PRIOR)
    base = fit(all_met, all_won, BASE_PRIOR)
    without = fit(all_met[:, None] - met, all_won[:, None] - won, BASE_PRIOR)
    untied = fit(all_met, all_won, DELETED_PRIOR)
    return values, base, np.concatenate([without, untied[:, None]], axis=1)


def _spread(changes: Array, occupied: Flags) -> Array:
    """√(D/(D + 1) · Σ change²); a document without any verdict is none."""
    documents = occupied.sum(axis=1)[:, None]
    found: Array = np.sqrt(documents / (documents + 1.0) * (changes**2).sum(axis=1))
    return found


def _connected(met: Array) -> Flags:
    k = met.shape[-1]
    reached = np.linalg.matrix_power((met > 0) + np.eye(k), k)
    return np.asarray((reached > 0).all(axis=(1, 2)), dtype=np.bool_)
