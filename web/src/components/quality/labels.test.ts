import { expect, test } from "vitest";
import { placeLabels } from "./labels";

const FRAME = { left: 0, right: 600, top: 0, bottom: 300 };

test("a label stands at the right of its point, and at the left where the frame ends", () => {
  const [one, other] = placeLabels(
    [
      { name: "one", x: 100, y: 100 },
      { name: "the other", x: 590, y: 200 },
    ],
    FRAME,
  );
  expect(one).toEqual({ x: 109, y: 100, anchor: "start" });
  expect(other).toEqual({ x: 581, y: 200, anchor: "end" });
});

test("points that lie close have labels that do not touch", () => {
  const found = placeLabels(
    [
      { name: "a long name", x: 100, y: 100 },
      { name: "another long name", x: 112, y: 102 },
    ],
    FRAME,
  );
  expect(new Set(found.map((label) => JSON.stringify(label))).size).toBe(2);
  expect(found.every(Boolean)).toBe(true);
});

test("where there is no room there is no label", () => {
  const crowd = Array.from({ length: 30 }, (_, index) => ({
    name: "a name that is long",
    x: 100 + index / 10,
    y: 100,
  }));
  const labels = placeLabels(crowd, FRAME);
  expect(labels.some((label) => label === undefined)).toBe(true);
});
