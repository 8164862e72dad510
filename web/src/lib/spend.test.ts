import { expect, test } from "vitest";
import { formatsFor } from "./format";
import { beyondBrief, expected, priced, spentExactly, spentInBrief, unknownCalls } from "./spend";

const formats = formatsFor("en", "UTC");

test("a run of which no cost is known does not look free", () => {
  expect(spentInBrief({ cost: "0.00", unknown_calls: 435 }, formats)).toBe("unknown");
  expect(unknownCalls({ cost: "0.00", unknown_calls: 435 }, formats)).toBe("435 calls of unknown cost");
});

test("a known part is told as the least that it cost", () => {
  expect(spentInBrief({ cost: "1.2", unknown_calls: 1 }, formats)).toBe("from $1.20");
  expect(beyondBrief({ cost: "1.2", unknown_calls: 1 }, formats)).toBe("and 1 call of unknown cost");
  expect(beyondBrief({ cost: "0", unknown_calls: 6 }, formats)).toBe("6 calls of unknown cost");
  expect(beyondBrief({ cost: "0", unknown_calls: 0 }, formats)).toBe("");
  expect(unknownCalls({ cost: "1.2", unknown_calls: 0 }, formats)).toBe("");
});

test("what costs nothing is free, once nothing more is to come", () => {
  expect(priced("0.00", formats.dollars)).toBe("free");
  expect(priced("0.0125", formats.dollars)).toBe("$0.0125");
  const nothing = { cost: "0", unknown_calls: 0 };
  expect(spentInBrief(nothing, formats)).toBe("free");
  expect(spentInBrief(nothing, formats, false)).toBe("$0.00");
  expect(expected("0", 0, formats)).toEqual({ value: "free" });
});

test("an estimate with an unknown price tells the known part and what comes on top", () => {
  expect(expected("0.42", 12, formats)).toEqual({ value: "$0.42", hint: "and 12 calls of unknown price" });
  expect(expected("0", 1, formats)).toEqual({ value: "unknown", hint: "1 call of unknown price" });
  expect(expected("0.42", 0, formats)).toEqual({ value: "$0.42" });
});

test("the exact cost never shows a zero where nothing is known", () => {
  expect(spentExactly({ cost: "0", unknown_calls: 435 }, formats)).toBe("435 calls of unknown cost");
  expect(spentExactly({ cost: "0.0125", unknown_calls: 2 }, formats)).toBe("$0.0125 and 2 calls of unknown cost");
  expect(spentExactly({ cost: "0.0125", unknown_calls: 0 }, formats)).toBe("$0.0125");
});
