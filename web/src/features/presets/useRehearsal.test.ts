import { expect, test } from "vitest";
import { ApiError, faultsAt } from "carrel-sdk";
import { configurationOf, ofForm } from "./useRehearsal";

test("what a preset is called is no part of what a run is made from", () => {
  const generation = { candidates: [] };
  expect(configurationOf({ name: "n", description: "d", tags: ["t"], inputs: ["i"], generation })).toEqual({
    inputs: ["i"],
    generation,
  });
});

test("a fault of a rehearsal belongs to the field of the form", () => {
  const fault = { path: "configuration.scoring.judges[0].model", message: "is not known" };
  const error = ofForm(new ApiError(400, "invalid-input", "No.", [fault]));
  expect(faultsAt(error, "scoring.judges[0].model")).toEqual(["is not known"]);
});
