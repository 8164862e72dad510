import { expect, test } from "vitest";
import { adviceFor, commitUrl, wordsForTest } from "./github";

const SHA = "a".repeat(40);

test("a commit is linked where it can be known where it is shown", () => {
  const repository = "octo/texts";
  expect(commitUrl({ base_url: "https://api.github.com", repository }, SHA)).toBe(
    `https://github.com/octo/texts/commit/${SHA}`,
  );
  expect(commitUrl({ base_url: "https://git.example.com/api/v3/", repository }, SHA)).toBe(
    `https://git.example.com/octo/texts/commit/${SHA}`,
  );
  expect(commitUrl({ base_url: "http://localhost:1", repository }, SHA)).toBeUndefined();
  expect(commitUrl({ base_url: "https://api.github.com", repository }, "javascript:")).toBeUndefined();
});

test("what a token opens is told in words", () => {
  const test = { ok: true, latency_ms: 3, default_branch: "main", private: true, can_write: false, code: null };
  expect(wordsForTest(test)).toContain("private, and the token may read it, but not write");
  expect(wordsForTest({ ...test, ok: false, code: "github-token-rejected" })).toContain(
    "Give the connection a new one",
  );
  expect(wordsForTest({ ...test, ok: false, code: "something-new" })).toContain("something-new");
  expect(adviceFor("storage-full")).toBeUndefined();
});
