import { expect, test } from "vitest";
import { type Label, LINE, placeLabels, type Spot } from "./labels";

const FRAME = { left: 0, right: 600, top: 0, bottom: 300 };
const LETTER = 8;
const NAMES = ["random", "by rank", "lead", "mmr", "submodular"];

/** Numbers from 0 to 1 that are the same in each try. */
function drawing(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

function drawn(seed: number, count: number, [x, y, width, height]: [number, number, number, number]): Spot[] {
  const next = drawing(seed);
  return Array.from({ length: count }, (_, at) => ({
    name: NAMES[at % NAMES.length] ?? "",
    x: x + next() * width,
    y: y + next() * height,
  }));
}

function sidesOf({ x, anchor }: Label, { name }: Spot): [number, number] {
  const width = name.length * LETTER;
  const left = anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2;
  return [left, left + width];
}

/** The pairs of labels of which one is above the other, each with how far the lower one is below. */
function stacked(spots: readonly Spot[]): number[] {
  const placed = placeLabels(spots, FRAME).flatMap((label, at) => {
    const spot = spots[at];
    return label && spot ? [{ label, spot }] : [];
  });
  return placed.flatMap((one) =>
    placed.flatMap((other) => {
      const [[left, right], [first, last]] = [sidesOf(one.label, one.spot), sidesOf(other.label, other.spot)];
      const isAbove = one.spot.y < other.spot.y && left < last && first < right;
      return isAbove ? [other.label.y - one.label.y] : [];
    }),
  );
}

test("a label stands at the right of its point, and at the left where the frame ends", () => {
  const [one, other] = placeLabels(
    [
      { name: "one", x: 100, y: 100 },
      { name: "the other", x: 590, y: 200 },
    ],
    FRAME,
  );
  expect(one).toEqual({ x: 109, y: 100, anchor: "start", isLed: false });
  expect(other).toEqual({ x: 581, y: 200, anchor: "end", isLed: false });
});

test("the labels of a row of close points spread up and down around it, in their order, and lines lead to the far ones", () => {
  const spots = NAMES.map((name, at) => ({ name, x: 100, y: 100 + at }));
  const labels = placeLabels(spots, FRAME);
  expect(labels.map((label) => label?.y)).toEqual([-2, -1, 0, 1, 2].map((step) => 102 + step * LINE));
  expect(labels.map((label) => label?.isLed)).toEqual([true, true, false, true, true]);
});

test("where the frame ends, they stand within it", () => {
  const labels = placeLabels(
    NAMES.map((name) => ({ name, x: 100, y: 2 })),
    FRAME,
  );
  expect(labels.map((label) => label?.y)).toEqual([0, 1, 2, 3, 4].map((step) => (step + 0.5) * LINE));
});

test("wherever points lie, no two labels overlap, and what is above stays above", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const spots = drawn(seed, 2 + (seed % 18), seed % 2 ? [0, 0, 600, 300] : [200, 100, 80, 60]);
    for (const below of stacked(spots)) expect(below).toBeGreaterThan(LINE - 0.001);
  }
});

test("a group of close points has its labels around its middle, wherever it lies", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const spots = drawn(seed, 5, [150, 100, 20, 40]);
    const moved = placeLabels(spots, FRAME).map((label, at) => (label?.y ?? Infinity) - (spots[at]?.y ?? 0));
    expect(moved.reduce((sum, one) => sum + one, 0) / spots.length).toBeCloseTo(0, 9);
  }
});

test("a long name on a narrow chart stands above its point", () => {
  const [label] = placeLabels([{ name: "a name that is long", x: 90, y: 100 }], { ...FRAME, right: 180 });
  expect(label).toEqual({ x: 90, y: 86, anchor: "middle", isLed: false });
});

test("a label between two near points stands above its own, and covers neither", () => {
  const spots = [70, 100, 130].map((x) => ({ name: "a name", x, y: 100 }));
  expect(placeLabels(spots, FRAME).map((label) => label && [label.anchor, label.y])).toEqual([
    ["end", 100],
    ["middle", 86],
    ["start", 100],
  ]);
});

test("labels above their points move up only", () => {
  const spots = [70, 100, 130, 160].map((x) => ({ name: "a name", x, y: 100 }));
  expect(placeLabels(spots, FRAME).map((label) => label?.y)).toEqual([100, 72, 86, 100]);
});

test("where there is no room there is no label", () => {
  const crowd = Array.from({ length: 30 }, (_, index) => ({
    name: "a name that is long",
    x: 100 + index / 10,
    y: 100,
  }));
  const labels = placeLabels(crowd, FRAME);
  expect(labels.filter(Boolean)).toHaveLength(Math.floor(300 / LINE));
  expect(labels[0]).toBeDefined();
});
