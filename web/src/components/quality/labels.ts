/** Places the labels of points in a chart: beside the points, and never on top of anything. All lengths are pixels. */

export interface Spot {
  name: string;
  x: number;
  y: number;
}

export interface Label {
  x: number;
  y: number;
  anchor: "start" | "end" | "middle";
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Widths of the widest common fonts in bold: a label at another place is better than one that is cut off. */
const LETTER = 8;
const LINE = 14;
const GAP = 9;

/** A label for each point, in order of priority; a point without room gets none. */
export function placeLabels(spots: readonly Spot[], frame: Box): (Label | undefined)[] {
  const taken = spots.map(({ x, y }): Box => ({ left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 }));
  return spots.map((spot) => {
    for (const label of around(spot)) {
      const box = boxOf(label, spot.name);
      const fits =
        box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
      if (!fits || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      return label;
    }
    return undefined;
  });
}

/** The likely places, the best first. `y` is the middle of the line. */
function around({ x, y }: Spot): Label[] {
  const right = (dy: number): Label => ({ x: x + GAP, y: y + dy, anchor: "start" });
  const left = (dy: number): Label => ({ x: x - GAP, y: y + dy, anchor: "end" });
  const middle = (dy: number): Label => ({ x, y: y + dy, anchor: "middle" });
  return [
    right(0),
    left(0),
    middle(-LINE),
    middle(LINE),
    right(-LINE),
    right(LINE),
    left(-LINE),
    left(LINE),
    right(-2 * LINE),
    right(2 * LINE),
  ];
}

function boxOf({ x, y, anchor }: Label, name: string): Box {
  const width = name.length * LETTER;
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return { left, right: left + width, top: y - LINE / 2, bottom: y + LINE / 2 };
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
