import { expect, test } from "vitest";
import openapi from "../../../openapi.json?raw";
import { hasEnded, PHASES, RUN_STATES, TASK_STATES, toneOfRun, wordsForRun } from "./states";

type Property = { enum?: string[] };
const { Run, Task } = (
  JSON.parse(openapi) as { components: { schemas: Record<string, { properties: Record<string, Property> }> } }
).components.schemas;

test("the app knows exactly the states and phases that the service can tell", () => {
  expect(RUN_STATES.toSorted()).toEqual(Run?.properties.state?.enum?.toSorted());
  expect(TASK_STATES.toSorted()).toEqual(Task?.properties.state?.enum?.toSorted());
  expect(PHASES.toSorted()).toEqual(Task?.properties.kind?.enum?.toSorted());
});

test("every state of a run has words of its own, and four of them are its end", () => {
  expect(new Set(RUN_STATES.map(wordsForRun)).size).toBe(RUN_STATES.length);
  expect(RUN_STATES.filter(hasEnded)).toEqual(["completed", "completed_with_errors", "failed", "cancelled"]);
  expect(toneOfRun("failed")).toBe("bad");
});
