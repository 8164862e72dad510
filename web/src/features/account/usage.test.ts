import { expect, test } from "vitest";
import type { UsageItem } from "../../api/types";
import { chartOf, dayAfter, lastDays, OTHERS } from "./usage";

function item(day: string, model: string, calls: number, cost: string): UsageItem {
  const totals = {
    calls,
    unknown_calls: 0,
    input_tokens: 0,
    cached_read_tokens: 0,
    cached_write_tokens: 0,
    output_tokens: 0,
    cost,
    charged: "0",
  };
  return { day, model, totals, provider: null, run_id: null, phase: null };
}

const DAYS = ["2026-02-27", "2026-02-28", "2026-03-01"];

test("days are those of the time zone, over the end of a month too", () => {
  const now = new Date("2026-02-28T23:30:00Z");
  expect(lastDays(3, now, "Europe/Vienna")).toEqual(DAYS);
  expect(lastDays(1, now, "UTC")).toEqual(["2026-02-28"]);
  expect(dayAfter("2028-02-28")).toBe("2028-02-29");
});

test("the same model at another host is another model", () => {
  const [own, elsewhere] = [item("2026-02-27", "a", 2, "0.5"), { ...item("2026-02-27", "a", 1, "2"), host: "h" }];
  const chart = chartOf([own, elsewhere], DAYS, "cost");
  expect(chart.models).toEqual(["a at h", "a"]);
  expect(chart.bars[0]?.parts).toEqual({ a: 0.5, "a at h": 2 });
});

test("a day without a call has a bar of nothing", () => {
  const chart = chartOf(
    [item("2026-02-27", "a", 2, "0.5"), item("2026-03-01", "b", 1, "2"), item("2026-03-01", "a", 1, "0.25")],
    DAYS,
    "cost",
  );
  expect(chart.models).toEqual(["b", "a"]);
  expect(chart.bars.map((bar) => bar.parts)).toEqual([
    { a: 0.5, b: 0 },
    { a: 0, b: 0 },
    { a: 0.25, b: 2 },
  ]);
});

test("models that took little are put together, and nothing is lost", () => {
  const items = ["a", "b", "c", "d", "e", "f", "g"].map((model, index) => item("2026-03-01", model, 10 - index, "1"));
  const chart = chartOf(items, DAYS, "calls");
  expect(chart.models).toEqual(["a", "b", "c", "d", "e", OTHERS]);
  expect(chart.bars[2]?.parts[OTHERS]).toBe(9);
  expect(chartOf(items.slice(0, 6), DAYS, "calls").models).not.toContain(OTHERS);
});

test("models that cost nothing have no part in a chart of costs", () => {
  expect(chartOf([item("2026-03-01", "local:lead", 5, "0")], DAYS, "cost").models).toEqual([]);
});
