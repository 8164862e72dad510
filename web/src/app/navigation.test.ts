import { expect, test } from "vitest";
import { placesOf } from "./navigation";
import { makeRouter } from "./router";

test("the navigation shows the pages that are places there, in their order", () => {
  expect(placesOf(makeRouter()).map(({ to, label }) => [to, label])).toEqual([
    ["/runs", "Comparisons"],
    ["/library", "Library"],
    ["/models", "Models"],
    ["/leaderboard", "Leaderboard"],
    ["/account", "Settings"],
  ]);
});
