/** Words that say nothing to people, or the wrong thing, stand in no text of the app. */
import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>("../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
/** Each with what the app says in its place. */
const AVOIDED: [RegExp, string][] = [
  [/\bNot now\b/, "Cancel"],
  [/\bJudge anew\b/, "Judge again"],
  [/Answers of each to each document/, "Repeats"],
  [/The customary one/, "the text itself"],
  [/\bTake a desk\b/, "Sign up"],
  [/such model any more/, "There is no model of this name"],
  [/["> ]Win shares?["< ]|points of win share/, "Preferred"],
  [/Open it as a run\b|newest runs<|passports in this run\b|Runs in this ranking|"Last run"/, "comparison"],
  [/\} – (\{|\$\{)/, "range, which says “to”"],
  [/label="Finalists"|as many as makes sense/, "Compare the best by score"],
  [/(?<!\bkey=)\{(task|entry)\.(task_)?key\}/, "taskInWords"],
];

test.each(AVOIDED)("nothing says %s, but %s", (word) => {
  const own = Object.entries(SOURCES).filter(([path]) => !path.includes(".test."));
  expect(own.length).toBeGreaterThan(100);
  expect(own.filter(([, source]) => word.test(source)).map(([path]) => path)).toEqual([]);
});
