/**
 * Places the labels of points in a chart: beside the points, and never on top of each other. Where points lie close, the
 * labels spread up and down around them, so that the sum of the squared ways is least. All lengths are pixels.
 */

export interface Spot {
  name: string;
  x: number;
  y: number;
}

export interface Label {
  x: number;
  /** The middle of the line. */
  y: number;
  anchor: "start" | "end" | "middle";
  /** It stands so far from its point that a line has to lead there. */
  isLed: boolean;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Where a label would stand if it were alone, and the room that it takes across. */
interface Wish {
  rank: number;
  /** How far down the point is: the labels keep the order of their points. */
  at: number;
  x: number;
  y: number;
  anchor: "start" | "end" | "middle";
  /** Markers of other points are between the label and its own. */
  isFar: boolean;
  /** How much further away it stands if a line leads there. */
  more: number;
  left: number;
  right: number;
}

/** Widths of the widest common fonts in bold: a label at another place is better than one that is cut off. */
const LETTER = 8;
export const LINE = 14;
const GAP = 9;
const MARKER = 6;
/** Markers that are closer than this leave no room for a label between them. */
const NEAR = 24;

/** A label for each point, in order of priority; a point without room gets none. */
export function placeLabels(spots: readonly Spot[], frame: Box): (Label | undefined)[] {
  const most = Math.floor((frame.bottom - frame.top) / LINE);
  const wishes = spots.flatMap((spot, rank) => wishOf(spot, rank, spots, frame) ?? []);
  let groups = wishes.map((wish) => [wish]);
  for (let pair = clash(groups, frame); pair; pair = clash(groups, frame)) {
    const [one, other] = pair;
    const merged = [...one, ...other].sort((a, b) => a.rank - b.rank).slice(0, most);
    groups = [...groups.filter((group) => group !== one && group !== other), merged.sort(byHeight)];
  }
  const labels = spots.map((): Label | undefined => undefined);
  for (const group of groups)
    group.forEach((wish, at) => {
      const y = startOf(group, frame) + at * LINE;
      const isLed = Math.abs(y - wish.y) > LINE / 2 || wish.isFar;
      labels[wish.rank] = { x: wish.x + (isLed ? wish.more : 0), y, anchor: wish.anchor, isLed };
    });
  return labels;
}

const byHeight = (one: Wish, other: Wish) => one.at - other.at || one.rank - other.rank;

/**
 * The place of the first label of a group: the lines are around the mean of what they wish for, within the frame. A label
 * above its point only moves up, or else it would lie on it.
 */
function startOf(group: readonly Wish[], frame: Box): number {
  const mean = group.reduce((sum, { y }, at) => sum + y - at * LINE, 0) / group.length;
  const last = frame.bottom - (group.length - 0.5) * LINE;
  const above = group.map(({ anchor, y }, at) => (anchor === "middle" ? y - at * LINE : Infinity));
  return Math.max(frame.top + LINE / 2, Math.min(last, mean, ...above));
}

/** Two groups with labels above each other that are in the wrong order, or closer than a line. */
function clash(groups: readonly Wish[][], frame: Box): [Wish[], Wish[]] | undefined {
  const starts = groups.map((group) => startOf(group, frame));
  for (const [at, one] of groups.entries())
    for (const [behind, other] of groups.slice(at + 1).entries()) {
      const [start, next] = [starts[at] ?? 0, starts[at + 1 + behind] ?? 0];
      const meet = one.some((a, i) =>
        other.some((b, j) => {
          const below = next + j * LINE - start - i * LINE;
          return a.left < b.right && b.left < a.right && (byHeight(a, b) < 0 ? below : -below) < LINE - 1e-6;
        }),
      );
      if (meet) return [one, other];
    }
  return undefined;
}

/** At the right, at the left or above, wherever there is room and no other marker; nothing if it is too long. */
function wishOf(spot: Spot, rank: number, spots: readonly Spot[], frame: Box): Wish | undefined {
  const width = spot.name.length * LETTER;
  const beside = (anchor: "start" | "end", way: 1 | -1): Wish => {
    const edge = pastMarkers(spot, spots, way);
    const [x, end] = [edge + way * GAP, edge + way * (2 * GAP + width)];
    const room = { left: Math.min(x, end), right: Math.max(x, end) };
    return { rank, at: spot.y, x, y: spot.y, anchor, isFar: edge !== spot.x, more: way * GAP, ...room };
  };
  const left = Math.max(frame.left, Math.min(frame.right - width, spot.x - width / 2));
  const above: Wish = {
    ...{ rank, at: spot.y, x: left + width / 2, y: spot.y - LINE, anchor: "middle", isFar: false, more: 0 },
    ...{ left, right: left + width },
  };
  const roomy = [beside("start", 1), beside("end", -1), above].filter(
    (wish) => wish.left >= frame.left && wish.right <= frame.right,
  );
  const isClear = ({ left, right, y }: Wish) =>
    !spots.some((one) => one.x + MARKER > left && one.x - MARKER < right && Math.abs(one.y - y) < LINE);
  return roomy.find(isClear) ?? roomy[0];
}

/** The last of a row of markers that nearly touch, beginning with this one. */
function pastMarkers(spot: Spot, spots: readonly Spot[], way: 1 | -1): number {
  return spots
    .filter(({ x, y }) => way * (x - spot.x) > 0 && Math.abs(y - spot.y) < LINE)
    .sort((one, other) => way * (one.x - other.x))
    .reduce((edge, { x }) => (way * (x - edge) < NEAR ? x : edge), spot.x);
}
