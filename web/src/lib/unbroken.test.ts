import { expect, test } from "vitest";
import { unbroken } from "./unbroken";

test("no line ends between a number and its sign of per cent", () => {
  expect(unbroken("A leads in 69 % (60 % to 76 %).")).toBe("A leads in 69\u00a0% (60\u00a0% to 76\u00a0%).");
});
