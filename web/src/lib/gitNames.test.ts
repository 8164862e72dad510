import { expect, test } from "vitest";
import { branchFault, folderFault } from "./gitNames";

test("folders are those of a repository", () => {
  expect(["", "results", "a/b/c", "Ergebnisse 2026/Wörter"].map(folderFault)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(["../x", "a//b", "a/.git/b", "a\\b", "x.lock", "a/./b"].every((path) => folderFault(path) !== undefined)).toBe(
    true,
  );
  expect(folderFault("/results")).toContain("slash");
  expect(folderFault("results/")).toContain("slash");
  expect(folderFault("results ")).toContain("space");
});

test("branches are names that git takes", () => {
  expect(["", "main", "feature/x-1", "v1.2"].map(branchFault)).toEqual([undefined, undefined, undefined, undefined]);
  expect(["-x", "a b", "a..b", "ünï", "a/", "x.lock", "a~1"].every((name) => branchFault(name) !== undefined)).toBe(
    true,
  );
});
