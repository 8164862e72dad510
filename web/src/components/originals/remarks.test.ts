import { expect, test } from "vitest";
import { doubtfulPages, remarksInWords } from "./remarks";

test("doubtful pages are told by their numbers, apart from what is left out", () => {
  const file = {
    remarks: [
      { kind: "doubtful_page" as const, count: 12, pages: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] },
      { kind: "page_without_text" as const, count: 1, pages: [2] },
      // As a version before kept it.
      { kind: "picture" as const, count: 2 },
    ],
  };
  expect(remarksInWords(file, true)).toBe("12 pages whose text may be garbage (3, 4, 5, 6, 7, 8, 9, 10 …)");
  expect(remarksInWords(file, false)).toBe("1 page without text (2), 2 pictures");
  expect(doubtfulPages(file).slice(0, 3)).toEqual([2, 3, 4]);
});
