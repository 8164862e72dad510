import { expect, test } from "vitest";
import type { ServerEvent } from "carrel-sdk";
import { noPlaces, type Places, withEvents } from "./liveAnswers";

function said(key: string, text: string, after = "text"): ServerEvent {
  const part = { task_key: key, candidate: `model ${key}`, document: "Station 1", after, text };
  return { id: undefined, event: "text", data: JSON.stringify(part) };
}

function over(key: string, event = "task-succeeded"): ServerEvent {
  return { id: 1, event, data: JSON.stringify({ task_key: key }) };
}

function shown(places: Places) {
  return places.map((one) => one && `${one.key} ${one.state}: ${one.hasGap ? "… " : ""}${one.text}`);
}

test("answers grow in their places, and another attempt begins anew", () => {
  let places = withEvents(noPlaces(2), [said("a", "Forty ", "nothing"), said("b", "Once", "nothing")], 0);
  places = withEvents(places, [said("a", "ships"), said("b", "Twice", "nothing"), over("b", "task-failed")], 0);
  expect(shown(places)).toEqual(["a writing: Forty ships", "b failed: Twice"]);
});

test("who missed a part is told so", () => {
  expect(shown(withEvents(noPlaces(1), [said("a", "ships")], 0))).toEqual(["a writing: … ships"]);
  const places = withEvents(noPlaces(1), [said("a", "Forty ", "nothing"), said("a", "left", "gap")], 0);
  expect(shown(places)).toEqual(["a writing: … Forty left"]);
});

test("a new answer takes the place of the one that ended first, and only after a moment", () => {
  const begun = ["a", "b", "c"].map((key) => said(key, key, "nothing"));
  let places = withEvents(noPlaces(3), begun, 0);
  places = withEvents(places, [over("b")], 100);
  places = withEvents(places, [over("a"), said("d", "d", "nothing")], 200);
  expect(shown(places)).toEqual(["a done: a", "b done: b", "c writing: c"]);
  places = withEvents(places, [said("e", "e", "nothing"), said("d", "d")], 2650);
  expect(shown(places)).toEqual(["a done: a", "e writing: e", "c writing: c"]);
});

test("events about anything else change nothing", () => {
  const places = withEvents(noPlaces(1), [said("a", "Forty", "nothing")], 0);
  expect(withEvents(places, [over("z"), { id: 2, event: "progress", data: "{}" }], 0)).toBe(places);
});

test("of a very long answer the end is kept", () => {
  const [one] = withEvents(noPlaces(1), [said("a", "x".repeat(50_000), "nothing"), said("a", "end")], 0);
  expect(one?.text).toHaveLength(20_000);
  expect(one?.text.endsWith("xend")).toBe(true);
});
