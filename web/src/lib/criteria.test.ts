import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { CriterionRow } from "../api/types";
import { NO_ROW, sharesOf, yamlOf } from "./criteria";
import { TEMPLATES, withTemplate } from "./criteriaTemplates";

/** The service's tests read the same YAML back and expect the same rows. */
const BOTH_WAYS = JSON.parse(readFileSync("../tests/contents/criteria_rows.json", "utf8")) as {
  rows: CriterionRow[];
  yaml: string;
}[];

test("rows become the YAML that the service reads back as the same rows", () => {
  for (const { rows, yaml } of BOTH_WAYS) expect(yamlOf(rows)).toBe(yaml);
});

test("the shares of weights add up, and there are none while a weight is no number", () => {
  const rows = [
    { ...NO_ROW, name: "a", weight: "3" },
    { ...NO_ROW, name: "b" },
  ];
  expect(sharesOf(rows)).toEqual([0.75, 0.25]);
  for (const weight of ["heavy", "0", "-1", "1e999"])
    expect(sharesOf([...rows, { ...NO_ROW, name: "c", weight }])).toBeUndefined();
});

test("a template adds its criteria behind what is there, and none twice", () => {
  const [summary] = TEMPLATES;
  if (!summary) throw new Error("there is no template");
  const mine = { ...NO_ROW, name: "Clarity", description: "Mine." };
  const rows = withTemplate([mine, { ...NO_ROW, name: "" }], summary);
  expect(rows.map(({ name }) => name)).toEqual(["Clarity", "coverage", "faithfulness", "conciseness"]);
  expect(withTemplate(rows, summary)).toEqual(rows);
  expect(TEMPLATES.map(({ task }) => task)).toEqual([
    "Summary",
    "Support reply",
    "Extraction",
    "Translation",
    "Code review",
  ]);
});
