import { expect, test } from "vitest";
import { around, upwards } from "./heat";

test("the colours of a heat map turn at one half and know their bounds", () => {
  expect(around(0.5).background).toContain(" 0.0%");
  expect(around(0).background).toContain("--heat-low");
  expect(around(1).background).toBe(upwards(7).background);
});
